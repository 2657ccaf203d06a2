/** Tests whether a key can decrypt the stored secrets. */
import type { Database } from "bun:sqlite";
import type { Vault } from "../core/security/secrets.ts";
import type { Store } from "./store.ts";

/** Queries for all encrypted values with their vault paths, by table. */
const sources: Record<string, string> = {
  monitors: ofRecords("monitors", "'/monitor/' || t.id"),
  alert_channels: ofRecords("alert_channels", "'/alert-channel/' || t.id"),
  organization_settings: ofRecords("organization_settings", "'/settings'"),
  subscribers: ofRecords("subscribers", "'/subscriber/' || t.id"),
  external_records: ofRecords("external_records", "'/external-record/' || t.record_id"),
  backup_schedule: `select 'appliance/backup/' || key as place, value as sealed
    from backup_schedule t, json_each(t.secrets)`,
  people: `select 'person/' || t.id || '/totp' as place, value as sealed
    from people t, json_each(json_array(t.totp_secret, t.totp_pending)) where value is not null`,
};

function ofRecords(table: string, noun: string): string {
  return `select t.organization_id || ${noun} || '/' || key as place, value as sealed
    from ${table} t, json_each(t.secrets) where t.secrets <> '{}'`;
}

/** Sample size for testing whether a key fits. */
const tried = 1_000;

/** Whether the key decrypts a stored value. Also true if there are no encrypted values. */
export function isKeyOf(database: Database, vault: Vault): boolean {
  const values = sealedValues(database, tried);
  return values.length === 0 || values.some(({ sealed, place }) => opens(vault, sealed, place));
}

export function hasSealedValues(database: Database): boolean {
  return sealedValues(database, 1).length > 0;
}

function opens(vault: Vault, sealed: string, place: string): boolean {
  try {
    vault.open(sealed, place);
    return true;
  } catch {
    return false;
  }
}

/** Like `isKeyOf`, for a store. */
export async function isKeyOfStore(store: Pick<Store, "query">, vault: Vault): Promise<boolean> {
  const text = textOf(await store.query<{ name: string }>(tablesText, []));
  const values = text === null ? [] : await store.query<SealedValue>(text, [tried]);
  return values.length === 0 || values.some(({ sealed, place }) => opens(vault, sealed, place));
}

type SealedValue = { place: string; sealed: string };

const tablesText = "select name from sqlite_schema where type = 'table'";

/** Builds the query for existing tables; null if there are none. Older databases lack some tables. */
function textOf(tables: readonly { name: string }[]): string | null {
  const present = tables.flatMap(({ name }) => sources[name] ?? []);
  return present.length === 0 ? null : `${present.join(" union all ")} limit ?`;
}

function sealedValues(database: Database, limit: number): SealedValue[] {
  const text = textOf(database.query<{ name: string }, []>(tablesText).all());
  return text === null ? [] : database.query<SealedValue, [number]>(text).all(limit);
}
