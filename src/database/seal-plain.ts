import type { Database } from "bun:sqlite";
import { splitSecrets } from "../core/kind-secrets.ts";
import type { Kinds } from "../core/kinds.ts";
import { sealAll, type Vault } from "../core/secrets.ts";

type Row = {
  organizationId: string;
  id: string;
  type: string;
  settings: string;
  secrets: string;
};

/** A table whose rows have `settings` and `secrets`, and the noun in the place that these are sealed for. */
export type SealedTable = { name: string; noun: string; kinds: Kinds };

/**
 * Seals what stands in settings although its type calls it a secret by now, as an older version left
 * it there; once for each change of what is a secret. Returns how many records that were.
 */
export function sealPlainSecrets(
  { database, vault }: { database: Database; vault: Vault },
  tables: readonly SealedTable[],
): number {
  // Looking at 30,000 monitors takes as long as all the rest of a start.
  if (sealedBy(database) === fingerprintOf(tables)) return 0;
  const changes = tables.flatMap((table) =>
    rowsOf(database, table).flatMap((row) => {
      const sealed = sealedRow(vault, table, row);
      return sealed === null ? [] : [{ table, row, sealed }];
    }),
  );
  database.transaction(() => {
    for (const { table, row, sealed } of changes)
      database
        .query(
          `update ${table.name} set settings = ?, secrets = ?
          where organization_id = ? and id = ?`,
        )
        .run(sealed.settings, sealed.secrets, row.organizationId, row.id);
    database
      .query("insert or replace into housekeeping (name, value) values ('sealed by', ?)")
      .run(fingerprintOf(tables));
  })();
  if (changes.length === 0) return 0;
  // What was there before would stay in free pages and in the log.
  database.run("VACUUM");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return changes.length;
}

/** Which fields are secrets, as a number: while it is the same, nobody leaves one plain. */
function fingerprintOf(tables: readonly SealedTable[]): number {
  const secrets = tables.map(({ name, kinds }) => [
    name,
    Object.entries(kinds).map(([type, kind]) => [type, Object.keys(kind?.secrets ?? {})]),
  ]);
  return Number(BigInt(Bun.hash(JSON.stringify(secrets))) & 0xfffffffffffffn);
}

/** The fingerprint under which everything was sealed last; null where it never was. */
function sealedBy(database: Database): number | null {
  const row = database
    .query<{ value: number }, []>("select value from housekeeping where name = 'sealed by'")
    .get();
  return row?.value ?? null;
}

function rowsOf(database: Database, { name, kinds }: SealedTable): Row[] {
  const types = Object.keys(kinds).filter(
    (type) => Object.keys(kinds[type]?.secrets ?? {}).length > 0,
  );
  return database
    .query<Row, [string]>(
      `select organization_id as organizationId, id, type, settings, secrets from ${name}
       where type in (select value from json_each(?))`,
    )
    .all(JSON.stringify(types));
}

function sealedRow(
  vault: Vault,
  { noun, kinds }: SealedTable,
  { organizationId, id, type, ...row }: Row,
): Pick<Row, "settings" | "secrets"> | null {
  const { settings, secrets } = splitSecrets(kinds, type, JSON.parse(row.settings));
  if (Object.keys(secrets).length === 0) return null;
  const sealed = sealAll(vault, `${organizationId}/${noun}/${id}`, secrets);
  return {
    settings: JSON.stringify(settings),
    secrets: JSON.stringify({ ...JSON.parse(row.secrets), ...JSON.parse(sealed) }),
  };
}
