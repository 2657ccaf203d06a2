import { dayMs, hourMs } from "../../../src/core/time/clock.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bucketOf } from "../../../src/core/collections/percentiles.ts";
import { addSums, computeRatio, type Sums } from "../../../src/monitoring/uptime/rules.ts";
import { HeartbeatStatus } from "../../../src/monitoring/uptime/schema.ts";
import {
  type HeartbeatRow,
  insertHeartbeats,
  listHeartbeats,
  listPoints,
  listSums,
  sumHours,
  computeUptime24h,
} from "../../../src/monitoring/uptime/store.ts";
import { createMigratedStore } from "../../support/engines.ts";

async function createResultWorld() {
  const { store, database } = await createMigratedStore();
  /** Stores heartbeats as the recorder does, several per write. */
  const write = async (rows: readonly HeartbeatRow[], inOneWrite = 1_000) => {
    for (let at = 0; at < rows.length; at += inOneWrite)
      await store.atomic(insertHeartbeats(rows.slice(at, at + inOneWrite)));
  };
  return { database, store, write };
}

const keys = [1, 2, 7];
const start = Date.parse("2026-11-19T21:30:00.000Z");

const buildBeat = (row: Partial<HeartbeatRow> = {}): HeartbeatRow => ({
  monitorKey: 1,
  at: start,
  status: "up",
  latencyMs: 34,
  seconds: 60,
  message: null,
  number: null,
  ...row,
});

/** Random gap between two checks: seconds or minutes, at times hours or days. */
const gapMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 300_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 * hourMs }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 * dayMs }) },
  { weight: 1, arbitrary: fc.constantFrom(hourMs, dayMs) },
);
const stream = fc
  .array(
    fc.record({
      monitorKey: fc.constantFrom(...keys),
      gapMs,
      status: fc.constantFrom(...HeartbeatStatus.options),
      latencyMs: fc.option(fc.integer({ min: 0, max: 120_000 }), { nil: null }),
      seconds: fc.integer({ min: 1, max: 86_400 }),
      number: fc.option(fc.integer({ min: -1_000, max: 1_000 }), { nil: null }),
    }),
    { maxLength: 80 },
  )
  .map((steps) => {
    let at = start;
    return steps.map(({ gapMs, ...row }) => buildBeat({ ...row, at: (at += gapMs) }));
  });

type Table = "uptime_hours" | "uptime_days";
const widths = { uptime_hours: hourMs, uptime_days: dayMs };

function buildSums({ status, seconds, latencyMs }: HeartbeatRow): Sums {
  const countSecondsIf = (wanted: HeartbeatStatus) => (status === wanted ? seconds : 0);
  return {
    upSeconds: countSecondsIf("up"),
    degradedSeconds: countSecondsIf("degraded"),
    downSeconds: countSecondsIf("down"),
    unknownSeconds: countSecondsIf("unknown"),
    maintenanceSeconds: countSecondsIf("maintenance"),
    latencyCount: latencyMs === null ? 0 : 1,
    latencySum: latencyMs ?? 0,
    latencyMin: latencyMs,
    latencyMax: latencyMs,
    latencyCounts: latencyMs === null ? null : { [bucketOf(latencyMs)]: 1 },
  };
}

/** Reference sums by period and monitor, added one heartbeat at a time. */
function sumRows(rows: readonly HeartbeatRow[], periodMs: number) {
  const found = new Map<string, Sums>();
  for (const row of rows) {
    const slotKey = `${Math.floor(row.at / periodMs)} ${row.monitorKey}`;
    const sums = buildSums(row);
    const before = found.get(slotKey);
    found.set(slotKey, addSums(before === undefined ? [sums] : [before, sums]));
  }
  return found;
}

