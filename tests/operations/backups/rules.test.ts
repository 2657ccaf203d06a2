import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  isDue,
  findLastMoment,
  findNextMoment,
  listOutdated,
  createScheduledName,
  parseTime,
} from "../../../src/operations/backups/rules.ts";

const at = (text: string) => Date.parse(text);
const dayMs = 86_400_000;
const berlin = { time: "02:30", timeZone: "Europe/Berlin" };

describe("the time of a daily backup", () => {
  test("follows its time zone, in winter and in summer", () => {
    const now = at("2026-01-10T12:00:00Z");
    expect(findLastMoment(berlin, now)).toBe(at("2026-01-10T01:30:00Z"));
    expect(findNextMoment(berlin, now)).toBe(at("2026-01-11T01:30:00Z"));
    expect(findLastMoment(berlin, at("2026-07-10T00:29:59Z"))).toBe(at("2026-07-09T00:30:00Z"));
    expect(findNextMoment(berlin, at("2026-07-10T00:30:00Z"))).toBe(at("2026-07-11T00:30:00Z"));
  });

  test("occurs once on days with a clock change", () => {
    for (const day of ["2026-03-29", "2026-10-25"]) {
      const start = at(`${day}T00:00:00Z`) - dayMs / 2;
      const moments = new Set<number>();
      for (let now = start; now < start + 2 * dayMs; now += 60_000)
        moments.add(findLastMoment(berlin, now));
      // For the previous day, the day itself, and the next day.
      expect([day, moments.size]).toEqual([day, 3]);
    }
  });

  test("is between the previous and the next one, about a day apart", () => {
    const zones = fc.constantFrom("UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns");
    const times = fc.constantFrom("00:00", "02:30", "03:00", "12:01", "23:59");
    const days = fc.integer({ min: 0, max: 40 * 365 * 86_400 });
    fc.assert(
      fc.property(zones, times, days, (timeZone, time, seconds) => {
        const now = at("2012-06-01T00:00:00Z") + seconds * 1000;
        const [last, next] = [
          findLastMoment({ time, timeZone }, now),
          findNextMoment({ time, timeZone }, now),
        ];
        expect(last).toBeLessThanOrEqual(now);
        expect(next).toBeGreaterThan(now);
        expect(next - last).toBeGreaterThan(22 * 3_600_000);
        expect(next - last).toBeLessThan(26 * 3_600_000);
      }),
    );
  });

  test("is caught up after a miss, retried after a failure, and not delayed by a clock correction", () => {
    const daily = { time: "03:00", timeZone: "UTC" };
    const now = at("2026-11-22T12:00:00Z");
    const attempt = (triedFor: string, retryAt: number | null = null) =>
      isDue(daily, { triedFor: at(triedFor), retryAt }, now);
    expect(attempt("2026-11-22T03:00:00Z")).toBe(false);
    expect(attempt("2026-11-21T03:00:00Z")).toBe(true);
    expect(attempt("2026-11-22T03:00:00Z", now - 1)).toBe(true);
    expect(attempt("2026-11-22T03:00:00Z", now + 1)).toBe(false);
    expect(attempt("2031-11-22T03:00:00Z")).toBe(true);
    expect(attempt("2026-11-22T03:00:00Z", at("2031-01-01T00:00:00Z"))).toBe(true);
  });
});

describe("retained backups", () => {
  const buildNames = (count: number, everyMs = dayMs, from = at("2026-11-22T03:00:00Z")) =>
    Array.from({ length: count }, (_, index) => createScheduledName(from - index * everyMs, false));
  const readStored = (all: string[], keep: Parameters<typeof listOutdated>[1]) => {
    const gone = new Set(listOutdated(all, keep));
    return all.filter((name) => !gone.has(name)).map((name) => name.slice(10, 20));
  };

  test("are the last ones of a number of days, weeks and months", () => {
    expect(readStored(buildNames(120), { keepDaily: 3, keepWeekly: 3, keepMonthly: 3 })).toEqual([
      "2026-11-22",
      "2026-11-21",
      "2026-11-20",
      "2026-11-15",
      "2026-11-08",
      "2026-10-31",
      "2026-09-30",
    ]);
  });

  test("count only days with a backup", () => {
    const old = buildNames(2, dayMs, at("2024-01-05T03:00:00Z"));
    expect(
      readStored([...buildNames(2), ...old], { keepDaily: 3, keepWeekly: 0, keepMonthly: 0 }),
    ).toEqual(["2026-11-22", "2026-11-21", "2024-01-05"]);
  });

  test("never include other files or manual backups", () => {
    const others = [
      "letters.txt",
      "signalbox-2020-01-01-0300.db",
      "signalbox-2020-01-01-030000.db.part",
      "signalbox-2020-13-41-030000.db",
      "copy of signalbox-2020-01-01-030000.db",
      "signalbox-2020-01-01-030000.sqlite",
    ];
    const keep = { keepDaily: 1, keepWeekly: 0, keepMonthly: 0 };
    expect(listOutdated([...others, ...buildNames(3)], keep)).toEqual(buildNames(3).slice(1));
    expect(others.slice(0, 2).map(parseTime)).toEqual([null, null]);
  });

  test("always include the newest, and no more than requested", () => {
    const offsets = fc.array(fc.integer({ min: 0, max: 900 * 86_400 }), {
      minLength: 1,
      maxLength: 60,
    });
    const keeps = fc.record({
      keepDaily: fc.integer({ min: 1, max: 9 }),
      keepWeekly: fc.integer({ min: 0, max: 9 }),
      keepMonthly: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(offsets, keeps, fc.boolean(), (seconds, keep, isEncrypted) => {
        const all = [...new Set(seconds)].map((offset) =>
          createScheduledName(at("2024-01-01T00:00:00Z") + offset * 1000, isEncrypted),
        );
        const gone = new Set(listOutdated(all, keep));
        const left = all.filter((name) => !gone.has(name));
        const newest = all.toSorted(
          (one, other) => Number(parseTime(other)) - Number(parseTime(one)),
        )[0];
        expect(left).toContain(newest ?? "");
        expect(left.length).toBeLessThanOrEqual(
          keep.keepDaily + keep.keepWeekly + keep.keepMonthly,
        );
        expect(listOutdated(left, keep)).toEqual([]);
      }),
    );
  });
});
