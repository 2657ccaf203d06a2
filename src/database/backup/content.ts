/** Compares the content of two databases by counts and digests of their tables. */
import type { Database } from "bun:sqlite";

/** Row count and digest of the sorted rows per table, and a digest of the schema. */
export type Content = Map<string, { rows: number; digest: string }>;

/** Name of the key fingerprint in `housekeeping`, which prevents nodes from starting with different keys. */
export const fingerprintName = "fingerprint of the key";

/** Tables that only clusters have. */
export const clusterTables = ["write_markers", "migration_lease"];
/** Tables for the coordination of machines in a cluster. */
const coordinationTables = ["nodes", "leases", "forwarded_requests"];

/** Removes cluster-only data from a copy, so that it can serve as a file. */
export function removeClusterState(copy: Database) {
  for (const name of clusterTables) copy.run(`drop table if exists ${name}`);
  for (const name of coordinationTables)
    if (copy.query("select 1 from sqlite_schema where name = ?").get(name) !== null)
      copy.run(`delete from ${name}`);
}

const schemaName = "the schema";
/** SQLite's table of the highest assigned IDs. It prevents the reuse of deleted IDs. */
const sequences = "sqlite_sequence";

type Table = { name: string; wr: number };

/** Computes the content of a whole database, except for SQLite's internal tables. */
export function readContent(database: Database): Content {
  const [own, noData] = [clusterTables, [...clusterTables, ...coordinationTables]].map((names) =>
    JSON.stringify(names),
  ) as [string, string];
  const tables = database
    .query<Table, [string]>(
      `select name, wr from pragma_table_list where schema = 'main' and type = 'table'
       and (name not like 'sqlite_%' or name = '${sequences}') and name not in (select value from json_each(?)) order by name`,
    )
    .all(noData);
  const schema = `select type || ' ' || name || ' ' || coalesce(sql, '') as line from sqlite_schema
    where name not like 'sqlite_%' and tbl_name not like 'sqlite_%'
    and tbl_name not in (select value from json_each(?)) order by type, name`;
  return new Map([
    [schemaName, digestQuery(database, schema, own)],
    ...tables.map((table) => [table.name, digestRows(database, table)] as const),
  ]);
}

function digestRows(database: Database, { name, wr }: Table) {
  const columns = database
    .query<{ name: string; pk: number }, [string]>("select name, pk from pragma_table_info(?)")
    .all(name);
  const values = columns.map((column) => `quote("${column.name}")`).join(" || ',' || ");
  const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
  if (name === sequences)
    return digestQuery(database, `select name || seq as line from ${name} order by name`);
  const order = wr === 0 ? "rowid" : key.map((column) => `"${column.name}"`).join(", ");
  const isData = name === "housekeeping" ? `where name <> '${fingerprintName}'` : "";
  return digestQuery(
    database,
    `select ${values} as line from "${name}" ${isData} order by ${order}`,
  );
}

function digestQuery(database: Database, text: string, ...parameters: string[]) {
  const hash = new Bun.CryptoHasher("sha256");
  let rows = 0;
  for (const { line } of database.query<{ line: string }, string[]>(text).iterate(...parameters)) {
    hash.update(line).update("\n");
    rows++;
  }
  return { rows, digest: hash.digest("hex") };
}

/** Names of tables that differ. */
export function listDifferences(one: Content, other: Content): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name)?.digest !== other.get(name)?.digest);
}

/** Number of rows per table. */
export function countRows(content: Content): Map<string, number> {
  const counts = new Map([...content].map(([name, { rows }]) => [name, rows]));
  for (const name of [schemaName, sequences]) counts.delete(name);
  return counts;
}
