import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importBounds, defaultLimits } from "../../src/core/limits.ts";
import { openHere } from "../../src/imports/reading/open-here.ts";
import { openSource } from "../../src/imports/reading/open.ts";
import { runImport } from "../../src/imports/service.ts";
import { listImports } from "../../src/imports/undo-service.ts";
import { dumpTables, testAppliance } from "../support/appliance.ts";
import { writeEndlessTable, writeEndlessSchema } from "../support/hostile-sqlite.ts";
import { copyFixture, inflateFixture } from "../support/kuma-fixtures.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.parse("2026-11-22T06:00:00.000Z");

type Bounds = Parameters<typeof openSource>[2]["readingBounds"];
const usual = { now, variables: {}, limits: defaultLimits, readsNamedFiles: false };
const open = (file: string, workIn: string, readingBounds: Bounds = {}) =>
  openSource("uptime-kuma", file, { workIn, ...usual, readingBounds });
/** Opens a file that can be read in this process, which is cheaper. */
const openFile = (file: string, workIn: string) =>
  openHere("uptime-kuma", file, { workIn, ...usual });

/** Message of the rejected promise; fails if it resolves. */
async function readRejection(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => "It was not rejected.",
    (reason) => reason,
  );
  return error instanceof Error ? error.message : String(error);
}

function readBackup(monitors: readonly object[], more: object = {}): string {
  const file = join(newDirectory(), "backup.json");
  const whole = { version: "1.23.16", notificationList: [], monitorList: monitors, ...more };
  writeFileSync(file, JSON.stringify(whole));
  return file;
}
const monitorsOf = (count: number, more: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    name: `Shop ${index + 1}`,
    type: "http",
    url: "https://shop.example/",
    interval: 60,
    active: 1,
    ...more(index),
  }));
/** Each group is in the previous one. */
const buildNested = (count: number) =>
  monitorsOf(count, (index) => ({ type: "group", parent: index === 0 ? null : index }));

const applyChange = (change: (file: string) => void, ...statements: string[]) => {
  const file = copyFixture("kuma-2-acme.db", newDirectory(), ...statements);
  change(file);
  return file;
};

describe("a file that takes too long or too much memory is rejected with its reason, and nothing is left:", () => {
  const { records, links, groupNesting } = importBounds;
  const cases: [what: string, make: () => string, why: RegExp, bounds?: Bounds][] = [
    [
      "rows of a table whose pages contain each other",
      () => applyChange((file) => writeEndlessTable(file, "tag", { levels: 3, rows: 300 })),
      /has more than 10,000 records, counted up to its table tag\. Nothing was changed/,
    ],
    [
      "rows that connect records",
      () => applyChange((file) => writeEndlessTable(file, "monitor_tag", { levels: 3, rows: 300 })),
      /its table monitor_tag has more than 200,000 rows/,
    ],
    [
      "an endless list of tables",
      () => applyChange(writeEndlessSchema),
      /reading it takes longer than 1 s\. Nothing was changed/,
      { seconds: 1 },
    ],
    [
      "an endless list of tables, limited by memory",
      () => applyChange(writeEndlessSchema),
      /reading it takes more than 1 bytes of memory\. Nothing was changed/,
      { memoryBytes: 1 },
    ],
    [
      "text",
      () =>
        readBackup(
          monitorsOf(1_200, () => ({
            method: "POST",
            body: "x".repeat(30_000),
          })),
        ),
      /its records have more than 33\.6 MB together/,
    ],
  ];
  test.each(cases)("%s", async (...[, make, why, bounds]) => {
    const workIn = newDirectory();
    expect(await readRejection(open(make(), workIn, bounds))).toMatch(why);
    expect(readdirSync(workIn)).toEqual([]);
  });

  const finite: [what: string, make: () => string, why: RegExp][] = [
    ["monitors", () => readBackup(monitorsOf(records.value + 1)), /has more than 10,000 records/],
    [
      "tags",
      () =>
        readBackup(
          monitorsOf(100, () => ({
            tags: Array.from({ length: links.value / 100 + 1 }, () => ({ name: "a", value: "" })),
          })),
        ),
      /its table monitor_tag has more than 200,000 rows/,
    ],
    [
      "notifications",
      () =>
        readBackup([], {
          notificationList: Array.from({ length: records.value + 1 }, (_, id) => ({ id })),
        }),
      /has more than 10,000 records/,
    ],
    [
      "groups within groups",
      () => readBackup(buildNested(records.value)),
      RegExp(`groups are nested deeper than ${groupNesting.value} levels`),
    ],
  ];
  test.each(finite)("%s", async (...[, make, why]) => {
    const workIn = newDirectory();
    expect(await readRejection(openFile(make(), workIn))).toMatch(why);
    expect(readdirSync(workIn)).toEqual([]);
  });

  const withHistory: [what: string, seconds: number, make: () => string, why: RegExp][] = [
    [
      "results whose pages contain each other",
      120,
      () => applyChange((file) => writeEndlessTable(file, "heartbeat", { levels: 5 })),
      /is damaged \(ids of heartbeat do not rise\)/,
    ],
    [
      "results that are all too old",
      1,
      () =>
        applyChange(
          (file) => writeEndlessTable(file, "heartbeat", { levels: 5 }),
          "update heartbeat set time = '1999-01-01 00:00:00'",
        ),
      /reading it takes longer than 1 s/,
    ],
    [
      "sums whose pages contain each other",
      120,
      () => applyChange((file) => writeEndlessTable(file, "stat_daily", { levels: 5 })),
      /is damaged \(ids of stat_daily do not rise\)/,
    ],
  ];
  test.each(withHistory)("%s", async (_what, seconds, make, why) => {
    const appliance = await testAppliance();
    appliance.time.now = now;
    const { scope } = appliance.ours;
    const workIn = newDirectory();
    // Opening has more time, because on a busy machine it alone can take some seconds.
    const bounds = { seconds: 120 };
    const { plan, history, close } = await open(make(), workIn, bounds);
    bounds.seconds = seconds;
    const run = runImport(scope, plan, history, { keepResults: 14, keepHours: 400 });
    expect(await readRejection(run)).toMatch(why);
    await close?.();
    expect(appliance.database.query("select * from monitors").all()).toEqual([]);
    expect(appliance.database.query("select * from imports").all()).toEqual([]);
    expect(readdirSync(workIn)).toEqual([]);
  });
});

