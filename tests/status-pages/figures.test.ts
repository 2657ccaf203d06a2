/** Uptime figures are the same in REST, on pages and in badges, and match the heartbeats. */
import { dayMs, hourMs } from "../../src/core/time/clock.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatPercent } from "../../src/core/text/formatting.ts";
import { formatSince } from "../../src/core/time/times.ts";
import { expandMonitor } from "../../src/dashboard/rules.ts";
import { readRows } from "../../src/dashboard/service.ts";
import { computeRatio } from "../../src/monitoring/uptime/rules.ts";
import { buildSection, type Visitor, createVisitor, readWords } from "../support/visitor.ts";
import type { Json } from "../support/json.ts";

const statuses = ["up", "degraded", "down", "unknown", "maintenance"] as const;

const beat = fc.record({
  // Most are within the displayed time, some before it.
  ago: fc.integer({ min: 0, max: 100 * dayMs }),
  status: fc.constantFrom(...statuses),
  seconds: fc.integer({ min: 1, max: 3_600 }),
});
const heartbeats = fc.uniqueArray(beat, {
  minLength: 1,
  maxLength: 40,
  selector: ({ ago }) => ago,
});
type Beat = { ago: number; status: (typeof statuses)[number]; seconds: number };

function sumsOf(all: readonly Beat[]) {
  const sumSeconds = (wanted: Beat["status"]) =>
    all.filter(({ status }) => status === wanted).reduce((sum, { seconds }) => sum + seconds, 0);
  return {
    upSeconds: sumSeconds("up"),
    degradedSeconds: sumSeconds("degraded"),
    downSeconds: sumSeconds("down"),
  };
}

/** Uptime of a monitor of our page: on the page, in its JSON and in its badge. */
async function summarize({ readHtml }: Visitor, id: string, place = 0) {
  const html = (await readHtml("/status/ours")).text;
  const percent = readWords(html, ".uptime")[place] ?? "";
  const monitor = (await readHtml("/status/ours.json")).json().sections[0].monitors[place];
  const badge = (await readHtml(`/badge/monitor/${id}/uptime.svg`)).text;
  return { percent, monitor, badge: /<title>Router uptime: (.*)<\/title>/.exec(badge)?.[1] ?? "" };
}

const secondsNames = [
  "upSeconds",
  "degradedSeconds",
  "downSeconds",
  "unknownSeconds",
  "maintenanceSeconds",
] as const;

const aged = fc.record({ ageHours: fc.integer({ min: 0, max: 50 * 24 }), all: heartbeats });

test("REST, Monitors page, status page and badge show the same uptime for a span, and it adds up", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aged, { minLength: 5, maxLength: 5 }), async (monitors) => {
      await using visitor = await createVisitor();
      const { monitor, publish, insertPastHeartbeats, time, ours, store, appliance } = visitor;
      const ids: string[] = [];
      const end = time.now + 60 * dayMs;
      for (const { ageHours } of monitors.toSorted((one, other) => other.ageHours - one.ageHours)) {
        time.now = end - ageHours * hourMs;
        ids.push((await monitor()).id);
      }
      time.now = end;
      await publish({ sections: [buildSection("All", ...ids)], historyDays: 30 });
      for (const [index, { all }] of monitors.entries())
        await insertPastHeartbeats(ids[index] ?? "", ...all);
      const scope = { store, clock: appliance.clock, organizationId: ours.id };
      const rows = (await readRows(scope, ids)).map((row) => expandMonitor(row));
      await visitor.restart();
      for (const [place, id] of ids.entries()) {
        const { ratios, spans, days } = (await ours.reader("GET", `/api/v1/monitors/${id}/uptime`))
          .json.data;
        const row = rows.find((one) => one.id === id);
        const seen = await summarize(visitor, id, place);
        const month = spans["30d"];
        expect(row?.uptime24h).toBe(spans["24h"].ratio);
        expect([row?.uptime30d, seen.monitor.uptime]).toEqual([month.ratio, month.ratio]);
        expect(row?.since).toBe(month.isPartial ? month.from : null);
        const since = month.isPartial ? ` ${formatSince("UTC", Date.parse(month.from), end)}` : "";
        expect(seen.percent).toBe(formatPercent(month.ratio));
        expect(seen.badge).toBe(month.ratio === null ? "–" : seen.percent + since);
        for (const [name, count] of [
          ["30d", 30],
          ["90d", 90],
          ["365d", 365],
        ] as const) {
          const figures = spans[name];
          const first = (Math.floor(end / dayMs) - count + 1) * dayMs;
          const daysSince = days.filter(({ date }: { date: string }) => Date.parse(date) >= first);
          for (const of of secondsNames) {
            const sum = daysSince.reduce((sum: number, day: Json) => sum + day[of], 0);
            expect([of, figures[of]]).toEqual([of, sum]);
          }
          expect(figures.ratio).toBe(ratios[name]);
          expect(figures.isPartial).toBe(Date.parse(figures.from) > first);
          // The displayed uptime and known time yield the displayed downtime.
          const known = figures.upSeconds + figures.degradedSeconds + figures.downSeconds;
          const down = known * (1 - (readText(formatPercent(figures.ratio)) ?? 1));
          expect(down).toBeGreaterThanOrEqual(figures.downSeconds - 0.001);
          expect(down).toBeLessThan(figures.downSeconds + 0.000_1 * known + 0.001);
        }
      }
    }),
    {
      numRuns: 2,
      examples: [
        [
          // A day that could not be judged is not the first day.
          [
            { ageHours: 0, all: [{ ago: 36_000_001, status: "unknown", seconds: 1 }] },
            { ageHours: 0, all: [{ ago: 0, status: "up", seconds: 1 }] },
            { ageHours: 10, all: [{ ago: 36_000_001, status: "unknown", seconds: 1 }] },
            { ageHours: 900, all: [{ ago: 50 * dayMs, status: "down", seconds: 1 }] },
            { ageHours: 0, all: [{ ago: 40 * dayMs, status: "maintenance", seconds: 9 }] },
          ],
        ],
      ],
    },
  );
});

