import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  createCounter,
  createFamily,
  createHistogram,
  formatMetrics,
} from "../../src/core/metrics.ts";

test("a value is counted in the first bucket that includes it, and in all later ones", () => {
  const bounds = [0.5, 1, 2];
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 4, noNaN: true })), (values) => {
      const histogram = createHistogram("x_seconds", "X.", ["kind"], bounds);
      const observe = histogram.of("a");
      histogram.of("b");
      for (const value of [...values, ...bounds]) observe(value);
      const all = [...values, ...bounds];
      const samples = [...histogram.family().samples].filter(
        ({ labels }) => labels?.["kind"] === "a",
      );
      const expected = [...bounds, Infinity].map(
        (bound) => all.filter((value) => value <= bound).length,
      );
      expect(samples.map(({ value }) => value)).toEqual([
        ...expected,
        all.reduce((sum, value) => sum + value, 0),
        all.length,
      ]);
      const others = [...histogram.family().samples].filter(
        ({ labels }) => labels?.["kind"] === "b",
      );
      expect(others.every(({ value }) => value === 0)).toBe(true);
    }),
  );
});

test("the text is Prometheus format 0.0.4, also for a family without values", async () => {
  const sent = createCounter("sent_total", "What was sent.", ["to"]);
  sent.withLabels("a")();
  sent.withLabels("a")();
  sent.withLabels('"b"\n\\');
  const took = createHistogram("took_seconds", "How long.", [], [0.5]);
  took.of()(0.5);
  took.of()(7);
  const empty = createFamily("empty_bytes", "gauge", "Nothing.", null);
  expect(await formatMetrics([sent.family(), took.family(), empty]))
    .toBe(`# HELP sent_total What was sent.
# TYPE sent_total counter
sent_total{to="a"} 2
sent_total{to="\\"b\\"\\n\\\\"} 0
# HELP took_seconds How long.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.5"} 1
took_seconds_bucket{le="+Inf"} 2
took_seconds_sum 7.5
took_seconds_count 2
# HELP empty_bytes Nothing.
# TYPE empty_bytes gauge
`);
});
