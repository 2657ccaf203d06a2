import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { getFreePort } from "../support/binary.ts";
import {
  createServerClient,
  createMachineWithKey,
  type ServerClient,
  expectSuccess,
} from "../support/machine.ts";
import { hang, replyWith, replyWithRedirect, startTarget } from "../support/target.ts";
import type { Json } from "../support/json.ts";

const unlimited = ["--rate-limit", "0"];

type Fields = Record<string, unknown>;

async function createMonitor(api: ServerClient, fields: Fields): Promise<Json> {
  const { status, json } = await api("POST", "/api/v1/monitors", { name: "Shop", ...fields });
  expect([status, json.error]).toEqual([201, undefined]);
  return json.data;
}

const buildSite = (api: ServerClient, url: string, fields: Fields = {}) =>
  createMonitor(api, { type: "http", url, retries: 0, ...fields });

/** Polls a monitor until it has this status. */
async function waitForMonitor(
  api: ServerClient,
  id: string,
  isReached: (monitor: Json) => boolean,
): Promise<Json> {
  for (;;) {
    const { data } = (await api("GET", `/api/v1/monitors/${id}`)).json;
    if (isReached(data)) return data;
    await Bun.sleep(20);
  }
}

const waitForStatus = (api: ServerClient, id: string, status: string) =>
  waitForMonitor(api, id, (monitor) => monitor.status === status);

/** Reads rows from the data directory, during or after a server's run. */
function readRows(box: { dataDir: string }, sql: string): unknown[][] {
  const database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
  const found = database.query(sql).values();
  database.close();
  return found;
}

const message = `SELECT seq, type, subject_id FROM events WHERE type GLOB 'incident.*'
  OR type IN ('monitor.up', 'monitor.degraded', 'monitor.down', 'monitor.pending')`;

test("a new or changed monitor is checked at once, long before it is due", async () => {
  await using box = await createMachineWithKey();
  await using shop = await startTarget();
  const { url } = await box.serve({ flags: unlimited });
  const api = createServerClient(url, box.key);
  const { id } = await buildSite(api, shop.at(), { interval: 3_600 });
  await waitForStatus(api, id, "up");
  await api("PATCH", `/api/v1/monitors/${id}`, { url: `http://127.0.0.1:${getFreePort()}` });
  const red = await waitForStatus(api, id, "down");
  expect(red.lastMessage).toBe("The connection was refused.");
});

test("restarts and kills preserve every state and send no alert", async () => {
  await using box = await createMachineWithKey();
  await using shop = await startTarget();
  let server = await box.serve({ flags: unlimited });
  let api = createServerClient(server.url, box.key);
  const quick = { interval: 5, autoIncidentSeverity: "major" };
  const closed = `http://127.0.0.1:${getFreePort()}`;
  const expected = new Map<string, string>();
  for (let index = 0; index < 5; index++) {
    expected.set((await buildSite(api, shop.at(`/${index}`), quick)).id, "up");
    expected.set((await buildSite(api, closed, quick)).id, "down");
  }
  const checked = [...expected.keys()];
  for (const status of ["up", "down", "up", "down"]) {
    const { id, pushUrl } = await createMonitor(api, {
      ...quick,
      type: "push",
      retries: 0,
      grace: 600,
    });
    expect((await fetch(`${pushUrl}?status=${status}`)).status).toBe(200);
    expected.set(id, status);
  }
  const sinces = new Map<string, string>();
  for (const [id, status] of expected)
    sinces.set(id, (await waitForStatus(api, id, status)).statusSince);
  const before = readRows(box, message);
  expect(before.filter(([, type]) => type === "incident.opened")).toHaveLength(7);

  for (const signal of ["SIGTERM", "SIGKILL", "SIGTERM"] as const) {
    expect(await server.stop(signal)).toBe(signal === "SIGTERM" ? 0 : 137);
    const restartedAt = new Date().toISOString();
    server = await box.serve({ flags: unlimited });
    api = createServerClient(server.url, box.key);
    for (const id of checked)
      await waitForMonitor(api, id, (found) => found.lastCheckedAt > restartedAt);
    for (const [id, status] of expected) {
      const found = (await api("GET", `/api/v1/monitors/${id}`)).json.data;
      expect([id, found.status, found.statusSince]).toEqual([id, status, sinces.get(id)]);
    }
    expect(readRows(box, message)).toEqual(before);
  }
});

test("a suspended process that continues turns no monitor down, whether checked or reporting", async () => {
  await using box = await createMachineWithKey();
  await using shop = await startTarget();
  const { url, child } = await box.serve({ flags: unlimited });
  const api = createServerClient(url, box.key);
  const { id } = await buildSite(api, shop.at(), { interval: 60, timeout: 7 });
  const job = await createMonitor(api, { type: "push", retries: 0, interval: 7, grace: 0 });
  await waitForStatus(api, id, "up");
  shop.setReply(hang);
  const requestCount = shop.asked.length;
  expect((await fetch(job.pushUrl)).status).toBe(200);
  const checking = api("POST", `/api/v1/monitors/${id}/check`);
  await shop.waitUntilRequested(requestCount + 1);
  child.kill("SIGSTOP");
  // Both become due in the meantime.
  await Bun.sleep(8_000);
  child.kill("SIGCONT");
  const { status, json } = await checking;
  expect([status, json.data.status, json.data.message]).toEqual([
    200,
    "unknown",
    "Not judged: Signalbox was briefly blocked and could not check.",
  ]);
  shop.setReply((response) => void response.end());
  await waitForMonitor(api, job.id, ({ lastMessage }) => lastMessage.startsWith("Not judged"));
  await api("PATCH", `/api/v1/monitors/${job.id}`, { interval: 3_600 });
  expect((await fetch(job.pushUrl)).status).toBe(200);
  await waitForStatus(api, job.id, "up");
  expect((await api("POST", `/api/v1/monitors/${id}/check`)).json.data.status).toBe("up");
  expect(readRows(box, "SELECT count(*) FROM heartbeats WHERE status = 2")).toEqual([[0]]);
  expect(readRows(box, message).map(([, type]) => type)).toEqual(["monitor.up", "monitor.up"]);
  const troubled = readRows(box, "SELECT data FROM events WHERE type = 'appliance.troubled'");
  expect(troubled).toEqual([[expect.stringContaining('"problem":"checks"')]]);
});

