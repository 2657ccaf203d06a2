import { expect, test } from "bun:test";
import fc from "fast-check";
import { dayMs, hourMs, ratioOf } from "../../src/monitoring/uptime/rules.ts";
import { listed, type Visitor, visitor, wordsOf } from "../support/visitor.ts";

const statuses = ["up", "degraded", "down", "unknown", "maintenance"] as const;

const beat = fc.record({
  // Most of them in the time that is shown, some before it.
  ago: fc.integer({ min: 0, max: 100 * dayMs }),
  status: fc.constantFrom(...statuses),
  seconds: fc.integer({ min: 1, max: 3_600 }),
});
const beats = fc.uniqueArray(beat, { minLength: 1, maxLength: 40, selector: ({ ago }) => ago });
type Beat = { ago: number; status: (typeof statuses)[number]; seconds: number };

function sumsOf(all: readonly Beat[]) {
  const of = (wanted: Beat["status"]) =>
    all.filter(({ status }) => status === wanted).reduce((sum, { seconds }) => sum + seconds, 0);
  return { upSeconds: of("up"), degradedSeconds: of("degraded"), downSeconds: of("down") };
}

/** The first monitor of our page, as the page itself, its JSON and its badge tell its uptime. */
async function told({ read, restart }: Visitor, id: string) {
  await restart();
  const html = (await read("/status/ours")).text;
  const [percent = ""] = wordsOf(html, ".num");
  const monitor = (await read("/status/ours.json")).json().sections[0].monitors[0];
  const badge = (await read(`/badge/monitor/${id}/uptime.svg`)).text;
  return { percent, monitor, badge: /<title>Router uptime: (.*)<\/title>/.exec(badge)?.[1] ?? "" };
}

/** What was said, in 0…1; null for a dash. */
const said = (percent: string) => (percent === "–" ? null : Number.parseFloat(percent) / 100);

test("uptime is exactly what the heartbeats add up to, and never told as more than that", async () => {
  await fc.assert(
    fc.asyncProperty(beats, fc.integer({ min: 1, max: 365 }), async (all, historyDays) => {
      await using made = await visitor();
      const { monitor, publish, past, time } = made;
      const { id } = await monitor();
      await publish({ sections: [listed("All", id)], historyDays });
      await past(id, ...all);
      const dayOf = ({ ago }: Beat) => Math.floor((time.now - ago) / dayMs);
      const today = Math.floor(time.now / dayMs);
      const since = (count: number) => sumsOf(all.filter((one) => dayOf(one) > today - count));
      const seen = await told(made, id);
      const ratio = ratioOf(since(historyDays));
      expect(seen.monitor.uptime).toBe(ratio);
      expect(seen.monitor.days).toHaveLength(historyDays);
      for (const [index, { day, uptime, downSeconds }] of seen.monitor.days.entries()) {
        const number = today - historyDays + 1 + index;
        const sums = sumsOf(all.filter((one) => dayOf(one) === number));
        expect(day).toBe(new Date(number * dayMs).toISOString().slice(0, 10));
        expect([uptime, downSeconds]).toEqual([ratioOf(sums), sums.downSeconds]);
      }
      const shown = said(seen.percent);
      if (ratio === null || shown === null) expect([ratio, shown]).toEqual([null, null]);
      else expect(shown <= ratio && ratio - shown < 0.000_101).toBe(true);
    }),
    { numRuns: 15 },
  );
});

test("a second of outage among 90 days is not told as 100 %", async () => {
  await using made = await visitor();
  const { monitor, publish, past } = made;
  const { id } = await monitor();
  await publish({ sections: [listed("All", id)] });
  const days = Array.from({ length: 90 }, (_, index) => ({ ago: index * dayMs, seconds: 86_399 }));
  await past(id, ...days, { ago: hourMs, status: "down", seconds: 1 });
  const { percent, monitor: shown, badge } = await told(made, id);
  expect([percent, badge]).toEqual(["99.99\u2009%", "99.99\u2009%"]);
  expect(shown.uptime).toBeLessThan(1);
});

test("a badge tells the uptime of 30 days, however many the page shows", async () => {
  await using made = await visitor();
  const { monitor, publish, past } = made;
  const { id } = await monitor();
  await past(id, { ago: 0 }, { ago: 29 * dayMs, status: "down" }, { ago: 30 * dayMs, seconds: 9 });
  const badges: string[] = [];
  for (const historyDays of [7, 30, 90]) {
    await publish({ sections: [listed("All", id)], historyDays });
    badges.push((await told(made, id)).badge);
  }
  expect(badges).toEqual(["50.00\u2009%", "50.00\u2009%", "50.00\u2009%"]);
});

test("visitors who come at the same moment are told the same of the past", async () => {
  await using made = await visitor();
  const { monitor, publish, past, read } = made;
  const { id } = await monitor();
  await publish({ sections: [listed("All", id)] });
  await past(id, { ago: 0 }, { ago: 40 * dayMs, status: "down" });
  const [page, json] = await Promise.all([read("/status/ours"), read("/status/ours.json")]);
  const { uptime } = json.json().sections[0].monitors[0];
  expect([wordsOf(page.text, ".num"), uptime]).toEqual([["50.00\u2009%"], 0.5]);
});

test("a result of the last seconds of a day counts, though it is written on the next", async () => {
  await using made = await visitor();
  const { monitor, publish, past, read, time } = made;
  const { id } = await monitor();
  await publish({ sections: [listed("All", id)] });
  await past(id, { ago: 0 });
  await read("/status/ours.json");
  time.now += dayMs;
  await past(id, { ago: 10 * hourMs + 1_000, status: "down" });
  expect(wordsOf((await read("/status/ours")).text, ".num")).toEqual(["50.00\u2009%"]);
});
