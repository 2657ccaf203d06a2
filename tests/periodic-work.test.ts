/** Periodic work that concerns all organizations: one that fails or is large delays no other. */
import { expect, test } from "bun:test";

/** What each file with a timer does for organizations, and why one of them can't delay the others. */
const timers: Record<string, string> = {
  "src/alerting/deciding/engine.ts": "each in a write of its own after a failure: FairFollower",
  "src/alerting/sending/storage-alarm.ts": "sends alerts from memory, and writes nothing",
  "src/alerting/sources/mail/listener.ts": "of connections",
  "src/cli/support/service-manager.ts": "of the process",
  "src/core/outgoing/datagrams.ts": "of one check",
  "src/dashboard/live.ts": "of open pages",
  "src/database/rqlite/connection.ts": "of the connection",
  "src/events/reader.ts": "each follower has its own position; FairFollower sets events aside",
  "src/http/responses/event-stream.ts": "of open pages",
  "src/imports/reading/reader-process.ts": "of one import",
  "src/monitoring/maintenance/watch.ts":
    "each organization alone: recordOwnChanges, resumeDueMonitors",
  "src/operations/backups/scheduler.ts": "of the appliance",
  "src/operations/diagnostics/heartbeat.ts": "of the appliance",
  "src/operations/diagnostics/watch.ts": "of the appliance",
  "src/operations/metrics/event-loop.ts": "of the process",
  "src/operations/retention/service.ts": "removes rows by age, in portions, and decides nothing",
  "src/reports/mailer.ts": "each organization alone: addDeliveries",
  "src/status-pages/publishing/publisher.ts": "each page and each place alone",
  "src/status-pages/site/judgment-watch.ts": "one query, which writes nothing",
};

test("every file with a timer is listed with the reason why no organization delays another", async () => {
  const found: string[] = [];
  for (const path of new Bun.Glob("src/**/*.ts").scanSync("."))
    if (/\bsetInterval\(/.test((await Bun.file(path).text()).replaceAll(/\/\*\*?.*?\*\//gs, "")))
      found.push(path);
  expect(found.toSorted()).toEqual(Object.keys(timers));
});

test("alerting and notices write nothing for several organizations outside of FairFollower", async () => {
  const rounds = ["src/alerting/deciding", "src/status-pages/subscribers"];
  const writes: string[] = [];
  for (const folder of rounds)
    for (const path of new Bun.Glob(
      `${folder}/{timers,quiet-round,record-round,cases,engine,fan-out,digests}.ts`,
    ).scanSync("."))
      if (/\.atomic\(/.test(await Bun.file(path).text())) writes.push(path);
  expect(writes).toEqual([]);
});
