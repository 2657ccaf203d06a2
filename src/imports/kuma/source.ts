/** Defines the tables of Uptime Kuma, and the limits for reading them. */
import { importBounds } from "../../core/limits.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { formatBytes, formatCount } from "../../core/text/formatting.ts";
import { maxCellBytes, maxRecordBytes, createUnreadableError } from "../limits.ts";
import type { History } from "../plan.ts";

/** Tables that contain imported records. */
export const tables = [
  "setting",
  "monitor",
  "notification",
  "monitor_notification",
  "tag",
  "monitor_tag",
  "proxy",
  "docker_host",
  "remote_browser",
  "status_page",
  "status_page_cname",
  "group",
  "monitor_group",
  "incident",
  "maintenance",
  "monitor_maintenance",
  "maintenance_status_page",
  "api_key",
  "user",
] as const;
export type TableName = (typeof tables)[number];

/** Join tables. */
const linkTables: readonly TableName[] = [
  "monitor_notification",
  "monitor_tag",
  "monitor_group",
  "monitor_maintenance",
  "maintenance_status_page",
];

/** Maximum rows read per table. One extra row reveals that the limit is exceeded. */
export const limitRows = (table: TableName) =>
  1 + (linkTables.includes(table) ? importBounds.links.value : importBounds.records.value);

/** Counts records and bytes while a file is read. Throws BAD_REQUEST above the limits. */
export function createFileBudget(name: string) {
  let [records, bytes] = [0, 0];
  return (table: TableName, read: { rows: number; largest: number; bytes: number }) => {
    const isLink = linkTables.includes(table);
    if (!isLink) records += read.rows;
    bytes += read.bytes;
    const maxRows = isLink ? importBounds.links.value : importBounds.records.value;
    if ((isLink ? read.rows : records) > maxRows)
      throw createUnreadableError(
        name,
        isLink
          ? `its table ${table} has more than ${formatCount(maxRows)} rows.`
          : `it has more than ${formatCount(maxRows)} records, counted up to its table ${table}.`,
      );
    if (read.largest > maxCellBytes)
      throw createUnreadableError(name, `a value in its table ${table} has ${read.largest} bytes.`);
    if (bytes > maxRecordBytes)
      throw createUnreadableError(
        name,
        `its records have more than ${formatBytes(maxRecordBytes)}, counted up to its table ${table}.`,
      );
  };
}

/** Secret columns that the import does not need. They are never read. */
export const neverRead: Readonly<Record<string, readonly string[]>> = {
  user: ["password", "twofa_secret", "twofa_last_token"],
  api_key: ["key"],
};

/** An installation of Uptime Kuma from any kind of source. Rows use the database's column names. */
export type KumaSource = {
  /** `backup` is the JSON file of 1.x. */
  version: "2" | "1" | "backup";
  rows: Readonly<Record<TableName, readonly Fields[]>>;
  /** Default values of columns, as SQL literals without quotes. */
  defaults?: Readonly<Partial<Record<string, Readonly<Record<string, string>>>>>;
  /** Sentences about the file for the user. */
  hints: readonly string[];
  history: History | null;
  /** Reads a picture from the `upload` folder; null if the picture or the folder is missing. */
  picture(path: string): Promise<{ type: string; bytes: Uint8Array } | null>;
  close(): void | Promise<void>;
};

/** Whether the tables are those of an Uptime Kuma database. */
export const isKumaDatabase = (names: ReadonlySet<string>) =>
  ["monitor", "heartbeat", "setting", "notification"].every((name) => names.has(name));

export const toStatus = (status: number) =>
  status === 1 ? "up" : status === 3 ? "maintenance" : "down";
