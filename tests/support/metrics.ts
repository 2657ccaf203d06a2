/** Parses and checks metrics in Prometheus' text format. */
import { expect } from "bun:test";

type Scrape = ReturnType<typeof parseScrape>;

/** Parses Prometheus' text format: samples by name and labels, and the type of each family. */
export function parseScrape(text: string) {
  const lines = text.trimEnd().split("\n");
  const samples = new Map(
    lines
      .filter((line) => !line.startsWith("#"))
      .map((line) => [line.replace(/ \S+$/, ""), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
  const types = new Map(
    lines
      .filter((line) => line.startsWith("# TYPE "))
      .map((line) => line.split(" ").slice(2, 4)) as [string, string][],
  );
  return {
    text,
    types,
    samples,
    /** The nonzero series of a family, by their labels. */
    of: (name: string) =>
      Object.fromEntries(
        [...samples].flatMap(([series, value]) => {
          const [, found, labels = ""] = /^([^{]*)(?:\{(.*)\})?$/.exec(series) ?? [];
          return found === name && value !== 0 ? [[labels.replaceAll('"', ""), value]] : [];
        }),
      ),
  };
}

/** Expects the buckets of each histogram to grow up to its count, with a matching sum. */
export function expectHistograms({ text, samples, types }: Scrape) {
  const histograms = [...types].filter(([, type]) => type === "histogram").map(([name]) => name);
  expect(histograms.length).toBeGreaterThan(3);
  for (const name of histograms) {
    const buckets = text.split("\n").filter((line) => line.startsWith(`${name}_bucket{`));
    const series = Map.groupBy(buckets, (line) => line.replace(/,?le="[^"]*"\}.*/, ""));
    for (const [start, ownSamples] of series) {
      const counts = ownSamples.map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
      const bounds = ownSamples.map((line) =>
        Number(/le="([^"]*)"/.exec(line)?.[1]?.replace("+Inf", "Infinity")),
      );
      const labels = start.slice(`${name}_bucket{`.length);
      const suffix = labels === "" ? "" : `{${labels}}`;
      const count = samples.get(`${name}_count${suffix}`) ?? Number.NaN;
      const sum = samples.get(`${name}_sum${suffix}`) ?? Number.NaN;
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(bounds.map(String)).toEqual(bounds.toSorted((a, b) => a - b).map(String));
      expect([start, counts.at(-1), bounds.at(-1)]).toEqual([start, count, Infinity]);
      const within = counts.map((value, index) => value - (counts[index - 1] ?? 0));
      const least = within.reduce((all, value, i) => all + value * (bounds[i - 1] ?? 0), 0);
      const maxSum = within.reduce((all, value, i) => all + (value && value * (bounds[i] ?? 0)), 0);
      expect(sum).toBeGreaterThanOrEqual(least - 1e-9);
      expect(sum).toBeLessThanOrEqual(maxSum + 1e-9);
    }
  }
}

/** Findings of Prometheus' linter; empty without findings. */
export async function lintMetrics(text: string): Promise<string> {
  const linter = Bun.spawn(["promtool", "check", "metrics"], {
    stdin: new TextEncoder().encode(text),
    stdout: "pipe",
    stderr: "pipe",
  });
  const output =
    (await new Response(linter.stdout).text()) + (await new Response(linter.stderr).text());
  return (await linter.exited) === 0 ? output : `it failed: ${output}`;
}
