/** Encrypts secrets that an older version stored as plain settings, also those of deleted records. */
import { splitSecrets } from "../core/security/kind-secrets.ts";
import type { Kinds } from "../core/kinds.ts";
import { sealAll, type Vault } from "../core/security/secrets.ts";
import type { Data } from "./file/data-directory.ts";
import { setHousekeepingValue, findHousekeepingValue } from "./backup/sweeping.ts";
import type { Store } from "./store.ts";

type Row = {
  organizationId: string;
  id: string;
  type: string;
  settings: string;
  secrets: string;
  isDeleted: 0 | 1;
};

/** A table with the columns `settings` and `secrets`, and its noun in the vault paths. */
export type SealedTable = { name: string; noun: string; kinds: Kinds };

/**
 * Encrypts settings that have become secrets in a newer version. Runs once after each change to the secret fields. Returns
 * the number of changed records.
 */
export async function sealPlainSecrets(
  { store, vault, scrub }: Pick<Data, "store" | "vault" | "scrub">,
  tables: readonly SealedTable[],
): Promise<number> {
  // Skipped at most starts, because reading 30,000 monitors would double the startup time.
  if ((await findLastFingerprint(store)) === computeFingerprint(tables)) return 0;
  const rows = await Promise.all(tables.map((table) => listRows(store, table)));
  const changes = tables.flatMap((table, i) =>
    (rows[i] ?? []).flatMap((row) => {
      const sealed = sealRow(vault, table, row);
      return sealed === null ? [] : [{ table, row, sealed }];
    }),
  );
  await store.atomic([
    ...changes.map(({ table, row, sealed }) => ({
      text: buildUpdateSql(table, row),
      parameters: [sealed.settings, sealed.secrets, row.organizationId, row.id, row.settings],
    })),
    setHousekeepingValue("sealed by", computeFingerprint(tables)),
  ]);
  if (changes.length === 0) return 0;
  // Overwrites the plain values in free pages and in the log.
  await scrub();
  return changes.length;
}

/**
 * Computes a fingerprint of the secret fields. If it is unchanged, no plain secrets are stored. It has 52 bits, which a
 * number represents exactly.
 */
function computeFingerprint(tables: readonly SealedTable[]): number {
  const secrets = tables.map(({ name, kinds }) => [
    name,
    Object.entries(kinds).map(([type, kind]) => [type, Object.keys(kind?.secrets ?? {})]),
  ]);
  return Number(BigInt(Bun.hash(JSON.stringify(secrets))) & 0xfffffffffffffn);
}

/** Returns the fingerprint of the last run; null before the first run. */
const findLastFingerprint = (store: Store) => findHousekeepingValue(store, "sealed by");

function listRows(store: Store, { name, kinds }: SealedTable): Promise<Row[]> {
  const types = Object.keys(kinds).filter(
    (type) => Object.keys(kinds[type]?.secrets ?? {}).length > 0,
  );
  return store.query<Row>(
    `with types as (select value from json_each(?))
     select organization_id as organizationId, id, type, settings, secrets, 0 as isDeleted
     from ${name} where type in types
     union all
     select organization_id, record_id, content ->> 'type', content ->> 'settings',
       content ->> 'secrets', 1
     from deleted_rows where table_name = '${name}' and content ->> 'type' in types`,
    [JSON.stringify(types)],
  );
}

/** Skips rows that have changed meanwhile, because their new values are already encrypted. */
const buildUpdateSql = ({ name }: SealedTable, { isDeleted }: Row) =>
  isDeleted
    ? `update deleted_rows set content = json_set(content, '$.settings', ?, '$.secrets', ?)
       where organization_id = ? and record_id = ? and content ->> 'settings' = ?
         and table_name = '${name}'`
    : `update ${name} set settings = ?, secrets = ?
       where organization_id = ? and id = ? and settings = ?`;

function sealRow(
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
