import type { Database } from "bun:sqlite";

type Expressions = Record<string, string>;

/**
 * Copies a monitor, faster than through the API. Columns that differ are SQL of `i`, which starts
 * at 1. Their IDs are `buildCopyId`.
 */
export function copyMonitor(
  database: Database,
  id: string,
  count: number,
  monitors: Expressions,
  states: Expressions = {},
) {
  const copied = "printf('00000000-0000-7000-8000-%012d', i)";
  const copy = (table: string, key: string, values: Expressions) => {
    const names = database
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name)
      .filter((name) => name !== "key");
    database.run(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
       INSERT INTO ${table} (${names.join(", ")})
       SELECT ${names.map((name) => values[name] ?? name).join(", ")} FROM n CROSS JOIN ${table}
       WHERE ${key} = '${id}'`,
    );
  };
  database.transaction(() => {
    copy("monitors", "id", { ...monitors, id: copied });
    copy("monitor_states", "monitor_id", { ...states, monitor_id: copied });
  })();
}

export const buildCopyId = (i: number) => `00000000-0000-7000-8000-${String(i).padStart(12, "0")}`;
