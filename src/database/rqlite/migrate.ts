/** Runs migrations on a cluster, one machine at a time. */
import { Database } from "bun:sqlite";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../core/time/clock.ts";
import { DataError } from "../../core/errors.ts";
import { buildFirstId, createId } from "../../core/ids.ts";
import { copyPrefix } from "../backup/backup-file.ts";
import { readContentOfFile, downloadSnapshot, replaceAll } from "./cluster-image.ts";
import { type Applied, appliedTable, migrate, findPending } from "../migrate.ts";
import { type RqliteClient, type SentStatement, UnresolvedWrite } from "./client.ts";
import { toSqlError } from "./errors.ts";

/** Internal tables of the rqlite store. */
export const ownTables = [
  "create table if not exists write_markers (id text primary key) strict, without rowid",
  `create table if not exists migration_lease (
    one integer primary key constraint lease check (one = 1), owner text not null, ends_at integer not null
  ) strict`,
  appliedTable,
];

const leaseMs = 60_000;
/** Lease duration of an upgrade that downloads and replaces all data. */
const longLeaseMs = 10 * leaseMs;
const waitMs = 250;

type Upgrade = {
  client: RqliteClient;
  folder: string;
  /** Directory for temporary copies. */
  workIn: string;
  clock: Clock;
  /** Called before the first migration, unless the cluster is new. */
  beforeChange?: () => Promise<void>;
  /** Called once if another node is migrating. */
  onWait?: () => void;
};

/** Creates the store's internal tables. They are also missing after a database file was loaded. */
export async function createOwnTables(client: RqliteClient): Promise<void> {
  const tableCountSql =
    "select count(*) from sqlite_schema where name in ('write_markers', 'migration_lease', '__drizzle_migrations')";
  const [found] = await client.query([[tableCountSql]]);
  if (found?.values?.[0]?.[0] === ownTables.length) return;
  await executeWrites(
    client,
    ownTables.map((text): SentStatement => [text]),
    async () => false,
  );
}

async function executeWrites(
  client: RqliteClient,
  writes: readonly SentStatement[],
  hasHappened: () => Promise<boolean>,
) {
  const results = await client.execute(writes, hasHappened).catch((error: unknown) => {
    throw error instanceof UnresolvedWrite ? error.error : error;
  });
  const failed = results === "happened" ? undefined : results.at(-1)?.error;
  if (failed !== undefined) throw toSqlError(failed);
}

/** Number of pending migrations, and whether the cluster is new. Throws MIGRATION_REFUSED like `migrate`. */
export async function countPendingRqliteMigrations({
  client,
  folder,
}: Pick<Upgrade, "client" | "folder">) {
  const ours = readMigrationFiles({ migrationsFolder: folder });
  const applied = await listApplied(client);
  return { pending: findPending(applied, ours).length, isNew: applied.length === 0 };
}

/**
 * Migrates the cluster to this binary's schema, while other nodes wait. Each migration is atomic. Returns the number
 * of migrations that ran here. Throws MIGRATION_REFUSED.
 */
export async function migrateRqlite(upgrade: Upgrade): Promise<number> {
  const { client, folder, clock, beforeChange = async () => {}, onWait = () => {} } = upgrade;
  const ours = readMigrationFiles({ migrationsFolder: folder });
  const listPending = async () => findPending(await listApplied(client), ours);
  if ((await listPending()).length === 0) return 0;

  const run = (writes: readonly SentStatement[], hasHappened: () => Promise<boolean>) =>
    executeWrites(client, writes, hasHappened);
  const owner = createId(clock());
  const isMine = async () => {
    const text = "select 1 from migration_lease where owner = ?";
    const [found] = await client.query([[text, owner]], "strong");
    return (found?.values ?? []).length > 0;
  };
  let isWaiting = false;
  for (;;) {
    await run([buildLeaseClaim(owner, clock())], isMine);
    if (await isMine()) break;
    if (!isWaiting) onWait();
    isWaiting = true;
    await Bun.sleep(waitMs);
    if ((await listPending()).length === 0) return 0;
  }

  try {
    const applied = await listApplied(client);
    const pending = findPending(applied, ours);
    if (applied.length > 0 && pending.length > 0) await beforeChange();
    for (const [index, migration] of pending.entries()) {
      const count = applied.length + index;
      if (await dropsRows(client, migration.sql)) {
        await migrateAsFile(upgrade, owner, count, run);
        break;
      }
      const record = "insert into __drizzle_migrations (hash, created_at) values (?, ?)";
      await run(
        [
          [leaseGuard, owner, clock(), count],
          buildLeaseClaim(owner, clock()),
          ...migration.sql.map((text): SentStatement => [text]),
          [referencesGuard],
          [record, migration.hash, migration.folderMillis],
        ],
        async () => (await listApplied(client)).length > count,
      );
    }
    return pending.length;
  } catch (error) {
    if (error instanceof DataError || (error as { code?: string }).code === "UNAVAILABLE")
      throw error;
    throw refusedError(error instanceof Error ? error.message : String(error));
  } finally {
    const release: SentStatement = ["delete from migration_lease where owner = ?", owner];
    await run([release], async () => !(await isMine())).catch(() => {});
  }
}

