/** Counts, measures and formats the metrics of the appliance for Prometheus. */
import { forEachYielding } from "./time/event-loop.ts";

/** One value of a family. `suffix` is appended to the family's name. */
export type Sample = { suffix?: string; labels?: Readonly<Record<string, string>>; value: number };

/** A Prometheus metric family: all samples with the same name. */
export type Family = {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  samples: Iterable<Sample>;
};

/** Part of the appliance that exports metrics. */
export type Collector = { metrics(): Family[] | Promise<Family[]> };

/** Creates a family from values that are computed per request; null creates no samples. */
export function createFamily(
  name: string,
  type: "gauge" | "counter",
  help: string,
  known: number | null | Iterable<Sample>,
): Family {
  const samples = known === null ? [] : typeof known === "number" ? [{ value: known }] : known;
  return { name, help, type, samples };
}

/** Creates a counter with labels. `of` starts a series at 0, and returns the function that increments it. */
export function createCounter(name: string, help: string, labels: readonly string[]) {
  const series = createSeriesMap(labels, () => {
    const value = new Float64Array(1);
    return { value, increment: () => void (value[0] = (value[0] ?? 0) + 1) };
  });
  return {
    withLabels: (...values: readonly string[]) => series.getSeries(values).increment,
    family: (): Family => ({
      name,
      help,
      type: "counter",
      samples: series.all().map(
        ([
          named,
          {
            value: [value = 0],
          },
        ]) => ({ labels: named, value }),
      ),
    }),
  };
}

/** Creates a histogram with labels. `bounds` are the upper limits of its buckets, ascending. */
export function createHistogram(
  name: string,
  help: string,
  labels: readonly string[],
  bounds: readonly number[],
) {
  const series = createSeriesMap(labels, () => {
    // The last bucket has no upper limit. The sum is stored after it.
    const counts = new Float64Array(bounds.length + 2);
    const sum = bounds.length + 1;
    const observe = (value: number) => {
      let bucket = 0;
      while (value > (bounds[bucket] ?? Infinity)) bucket++;
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      counts[sum] = (counts[sum] ?? 0) + value;
    };
    return { counts, use: observe };
  });

  function buildSamples([named, { counts }]: [Record<string, string>, { counts: Float64Array }]) {
    let count = 0;
    const buckets = [...bounds, Infinity].map((bound, bucket): Sample => {
      count += counts[bucket] ?? 0;
      const le = bound === Infinity ? "+Inf" : String(bound);
      return { suffix: "_bucket", labels: { ...named, le }, value: count };
    });
    return [
      ...buckets,
      { suffix: "_sum", labels: named, value: counts.at(-1) ?? 0 },
      { suffix: "_count", labels: named, value: count },
    ];
  }

  return {
    of: (...values: readonly string[]) => series.getSeries(values).use,
    family: (): Family => ({
      name,
      help,
      type: "histogram",
      samples: series.all().flatMap(buildSamples),
    }),
  };
}

function createSeriesMap<T>(labels: readonly string[], make: () => T) {
  const known = new Map<string, [labels: Record<string, string>, series: T]>();
  return {
    all: () => [...known.values()],
    getSeries(values: readonly string[]): T {
      const [only = ""] = values;
      const key = values.length === 1 ? only : values.join("\n");
      const found = known.get(key)?.[1];
      if (found !== undefined) return found;
      const newSeries = make();
      known.set(key, [
        Object.fromEntries(labels.map((label, i) => [label, values[i] ?? ""])),
        newSeries,
      ]);
      return newSeries;
    },
  };
}

/** Content type of `formatMetrics`. */
export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Formats families in the Prometheus text format 0.0.4. */
export async function formatMetrics(families: readonly Family[]): Promise<string> {
  let text = "";
  await forEachYielding(formatLines(families), (line) => void (text += line));
  return text;
}

function* formatLines(families: readonly Family[]): Generator<string> {
  for (const { name, help, type, samples } of families) {
    yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const { suffix = "", labels = {}, value } of samples) {
      const pairs = Object.entries(labels).map(
        ([label, text]) => `${label}="${escapeLabel(text)}"`,
      );
      yield `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
    }
  }
}

const escapes: Record<string, string> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function escapeLabel(text: string): string {
  return text.replace(/[\\"\n]/g, (letter) => escapes[letter] ?? letter);
}
