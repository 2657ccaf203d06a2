import { afterAll, describe, expect, test } from "bun:test";
import { formatTimestamp } from "../../../src/core/time/clock.ts";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dumpTables, type TestAppliance } from "../../support/appliance.ts";
import { runCheckOfType } from "../../support/check-runs.ts";
import { createFakeChromium } from "../../support/fake-chromium.ts";
import { createSharing } from "../../support/shared-database.ts";
import { replyWith, hang, startTarget } from "../../support/target.ts";
import { putScreenshot } from "../../../src/monitoring/uptime/store.ts";
import { readAllWatched } from "../../../src/monitoring/checks/engine/watched-monitors.ts";
import { ResultWriter, type Result } from "../../../src/monitoring/checks/engine/record.ts";
import { createWatch } from "../../support/check-board.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
const { program, home } = createFakeChromium(folder);
const site = await startTarget();
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await site[Symbol.asyncDispose]();
});

type FailingMonitor = Awaited<ReturnType<typeof createFailingMonitor>>;

/** A browser monitor whose page fails. */
async function createFailingMonitor(fields: object = {}) {
  const watch = await createWatch({ browser: program });
  site.setReply(replyWith(500), "/page");
  const about = { type: "browser", name: "Shop", url: site.at("/page"), retries: 0, timeout: 60 };
  const { id } = await watch.monitor({ ...about, ...fields });
  const path = `/api/v1/monitors/${id}`;
  return {
    ...watch,
    id: id as string,
    path,
    screenshot: (more = "", headers = {}) =>
      watch.ours.reader("GET", `${path}/screenshot${more}`, { headers }),
  };
}

const readNewest = async ({ readBeats, id }: FailingMonitor) => (await readBeats(id)).at(-1);
const readRows = ({ database }: Pick<TestAppliance, "database">) =>
  database.query<{ at: number }, []>("SELECT at FROM screenshots").all();

test("the screenshot of the last failure is stored with the time of its heartbeat until the monitor is deleted", async () => {
  const world = await createFailingMonitor();
  const { advance, path, api, ours, theirs, stranger, readMonitor, id, screenshot } = world;
  expect((await readMonitor(id)).screenshotAt).toBeNull();
  expect((await screenshot()).status).toBe(404);
  await advance(1);
  const first = await readNewest(world);
  expect(first?.status).toBe("down");
  expect(await readMonitor(id)).toMatchObject({ status: "down", screenshotAt: first?.at });
  const picture = await screenshot();
  expect(picture.status).toBe(200);
  expect(Object.fromEntries(picture.headers)).toMatchObject({
    "content-type": "image/jpeg",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": "no-cache",
  });
  expect(picture.text).toContain("/page 60");
  const etag = picture.headers.get("etag") ?? "";
  const known = await screenshot(`?at=${first?.at}`, { "If-None-Match": etag });
  expect([known.status, known.text]).toEqual([304, ""]);
  const head = await ours.reader("HEAD", `${path}/screenshot`);
  expect([head.status, head.headers.get("etag"), head.text]).toEqual([200, etag, ""]);
  expect((await stranger("GET", `${path}/screenshot`)).status).toBe(401);
  expect((await theirs.api("GET", `${path}/screenshot`)).status).toBe(404);
  const { json } = await screenshot("?at=yesterday");
  expect(json.error.details[0].path).toBe("at");

  await advance(60);
  const second = await readNewest(world);
  expect(readRows(world)).toEqual([{ at: Date.parse(second?.at ?? "") }]);
  expect((await screenshot(`?at=${first?.at}`)).status).toBe(404);
  site.setReply(replyWith(), "/page");
  await advance(60);
  expect(await readMonitor(id)).toMatchObject({ status: "up", screenshotAt: second?.at });
  expect((await screenshot()).status).toBe(200);
  await api("DELETE", path);
  expect(readRows(world)).toEqual([]);
  expect((await screenshot()).status).toBe(404);
});

test("a failed screenshot does not change the result of the check", async () => {
  const sizes: Record<string, number | undefined> = {
    "at-once": 1_000,
    large: 1_000,
    "too-large": undefined,
    "no-image": undefined,
    refuses: undefined,
    dies: undefined,
    crashes: undefined,
    hangs: undefined,
  };
  site.setReply(replyWith(503), "/");
  const found = await Promise.all(
    Object.keys(sizes).map(async (manner) => {
      site.setReply(replyWith(503), `/${manner}`);
      const outcome = await runCheckOfType(
        "browser",
        { url: site.at(`/${manner}`) },
        { browser: program },
      );
      const { status, message, screenshot } = outcome;
      return [manner, status, message, screenshot?.length];
    }),
  );
  const message = "HTTP 503 (Service Unavailable), expected less than 400.";
  expect(found).toEqual(
    Object.entries(sizes).map(([manner, size]) => [manner, "down", message, size]),
  );
});

