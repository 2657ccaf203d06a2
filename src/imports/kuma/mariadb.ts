/** Reads Uptime Kuma's data from a MariaDB or MySQL server. */
import { SQL } from "bun";
import { createUnreadableError } from "../limits.ts";
import type { Beat, Sum } from "../plan.ts";
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
import { toLatency, parseMaintenance } from "./sqlite.ts";
import type { Fields } from "../../core/collections/objects.ts";

const rowsPerPortion = 20_000;
const quoteIdentifier = (name: string) => `\`${name.replaceAll("`", "``")}\``;

type Connection = Awaited<ReturnType<SQL["reserve"]>>;
type Latency = Record<"ping" | "ping_min" | "ping_max", number | null>;
type BeatRow = {
  id: number;
  monitor: number;
  at: number;
  status: number;
  ping: number | null;
  msg: string | null;
};
type SumRow = Latency & {
  id: number;
  monitor: number;
  timestamp: number;
  up: number;
  down: number;
  extras: string | null;
};

/** Reads all data in one read-only transaction, as a consistent snapshot. */
export async function openMariaDb(address: string): Promise<KumaSource> {
  const { hostname } = URL.parse(address) ?? {};
  const name = `The database at ${hostname ?? "this address"}`;
  const sql = new SQL(address.replace(/^mariadb:/i, "mysql:"), { max: 1, connectionTimeout: 10 });
  try {
    const connection = await sql.reserve();
    const database = new KumaDatabase(connection, name);
    await database.begin();
    const rows = await database.readRecords();
    const counts = {
      beats: await database.count("heartbeat"),
      sums: (await database.count("stat_hourly")) + (await database.count("stat_daily")),
    };
    return {
      version: database.columns.has("stat_daily") ? "2" : "1",
      rows,
      hints: [],
      history: {
        total: counts.beats + counts.sums,
        beats: (since) => database.readBeats(since),
        sums: counts.sums > 0 ? (unit) => database.readSums(unit) : null,
      },
      picture: async () => null,
      async close() {
        await database.query("ROLLBACK").catch(() => {});
        await connection.release();
        await sql.close({ timeout: 0 });
      },
    };
  } catch (error) {
    await sql.close({ timeout: 0 });
    if (error instanceof Error && error.name === "AppError") throw error;
    // The driver's message can contain the address with its password, so only the code is reported.
    const code = String((error as { code?: string }).code ?? "");
    throw createUnreadableError(
      name,
      `it can't be read (${code === "" ? "no connection" : code}).`,
    );
  }
}

class KumaDatabase {
  /** Column names per table. */
  readonly columns = new Map<string, string[]>();
  readonly #connection: Connection;
  readonly #name: string;

  constructor(connection: Connection, name: string) {
    this.#connection = connection;
    this.#name = name;
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return [...(await this.#connection.unsafe(text, [...values]))] as Row[];
  }

  /** Starts the transaction and reads the columns. Throws BAD_REQUEST if the database is not Uptime Kuma's. */
  async begin() {
    await this.query("SET SESSION time_zone = '+00:00'");
    await this.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    for (const { t, c } of await this.query<{ t: string; c: string }>(
      `SELECT c.table_name AS t, c.column_name AS c FROM information_schema.columns c
       JOIN information_schema.tables n ON n.table_schema = c.table_schema AND n.table_name = c.table_name
       WHERE c.table_schema = DATABASE() AND n.table_type = 'BASE TABLE' ORDER BY c.ordinal_position`,
    ))
      this.columns.set(t, [...(this.columns.get(t) ?? []), c]);
    if (!isKumaDatabase(new Set(this.columns.keys())))
      throw createUnreadableError(this.#name, "it is not one of Uptime Kuma.");
  }

  async count(table: string): Promise<number> {
    if (!this.columns.has(table)) return 0;
    const [row] = await this.query<{ n: number }>(
      `SELECT COUNT(*) AS n FROM ${quoteIdentifier(table)}`,
    );
    return Number(row?.n);
  }

  async readRecords(): Promise<Record<TableName, Fields[]>> {
    const spend = createFileBudget(this.#name);
    const rows = {} as Record<TableName, Fields[]>;
    for (const table of tables) rows[table] = await this.#readTable(table, spend);
    return rows;
  }

  async #readTable(
    table: TableName,
    spend: ReturnType<typeof createFileBudget>,
  ): Promise<Fields[]> {
    const names = (this.columns.get(table) ?? []).filter((one) => !neverRead[table]?.includes(one));
    if (names.length === 0) return [];
    const sizes = names.map((column) => `COALESCE(OCTET_LENGTH(${quoteIdentifier(column)}), 0)`);
    const largest = sizes.length === 1 ? sizes[0] : `GREATEST(${sizes.join(", ")})`;
    const limit = limitRows(table);
    const [size] = await this.query<{ n: number; largest: number; bytes: number }>(
      `SELECT COUNT(*) AS n, MAX(largest) AS largest, SUM(bytes) AS bytes FROM (
         SELECT ${largest} AS largest, ${sizes.join(" + ")} AS bytes FROM ${quoteIdentifier(table)} LIMIT ${limit}) t`,
    );
    spend(table, {
      rows: Number(size?.n ?? 0),
      largest: Number(size?.largest ?? 0),
      bytes: Number(size?.bytes ?? 0),
    });
    const order = names.includes("id") ? "ORDER BY id" : "";
    const found = await this.query<Fields>(
      `SELECT ${names.map(quoteIdentifier).join(", ")} FROM ${quoteIdentifier(table)} ${order} LIMIT ${limit}`,
    );
    return found.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([column, value]) => [column, toPlainValue(value)]),
      ),
    );
  }

