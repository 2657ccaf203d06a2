import { describe, expect, test } from "bun:test";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import { sweepResults } from "../../src/monitoring/uptime/retention.ts";
import { dumpTables, testAppliance, type TestAppliance } from "../support/appliance.ts";
import { copyFixture, inflateFixture, importKuma } from "../support/kuma-fixtures.ts";
import type { Json } from "../support/json.ts";
import { createScratch } from "../support/scratch-directories.ts";
import { createVisitor } from "../support/visitor.ts";

const newDirectory = createScratch();
const now = Date.parse("2026-11-22T06:00:00.000Z");
const dayMs = 86_400_000;
const files = ["kuma-1-acme.db", "kuma-2-acme-migrated.db", "kuma-2-acme.db"];

/** All stored rows, except the list of imports and the counter of result keys. */
const readStored = (appliance: TestAppliance) => {
  appliance.database.run("delete from imports");
  return dumpTables(appliance)
    .replace(/\["monitor_states",\d+\]/, "")
    .replace(/\["housekeeping".*?\]\]\]/, "");
};

async function sweep({ store, time }: TestAppliance, heartbeatDays: number) {
  await sweepResults(createSweeping(store, time.now), { heartbeatDays, hourDays: 400 });
}

describe("a repeated import adds no duplicate results", () => {
  const buildWhole = (file: string) => ({ file, from: () => inflateFixture(file) });
  /**
   * Results of other days than those of the fixture: an old copy, or monitors that were paused long
   * ago.
   */
  const buildOlder = (file: string, days: number) => ({
    file: `${file}, ${days} days older`,
    from: () =>
      copyFixture(
        file,
        newDirectory(),
        `update heartbeat set time = strftime('%Y-%m-%d %H:%M:%f', time, '-${days} days')`,
        ...(file.includes("kuma-2")
          ? ["stat_minutely", "stat_hourly", "stat_daily"].map(
              (table) => `update ${table} set timestamp = timestamp - ${days * 86_400}`,
            )
          : []),
      ),
  });
  const sources = [
    ...files.map(buildWhole),
    ...files.map((file) => buildOlder(file, 20)),
    ...files.map((file) => buildOlder(file, 500)),
    {
      file: "kuma-2-acme.db without results",
      from: () => copyFixture("kuma-2-acme.db", newDirectory(), "delete from heartbeat"),
    },
  ];
  test.each(sources)("from $file, however much retention removed", async ({ from }) => {
    const appliance = await testAppliance();
    appliance.time.now = now;
    const source = from();
    await importKuma(appliance.ours.scope, source);
    for (const [days, heartbeatDays] of [
      [0, 14],
      [0, 1],
      [15, 14],
      [40, 14],
      [300, 1],
    ] as const) {
      appliance.time.now = now + days * dayMs;
      await sweep(appliance, heartbeatDays);
      const before = readStored(appliance);
      const { report } = await importKuma(appliance.ours.scope, source);
      expect([days, heartbeatDays, report.history]).toEqual([
        days,
        heartbeatDays,
        { heartbeats: 0, hours: 0, days: 0 },
      ]);
      expect(readStored(appliance)).toBe(before);
    }
  });

  test("and adds the days that the source has measured since", async () => {
    const appliance = await testAppliance();
    appliance.time.now = now;
    const database = "kuma-2-acme.db";
    await importKuma(appliance.ours.scope, inflateFixture(database));
    appliance.time.now = now + 30 * dayMs;
    await sweep(appliance, 14);
    const sums = `from uptime_days d join monitor_states s on s.key = d.monitor_key
      join monitors m on m.id = s.monitor_id where m.name = 'Acme website'`;
    const readDays = () =>
      appliance.database.query(`select count(*) as n ${sums}`).get() as { n: number };
    const before = readDays().n;
    const later = Math.floor(now / dayMs) * 86_400 + 20 * 86_400;
    const changed = copyFixture(
      database,
      newDirectory(),
      `insert into stat_daily (monitor_id, timestamp, ping, up, down) values (6, ${later}, 20, 1430, 10)`,
      `insert into stat_hourly (monitor_id, timestamp, ping, up, down) values (6, ${later}, 20, 50, 10)`,
    );
    const { report } = await importKuma(appliance.ours.scope, changed);
    expect(report.history).toEqual({ heartbeats: 0, hours: 1, days: 1 });
    expect(readDays().n).toBe(before + 1);
  });
});

describe("figures of imported history are the same on every page", () => {
  test.each(files)("%s", async (file) => {
    const visitor = await createVisitor();
    visitor.time.now = now;
    await importKuma(visitor.ours.scope, inflateFixture(file));
    await visitor.restart();
    const { api } = visitor.ours;
    const months = ["2026-09", "2026-10", "2026-11"];
    const monitors = (await api("GET", "/api/v1/monitors?per_page=100")).json.data as Json[];
    const { sections } = (await visitor.readHtml("/status/acme-public.json")).json();
    const publicMonitors = new Map<string, Json>(
      sections.flatMap((section: Json) => section.monitors.map((one: Json) => [one.id, one])),
    );
    const reportRows = new Map<string, Json>();
    for (const month of months) {
      const { json } = await api("GET", `/api/v1/reports?month=${month}&timeZone=UTC`);
      for (const row of json.data.monitors as Json[]) reportRows.set(`${month} ${row.id}`, row);
    }
    let compared = 0;
    for (const { id, name } of monitors) {
      const rest = (await api("GET", `/api/v1/monitors/${id}/uptime`)).json.data;
      const days = rest.days as Json[];
      for (const month of months) {
        const ours = days.filter(({ date }) => date.startsWith(month));
        const row = reportRows.get(`${month} ${id}`);
        const sum = (field: string) => ours.reduce((total, day) => total + day[field], 0);
        for (const field of ["upSeconds", "downSeconds", "maintenanceSeconds"])
          expect([name, month, field, row?.[field] ?? 0]).toEqual([name, month, field, sum(field)]);
        compared += ours.length;
      }
      const publicMonitor = publicMonitors.get(id);
      if (publicMonitor === undefined) continue;
      for (const day of publicMonitor.days as Json[]) {
        const importedDay = days.find((one) => one.date === day.day);
        expect([name, day.day, day.downSeconds, day.uptime]).toEqual([
          name,
          day.day,
          importedDay?.downSeconds ?? 0,
          importedDay?.ratio ?? null,
        ]);
      }
    }
    expect(compared).toBeGreaterThan(100);
  });
});