const buildLeaseClaim = (owner: string, now: number, ms = leaseMs): SentStatement => [
  `insert into migration_lease (one, owner, ends_at) values (1, ?, ?)
   on conflict do update set owner = excluded.owner, ends_at = excluded.ends_at
   where owner = excluded.owner or ends_at < ?`,
  owner,
  now + ms,
  now,
];

/** Statement that violates a constraint if the condition is false, and thus rolls back its batch. */
const buildGuardSql = (condition: string) =>
  `insert into migration_lease (one, owner, ends_at) select 0, '', 0 where not (${condition})`;
const leaseGuard = buildGuardSql(
  `exists (select 1 from migration_lease where owner = ? and ends_at > ?)
   and (select count(*) from __drizzle_migrations) = ?`,
);
const referencesGuard = buildGuardSql("not exists (select 1 from pragma_foreign_key_check)");

/**
 * Whether a migration drops a table with rows, as every table rebuild does. Clusters always enforce foreign keys, so
 * that would also delete the rows that refer to it.
 */
async function dropsRows(client: RqliteClient, statements: readonly string[]): Promise<boolean> {
  for (const statement of statements) {
    const [, table] = /^\s*drop table (?:if exists )?[`"]?(\w+)/im.exec(statement) ?? [];
    if (table === undefined) continue;
    const [there] = await client.query([["select 1 from sqlite_schema where name = ?", table]]);
    if ((there?.values ?? []).length === 0) continue;
    const [rows] = await client.query([[`select 1 from "${table}" limit 1`]]);
    if ((rows?.values ?? []).length > 0) return true;
  }
  return false;
}

/**
 * Runs all pending migrations on a downloaded copy, where foreign keys can be disabled, and replaces the cluster's
 * data with it. Meanwhile a trigger rejects each write whose marker is older than the end of the lease. Markers
 * contain their creation time, so writes succeed again after that time, even if this process dies.
 */
async function migrateAsFile(
  { client, folder, clock, workIn }: Upgrade,
  owner: string,
  count: number,
  run: (writes: readonly SentStatement[], hasHappened: () => Promise<boolean>) => Promise<void>,
) {
  const endsAt = clock() + longLeaseMs;
  const signal = AbortSignal.timeout(longLeaseMs);
  const trigger = `upgrade_${owner.replaceAll("-", "")}`;
  const before = join(workIn, `${copyPrefix}${owner}.before`);
  const image = join(workIn, `${copyPrefix}${owner}.image`);
  const isHeld = async () => {
    const text = "select 1 from sqlite_schema where name = ?";
    const [found] = await client.query([[text, trigger]], "strong");
    return (found?.values ?? []).length > 0;
  };
  const release: SentStatement = [`drop trigger if exists ${trigger}`];
  try {
    await run(
      [
        [leaseGuard, owner, clock(), count],
        buildLeaseClaim(owner, clock(), longLeaseMs),
        [
          `create trigger ${trigger} before insert on write_markers when new.id < '${buildFirstId(endsAt)}'
           begin select raise(abort, 'the data is being upgraded'); end`,
        ],
      ],
      isHeld,
    );
    await downloadSnapshot(client, before);
    await Bun.write(image, Bun.file(before));
    using database = new Database(image, { strict: true });
    if (database.query("select 1 from sqlite_schema where name = ?").get(trigger) === null)
      throw new Error("the copy is older than the upgrade");
    for (const { name } of database
      .query<{ name: string }, []>(
        "select name from sqlite_schema where type = 'trigger' and tbl_name = 'write_markers'",
      )
      .all())
      database.run(`drop trigger ${name}`);
    migrate(database, folder);
    database.close();
    await replaceAll(client, { image, wanted: readContentOfFile(image), before, signal });
  } finally {
    for (const file of [before, image]) rmSync(file, { force: true });
    await run([release], async () => !(await isHeld())).catch(() => {});
  }
}

const refusedError = (why: string) =>
  new DataError("MIGRATION_REFUSED", `The migration failed and changed nothing: ${why}.`);

async function listApplied(client: RqliteClient): Promise<Applied[]> {
  const known =
    "select 1 from sqlite_schema where type = 'table' and name = '__drizzle_migrations'";
  const [there] = await client.query([[known]], "strong");
  if ((there?.values ?? []).length === 0) return [];
  const text = "select hash, created_at from __drizzle_migrations order by id";
  const [rows] = await client.query([[text]], "strong");
  return (rows?.values ?? []).map(([hash, at]) => ({ hash: String(hash), created_at: Number(at) }));
}
