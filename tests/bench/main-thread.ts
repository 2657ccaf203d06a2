import type { Page } from "playwright-core";

type TraceEvent = {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  cat?: string;
};

/**
 * Runs work on a page that marks its first rows. Returns the CPU time of the page's main thread between two
 * marks, which other processes do not affect.
 */
export async function traceMainThread<T>(page: Page, act: () => Promise<T>) {
  const browser = page.context().browser();
  if (browser === null) throw new Error("The page has no browser.");
  await browser.startTracing(page, { categories: ["toplevel", "blink.user_timing"] });
  const result = await act();
  const rowsAt = await page.evaluate(() => performance.getEntriesByName("rows").at(-1)?.startTime);
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  const marked = trace.traceEvents.findLast(
    ({ name, cat }) => name === "rows" && cat?.includes("user_timing"),
  );
  if (marked === undefined || rowsAt === undefined) throw new Error("The page had no rows.");
  const begin = marked.ts - rowsAt * 1_000;
  const tasks = trace.traceEvents.filter(
    ({ name, pid, tid }) => name.endsWith("RunTask") && pid === marked.pid && tid === marked.tid,
  );
  return {
    result,
    /** Milliseconds; tasks that overlap the range count in part. */
    workIn: (from: number, to: number): number => {
      let micros = 0;
      for (const { ts, dur = 0, tdur = 0 } of tasks) {
        const start = Math.max(ts, begin + from * 1_000);
        const end = Math.min(ts + dur, begin + to * 1_000);
        if (end > start) micros += (tdur * (end - start)) / dur;
      }
      return micros / 1_000;
    },
  };
}