test("only a down result has a screenshot, not an inverted failure or an unknown result", async () => {
  const world = await createFailingMonitor({ inverted: true });
  await world.advance(1);
  expect((await readNewest(world))?.status).toBe("up");
  expect(readRows(world)).toEqual([]);
});

test("a failure that another node does not confirm has no screenshot", async () => {
  const sharing = await createSharing({ allowTarget: ["127.0.0.1/32"], browser: program });
  const { both, advance, ours } = sharing;
  const replies = [replyWith(), replyWith(500), replyWith()];
  site.setReply((response) => (replies.shift() ?? replyWith(500))(response), "/confirmed");
  const { json } = await ours.api("POST", "/api/v1/monitors", {
    body: {
      type: "browser",
      name: "Shop",
      url: site.at("/confirmed"),
      timeout: 60,
      interval: 60,
      retries: 0,
      retryInterval: 5,
      confirmations: 2,
    },
  });
  const { id } = json.data;
  const inspect = async () => (await ours.api("GET", `/api/v1/monitors/${id}`)).json.data;
  const [, other] = both.toSorted(
    (x, y) => Number(x.node.findByRecord(id) === null) - Number(y.node.findByRecord(id) === null),
  );
  /** Runs the other node while the checks of the owner continue. */
  async function waitForMonitor(reached: (monitor: Record<string, string | null>) => boolean) {
    for (;;) {
      const monitor = await inspect();
      if (reached(monitor)) return monitor;
      let isOver = false;
      const passing = advance(1, both).finally(() => (isOver = true));
      while (!isOver) {
        await other!.node.runOnce();
        await Bun.sleep(5);
      }
      await passing;
    }
  }
  await waitForMonitor(({ status }) => status === "up");
  const contradicted = await waitForMonitor(({ lastMessage }) =>
    /sees it up/.test(lastMessage ?? ""),
  );
  expect(contradicted).toMatchObject({ status: "up", screenshotAt: null });
  const down = await waitForMonitor(({ status }) => status === "down");
  expect(down["screenshotAt"]).toBe(down["lastCheckedAt"]!);
});

describe("a queued screenshot", () => {
  async function startRecording() {
    const world = await createFailingMonitor();
    const [[monitor] = []] = await Array.fromAsync(readAllWatched(world.appliance));
    if (monitor === undefined) throw new Error("The monitor is not watched.");
    const createResult = (at: number): Result => ({
      monitor,
      heartbeat: {
        monitorKey: monitor.key,
        at,
        status: "down",
        latencyMs: null,
        seconds: 1,
        message: "",
      },
      isEarly: false,
      checkedAt: formatTimestamp(at),
      before: monitor.state,
      after: monitor.state,
      reason: "",
      message: "",
      certificateExpiresAt: null,
      details: null,
      screenshot: new Uint8Array(1_000),
    });
    return { ...world, monitor, createResult };
  }

  test("is discarded after its monitor was paused", async () => {
    const { store, monitor, changeMonitor, id, database } = await startRecording();
    await changeMonitor(id, { paused: true });
    await store.atomic([putScreenshot(monitor, 1, new Uint8Array(10))]);
    expect(readRows({ database })).toEqual([]);
  });

  test("is dropped if too many are queued, but its result is stored", async () => {
    const { appliance, time, createResult, readBeats, id } = await startRecording();
    const results = new ResultWriter(appliance);
    const all = Array.from({ length: 40 }, (_, index) => createResult(time.now + index));
    for (const result of all) results.add(result);
    expect(all.filter(({ screenshot }) => screenshot !== null)).toEqual(all.slice(-32));
    expect(await results.flush()).toBe(true);
    expect((await readBeats(id)).length).toBe(40);
  });
});

test("“Test now” stores no screenshot", async () => {
  const world = await createFailingMonitor({ paused: true });
  const before = dumpTables(world);
  const { status, screenshot } = await world.engine.tryCheck(
    { organizationId: world.ours.id, callerId: "test" },
    {
      type: "browser",
      settings: { url: site.at("/page"), steps: [], keyword: null, verifyTls: true },
      timeoutMs: 60_000,
      degradedAfterMs: null,
      inverted: false,
    },
  );
  expect([status, screenshot?.length]).toEqual(["down", 1_000]);
  expect(dumpTables(world)).toBe(before);
});

test("an appliance that stops during checks leaves no browser processes or files", async () => {
  const world = await createFailingMonitor();
  site.setReply(hang, "/page");
  const requestCount = site.asked.length;
  const checking = world.engine.runOnce();
  await site.waitUntilRequested(requestCount + 1);
  await world.engine.stop();
  await checking;
  const folders = readFileSync(home, "utf8").trim().split("\n");
  expect(folders.at(-1)).toContain("signalbox-check-");
  expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
});
