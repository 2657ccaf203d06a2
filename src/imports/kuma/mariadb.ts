import { SQL } from "bun";
import { unreadable } from "../limits.ts";
import type { Beat, Sum } from "../plan.ts";
import {
  fileBudget,
  type KumaSource,
  looksLikeKuma,
  neverRead,
  rowsRead,
  statusOfBeat,
  tables,
  type TableName,
} from "./source.ts";
import { latencyOf, maintenanceIn } from "./sqlite.ts";
import type { Fields } from "../../core/collections/objects.ts";

const portion = 20_000;
const quoted = (name: string) => `\`${name.replaceAll("`", "``")}\``;

/** Reads Uptime Kuma's MariaDB or MySQL in one read-only transaction, so that all of it is of one moment. */
export async function openMariaDb(address: string): Promise<KumaSource> {
  const { hostname } = URL.parse(address) ?? {};
  const name = `The database at ${hostname ?? "this address"}`;
  const sql = new SQL(address.replace(/^mariadb:/i, "mysql:"), { max: 1, connectionTimeout: 10 });
  try {
    const connection = await sql.reserve();
    const all = async <Row>(text: string, values: readonly unknown[] = []) =>
      [...(await connection.unsafe(text, [...values]))] as Row[];
    await all("SET SESSION time_zone = '+00:00'");
    await all("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    const columns = new Map<string, string[]>();
    for (const { t, c } of await all<{ t: string; c: string }>(
      `SELECT c.table_name AS t, c.column_name AS c FROM information_schema.columns c
       JOIN information_schema.tables n ON n.table_schema = c.table_schema AND n.table_name = c.table_name
       WHERE c.table_schema = DATABASE() AND n.table_type = 'BASE TABLE' ORDER BY c.ordinal_position`,
    ))
      columns.set(t, [...(columns.get(t) ?? []), c]);
    if (!looksLikeKuma(new Set(columns.keys())))
      throw unreadable(name, "it is not one of Uptime Kuma.");
    const spend = fileBudget(name);
    const rows = {} as Record<TableName, Fields[]>;
    for (const table of tables) rows[table] = await rowsOf(table);
    const count = async (table: string) =>
      columns.has(table)
        ? Number((await all<{ n: number }>(`SELECT COUNT(*) AS n FROM ${quoted(table)}`))[0]?.n)
        : 0;
    const counts = [
      await count("heartbeat"),
      await count("stat_hourly"),
      await count("stat_daily"),
    ];
    const hasSums = (counts[1] ?? 0) + (counts[2] ?? 0) > 0;

    async function rowsOf(table: TableName): Promise<Fields[]> {
      const names = (columns.get(table) ?? []).filter((one) => !neverRead[table]?.includes(one));
      if (names.length === 0) return [];
      const sizes = names.map((column) => `COALESCE(OCTET_LENGTH(${quoted(column)}), 0)`);
      const largest = sizes.length === 1 ? sizes[0] : `GREATEST(${sizes.join(", ")})`;
      const most = rowsRead(table);
      const [size] = await all<{ n: number; largest: number; bytes: number }>(
        `SELECT COUNT(*) AS n, MAX(largest) AS largest, SUM(bytes) AS bytes FROM (
           SELECT ${largest} AS largest, ${sizes.join(" + ")} AS bytes FROM ${quoted(table)} LIMIT ${most}) t`,
      );
      spend(table, {
        rows: Number(size?.n ?? 0),
        largest: Number(size?.largest ?? 0),
        bytes: Number(size?.bytes ?? 0),
      });
      const order = names.includes("id") ? "ORDER BY id" : "";
      // Dates become text, as in SQLite.
      const found = await all<Fields>(
        `SELECT ${names.map(quoted).join(", ")} FROM ${quoted(table)} ${order} LIMIT ${most}`,
      );
      return found.map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plain(value)])),
      );
    }

    async function* portions<Row extends { id: number }>(
      table: string,
      selected: string,
      where = "",
      given: readonly unknown[] = [],
    ) {
      for (let last = -1; ;) {
        const some = await all<Row>(
          `SELECT id, ${selected} FROM ${quoted(table)} WHERE id > ? ${where} ORDER BY id LIMIT ${portion}`,
          [last, ...given],
        );
        if (some.length === 0) return;
        last = some.at(-1)?.id ?? last;
        yield some;
      }
    }

    return {
      version: columns.has("stat_daily") ? "2" : "1",
      rows,
      hints: [],
      history: {
        total: counts.reduce((sum, one) => sum + one, 0),
        async *beats(since) {
          type Row = {
            id: number;
            monitor: number;
            at: number;
            status: number;
            ping: number | null;
            msg: string | null;
          };
          const some = portions<Row>(
            "heartbeat",
            `monitor_id AS monitor, CAST(ROUND(UNIX_TIMESTAMP(time) * 1000) AS SIGNED) AS at, status, ping,
             IF(status <> 1, LEFT(msg, 500), NULL) AS msg`,
            "AND time >= ?",
            [new Date(since).toISOString().replace("T", " ").slice(0, 19)],
          );
          for await (const found of some)
            yield found.map(({ monitor, at, status, ping, msg }): Beat => ({
              externalId: String(monitor),
              at: Number(at),
              status: statusOfBeat(Number(status)),
              latencyMs: latencyOf(ping === null ? null : Number(ping)),
              message: msg,
            }));
        },
        sums: hasSums
          ? async function* sums(unit) {
              const [table, seconds] =
                unit === "hours"
                  ? (["stat_hourly", 3_600] as const)
                  : (["stat_daily", 86_400] as const);
              if (!columns.has(table)) return;
              const extras = columns.get(table)?.includes("extras") ? "LEFT(extras, 4096)" : "NULL";
              type Row = {
                id: number;
                monitor: number;
                timestamp: number;
                up: number;
                down: number;
              } & Record<"ping" | "ping_min" | "ping_max", number | null> & {
                  extras: string | null;
                };
              const some = portions<Row>(
                table,
                `monitor_id AS monitor, timestamp, up, down, ping, ping_min, ping_max, ${extras} AS extras`,
              );
              for await (const found of some)
                yield found.map((row): Sum => ({
                  externalId: String(row.monitor),
                  period: Math.floor(Number(row.timestamp) / seconds),
                  up: Number(row.up),
                  down: Number(row.down),
                  maintenance: maintenanceIn(row.extras),
                  latency:
                    Number(row.ping) > 0
                      ? {
                          mean: Number(row.ping),
                          min: Number(row.ping_min),
                          max: Number(row.ping_max),
                        }
                      : null,
                }));
            }
          : null,
      },
      picture: async () => null,
      async close() {
        await all("ROLLBACK").catch(() => {});
        await connection.release();
        await sql.close({ timeout: 0 });
      },
    };
  } catch (error) {
    await sql.close({ timeout: 0 });
    if (error instanceof Error && error.name === "AppError") throw error;
    // The driver's own words may hold the address with its password.
    const code = String((error as { code?: string }).code ?? "");
    throw unreadable(name, `it can't be read (${code === "" ? "no connection" : code}).`);
  }
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace("T", " ").replace("Z", "");
  if (typeof value === "bigint") return Number(value);
  if (Buffer.isBuffer(value)) return value.toString();
  return value;
}
