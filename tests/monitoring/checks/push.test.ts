import { describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dumpTables, testAppliance } from "../../support/appliance.ts";
import { createWatch } from "../../support/check-board.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { replyWith, startTarget } from "../../support/target.ts";

const newDirectory = createScratch();

/** An appliance that waits for one push monitor. */
async function setUpWaiting(fields: object = {}) {
  const watch = await createWatch();
  const job = await watch.createJob(fields);
  await watch.engine.runOnce();
  return { ...watch, ...job };
}

describe("a report", () => {
  for (const method of ["GET", "POST"])
    test(`by ${method} is stored before the response, with the job's message`, async () => {
      const { report, readMonitor, readBeats, id, time } = await setUpWaiting();
      const { status, json, headers } = await report(
        { status: "up", msg: "All 12 tables copied.", latency_ms: "4200" },
        method,
      );
      expect([status, json]).toEqual([200, { ok: true }]);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(await readMonitor(id)).toMatchObject({
        status: "up",
        lastMessage: "All 12 tables copied.",
        latencyMs: 4200,
        lastCheckedAt: new Date(time.now).toISOString(),
      });
      time.now += 30_000;
      await report({ status: "down", msg: "Disk full." }, method);
      expect(await readMonitor(id)).toMatchObject({ status: "down", lastMessage: "Disk full." });
      expect(await readBeats(id)).toMatchObject([
        { status: "up", latencyMs: 4200, message: null },
        { status: "down", latencyMs: null, message: "Disk full.", period: 30 },
      ]);
    });

  test("is not accepted by HEAD, which link checkers use", async () => {
    const { report, readBeats, id } = await setUpWaiting();
    const { status, headers } = await report({}, "HEAD");
    expect([status, headers.get("allow")]).toEqual([405, "GET, OPTIONS, POST"]);
    expect(await readBeats(id)).toEqual([]);
  });

  test("without a status is up; a failure without a message gets a default message", async () => {
    const { report, readMonitor, id } = await setUpWaiting();
    await report();
    expect(await readMonitor(id)).toMatchObject({
      status: "up",
      lastMessage: "Reported up.",
      latencyMs: null,
    });
    await report({ status: "down", msg: "" });
    expect(await readMonitor(id)).toMatchObject({ status: "down", lastMessage: "Reported down." });
  });

  test("needs no key, and is accepted before the engine knows the monitor", async () => {
    const { createJob, stranger, readStatus } = await createWatch();
    const { id, path } = await createJob();
    const { status, json } = await stranger("POST", path);
    expect([status, json]).toEqual([200, { ok: true }]);
    expect(await readStatus(id)).toBe("up");
  });

  test("above the latency threshold is degraded", async () => {
    const { report, readMonitor, id } = await setUpWaiting({ degradedAfterMs: 500 });
    await report({ latency_ms: "500" });
    expect((await readMonitor(id)).status).toBe("up");
    await report({ latency_ms: "501" });
    expect(await readMonitor(id)).toMatchObject({
      status: "degraded",
      lastMessage: "Answered in 501 ms, more than 500 ms.",
    });
  });

  test("of a failure counts as one failed check, subject to the retries", async () => {
    const { report, readStatus, id } = await setUpWaiting({ retries: 2 });
    await report();
    for (const expected of ["up", "up", "down"]) {
      await report({ status: "down" });
      expect(await readStatus(id)).toBe(expected);
    }
    await report();
    expect(await readStatus(id)).toBe("up");
  });

  test("is confirmed only after it is stored; while storage fails, the response is 503 and the report is queued", async () => {
    const { report, database, readStatus, readBeats, readStateChanges, id } = await setUpWaiting();
    await report();
    database.run("PRAGMA query_only = ON");
    const { status, json, headers } = await report({ status: "down" });
    expect([status, json.error.code]).toEqual([503, "UNAVAILABLE"]);
    expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(await readStatus(id)).toBe("up");
    database.run("PRAGMA query_only = OFF");
    expect((await report({ status: "down" })).status).toBe(200);
    expect((await readBeats(id)).map((beat) => beat.status)).toEqual(["up", "down", "down"]);
    expect((await readStateChanges()).map(({ type }) => type)).toEqual([
      "monitor.up",
      "monitor.down",
    ]);
  });

  test("is rejected while the disk is full, even if it reverses the previous one", async () => {
    const { report, database } = await setUpWaiting();
    database.run("PRAGMA query_only = ON");
    for (const status of ["up", "down", "up"]) expect((await report({ status })).status).toBe(503);
  });

  test("in a burst is stored like any other and changes the state", async () => {
    const { report, readBeats, readStateChanges, id } = await setUpWaiting();
    const statuses = ["down", "up", "down", "up", "up", "down"];
    const responses = await Promise.all(statuses.map((status) => report({ status })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const heartbeats = await readBeats(id);
    expect(heartbeats.map(({ status }) => status).toSorted()).toEqual(statuses.toSorted());
    expect(new Set(heartbeats.map(({ at }) => at)).size).toBe(statuses.length);
    const after = (await readStateChanges()).map(({ type }) => type);
    expect(after.every((type, index) => type !== after[index - 1])).toBe(true);
  });

  test("during a pause of the monitor or its group is accepted but not stored, as the response says", async () => {
    const world = await setUpWaiting();
    const { report, changeMonitor, group, pauseGroup, engine, id } = world;
    const { id: groupId } = await group({ monitorIds: [id] });
    const expectNothingStored = async () => {
      const before = dumpTables(world);
      const { status, json } = await report({ status: "down" });
      expect([status, json]).toEqual([200, { ok: true, paused: true }]);
      expect(dumpTables(world)).toBe(before);
    };
    await changeMonitor(id, { paused: true });
    await engine.runOnce();
    await expectNothingStored();
    await changeMonitor(id, { paused: false });
    await pauseGroup(groupId, true);
    await engine.runOnce();
    await expectNothingStored();
    await pauseGroup(groupId, false);
    await engine.runOnce();
    expect((await report()).json).toEqual({ ok: true });
  });
});

describe("silence", () => {
  test("longer than interval and grace is down immediately, without retries, and reported once", async () => {
    const { report, advance, readMonitor, readStatus, readStateChanges, id } = await setUpWaiting({
      interval: 60,
      grace: 30,
      retries: 5,
    });
    await report();
    await advance(89);
    expect(await readStatus(id)).toBe("up");
    await advance(1);
    expect(await readMonitor(id)).toMatchObject({
      status: "down",
      lastMessage: "Nothing was reported for 1 min 30 s.",
    });
    await advance(300);
    await report();
    expect((await readStateChanges()).map(({ type }) => type)).toEqual([
      "monitor.up",
      "monitor.down",
      "monitor.up",
    ]);
  });

  test("keeps an inverted monitor up; a report makes it down", async () => {
    const { report, advance, readMonitor, id } = await setUpWaiting({
      interval: 20,
      grace: 0,
      retries: 0,
      inverted: true,
    });
    await advance(20);
    expect(await readMonitor(id)).toMatchObject({
      status: "up",
      lastMessage: "Fails, as expected: Nothing was reported for 20 s.",
    });
    await report({ msg: "stuck" });
    expect(await readMonitor(id)).toMatchObject({
      status: "down",
      lastMessage: "Expected to fail, but did not: stuck",
    });
    await report({ status: "down" });
    expect(await readMonitor(id)).toMatchObject({ status: "up" });
  });

  test("since creation is down after interval and grace, too", async () => {
    const { advance, readStatus, id } = await setUpWaiting({ interval: 20, grace: 0 });
    await advance(19);
    expect(await readStatus(id)).toBe("pending");
    await advance(1);
    expect(await readStatus(id)).toBe("down");
  });

  test("within the grace period is up, report after report", async () => {
    const { report, advance, readStateChanges } = await setUpWaiting({ interval: 20, grace: 10 });
    for (let time = 0; time < 5; time++) {
      await advance(29);
      await report();
    }
    expect((await readStateChanges()).map(({ type }) => type)).toEqual(["monitor.up"]);
  });

  test("during a stall of the appliance is unknown, and a report after it is in time", async () => {
    const { report, engine, time, readBeats, readStatus, id } = await setUpWaiting({
      interval: 20,
      grace: 0,
    });
    await report();
    time.now += 60_000;
    await engine.runOnce();
    expect((await readBeats(id)).map(({ status }) => status)).toEqual(["up", "unknown"]);
    await report();
    expect(await readStatus(id)).toBe("up");
  });
});

describe("a wrong token", () => {
  test("returns 404, or 429 with Retry-After above 60 per minute; valid tokens are still accepted", async () => {
    const { stranger, report, time } = await setUpWaiting();
    const guess = (index: number) => stranger("GET", `/push/${index}`);
    for (let index = 0; index < 60; index++) expect((await guess(index)).status).toBe(404);
    const { status, headers, json } = await guess(60);
    expect([status, json.error.code]).toEqual([429, "RATE_LIMITED"]);
    expect(headers.get("retry-after")).toBe("60");
    expect((await report()).json).toEqual({ ok: true });
    time.now += 60_000;
    expect((await guess(61)).status).toBe(404);
  });

  test("is limited per client address and gets the response of an unknown path", async () => {
    const addressOf = (request: Request) => request.headers.get("x-from") ?? "";
    const { stranger } = await testAppliance({ addressOf });
    const from = (address: string) =>
      stranger("POST", "/push/wrong", { headers: { "X-From": address } });
    for (let index = 0; index < 60; index++) await from("10.0.0.1");
    expect((await from("10.0.0.1")).status).toBe(429);
    const { status, json } = await from("10.0.0.2");
    const { error } = (await stranger("GET", "/nothing")).json;
    expect(status).toBe(404);
    expect({ ...json.error, requestId: "" }).toEqual({ ...error, requestId: "" });
  });

  test("includes the token of a deleted monitor", async () => {
    const { api, report, id } = await setUpWaiting();
    await api("DELETE", `/api/v1/monitors/${id}`);
    expect((await report()).status).toBe(404);
  });
});

describe("the example of docs/monitors.md", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../../docs/monitors.md")).text();
  const section = text.split("## Push: jobs that report in\n")[1]?.split("\n## ")[0] ?? "";
  const [, script = ""] = /```sh\n(#!\/bin\/sh\n[^]*?)```/.exec(section) ?? [];

  test.each([
    [0, /^status=up&latency_ms=\d+$/],
    [1, /^status=down&msg=Disk(%20|\+)full%21$/],
  ])(
    "reports a job that ends with %p, and repeats a report that was not accepted",
    async (code, body) => {
      let tries = 0;
      await using server = await startTarget((response) =>
        replyWith(tries++ === 0 ? 503 : 200)(response),
      );
      const job = join(newDirectory(), "backup");
      writeFileSync(job, `#!/bin/sh\necho 'Disk full!'\nexit ${code}\n`);
      chmodSync(job, 0o755);
      const filled = script
        .replace("http://signalbox.lan:3210/push/TOKEN", server.at("/push/TOKEN"))
        .replace("/usr/local/bin/backup", job);
      expect(await Bun.spawn(["sh", "-c", filled]).exited).toBe(0);
      const requests = server.asked.map(({ method, path, body }) => ({ method, path, body }));
      const expected = { method: "POST", path: "/push/TOKEN", body: expect.stringMatching(body) };
      expect(requests).toEqual([expected, expected]);
    },
  );

  test("has a line for cron and a unit for OnFailure=", () => {
    expect(section).toMatch(/^# crontab -e\n15 3 \* \* \* \S+$/m);
    expect(section).toMatch(/^OnFailure=backup-failed\.service$/m);
    expect(section).toMatch(
      /^# \S+\/backup-failed\.service\n\[Service\]\n(.*\n)*.*-d status=down/m,
    );
  });
});
