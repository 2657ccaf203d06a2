import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { expect } from "bun:test";
import { testAppliance } from "../support/appliance.ts";
import { inflateFixture, importKuma } from "../support/kuma-fixtures.ts";
import { startMariadbServer, defineTestWith } from "../support/real-targets.ts";

type Column = { name: string; type: string };
type Row = Record<string, unknown>;

/** The type that Uptime Kuma's own migrations give such a column in MariaDB. */
function typeOf({ name, type }: Column): string {
  if (name === "id") return "INT PRIMARY KEY";
  if (/datetime/i.test(type)) return "DATETIME(3)";
  if (/bool/i.test(type)) return "BOOLEAN";
  if (/int/i.test(type)) return "BIGINT";
  if (/float|double/i.test(type)) return "DOUBLE";
  if (/time/i.test(type)) return "TIME";
  return "LONGTEXT";
}

/** Copies the tables with their rows. */
async function copy(from: string, sql: SQL) {
  const database = new Database(from, { readonly: true });
  const tables = database
    .query<{ name: string }, []>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'knex_%'",
    )
    .all();
  for (const { name } of tables) {
    const columns = database.query<Column, []>(`pragma table_info("${name}")`).all();
    await sql.unsafe(
      `CREATE TABLE \`${name}\` (${columns.map((column) => `\`${column.name}\` ${typeOf(column)}`).join(", ")})`,
    );
    const rows = database.query<Row, []>(`select * from "${name}"`).all();
    const places = `(${columns.map(() => "?").join(", ")})`;
    for (let at = 0; at < rows.length; at += 100) {
      const some = rows.slice(at, at + 100);
      await sql.unsafe(
        `INSERT INTO \`${name}\` VALUES ${some.map(() => places).join(", ")}`,
        some.flatMap((row) =>
          columns.map((column) => {
            const value = row[column.name];
            // SQLite has no type for times: it stores them as text with a space.
            return /datetime/i.test(column.type) && typeof value === "string"
              ? value.replace("T", " ")
              : value;
          }),
        ),
      );
    }
  }
  database.close();
}

defineTestWith(
  ["mariadbd", "mariadb-install-db"],
  "an Uptime Kuma on MariaDB is imported like the same one in a file",
  async () => {
    const password = "kuma-in-mariadb";
    await using server = await startMariadbServer(password);
    const buildAddress = (word: string) => `mysql://probe:${word}@127.0.0.1:${server.port}/shop`;
    const kuma = new SQL(buildAddress(password), { max: 1 });
    await kuma.unsafe("ALTER DATABASE shop CHARACTER SET utf8mb4");
    await kuma.unsafe("SET NAMES utf8mb4");
    await copy(inflateFixture("kuma-2-acme.db"), kuma);
    const setUpStored = async (from: string) => {
      const appliance = await testAppliance();
      appliance.time.now = Date.parse("2026-11-22T06:00:00.000Z");
      const { report } = await importKuma(appliance.ours.scope, from);
      const read = (query: string) => appliance.database.query(query).all();
      return {
        items: report.items.map(({ notes: _notes, ...item }) => item),
        monitors: read(
          "select name, type, interval_seconds, paused, inverted, settings from monitors order by name",
        ),
        windows: read(
          "select title, starts_at, ends_at, time_zone, rrule from maintenance_windows order by title",
        ),
        incidents: read(
          "select title, severity, status, created_at, resolved_at from incidents order by title",
        ),
        beats: read(
          "select m.name, h.at, h.status, h.latency_ms, h.message from heartbeats h join monitor_states s on s.key = h.monitor_key join monitors m on m.id = s.monitor_id order by 1, 2",
        ),
        days: read(
          "select m.name, d.day, d.up_seconds, d.down_seconds, d.latency_sum from uptime_days d join monitor_states s on s.key = d.monitor_key join monitors m on m.id = s.monitor_id order by 1, 2",
        ),
      };
    };
    expect(await setUpStored(buildAddress(password))).toEqual(
      await setUpStored(inflateFixture("kuma-2-acme.db")),
    );
    await kuma.unsafe("ALTER TABLE notification RENAME TO hidden");
    await kuma.unsafe("CREATE VIEW notification AS SELECT * FROM hidden");
    await kuma.close();
    const { ours } = await testAppliance();
    expect(importKuma(ours.scope, buildAddress(password))).rejects.toThrow(
      "not one of Uptime Kuma",
    );
    const wrong = importKuma(ours.scope, buildAddress("wrong"));
    expect(wrong).rejects.toThrow(/can't be read/);
    await wrong.catch((error: Error) => expect(error.message).not.toContain("wrong@"));
  },
);
