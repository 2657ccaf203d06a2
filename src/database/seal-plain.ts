import { splitSecrets } from "../core/security/kind-secrets.ts";
import type { Kinds } from "../core/kinds.ts";
import { sealAll, type Vault } from "../core/security/secrets.ts";
import type { Data } from "./file/data-directory.ts";
import { setValue, valueOf } from "./backup/portions.ts";
import type { Store } from "./store.ts";

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
export async function sealPlainSecrets(
  { store, vault, scrub }: Pick<Data, "store" | "vault" | "scrub">,
  tables: readonly SealedTable[],
): Promise<number> {
  // Looking at 30,000 monitors takes as long as all the rest of a start.
  if ((await sealedBy(store)) === fingerprintOf(tables)) return 0;
  const rows = await Promise.all(tables.map((table) => rowsOf(store, table)));
  const changes = tables.flatMap((table, i) =>
    (rows[i] ?? []).flatMap((row) => {
      const sealed = sealedRow(vault, table, row);
      return sealed === null ? [] : [{ table, row, sealed }];
    }),
  );
  await store.atomic([
    ...changes.map(({ table, row, sealed }) => ({
      // What somebody writes meanwhile is sealed by itself.
      text: `update ${table.name} set settings = ?, secrets = ?
        where organization_id = ? and id = ? and settings = ?`,
      parameters: [sealed.settings, sealed.secrets, row.organizationId, row.id, row.settings],
    })),
    setValue("sealed by", fingerprintOf(tables)),
  ]);
  if (changes.length === 0) return 0;
  // What was there before would stay in free pages and in the log.
  await scrub();
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
const sealedBy = (store: Store) => valueOf(store, "sealed by");

function rowsOf(store: Store, { name, kinds }: SealedTable): Promise<Row[]> {
  const types = Object.keys(kinds).filter(
    (type) => Object.keys(kinds[type]?.secrets ?? {}).length > 0,
  );
  return store.query<Row>(
    `select organization_id as organizationId, id, type, settings, secrets from ${name}
     where type in (select value from json_each(?))`,
    [JSON.stringify(types)],
  );
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