  /** Yields the rows of a table in batches, in ID order. */
  async *#readPortions<Row extends { id: number }>(
    table: string,
    selected: string,
    where = "",
    parameters: readonly unknown[] = [],
  ) {
    for (let last = -1; ;) {
      const rows = await this.query<Row>(
        `SELECT id, ${selected} FROM ${quoteIdentifier(table)} WHERE id > ? ${where} ORDER BY id LIMIT ${rowsPerPortion}`,
        [last, ...parameters],
      );
      if (rows.length === 0) return;
      last = rows.at(-1)?.id ?? last;
      yield rows;
    }
  }

  async *readBeats(since: number): AsyncGenerator<Beat[]> {
    const portions = this.#readPortions<BeatRow>(
      "heartbeat",
      `monitor_id AS monitor, CAST(ROUND(UNIX_TIMESTAMP(time) * 1000) AS SIGNED) AS at, status, ping,
       IF(status <> 1, LEFT(msg, 500), NULL) AS msg`,
      "AND time >= ?",
      [new Date(since).toISOString().replace("T", " ").slice(0, 19)],
    );
    for await (const rows of portions)
      yield rows.map(({ monitor, at, status, ping, msg }) => ({
        externalId: String(monitor),
        at: Number(at),
        status: toStatus(Number(status)),
        latencyMs: toLatency(ping === null ? null : Number(ping)),
        message: msg,
      }));
  }

  async *readSums(unit: "hours" | "days"): AsyncGenerator<Sum[]> {
    const [table, seconds] =
      unit === "hours" ? (["stat_hourly", 3_600] as const) : (["stat_daily", 86_400] as const);
    const columns = this.columns.get(table);
    if (columns === undefined) return;
    const extras = columns.includes("extras") ? "LEFT(extras, 4096)" : "NULL";
    const portions = this.#readPortions<SumRow>(
      table,
      `monitor_id AS monitor, timestamp, up, down, ping, ping_min, ping_max, ${extras} AS extras`,
    );
    for await (const rows of portions)
      yield rows.map((row) => ({
        externalId: String(row.monitor),
        period: Math.floor(Number(row.timestamp) / seconds),
        up: Number(row.up),
        down: Number(row.down),
        maintenance: parseMaintenance(row.extras),
        latency: meanLatencyOf(row),
      }));
  }
}

const meanLatencyOf = ({ ping, ping_min: min, ping_max: max }: Latency): Sum["latency"] =>
  Number(ping) > 0 ? { mean: Number(ping), min: Number(min), max: Number(max) } : null;

/** Converts dates to the text format of SQLite. */
function toPlainValue(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace("T", " ").replace("Z", "");
  if (typeof value === "bigint") return Number(value);
  if (Buffer.isBuffer(value)) return value.toString();
  return value;
}