test("a file whose reading process is killed is rejected", async () => {
  const { history, close } = await open(inflateFixture("kuma-2-acme.db"), newDirectory());
  await close?.();
  const readHeartbeats = async () => {
    for await (const _some of history?.beats(0) ?? []);
  };
  expect(await readRejection(readHeartbeats())).toEndWith(
    "the process that read it failed. Nothing was changed.",
  );
});

test("a reading process yields the same plan and history as reading in place", async () => {
  for (const name of ["kuma-1-acme.db", "kuma-2-acme.db", "kuma-1-acme.json"]) {
    const [one, other] = [
      await open(inflateFixture(name), newDirectory()),
      await openHere("uptime-kuma", inflateFixture(name), { workIn: newDirectory(), ...usual }),
    ];
    expect(one.plan).toEqual(JSON.parse(JSON.stringify(other.plan)));
    const listAll = async ({ history }: typeof one) => {
      const lists = [];
      for await (const some of history?.beats(0) ?? []) lists.push(...some);
      for (const unit of ["hours", "days"] as const)
        for await (const some of history?.sums?.(unit) ?? []) lists.push(...some);
      return lists;
    };
    expect(await listAll(one)).toEqual(await listAll(other));
    await one.close?.();
    await other.close?.();
  }
});

test("nested groups become one group each, named by their full path, up to 50 levels", async () => {
  const { plan, close } = await openFile(readBackup(buildNested(50)), newDirectory());
  await close?.();
  expect(plan.records).toHaveLength(50);
  expect(plan.records.map(({ name }) => name)).toContain("Shop 1 / Shop 2 / Shop 3");
});

test("a circle of groups is cut where it closes", async () => {
  const circle = monitorsOf(3, (index) => ({ type: "group", parent: ((index + 1) % 3) + 1 }));
  const { plan, close } = await openFile(readBackup(circle), newDirectory());
  await close?.();
  expect(plan.records.map(({ name }) => name)).toContain("Shop 3 / Shop 2 / Shop 1");
});

