import { soleNode } from "../../../src/cluster/leases.ts";
import { describe, expect, test } from "bun:test";
import { clusterTables } from "../../../src/database/backup/content.ts";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { logFormats } from "../../../src/core/log.ts";
import { configured, growingTables } from "../../docs/growth.ts";
import { dayMs, hourMs, formatTimestamp } from "../../../src/core/time/clock.ts";
import * as accounts from "../../../src/database/tables/accounts.ts";
import * as alertSources from "../../../src/database/tables/alert-sources.ts";
import * as alerting from "../../../src/database/tables/alerting.ts";
import * as log from "../../../src/database/tables/events.ts";
import * as monitoring from "../../../src/database/tables/monitoring.ts";
import * as statusPages from "../../../src/database/tables/status-pages.ts";
import { Housekeeping } from "../../../src/operations/retention/service.ts";
import { testAppliance } from "../../support/appliance.ts";

const retention = { results: 14, hours: 400, audit: 400 };
const minute = 60_000;

/** An appliance whose housekeeping the test runs, and rows of any table. */
async function createHousekeepingWorld() {
  const appliance = await testAppliance();
  const { database, store, time, alerts, logged } = appliance;
  const clock = () => time.now;
  const logger = appliance.appliance.log;
  const readUpTo = async () => {
    await alerts.save();
    return Number.MAX_SAFE_INTEGER;
  };
  const buildJob = () =>
    new Housekeeping({ store, clock, leases: soleNode, log: logger, retention, readUpTo });
  // The rows have no parent records here.
  database.run("PRAGMA foreign_keys = OFF");
  database.run(
    "INSERT INTO followers (name, seq, version) VALUES ('alerting', 1000000, 1), ('subscribers', 1000000, 1)",
  );
  time.now = Date.UTC(2029, 10, 20);
  database.run("DELETE FROM events");
  database.run("DELETE FROM audit_entries");
  for (const name of ["believed", "seen"])
    database.run("INSERT INTO housekeeping (name, value) VALUES (?, ?)", [name, time.now]);
  let world = 0;

  /** Inserts a row with these values and minimal values for all other columns. */
  function put(table: SQLiteTable, values: Record<string, string | number | null>) {
    const columns = Object.values(getTableColumns(table)) as SQLiteColumn[];
    const filledColumns = columns.filter(
      ({ name, notNull, primary }) =>
        name in values ||
        (notNull && !(primary && table !== monitoring.removedMonitors && name === "seq")),
    );
    const valueOf = ({ name, enumValues, dataType }: SQLiteColumn) =>
      name in values
        ? (values[name] ?? null)
        : (enumValues?.[0] ?? (dataType === "string" ? `${name} ${world}` : 0));
    world++;
    database
      .query(
        `INSERT INTO ${getTableName(table)} (${filledColumns.map(({ name }) => name).join(", ")})
         VALUES (${filledColumns.map(() => "?").join(", ")})`,
      )
      .run(...filledColumns.map(valueOf));
  }
  const count = (table: SQLiteTable) =>
    database
      .query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${getTableName(table)}`)
      .get()?.rows;
  return { ...appliance, put, count, run: () => buildJob().runOnce(), logged, buildJob };
}

const all = [accounts, alerting, alertSources, log, monitoring, statusPages].flatMap((tables) =>
  Object.values(tables).filter((value): value is SQLiteTable => is(value, SQLiteTable)),
);

/** The column with the age of a row, per table with a retention. Rows of a parent go with it. */
const dated: Record<
  string,
  [column: string, valueOf: (at: number) => string | number, more?: object]
> = {
  heartbeats: ["at", (at) => at, { monitor_key: 1 }],
  uptime_hours: ["hour", (at) => Math.floor(at / hourMs)],
  events: ["at", formatTimestamp, { type: "group.created" }],
  audit_entries: ["at", formatTimestamp],
  alerts: ["at", formatTimestamp],
  alert_records: ["resolved_at", formatTimestamp],
  alert_source_requests: ["at", formatTimestamp],
  deliveries: ["created_at", formatTimestamp, { due_at: null, status: "delivered" }],
  notices: ["at", formatTimestamp],
  idempotent_answers: ["created_at", formatTimestamp],
  held_changes: ["created_at", formatTimestamp, { state: "sent" }],
  screenshots: ["at", (at) => at],
  number_hours: ["hour", (at) => Math.floor(at / hourMs)],
};
const childTables = [
  "alert_acknowledgments",
  "alert_notifications",
  "alert_receipts",
  "alert_timeline",
  "delivery_alerts",
  "delivery_attempts",
];

const tablesByDays = growingTables.flatMap(({ content, tables, retention: days }) =>
  typeof days === "number" ? tables.map((name) => ({ content, name, days })) : [],
);

describe("tables that grow", () => {
  test("every table is bounded by people's records, or has a retention", async () => {
    const { database } = await testAppliance();
    const names = database
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith("sqlite_") && !clusterTables.includes(name));
    const listed = [...configured, ...growingTables].flatMap(({ tables }) => tables);
    expect([...new Set(listed)].toSorted()).toEqual(names.toSorted());
    expect(Object.keys(dated).concat(childTables).toSorted()).toEqual(
      [...new Set(tablesByDays.map(({ name }) => name))].toSorted(),
    );
  });

  for (const { content, name, days } of tablesByDays.filter(
    ({ content, name }) => name in dated && content !== "State changes of monitors",
  ))
    test(`${content}: rows of ${name} are retained for ${days} days`, async () => {
      const { put, count, run, time } = await createHousekeepingWorld();
      const table = all.find((one) => getTableName(one) === name) as SQLiteTable;
      const [column, valueOf, more = {}] = dated[name] ?? [];
      if (column === undefined || valueOf === undefined) throw new Error(`${name} has no date.`);
      if (name === "heartbeats") put(monitoring.monitorStates, { key: 1, status: "up" });
      const before = count(table) ?? 0;
      for (const age of [days * dayMs + 2 * hourMs, days * dayMs - 2 * hourMs, 0])
        put(table, { [column]: valueOf(time.now - age), ...more });
      await run();
      expect(count(table)).toBe(before + 2);
      time.now += dayMs;
      await run();
      expect(count(table)).toBe(before + 1);
    });

  test("state changes of a monitor are retained as long as its hourly sums", async () => {
    const { put, run, time, database } = await createHousekeepingWorld();
    const readSeen = () =>
      database
        .query<{ type: string }, []>("SELECT type FROM events WHERE subject_id = 'm' ORDER BY seq")
        .all()
        .map(({ type }) => type);
    const ages: [days: number, type: string][] = [
      [401, "monitor.down"],
      [399, "monitor.up"],
      [31, "monitor.updated"],
      [31, "monitor.paused"],
      [1, "monitor.resumed"],
      [0, "monitor.updated"],
    ];
    for (const [days, type] of ages)
      put(log.events, { at: formatTimestamp(time.now - days * dayMs), type, subject_id: "m" });
    await run();
    expect(readSeen()).toEqual([
      "monitor.up",
      "monitor.paused",
      "monitor.resumed",
      "monitor.updated",
    ]);
  });

  test("neither events that a follower has not read nor the newest event are removed", async () => {
    const { put, count, run, time, database } = await createHousekeepingWorld();
    for (let day = 0; day < 5; day++)
      put(log.events, {
        at: formatTimestamp(time.now - (90 - day) * dayMs),
        type: "group.created",
      });
    const [first] = database.query<{ seq: number }, []>("SELECT min(seq) AS seq FROM events").all();
    database.run("UPDATE followers SET seq = ? WHERE name = 'subscribers'", [
      (first?.seq ?? 0) + 1,
    ]);
    await run();
    expect(count(log.events)).toBe(3);
    database.run("DELETE FROM followers WHERE name = 'alerting'");
    time.now += dayMs;
    await run();
    expect(count(log.events)).toBe(3);
    database.run("INSERT INTO followers (name, seq, version) VALUES ('alerting', 1000000, 1)");
    database.run("UPDATE followers SET seq = 1000000");
    time.now += dayMs;
    await run();
    expect(count(log.events)).toBe(1);
  });

  test("revoked keys are removed with the audit log", async () => {
    const { put, count, run, time } = await createHousekeepingWorld();
    const before = count(accounts.apiKeys) ?? 0;
    put(accounts.apiKeys, { revoked_at: formatTimestamp(time.now - 401 * dayMs) });
    put(accounts.apiKeys, { revoked_at: formatTimestamp(time.now - 399 * dayMs) });
    await run();
    expect(count(accounts.apiKeys)).toBe(before + 1);
  });
});

describe("the daily run", () => {
  test("happens once a day", async () => {
    const { put, count, run, time } = await createHousekeepingWorld();
    await run();
    put(log.auditEntries, { at: formatTimestamp(time.now - 401 * dayMs) });
    const before = count(log.auditEntries);
    time.now += dayMs - minute;
    await run();
    expect(count(log.auditEntries)).toBe(before);
    time.now += minute;
    await run();
    expect(count(log.auditEntries)).toBe(0);
  });

  test("is repeated a minute after an interruption", async () => {
    const { put, count, time, buildJob } = await createHousekeepingWorld();
    for (let day = 0; day < 10; day++)
      put(log.auditEntries, { at: formatTimestamp(time.now - (420 - day) * dayMs) });
    const first = buildJob();
    const running = first.runOnce();
    await first.stop();
    await running;
    expect(count(log.auditEntries)).toBe(10);
    time.now += minute;
    await buildJob().runOnce();
    expect(count(log.auditEntries)).toBe(0);
  });
});

describe("a wrong clock", () => {
  /** A row from today in every table with a retention. */
  async function createToday() {
    const world = await createHousekeepingWorld();
    await world.run();
    world.put(monitoring.monitorStates, { key: 1, status: "up" });
    for (const [name, [column, valueOf, more]] of Object.entries(dated))
      world.put(all.find((one) => getTableName(one) === name) as SQLiteTable, {
        [column]: valueOf(world.time.now - minute),
        ...more,
      });
    world.put(accounts.sessions, {
      last_seen_at: formatTimestamp(world.time.now),
      created_at: formatTimestamp(world.time.now),
    });
    world.put(accounts.invitations, { expires_at: formatTimestamp(world.time.now + dayMs) });
    const buildRows = () =>
      [...Object.keys(dated), "sessions", "invitations"].map((name) =>
        world.count(all.find((one) => getTableName(one) === name) as SQLiteTable),
      );
    return { ...world, buildRows };
  }

  test("that is five years ahead for two days removes nothing, and is logged once", async () => {
    const { buildRows, run, time, logged } = await createToday();
    const before = buildRows();
    const right = time.now;
    time.now += 5 * 365 * dayMs;
    for (let hour = 0; hour < 48; hour++) {
      await run();
      time.now += hourMs;
    }
    expect(buildRows()).toEqual(before);
    expect(logged.filter((line) => line.includes("clock jumped"))).toHaveLength(logFormats.length);
    time.now = right + 2 * dayMs;
    await run();
    expect(buildRows().slice(0, 5)).toEqual(before.slice(0, 5));
  });

  test("that jumps 500 days ahead before the first run of a new appliance removes nothing", async () => {
    const { buildJob, buildRows, database, put, time } = await createToday();
    database.run("DELETE FROM housekeeping");
    const job = buildJob();
    time.now += 500 * dayMs;
    // Results and events of the seconds after the jump have its time.
    database.run("UPDATE monitor_states SET last_checked_at = ?", [formatTimestamp(time.now)]);
    put(log.events, { at: formatTimestamp(time.now), type: "group.created" });
    const before = buildRows();
    await job.runOnce();
    expect(buildRows()).toEqual(before);
  });

  test("is trusted after three days, but not if it keeps jumping", async () => {
    const { count, run, time } = await createToday();
    const before = count(monitoring.heartbeats);
    for (let jump = 0; jump < 5; jump++) {
      time.now += 2 * 365 * dayMs;
      await run();
      time.now += 2 * dayMs;
      await run();
    }
    expect(count(monitoring.heartbeats)).toBe(before);
    time.now += dayMs;
    await run();
    expect(count(monitoring.heartbeats)).toBe((before ?? 0) - 1);
  });

  test("that is years behind and then right again removes no recent rows", async () => {
    const { buildRows, put, run, time } = await createToday();
    const right = time.now;
    time.now = Date.UTC(1970, 0, 1);
    await run();
    put(log.auditEntries, { at: formatTimestamp(time.now) });
    put(log.events, { at: formatTimestamp(time.now), type: "group.created" });
    const before = buildRows();
    for (time.now = right; time.now < right + 5 * dayMs; time.now += dayMs / 2) {
      await run();
      put(log.auditEntries, { at: formatTimestamp(time.now) });
    }
    const [, , events, audit] = buildRows();
    expect([events, audit]).toEqual([before[2], (before[3] ?? 0) + 10]);
  });

  test("leaves misdated entries until the entries after them are removed", async () => {
    const { put, count, run, time } = await createHousekeepingWorld();
    await run();
    const at = (ms: number) => put(log.auditEntries, { at: formatTimestamp(ms) });
    const start = time.now;
    at(start);
    for (let index = 0; index < 1_500; index++) at(start + 5 * 365 * dayMs + index);
    at(Date.UTC(1970, 0));
    at(start + dayMs);
    for (let days = 1; days <= 400; days++) {
      time.now = start + days * dayMs;
      if (days % 2 === 0 || days > 397) await run();
    }
    time.now = start + 400 * dayMs + 2 * hourMs;
    await run();
    const left = count(log.auditEntries) ?? 0;
    expect(left).toBeGreaterThanOrEqual(1_502);
    time.now = start + 402 * dayMs;
    await run();
    expect(count(log.auditEntries)).toBe(0);
  });
});