function readStored({ database }: Awaited<ReturnType<typeof createResultWorld>>, table: Table) {
  const rows = database.query<Record<string, number | null>, []>(`SELECT * FROM ${table}`).all();
  return new Map(
    rows.map(({ hour, day, monitor_key, ...sums }) => {
      const named = Object.entries(sums).map(([name, value]) => [
        name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
        name === "latency_counts" ? (JSON.parse(String(value)) ?? {}) : value,
      ]);
      return [`${hour ?? day} ${monitor_key}`, Object.fromEntries(named) as Sums];
    }),
  );
}

/** Reference sums of numbers by period and monitor. */
function sumNumbers(rows: readonly HeartbeatRow[], periodMs: number) {
  const known = rows.filter((row) => typeof row.number === "number");
  const byPlace = Map.groupBy(
    known,
    ({ at, monitorKey }) => `${Math.floor(at / periodMs)} ${monitorKey}`,
  );
  return [...byPlace].map(([place, own]) => {
    const all = own.map(({ number }) => number ?? 0);
    const sum = all.reduce((total, one) => total + one, 0);
    return `${place} ${all.length} ${sum} ${Math.min(...all)} ${Math.max(...all)}`;
  });
}

const readNumbers = (
  { database }: Awaited<ReturnType<typeof createResultWorld>>,
  table: "number_hours" | "number_days",
) =>
  database
    .query(`SELECT * FROM ${table}`)
    .values()
    .map((row) => row.join(" "));

const often = { numRuns: 60 };

test("hourly and daily sums equal the sums of the heartbeats for any grouping of writes", async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.integer({ min: 1, max: 30 }), async (rows, inOneWrite) => {
      const world = await createResultWorld();
      await world.write(rows, inOneWrite);
      const retained: HeartbeatRow[] = [];
      for (const monitorKey of keys)
        for (const { at, period, ...found } of await listHeartbeats(world.store, monitorKey, {
          limit: 1_000,
        }))
          retained.push({ ...found, monitorKey, at: Date.parse(at), seconds: period });
      expect(retained.toSorted((a, b) => a.at - b.at)).toEqual(rows);
      for (const table of ["uptime_hours", "uptime_days"] as const)
        expect(readStored(world, table)).toEqual(sumRows(retained, widths[table]));
      for (const [table, periodMs] of [
        ["number_hours", hourMs],
        ["number_days", dayMs],
      ] as const)
        expect(readNumbers(world, table).toSorted()).toEqual(
          sumNumbers(retained, periodMs).toSorted(),
        );
    }),
    often,
  );
});

test("uptime is from 0 to 1 and equals that of the heartbeats; null if nothing was measured", async () => {
  await fc.assert(
    fc.asyncProperty(stream, async (rows) => {
      const { store, write } = await createResultWorld();
      await write(rows);
      const now = rows.at(-1)?.at ?? start;
      const since = (Math.floor(now / hourMs) - 23) * hourMs;
      const uptime24h = await computeUptime24h(store, keys, now);
      for (const monitorKey of [...keys, 99]) {
        const rowsOfMonitor = rows.filter((row) => row.monitorKey === monitorKey);
        const secondsOf = (statuses: HeartbeatStatus[], among = rowsOfMonitor) =>
          among
            .filter(({ status }) => statuses.includes(status))
            .reduce((sum, { seconds }) => sum + seconds, 0);
        const computeUptime = (among: HeartbeatRow[]) => {
          const succeeded = secondsOf(["up", "degraded"], among);
          const measured = succeeded + secondsOf(["down"], among);
          return measured === 0 ? null : succeeded / measured;
        };
        const of24h = uptime24h(monitorKey);
        expect(of24h).toBe(computeUptime(rowsOfMonitor.filter(({ at }) => at >= since)));
        expect(of24h ?? 0).toBeWithin(0, 1 + Number.EPSILON);

        const days = rows.map(({ at }) => Math.floor(at / dayMs));
        const listed = await listSums(store, monitorKey, "days", [...new Set(days)]);
        expect(listed.map(({ period }) => period)).toEqual(
          [...new Set(rowsOfMonitor.map(({ at }) => Math.floor(at / dayMs)))].toSorted(
            (a, b) => a - b,
          ),
        );
        for (const { period, ...sums } of listed) {
          const rowsOfDay = rowsOfMonitor.filter(({ at }) => Math.floor(at / dayMs) === period);
          expect(computeRatio(sums)).toBe(computeUptime(rowsOfDay));
          expect(sums.unknownSeconds).toBe(secondsOf(["unknown"], rowsOfDay));
          expect(sums.maintenanceSeconds).toBe(secondsOf(["maintenance"], rowsOfDay));
        }
      }
    }),
    often,
  );
});