test("a young monitor's uptime counts from its first result, not from 90 days ago", async () => {
  await using visitor = await createVisitor();
  const { monitor, publish, insertPastHeartbeats, readHtml } = visitor;
  const { id } = await monitor();
  await publish({ sections: [buildSection("All", id)] });
  await insertPastHeartbeats(id, { ago: 0 });
  const { badge } = await summarize(visitor, id);
  expect(badge).toBe("100\u202f% since 10:00");
  const html = (await readHtml("/status/ours")).text;
  expect(readWords(html, ".since")).toEqual(["since 10:00"]);
  expect(html).toContain('aria-label="Router, uptime since 10:00: 100\u202f%"');
});

/** Parses a displayed percentage to 0–1; null for a dash. */
const readText = (percent: string) => (percent === "–" ? null : Number.parseFloat(percent) / 100);

test("uptime is the exact sum of the heartbeats, and never rounded up", async () => {
  await fc.assert(
    fc.asyncProperty(heartbeats, fc.integer({ min: 1, max: 365 }), async (all, historyDays) => {
      await using visitor = await createVisitor();
      const { monitor, publish, insertPastHeartbeats, time } = visitor;
      const { id } = await monitor();
      await publish({ sections: [buildSection("All", id)], historyDays });
      await insertPastHeartbeats(id, ...all);
      const dayOf = ({ ago }: Beat) => Math.floor((time.now - ago) / dayMs);
      const today = Math.floor(time.now / dayMs);
      const sumSince = (count: number) => sumsOf(all.filter((one) => dayOf(one) > today - count));
      await visitor.restart();
      const seen = await summarize(visitor, id);
      const ratio = computeRatio(sumSince(historyDays));
      expect(seen.monitor.uptime).toBe(ratio);
      expect(seen.monitor.days).toHaveLength(historyDays);
      for (const [index, { day, uptime, downSeconds }] of seen.monitor.days.entries()) {
        const number = today - historyDays + 1 + index;
        const sums = sumsOf(all.filter((one) => dayOf(one) === number));
        expect(day).toBe(new Date(number * dayMs).toISOString().slice(0, 10));
        expect([uptime, downSeconds]).toEqual([computeRatio(sums), sums.downSeconds]);
      }
      const shownPercent = readText(seen.percent);
      if (ratio === null || shownPercent === null)
        expect([ratio, shownPercent]).toEqual([null, null]);
      else expect(shownPercent <= ratio + 1e-9 && ratio - shownPercent < 0.000_101).toBe(true);
    }),
    { numRuns: 15 },
  );
});

test("a second of outage within 90 days is not shown as 100 %", async () => {
  await using visitor = await createVisitor();
  const { monitor, publish, insertPastHeartbeats } = visitor;
  const { id } = await monitor();
  await publish({ sections: [buildSection("All", id)] });
  const days = Array.from({ length: 90 }, (_, index) => ({ ago: index * dayMs, seconds: 86_399 }));
  await insertPastHeartbeats(id, ...days, { ago: hourMs, status: "down", seconds: 1 });
  const { percent, monitor: shown, badge } = await summarize(visitor, id);
  expect([percent, badge]).toEqual(["99.99\u202f%", "99.99\u202f%"]);
  expect(shown.uptime).toBeLessThan(1);
});

test("a badge shows the uptime of 30 days, regardless of the page's days", async () => {
  await using visitor = await createVisitor();
  const { monitor, publish, insertPastHeartbeats } = visitor;
  const { id } = await monitor();
  await insertPastHeartbeats(
    id,
    { ago: 0 },
    { ago: 29 * dayMs, status: "down" },
    { ago: 30 * dayMs, seconds: 9 },
  );
  const badges: string[] = [];
  for (const historyDays of [7, 30, 90]) {
    await publish({ sections: [buildSection("All", id)], historyDays });
    await visitor.restart();
    badges.push((await summarize(visitor, id)).badge);
  }
  expect(badges).toEqual(["50.00\u202f%", "50.00\u202f%", "50.00\u202f%"]);
});

test("simultaneous visitors see the same history", async () => {
  await using visitor = await createVisitor();
  const { monitor, publish, insertPastHeartbeats, readHtml } = visitor;
  const { id } = await monitor();
  await publish({ sections: [buildSection("All", id)] });
  await insertPastHeartbeats(id, { ago: 0 }, { ago: 40 * dayMs, status: "down" });
  const [page, json] = await Promise.all([readHtml("/status/ours"), readHtml("/status/ours.json")]);
  const { uptime } = json.json().sections[0].monitors[0];
  expect([readWords(page.text, ".uptime"), uptime]).toEqual([["50.00\u202f%"], 0.5]);
});

test("a result from the last seconds of a day counts, even if it is written on the next day", async () => {
  await using visitor = await createVisitor();
  const { monitor, publish, insertPastHeartbeats, readHtml, time } = visitor;
  const { id } = await monitor();
  await publish({ sections: [buildSection("All", id)] });
  await insertPastHeartbeats(id, { ago: 0 });
  await readHtml("/status/ours.json");
  time.now += dayMs;
  await insertPastHeartbeats(id, { ago: 10 * hourMs + 1_000, status: "down" });
  expect(readWords((await readHtml("/status/ours")).text, ".uptime")).toEqual(["50.00\u202f%"]);
});