test("a stop during checks exits with 0 and records nothing about their targets", async () => {
  await using box = await createMachineWithKey();
  await using shop = await startTarget(hang);
  const server = await box.serve({ flags: unlimited });
  const api = createServerClient(server.url, box.key);
  for (let index = 0; index < 30; index++)
    await buildSite(api, shop.at(`/${index}`), { interval: 60, timeout: 60 });
  await shop.waitUntilRequested(30);
  shop.setReply(replyWith(), "/now");
  const { id } = await buildSite(api, shop.at("/now"), { interval: 3_600, timeout: 60 });
  await waitForStatus(api, id, "up");
  shop.setReply(hang, "/now");
  const checking = api("POST", `/api/v1/monitors/${id}/check`);
  await shop.waitUntilRequested(32);
  expect(await server.stop()).toBe(0);
  const { status, json } = await checking;
  expect([status, json.error.code]).toEqual([503, "UNAVAILABLE"]);
  expect(readRows(box, "SELECT count(*) FROM heartbeats")).toEqual([[1]]);
  expect(readRows(box, message)).toEqual([[expect.any(Number), "monitor.up", id]]);
});

test("its own port is rejected as a number, and never connected to by name or redirect", async () => {
  await using box = await createMachineWithKey();
  await using shop = await startTarget();
  const { url, port } = await box.serve({ flags: unlimited });
  const api = createServerClient(url, box.key);
  // A connection to it would leave a record.
  const job = await createMonitor(api, { type: "push", retries: 0 });
  const named = job.pushUrl.replace("127.0.0.1", "localhost");
  const body = { name: "Itself", type: "http", url: job.pushUrl };
  const refused = await api("POST", "/api/v1/monitors", body);
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, "url"]);
  shop.setReply(replyWithRedirect(job.pushUrl));
  const monitors = [
    await buildSite(api, named, { retries: 5 }),
    await buildSite(api, shop.at(), { retries: 5 }),
    await createMonitor(api, { type: "tcp", host: "localhost", port, retries: 5 }),
  ];
  for (const { id } of monitors)
    expect((await waitForStatus(api, id, "down")).lastMessage).toBe(
      "Blocked: the target is this appliance itself.",
    );
  expect((await waitForMonitor(api, job.id, () => true)).lastCheckedAt).toBeNull();
});

test("--allow-target allows a range, including the appliance's own port", async () => {
  await using box = await createMachineWithKey();
  const flags = [...unlimited, "--allow-target", "127.0.0.0/8", "169.254.10.0/24"];
  const { url } = await box.serve({ flags });
  const api = createServerClient(url, box.key);
  const job = await createMonitor(api, { type: "push" });
  const { id } = await buildSite(api, job.pushUrl);
  await waitForStatus(api, id, "up");
  await waitForStatus(api, job.id, "up");
  await buildSite(api, "http://169.254.10.7/", { paused: true });
  const other = { name: "Metadata", type: "http", url: "http://169.254.169.254/" };
  expect((await api("POST", "/api/v1/monitors", other)).status).toBe(422);
});

test("a second organization blocks loopback for checks until it is deleted, except for --allow-target", async () => {
  await using box = await createMachineWithKey();
  await using shop = await startTarget();
  const server = await box.serve({ flags: unlimited });
  const api = createServerClient(server.url, box.key);
  const { id } = await buildSite(api, shop.at(), { retries: 0 });
  await waitForStatus(api, id, "up");
  await expectSuccess(box.run(["orgs", "create", "Second"]));
  const requestCount = shop.asked.length;
  const check = async (api: ServerClient) =>
    (await api("POST", `/api/v1/monitors/${id}/check`)).json.data;
  expect(await check(api)).toMatchObject({
    status: "unknown",
    message:
      "Not judged: the target is this machine itself, which several organizations share (see --allow-target).",
  });
  expect(shop.asked).toHaveLength(requestCount);
  await expectSuccess(box.run(["orgs", "delete", "second", "--yes"]));
  expect((await check(api)).status).toBe("up");
  await expectSuccess(box.run(["orgs", "create", "Third"]));
  expect((await check(api)).status).toBe("unknown");
  await server.stop();
  const again = await box.serve({ flags: [...unlimited, "--allow-target", "127.0.0.0/8"] });
  expect((await check(createServerClient(again.url, box.key))).status).toBe("up");
});

test.each([
  ["--keep-results", "0", "whole number of days"],
  ["--keep-results", "1.5", "whole number of days"],
  ["--keep-hours", "-1", "whole number of days"],
  ["--allow-target", "10.0.0.0/33", "range such as"],
  ["--allow-target", "printer.lan", "range such as"],
  ["--deny-target", "10.0.0.0/33", "range such as 10.0.0.0/8, an address or a name"],
  ["--deny-target", "http://db.lan", "range such as 10.0.0.0/8, an address or a name"],
])("%s %s is wrong usage, and the message has the valid values", async (flag, value, right) => {
  await using box = await createMachineWithKey();
  const { exitCode, stdout, stderr } = await box.run(["serve", `${flag}=${value}`]);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`must be a ${right}`);
});
