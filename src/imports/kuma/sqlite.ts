/** Reads Uptime Kuma's data from its SQLite file, which can be damaged or hostile. */
import { dayMs } from "../../core/time/clock.ts";
import { constants, Database } from "bun:sqlite";
import {
  closeSync,
  constants as fsConstants,
  copyFileSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { maxCellBytes, createUnreadableError } from "../limits.ts";
import type { Beat, History, Sum } from "../plan.ts";
import { assertIntactLog } from "./log.ts";
import {
  createFileBudget,
  type KumaSource,
  isKumaDatabase,
  neverRead,
  limitRows,
  toStatus,
  tables,
  type TableName,
} from "./source.ts";
import type { Fields } from "../../core/collections/objects.ts";

/** Rows per query. */
const rowsPerPortion = 10_000;
/** Counting stops here, because the count is only for a progress bar. */
const maxCountedRows = 10_000_000;
const maxMessageLength = 500;

type OpenedDatabase = Pick<
  KumaSource,
  "version" | "rows" | "defaults" | "hints" | "history" | "close"
>;

/**
 * Opens a database of Uptime Kuma read-only. Code in the file never runs: triggers don't fire, views and virtual
 * tables are rejected, and schema functions are untrusted. If there is a write-ahead log, database and log are copied
 * to `workIn` first.
 */
export function openSqlite(file: string, name: string, workIn: string): OpenedDatabase {
  const header = readHeader(file, name);
  const log = `${file}-wal`;
  const hasLog = existsSync(log) && lstatSync(log).size > 0;
  const copy = hasLog ? copyDatabase(file, log, name, workIn) : null;
  const hints =
    header.isLogged && !hasLog
      ? [
          `${name} has no log (kuma.db-wal) next to it. If it was copied while Uptime Kuma was running, its latest changes are missing: stop Uptime Kuma first, or give the whole data directory.`,
        ]
      : [];
  const remove = () => copy !== null && rmSync(copy.folder, { recursive: true, force: true });
  let database: Database | null = null;
  try {
    if (copy !== null) assertIntactLog(`${copy.file}-wal`, `${name}-wal`);
    database = openDatabase(copy?.file ?? file, copy === null);
    const source = readDatabase(database, name);
    return {
      ...source,
      hints,
      close() {
        database?.close();
        remove();
      },
    };
  } catch (error) {
    database?.close();
    remove();
    throw translateDamage(error, name);
  }
}

function openDatabase(file: string, isUnchanging: boolean): Database {
  const url = pathToFileURL(file);
  // Otherwise SQLite creates files next to a database in WAL mode.
  if (isUnchanging) url.searchParams.set("immutable", "1");
  const flags =
    (isUnchanging ? constants.SQLITE_OPEN_READONLY : constants.SQLITE_OPEN_READWRITE) |
    constants.SQLITE_OPEN_URI;
  const database = new Database(url.href, flags);
  database.run("PRAGMA trusted_schema = OFF");
  database.run("PRAGMA cell_size_check = ON");
  database.run("PRAGMA query_only = ON");
  database.run("PRAGMA cache_size = -16384");
  return database;
}

function readHeader(file: string, name: string): { isLogged: boolean } {
  const handle = openSync(file, fsConstants.O_RDONLY);
  try {
    const header = Buffer.alloc(100);
    const length = readSync(handle, header, 0, 100, 0);
    const { size } = fstatSync(handle);
    if (length < 100) throw createUnreadableError(name, "it is empty or cut off.");
    if (header.toString("latin1", 0, 16) !== "SQLite format 3\0")
      throw createUnreadableError(
        name,
        "it is neither a SQLite database nor a JSON backup; if it is encrypted or compressed, unpack it first.",
      );
    const rawPage = header.readUInt16BE(16);
    const pages = header.readUInt32BE(28);
    const expected = pages * (rawPage === 1 ? 65_536 : rawPage);
    const isLogged = header[18] === 2;
    if (size < expected && !isLogged)
      throw createUnreadableError(name, `it is cut off: ${size} of ${expected} bytes are there.`);
    return { isLogged };
  } finally {
    closeSync(handle);
  }
}

/** Copies the database and its log consistently, even while another process writes. */
function copyDatabase(file: string, log: string, name: string, workIn: string) {
  const readStamp = () =>
    [file, log]
      .map((path) => {
        const { size, mtimeMs } = lstatSync(path);
        return `${size} ${mtimeMs}`;
      })
      .join();
  const folder = mkdtempSync(join(workIn, "import-"));
  const copy = join(folder, "kuma.db");
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      const before = readStamp();
      copyFileSync(file, copy, fsConstants.COPYFILE_FICLONE);
      copyFileSync(log, `${copy}-wal`, fsConstants.COPYFILE_FICLONE);
      if (readStamp() === before) return { folder, file: copy };
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  rmSync(folder, { recursive: true, force: true });
  throw createUnreadableError(name, "Uptime Kuma writes to it all the time: stop it first.");
}

/** Translates SQLite errors about damage to BAD_REQUEST. Returns other errors unchanged. */
function translateDamage(error: unknown, name: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^SQLITE_(CORRUPT|NOTADB|IOERR|CANTOPEN|TOOBIG|ERROR|SCHEMA|NOMEM)/.test(code)
    ? createUnreadableError(name, `it is damaged (${(error as Error).message}).`)
    : error;
}

const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

function readDatabase(database: Database, name: string): Omit<OpenedDatabase, "hints" | "close"> {
  const found = findPlainTables(database, name);
  const columns = new Map(
    [...found].map(([table, tableColumns]) => [table, [...tableColumns.keys()]]),
  );
  if (!isKumaDatabase(new Set(columns.keys())))
    throw createUnreadableError(name, "it is a database, but not one of Uptime Kuma.");
  const version = columns.has("knex_migrations") || columns.has("stat_daily") ? "2" : "1";
  const spend = createFileBudget(name);
  const rows = Object.fromEntries(
    tables.map((table) => [table, readRows(database, table, columns.get(table) ?? [], spend)]),
  ) as Record<TableName, Fields[]>;
  const defaults = Object.fromEntries(
    [...found].map(([table, tableColumns]) => [table, Object.fromEntries(tableColumns)]),
  );
  return { version, rows, defaults, history: createHistory(database, columns, name) };
}

/** Returns the columns of each table with their defaults. Throws if a view or virtual table has the name of a table. */
function findPlainTables(database: Database, name: string): Map<string, Map<string, string>> {
  const tableNames = [...tables, "heartbeat", "stat_hourly", "stat_daily", "knex_migrations"];
  const found = database
    .query<{ name: string; type: string; sql: string | null }, [string]>(
      `select name, type, case when octet_length(sql) <= 65536 then sql end as sql from sqlite_schema
       where type in ('table', 'view') and name in (select value from json_each(?))`,
    )
    .all(JSON.stringify(tableNames));
  return new Map(
    found.map(({ name: table, type, sql }) => {
      if (type !== "table" || !/^\s*create\s+table/i.test(sql ?? ""))
        throw createUnreadableError(name, `${table} is not an ordinary table in it.`);
      const columns = database
        .query<{ name: string; hidden: number; dflt_value: string | null }, []>(
          `PRAGMA table_xinfo(${quoteIdentifier(table)})`,
        )
        .all();
      if (columns.some(({ hidden }) => hidden !== 0))
        throw createUnreadableError(
          name,
          `${table} has computed columns, which Uptime Kuma's has not.`,
        );
      const defaults = columns.map((column): [string, string] => [
        column.name,
        (column.dflt_value ?? "").replace(/^'(.*)'$/s, "$1"),
      ]);
      return [table, new Map(defaults)];
    }),
  );
}

/** Returns all rows of a table after checking their number and size. */
function readRows(
  database: Database,
  table: TableName,
  all: readonly string[],
  spend: ReturnType<typeof createFileBudget>,
): Fields[] {
  const columns = all.filter((column) => !neverRead[table]?.includes(column));
  if (columns.length === 0) return [];
  const maxRows = limitRows(table);
  const sizes = columns.map((column) => `coalesce(octet_length(${quoteIdentifier(column)}), 0)`);
  const [read] = database
    .query<{ rows: number; largest: number; bytes: number }, []>(
      `select count(*) as rows, coalesce(max(largest), 0) as largest, coalesce(sum(bytes), 0) as bytes
       from (select max(${sizes.join(", ")}, 0) as largest, ${sizes.join(" + ")} as bytes
         from ${quoteIdentifier(table)} limit ${maxRows})`,
    )
    .all();
  if (read === undefined) return [];
  spend(table, read);
  const rows = database
    .query<Fields, []>(
      `select ${columns.map(quoteIdentifier).join(", ")} from ${quoteIdentifier(table)} limit ${maxRows}`,
    )
    .all();
  return columns.includes("id")
    ? rows.sort((one, other) => Number(one["id"]) - Number(other["id"]))
    : rows;
}

type Columns = ReadonlyMap<string, readonly string[]>;
type Count = number | null;
type BeatRow = [number, number, string | null, number, number | null, string | null];
type SumRow = [number, number, number, number, number, Count, Count, Count, string | null];

function createHistory(database: Database, columns: Columns, name: string): History {
  const countRows = (table: string) => {
    if (!columns.has(table)) return 0;
    const limited = `(select 1 from ${quoteIdentifier(table)} limit ${maxCountedRows})`;
    return database.query<{ n: number }, []>(`select count(*) as n from ${limited}`).get()?.n ?? 0;
  };
  const sums = countRows("stat_daily") + countRows("stat_hourly");
  return {
    total: countRows("heartbeat") + sums,
    beats: (since) => readBeats(database, name, since),
    sums: sums === 0 ? null : (unit) => readSums(database, columns, name, unit),
  };
}

/**
 * Yields the rows of a table in batches, in ID order. Pages of a hostile file can form cycles; IDs that do not
 * increase reveal them.
 */
function* readPortions<Row>(
  database: Database,
  name: string,
  { table, selected, where = "" }: { table: string; selected: string; where?: string },
  ...parameters: string[]
): Generator<Row[]> {
  const query = database.query(
    `select id, ${selected} from ${quoteIdentifier(table)} where id > ? ${where} order by id limit ${rowsPerPortion}`,
  );
  for (let last = -1; ;) {
    let rows: [number, ...unknown[]][];
    try {
      rows = query.values(last, ...parameters) as [number, ...unknown[]][];
    } catch (error) {
      throw translateDamage(error, name);
    }
    if (rows.length === 0) return;
    for (const [id] of rows) {
      if (!(id > last))
        throw createUnreadableError(name, `it is damaged (ids of ${table} do not rise).`);
      last = id;
    }
    yield rows as Row[];
  }
}

function* readBeats(database: Database, name: string, since: number): Generator<Beat[]> {
  // Times are compared as text in Uptime Kuma's format.
  const from = new Date(since).toISOString().replace("T", " ").slice(0, 19);
  const selected = `monitor_id, case when octet_length(time) <= 40 then time end, status, ping,
    case when status <> 1 and octet_length(msg) <= ${maxCellBytes} then substr(msg, 1, ${maxMessageLength}) end`;
  const rowQuery = { table: "heartbeat", selected, where: "and time >= ?" };
  for (const rows of readPortions<BeatRow>(database, name, rowQuery, from))
    yield rows.flatMap(([, monitor, time, status, ping, message]): Beat[] => {
      const at = parseInstant(time);
      if (at === null) return [];
      return [
        {
          externalId: String(monitor),
          at,
          status: toStatus(status),
          latencyMs: toLatency(ping),
          message: typeof message === "string" ? message : null,
        },
      ];
    });
}

function* readSums(
  database: Database,
  columns: Columns,
  name: string,
  unit: "hours" | "days",
): Generator<Sum[]> {
  const [table, seconds] =
    unit === "hours" ? (["stat_hourly", 3_600] as const) : (["stat_daily", 86_400] as const);
  if (!columns.has(table)) return;
  const extras = columns.get(table)?.includes("extras")
    ? "case when octet_length(extras) <= 4096 then extras end"
    : "null";
  const selected = `monitor_id, timestamp, up, down, ping, ping_min, ping_max, ${extras}`;
  const toCount = (value: Count) => Math.max(0, Math.round(Number(value) || 0));
  for (const rows of readPortions<SumRow>(database, name, { table, selected }))
    yield rows.map(([, monitor, timestamp, up, down, mean, min, max, extra]) => ({
      externalId: String(monitor),
      period: Math.floor(Number(timestamp) / seconds),
      up: toCount(up),
      down: toCount(down),
      maintenance: toCount(parseMaintenance(extra)),
      latency:
        Number(mean) > 0
          ? { mean: Number(mean), min: Number(min) || 0, max: Number(max) || 0 }
          : null,
    }));
}

export function parseMaintenance(extras: string | null): number {
  try {
    return (
      Number((JSON.parse(extras ?? "{}") as { maintenance?: number } | null)?.maintenance) || 0
    );
  } catch {
    return 0;
  }
}

export const toLatency = (ping: unknown) =>
  typeof ping === "number" && ping >= 0 && ping < dayMs ? Math.round(ping) : null;

/** Parses Uptime Kuma's UTC text without a zone to Unix milliseconds; null if it is invalid. */
export function parseInstant(text: unknown): number | null {
  if (typeof text !== "string") return null;
  const at = Date.parse(`${text.replace(" ", "T").replace(/Z$/, "")}Z`);
  return Number.isNaN(at) ? null : at;
}
