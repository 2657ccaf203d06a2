/** Tests whether a key can decrypt the stored secrets. */
import type { Database } from "bun:sqlite";
import type { Vault } from "../core/security/secrets.ts";
import type { Store } from "./store.ts";

/** Queries for all encrypted values with their vault paths, by table. */
const sources: Record<string, string> = {
  monitors: buildRecordsQuery("monitors", "'/monitor/' || t.id"),
  alert_channels: buildRecordsQuery("alert_channels", "'/alert-channel/' || t.id"),
  alert_sources: buildRecordsQuery("alert_sources", "'/alert-source/' || t.id"),
  schedules: buildRecordsQuery("schedules", "'/schedule/' || t.id"),
  organization_settings: buildRecordsQuery("organization_settings", "'/settings'"),
  subscribers: buildRecordsQuery("subscribers", "'/subscriber/' || t.id"),
  external_records: buildRecordsQuery("external_records", "'/external-record/' || t.record_id"),
  deleted_rows: `select t.organization_id || case t.table_name when 'monitors' then '/monitor/'
      when 'alert_channels' then '/alert-channel/' when 'alert_sources' then '/alert-source/' else '/subscriber/' end
      || (t.content ->> 'id') || '/' || key as location, value as sealed
    from deleted_rows t, json_each(t.content ->> 'secrets')
    where t.table_name in ('monitors', 'alert_channels', 'alert_sources', 'subscribers')`,
  status_page_publishing: `select t.organization_id || '/publishing/' || t.page_id || '/' || key as location,
      value as sealed
    from status_page_publishing t, json_each(t.secrets) where t.secrets <> '{}'`,
  published_places: `select t.organization_id || '/publishing/' || t.page_id || '/' || key as location,
      value as sealed
    from published_places t, json_each(t.secrets) where t.secrets <> '{}'`,
  backup_schedule: `select 'appliance/backup/' || key as location, value as sealed
    from backup_schedule t, json_each(t.secrets)`,
  identity_providers: `select 'identity-provider/' || t.id || '/' || key as location, value as sealed
    from identity_providers t, json_each(t.secrets) where t.secrets <> '{}'`,
  people: `select 'person/' || t.id || '/totp' as location, value as sealed
    from people t, json_each(json_array(t.totp_secret, t.totp_pending)) where value is not null`,
};

function buildRecordsQuery(table: string, noun: string): string {
  return `select t.organization_id || ${noun} || '/' || key as location, value as sealed
    from ${table} t, json_each(t.secrets) where t.secrets <> '{}'`;
}

/** Sample size for testing whether a key fits. */
const sampleSize = 1_000;

/** Whether the key decrypts a stored value. Also true if there are no encrypted values. */
export function isKeyOf(database: Database, vault: Vault): boolean {
  const values = listSealedValues(database, sampleSize);
  return (
    values.length === 0 || values.some(({ sealed, location }) => canOpen(vault, sealed, location))
  );
}

export function hasSealedValues(database: Database): boolean {
  return listSealedValues(database, 1).length > 0;
}

function canOpen(vault: Vault, sealed: string, path: string): boolean {
  try {
    vault.open(sealed, path);
    return true;
  } catch {
    return false;
  }
}

/** Like `isKeyOf`, for a store. */
export async function isKeyOfStore(store: Pick<Store, "query">, vault: Vault): Promise<boolean> {
  const text = buildQuery(await store.query<{ name: string }>(tablesSql, []));
  const values = text === null ? [] : await store.query<SealedValue>(text, [sampleSize]);
  return (
    values.length === 0 || values.some(({ sealed, location }) => canOpen(vault, sealed, location))
  );
}

type SealedValue = { location: string; sealed: string };

const tablesSql = "select name from sqlite_schema where type = 'table'";

/** Builds the query for existing tables; null if there are none. Older databases lack some tables. */
function buildQuery(tables: readonly { name: string }[]): string | null {
  const present = tables.flatMap(({ name }) => sources[name] ?? []);
  return present.length === 0 ? null : `${present.join(" union all ")} limit ?`;
}

function listSealedValues(database: Database, limit: number): SealedValue[] {
  const text = buildQuery(database.query<{ name: string }, []>(tablesSql).all());
  return text === null ? [] : database.query<SealedValue, [number]>(text).all(limit);
}