test("more records than the organization can have are named in a preview, and rejected before any write", async () => {
  const appliance = await testAppliance();
  appliance.time.now = now;
  const { limits, ...others } = appliance.ours.scope;
  const scope = { ...others, limits: { ...limits, monitors: 3 } };
  const before = dumpTables(appliance);
  const { plan, close } = await openFile(readBackup(monitorsOf(4)), newDirectory());
  await close?.();
  const options = { keepResults: 14, keepHours: 400 };
  const sentence = "Monitors: 4 of the file, where this organization can have 3. Choose fewer.";
  const { report } = await runImport(scope, plan, null, { ...options, dryRun: true });
  expect(report.hints).toContain(sentence);
  expect(await readRejection(runImport(scope, plan, null, options))).toBe(sentence);
  expect(dumpTables(appliance)).toBe(before);
  const only = new Set(["monitor:1", "monitor:2", "monitor:3"]);
  const chosen = await runImport(scope, plan, null, { ...options, only });
  expect(chosen.report.items).toHaveLength(3);
});

test("a stored report has a limited number of notes, and all its records", async () => {
  const appliance = await testAppliance();
  appliance.time.now = now;
  const { scope } = appliance.ours;
  const note = "x".repeat(importBounds.storedNotes.value / 2);
  const { plan, close } = await openFile(readBackup(monitorsOf(4)), newDirectory());
  await close?.();
  for (const record of plan.records) record.notes.push(note);
  const { report } = await runImport(scope, plan, null, { keepResults: 14, keepHours: 400 });
  expect(report.items.filter(({ notes }) => notes.includes(note))).toHaveLength(4);
  const [run] = await listImports(scope);
  expect(run?.report?.items).toHaveLength(4);
  expect(run?.report?.items.filter(({ notes }) => notes.includes(note)).length).toBeLessThan(3);
});

describe("an incomplete log of a database is rejected:", () => {
  /** A database with its log, as they are while Uptime Kuma runs. */
  function copyWithLog(change: (log: Buffer) => Buffer): string {
    const folder = newDirectory();
    copyFixture("kuma-2-acme.db", folder, "pragma journal_mode = wal");
    const file = join(folder, "kuma.db");
    const database = new Database(file);
    for (const name of ["one", "two", "three"])
      database.run("update monitor set name = ? where id = 6", [name]);
    const copy = newDirectory();
    copyFileSync(file, join(copy, "kuma.db"));
    const log = readFileSync(`${file}-wal`);
    writeFileSync(join(copy, "kuma.db-wal"), change(log));
    database.close();
    return copy;
  }
  const frame = 24 + 4_096;
  const cases: [what: string, change: (log: Buffer) => Buffer, why: RegExp][] = [
    ["cut within a page", (log) => log.subarray(0, log.length - 100), /kuma\.db-wal .*is cut off/],
    ["cut within its header", (log) => log.subarray(0, 20), /is cut off/],
    ["with zeros at its start", (log) => log.fill(0, 0, 32), /header is damaged/],
    ["with a damaged header", (log) => log.fill(1, 17, 18), /header is damaged/],
    ["damaged in a page", (log) => log.fill(7, 32 + 500, 32 + 700), /damaged near byte 32/],
    [
      "damaged between pages",
      (log) => log.fill(7, 32 + frame, 32 + frame + 24),
      /damaged near byte/,
    ],
    ["damaged in its last page", (log) => log.fill(7, log.length - 200), /damaged near byte/],
  ];
  test.each(cases)("%s", async (_what, change, why) => {
    const message = await readRejection(openFile(copyWithLog(change), newDirectory()));
    expect(message).toMatch(why);
    expect(message).toEndWith(
      "Stop Uptime Kuma, and copy its whole data directory again. Nothing was changed.",
    );
  });

  test("a complete log is read, also with pages of an earlier log after its own", async () => {
    const folder = newDirectory();
    copyFixture("kuma-2-acme.db", folder, "pragma journal_mode = wal");
    const file = join(folder, "kuma.db");
    const database = new Database(file);
    for (let count = 0; count < 30; count++)
      database.run("update monitor set description = ?", ["x".repeat(count * 20)]);
    database.run("pragma wal_checkpoint(restart)");
    database.run("update monitor set name = 'From the log' where id = 6");
    const copy = newDirectory();
    for (const end of ["", "-wal"]) copyFileSync(`${file}${end}`, join(copy, `kuma.db${end}`));
    database.close();
    const { plan, close } = await openFile(copy, newDirectory());
    await close?.();
    expect(plan.records.map(({ name }) => name)).toContain("From the log");
  });

  test("an empty log is ignored", async () => {
    const folder = copyWithLog((log) => log);
    truncateSync(join(folder, "kuma.db-wal"), 0);
    const { plan, close } = await openFile(folder, newDirectory());
    await close?.();
    expect(plan.hints.join()).toContain("has no log");
  });
});