test("points from hours and days equal points from the heartbeats of the same span", async () => {
  const periods = fc.integer({ min: 1, max: 30 });
  await fc.assert(
    fc.asyncProperty(stream, periods, fc.nat({ max: 40 }), async (rows, wide, skipped) => {
      const { store, write } = await createResultWorld();
      await write(rows);
      const end = (rows.at(-1)?.at ?? start) + dayMs;
      for (const [source, periodMs] of [
        ["hours", hourMs],
        ["days", dayMs],
      ] as const) {
        const roundDown = (at: number) => Math.floor(at / periodMs) * periodMs;
        const span = {
          from: roundDown(start + skipped * hourMs),
          to: roundDown(end),
          width: wide * periodMs,
        };
        for (const key of keys) {
          const summed = await listPoints(store, key, { ...span, source });
          const exact = await listPoints(store, key, { ...span, source: "heartbeats" });
          const names = ["p50Ms", "p95Ms", "p99Ms"] as const;
          expect(summed).toHaveLength(exact.length);
          for (const [index, point] of exact.entries()) {
            const { p50Ms: _p50, p95Ms: _p95, p99Ms: _p99, ...rest } = point;
            expect(summed[index]).toMatchObject(rest);
            for (const name of names) {
              const [found, real] = [summed[index]?.[name] ?? null, point[name]];
              if (real === null || found === null) expect(found).toBe(real);
              // Buckets are 10 % wide.
              else expect(Math.abs(found - real)).toBeLessThanOrEqual(1 + real * 0.1);
            }
          }
        }
      }
    }),
    often,
  );
});

describe("a clock that was set back to the millisecond of an existing heartbeat", () => {
  test("loses only that result; the others of the write are stored", async () => {
    const { store, write } = await createResultWorld();
    await write([buildBeat()]);
    await write([
      buildBeat({ at: start + 60_000 }),
      buildBeat({ status: "down", message: "The connection was refused." }),
      buildBeat({ monitorKey: 2 }),
    ]);
    const readBeats = async (key: number) =>
      (await listHeartbeats(store, key, { limit: 10 })).map(({ at, status }) => [at, status]);
    expect(await readBeats(1)).toEqual([
      ["2026-11-19T21:31:00.000Z", "up"],
      ["2026-11-19T21:30:00.000Z", "up"],
    ]);
    expect(await readBeats(2)).toEqual([["2026-11-19T21:30:00.000Z", "up"]]);
  });

  test("keeps the sums consistent with the stored heartbeats", async () => {
    const { store, write } = await createResultWorld();
    await write([buildBeat()]);
    const late = buildBeat({ status: "down", message: "The connection was refused." });
    await write([late, buildBeat({ at: start + 1 }), { ...late, at: start + 1 }]);
    const sums = await sumHours(store, [1], [Math.floor(start / hourMs)]);
    expect(sums.get(1)).toMatchObject({ upSeconds: 120, downSeconds: 0 });
    expect(await listHeartbeats(store, 1, { limit: 10 })).toHaveLength(2);
  });
});

test("periods without results have no sums", async () => {
  const { store, write } = await createResultWorld();
  await write([buildBeat()]);
  expect(await sumHours(store, [1, 2], [1, 2, 3])).toEqual(new Map());
  expect(await listSums(store, 2, "days", [Math.floor(start / dayMs)])).toEqual([]);
});
