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
 * it there. Returns how many records that were.
 */
export function sealPlainSecrets(
  { database, vault }: { database: Database; vault: Vault },
  tables: readonly SealedTable[],
): number {
  const changes = tables.flatMap((table) =>
    rowsOf(database, table).flatMap((row) => {
      const sealed = sealedRow(vault, table, row);
      return sealed === null ? [] : [{ table, row, sealed }];
    }),
  );
  if (changes.length === 0) return 0;
  database.transaction(() => {
    for (const { table, row, sealed } of changes)
      database
        .query(
          `update ${table.name} set settings = ?, secrets = ?
          where organization_id = ? and id = ?`,
        )
        .run(sealed.settings, sealed.secrets, row.organizationId, row.id);
  })();
  // What was there before would stay in free pages and in the log.
  database.run("VACUUM");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return changes.length;
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
