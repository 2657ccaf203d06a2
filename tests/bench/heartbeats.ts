import { Database } from "bun:sqlite";
import { computeQuantile } from "./process.ts";

/**
 * Counts results since `from`. Failures of monitors that are expected to fail are not counted as
 * failed.
 */
export function countResults(file: string, from: number, interval: number, of = "all") {
  const database = new Database(file, { readonly: true });
  const rows = database
    .query<{ key: number; at: number; status: number; healthy: 0 | 1 }, [number]>(
      `select h.monitor_key as key, h.at, h.status, m.settings like '%/ok%' as healthy
       from heartbeats h join monitor_states s on s.key = h.monitor_key
         join monitors m on m.organization_id = s.organization_id and m.id = s.monitor_id
       where h.at >= ? order by h.monitor_key, h.at`,
    )
    .all(from)
    .filter(({ healthy }) => of === "all" || healthy === 1);
  database.close();
  const gaps: number[] = [];
  const keys = new Set<number>();
  rows.forEach(({ key, at }, index) => {
    keys.add(key);
    const before = rows[index - 1];
    if (before?.key === key) gaps.push(at - before.at);
  });
  const gapMax = gaps.reduce((most, gap) => Math.max(most, gap), 0);
  const late = new Set(
    rows
      .filter(({ key, at }, index) => {
        const before = rows[index - 1];
        return before?.key === key && at - before.at > interval * 2_000;
      })
      .map(({ key }) => key),
  );
  return {
    checks: rows.length,
    gap50: computeQuantile(gaps, 0.5),
    gap99: computeQuantile(gaps, 0.99),
    gapMax,
    starved: late.size,
    down: rows.filter(({ status }) => status !== 0).length,
    failed: rows.filter(({ status, healthy }) => healthy === 1 && status !== 0).length,
  };
}
