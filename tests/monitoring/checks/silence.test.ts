import { describe, expect, test } from "bun:test";
import type { ReportKind } from "../../../src/core/statuses.ts";
import type { Job } from "../../../src/monitoring/jobs/schema.ts";
import { createReport } from "../../../src/monitoring/jobs/report-rules.ts";
import { sha256 } from "../../../src/core/ids.ts";
import { CheckEngine } from "../../../src/monitoring/checks/engine/check-engine.ts";
import { createWatch } from "../../support/check-board.ts";

/** A job that reports every minute, with a minute of grace, and an engine with test clocks and a test machine. */
async function createWatched(fields: object = {}) {
  const watch = await createWatch();
  const job = await watch.createJob({ interval: 60, grace: 60, ...fields });
  const time = { wall: watch.time.now, monotonic: 0 };
  const machine = { families: new Set(["IPv4"] as const), hasHandles: true };
  const createEngine = () =>
    new CheckEngine({
      ...watch.appliance,
      clock: () => time.wall,
      monotonic: () => time.monotonic,
      machine: { network: () => machine.families, hasHandles: () => machine.hasHandles },
    });
  let engine = createEngine();
  await engine.runOnce();
  const advance = async (seconds: number) => {
    for (let elapsed = 0; elapsed < seconds * 1000; elapsed += 250) {
      time.wall += 250;
      time.monotonic += 250;
      await engine.runOnce();
    }
  };
  const report = (kind: ReportKind = "success") =>
    engine.report(sha256(job.path.slice("/push/".length)), createReport(kind));
  await advance(1);
  await report();
  return {
    ...watch,
    time,
    machine,
    engine,
    advance,
    report,
    restart: () => (engine = createEngine()).runOnce(),
    read: async (): Promise<Job> => {
      watch.time.now = time.wall;
      return (await watch.api("GET", `/api/v1/monitors/${job.id}/job`)).json.data;
    },
    state: async () => (await watch.readMonitor(job.id)).status as string,
    unknown: async () =>
      (await watch.readBeats(job.id)).flatMap(({ status, message }) =>
        status === "unknown" ? [message] : [],
      ),
    wentDown: async () =>
      (await watch.readStateChanges()).filter(({ type }) => type === "monitor.down").length,
  };
}

type WatchedJob = Awaited<ReturnType<typeof createWatched>>;

/** Interruptions that prevent reports, as the engine sees them. */
const interruptions: Record<string, (job: WatchedJob, seconds: number) => Promise<void>> = {
  "a process that was stopped": async ({ time, engine }, seconds) => {
    time.wall += seconds * 1000;
    time.monotonic += seconds * 1000;
    await engine.runOnce();
  },
  "a machine that slept, with a stopped monotonic clock": async ({ time, engine }, seconds) => {
    time.wall += seconds * 1000;
    await engine.runOnce();
  },
  "a network outage": async ({ machine, advance }, seconds) => {
    machine.families = new Set();
    await advance(seconds);
    machine.families = new Set(["IPv4"]);
    await advance(0.25);
  },
  "a file table that was full": async ({ machine, advance }, seconds) => {
    machine.hasHandles = false;
    await advance(seconds);
    machine.hasHandles = true;
    await advance(0.25);
  },
};

describe("silence during an interruption", () => {
  for (const [name, interrupt] of Object.entries(interruptions))
    for (const [when, before] of [
      ["right after a report", 1],
      ["in the middle of a window", 60],
      ["at its end", 118],
    ] as const)
      test(`after ${name}, ${when}: the window restarts, and silence counts from then on`, async () => {
        const job = await createWatched();
        await job.advance(before);
        await interrupt(job, 150);
        await job.advance(110);
        expect([await job.state(), await job.wentDown()]).toEqual(["up", 0]);
        await job.advance(30);
        expect([await job.state(), await job.wentDown()]).toEqual(["down", 1]);
        await job.report();
        expect(await job.state()).toBe("up");
      });

  test("is unknown with its reason, and a report ends it", async () => {
    const job = await createWatched();
    job.machine.families = new Set();
    await job.advance(300);
    expect(await job.wentDown()).toBe(0);
    expect(new Set(await job.unknown())).toEqual(
      new Set(["Not judged: this machine had no network."]),
    );
    job.machine.families = new Set(["IPv4"]);
    await job.advance(10);
    await job.report();
    expect(await job.wentDown()).toBe(0);
    expect(await job.state()).toBe("up");
  });
});

