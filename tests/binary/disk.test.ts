import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { binary, getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { startInbox } from "../support/inbox.ts";
import { createServerClient, createMachineWithKey, type ServerClient } from "../support/machine.ts";
import { createSmallDisk } from "../support/small-disk.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { type Notified, findWrongIncidents, writeUntilClosed } from "../support/writers.ts";
import { waitUntil } from "../support/poll.ts";

const unlimited = ["--rate-limit", "0"];

const possible = createSmallDisk(1);
possible?.[Symbol.dispose]();
if (possible === null)
  console.warn(
    "\nNOT TESTED: full and read-only disks; only root can mount one (e2fsprogs, mount)\n",
  );

function createDisk(mebibytes = 16) {
  const smallDisk = createSmallDisk(mebibytes);
  if (smallDisk === null) throw new Error("A disk could be made a moment ago.");
  return smallDisk;
}

/** On a full disk, reads work and writes get 503. */
async function expectReadsAlone(url: string, api: ServerClient, pushUrl: string) {
  const write = () => api("POST", "/api/v1/incidents", { title: "Late", message: "Late, opened" });
  const push = () => fetch(`${pushUrl}?status=up`);
  // A small write can still fit where a larger one did not.
  const readRejection = async <T extends { status: number }>(request: () => Promise<T>) => {
    let answered = await request();
    while (answered.status < 300) answered = await request();
    expect(answered.status).toBe(503);
    return answered;
  };
  const [written, pushed] = [await readRejection(write), await readRejection(push)];
  expect(written.json.error.code).toBe("UNAVAILABLE");
  for (const { headers } of [written, pushed]) expect(headers.get("retry-after")).toBe("5");
  for (const path of ["/api/v1/incidents", "/api/v1/monitors", "/api/v1/monitor-groups"])
    expect([path, (await api("GET", path)).status]).toEqual([path, 200]);
  for (const path of ["/status/acme", "/status/acme.json", "/"])
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
}

const isOfStorage = ({ data }: { data: { problem?: string } }) => data.problem === "storage";

/** Expects no page, metric or list to show the monitor as up while results can't be stored. */
async function expectNotJudged(url: string, api: ServerClient, key: string, id: string) {
  const isHealthy = async () => (await fetch(`${url}/healthz`)).status === 200;
  await waitUntil(async () => !(await isHealthy()), 100);
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({
    status: "failing",
    reasons: ["storage"],
    since: expect.any(String),
  });
  const { data } = (await api("GET", `/api/v1/monitors/${id}`)).json;
  expect(data).toMatchObject({ status: "up", notJudgedSince: expect.any(String) });
  expect(data.lastMessage).toStartWith("Not judged: ");
  const textOf = async (path: string, headers = {}) =>
    (await fetch(`${url}${path}`, { headers })).text();
  const readPage = () => textOf("/status/acme");
  // A page is rendered again once a second at most.
  await waitUntil(async () => (await readPage()).includes("Not judged since"), 100);
  const { status, sections } = JSON.parse(await textOf("/status/acme.json"));
  // Incidents are open.
  expect(status).toBe("degraded");
  expect(sections.flatMap(({ monitors }: { monitors: object[] }) => monitors)).toContainEqual(
    expect.objectContaining({ id, status: "unknown", lastKnownStatus: "up" }),
  );
  const metrics = await textOf("/metrics", { Authorization: `Bearer ${key}` });
  expect(metrics).toContain("signalbox_storage_failing 1\n");
  expect(metrics).not.toContain(`signalbox_monitor_up{id="${id}"`);
}

/** Runs four writers until the disk is full for all of them. */
async function writeUntilRefused(url: string, key: string) {
  const writers = Array.from({ length: 4 }, (_, index) =>
    writeUntilClosed({ url, key, name: `Writer ${index}`, onAcknowledged() {} }),
  );
  return (await Promise.all(writers)).flat();
}

test.skipIf(possible === null)(
  "a full disk rejects only writes, loses nothing, and work resumes with free space",
  async () => {
    using small = createDisk();
    await using box = await createMachineWithKey(small.path);
    await using shop = await startTarget();
    await using hook = await startInbox();
    let server = await box.serve({ flags: unlimited });
    const api = createServerClient(server.url, box.key);
    const create = async (path: string, body: object) =>
      (await api("POST", `/api/v1/${path}`, body)).json.data;
    const channel = await create("alert-channels", {
      type: "webhook",
      name: "Hook",
      incidents: false,
      url: hook.at("/hook"),
    });
    const monitor = { name: "Shop", interval: 5, retries: 0, alertChannelIds: [channel.id] };
    const { id } = await create("monitors", { ...monitor, type: "http", url: shop.at() });
    const { pushUrl } = await create("monitors", { type: "push", name: "Job", retries: 0 });
    const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
    const sections = [{ name: "All", monitors: [{ id }] }];
    await api("PATCH", `/api/v1/status-pages/${page.id}`, { sections });
    const statusOf = async () => (await api("GET", `/api/v1/monitors/${id}`)).json.data.status;
    await waitUntil(async () => (await statusOf()) === "up", 20);

    small.fill(4_096);
    const messages = await writeUntilRefused(server.url, box.key);
    expect(messages.length).toBeGreaterThan(10);
    small.fill();
    await expectReadsAlone(server.url, api, pushUrl);
    shop.setReply(replyWith(500));
    // When the second check starts, the first one has finished.
    await shop.waitUntilRequested(shop.asked.length + 2);
    // The appliance also sends an alert about its disk.
    const buildAlerts = () =>
      hook.listArrived().flatMap(({ monitorId, type }) => (monitorId === id ? [type] : []));
    expect([await statusOf(), buildAlerts()]).toEqual(["up", []]);
    await expectNotJudged(server.url, api, box.key, id);
    const listStorageAlerts = () =>
      hook.asked.map(({ body }) => JSON.parse(body)).filter(isOfStorage);
    await hook.waitUntilArrived(() => listStorageAlerts().length > 0);
    expect(listStorageAlerts().map(({ type }) => type)).toEqual(["appliance.troubled"]);

    const freedAt = new Date().toISOString();
    small.free();
    await hook.waitUntilArrived(() => buildAlerts().length > 0);
    expect([await statusOf(), buildAlerts()]).toEqual(["down", ["monitor.down"]]);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await hook.waitUntilArrived(() => listStorageAlerts().length > 1);
    expect(listStorageAlerts().map(({ type }) => type)).toEqual([
      "appliance.troubled",
      "appliance.recovered",
    ]);
    // Results from the time of the full disk were queued in memory.
    const { data } = (await api("GET", `/api/v1/monitors/${id}/heartbeats`)).json;
    const found = data.filter(({ at }: { at: string }) => at < freedAt);
    const down = found.filter(({ status }: { status: string }) => status === "down");
    expect(down.length).toBeGreaterThan(0);
    expect(await server.stop()).toBe(0);

    small.fill();
    // It serves if SQLite's bookkeeping fits; otherwise it exits with 1, and a service manager retries.
    const started = await box.serve().catch((error: Error) => error.message);
    if (typeof started === "string") {
      expect(started).toMatch(/^serve ended with 1: .* disk is full or read-only/);
    } else {
      const late = { title: "Late", message: "Late, opened" };
      const { status } = await createServerClient(started.url, box.key)(
        "POST",
        "/api/v1/incidents",
        late,
      );
      expect([201, 503]).toContain(status);
      expect(await started.stop()).toBe(0);
    }
    small.free();
    server = await box.serve({ flags: unlimited });
    expect(await findWrongIncidents(createServerClient(server.url, box.key), messages)).toEqual([]);
    expect(await server.stop()).toBe(0);
    using database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    expect(database.query("PRAGMA foreign_key_check").values()).toEqual([]);
  },
);

test.skipIf(possible === null)(
  "a read-only disk serves reads, does not block a stop, and has lost nothing after the repair",
  async () => {
    // The write-ahead log alone can need 16 MiB.
    using small = createDisk(64);
    await using box = await createMachineWithKey(small.path);
    await using shop = await startTarget();
    const server = await box.serve({ flags: unlimited });
    const api = createServerClient(server.url, box.key);
    const monitor = { type: "http", name: "Shop", url: shop.at(), interval: 5 };
    await api("POST", "/api/v1/monitors", monitor);
    const { pushUrl } = (await api("POST", "/api/v1/monitors", { type: "push", name: "Job" })).json
      .data;
    let isWell = true;
    const messages: Notified[] = [];
    const writing = (async () => {
      // Writers that lost their connection to a slow disk are replaced.
      while (isWell) messages.push(...(await writeUntilRefused(server.url, box.key)));
    })();
    await waitUntil(async () => (await api("GET", "/api/v1/incidents")).json.meta.total >= 50);
    isWell = false;
    small.fail();
    await writing;
    await expectReadsAlone(server.url, api, pushUrl);
    await shop.waitUntilRequested(shop.asked.length + 1);
    expect(await server.stop()).toBe(0);
    small.remount();
    const again = await box.serve({ flags: unlimited });
    expect(await findWrongIncidents(createServerClient(again.url, box.key), messages)).toEqual([]);
    expect(await again.stop()).toBe(0);
  },
);

test.skipIf(possible === null)(
  "a full disk that also holds the log blocks neither serving nor stopping",
  async () => {
    using small = createDisk();
    await using box = await createMachineWithKey(small.path);
    const output = openSync(join(box.directory, "serve.log"), "a");
    const port = getFreePort();
    const args = ["serve", "--data-dir", box.dataDir, "--port", String(port), ...unlimited];
    const child = Bun.spawn([binary, ...args], { stdio: ["ignore", output, output] });
    try {
      const url = `http://127.0.0.1:${port}`;
      await waitUntilHealthy(url);
      const api = createServerClient(url, box.key);
      small.fill();
      // Log lines fill the rest of a block until only a part of one fits.
      for (let request = 0; request < 100; request++)
        expect((await api("POST", "/api/v1/incidents", { title: "Slow" })).status).toBe(503);
      child.kill("SIGTERM");
      expect(await child.exited).toBe(0);
    } finally {
      child.kill("SIGKILL");
      closeSync(output);
    }
  },
);

test("a start without any write access names the reason, exits with 1, and does not call the data damaged", async () => {
  await using box = await createMachineWithKey();
  const args = ["serve", "--data-dir", box.dataDir, "--port", "0"];
  const noSpaceScript = `trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`;
  const child = Bun.spawn(["sh", "-c", noSpaceScript, binary, ...args], { stderr: "pipe" });
  // A service manager retries after exit 1, not after 3.
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
    1,
    expect.stringMatching(/^signalbox: .* Nothing was changed\. .* disk is full or read-only.*\n$/),
  ]);
  expect(await (await box.serve()).stop()).toBe(0);
});

test("a backup without any write access names the files and the reason", async () => {
  await using box = await createMachineWithKey();
  const args = ["backup", `${box.directory}/copy.db`, "--data-dir", box.dataDir];
  const unwritableScript = `trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`;
  const child = Bun.spawn(["sh", "-c", unwritableScript, binary, ...args], { stderr: "pipe" });
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
    1,
    expect.stringMatching(
      /^signalbox: .*signalbox\.db can't be copied .* Check whether a disk is full\.\n$/,
    ),
  ]);
});