test("on a machine that never had a network, silence of local jobs is judged", async () => {
  const watch = await createWatch();
  const job = await watch.createJob({ interval: 60, grace: 60 });
  const engine = new CheckEngine({
    ...watch.appliance,
    monotonic: () => watch.time.now,
    machine: { network: () => new Set(), hasHandles: () => true },
  });
  await engine.runOnce();
  for (let elapsed = 0; elapsed < 130_000; elapsed += 250) {
    watch.time.now += 250;
    await engine.runOnce();
  }
  expect((await watch.readMonitor(job.id)).status).toBe("down");
});

test("a clock that is set back, or a short stall, does not delay the outage", async () => {
  for (const step of ["back", "stall"]) {
    const job = await createWatched();
    await job.advance(60);
    if (step === "back") job.time.wall -= 3_600_000;
    else {
      job.time.wall += 1_000;
      job.time.monotonic += 1_000;
    }
    await job.advance(75);
    expect([step, await job.wentDown()]).toEqual([step, 1]);
  }
});

test("a clock that is set back makes a scheduled job late by its new time, and no sooner", async () => {
  // The clock starts at 10:00, and the job is due every quarter of an hour.
  const job = await createWatched({ schedule: "*/15 * * * *" });
  await job.advance(13 * 60);
  job.time.wall -= 10 * 60_000;
  await job.advance(5 * 60);
  expect(await job.wentDown()).toBe(0);
  await job.advance(8 * 60);
  expect(await job.wentDown()).toBe(1);
});

describe("a report that arrived while the clock was a year ahead", () => {
  const yearMs = 365 * 86_400_000;
  const jobs = {
    "with an interval": {},
    "with a schedule": { schedule: "* * * * *" },
  };

  for (const [name, fields] of Object.entries(jobs))
    for (const kind of ["success", "start"] as const)
      for (const isRestarted of [false, true])
        test(`delays no outage of a job ${name}: ${kind}${isRestarted ? ", and a restart" : ""}`, async () => {
          const job = await createWatched({ ...fields, maximumRunTime: 60 });
          job.time.wall += yearMs;
          await job.advance(1);
          await job.report(kind);
          job.time.wall -= yearMs;
          if (isRestarted) await job.restart();
          await job.advance(300);
          expect(await job.state()).toBe("down");
          const { overdueAt, reports } = await job.read();
          expect(Date.parse(overdueAt ?? String(reports[0]?.at)) - job.time.wall).toBeLessThan(
            180_000,
          );
          expect(Date.parse(String(reports[0]?.at))).toBeLessThanOrEqual(job.time.wall);
        });

  test("stays before the reports that follow, which are stored", async () => {
    const job = await createWatched();
    job.time.wall += yearMs;
    for (let count = 0; count < 100; count++) await job.report("log");
    job.time.wall -= yearMs;
    await job.advance(1);
    await job.report("failure");
    await job.advance(1);
    await job.report();
    const { reports } = await job.read();
    expect(reports.slice(0, 3).map(({ kind }) => kind)).toEqual(["success", "failure", "log"]);
    const times = reports.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((one, other) => other - one));
    expect(times[0]).toBe(job.time.wall);
  });
});

test("a restart does not forget that a job runs", async () => {
  const watch = await createWatch();
  const { id, path } = await watch.createJob({ interval: 86_400, maximumRunTime: 60 });
  await watch.engine.runOnce();
  await watch.stranger("GET", `${path.replace("push", "ping")}/start`);
  const { time } = watch;
  const restarted = new CheckEngine({ ...watch.appliance, monotonic: () => time.now });
  await restarted.runOnce();
  for (let elapsed = 0; elapsed < 70_000; elapsed += 250) {
    time.now += 250;
    await restarted.runOnce();
  }
  expect(await watch.readMonitor(id)).toMatchObject({
    status: "down",
    lastMessage: "It started, and did not finish within 1 min.",
  });
});
