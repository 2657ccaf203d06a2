import type { History } from "../plan.ts";
import type { Fields } from "../../core/objects.ts";

/** The tables of Uptime Kuma that records are made of. */
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

/** What is never read: nothing is made of it, and nobody is to find it in memory. */
export const neverRead: Readonly<Record<string, readonly string[]>> = {
  user: ["password", "twofa_secret", "twofa_last_token"],
  api_key: ["key"],
};

/** An installation of Uptime Kuma, wherever its data lies. Columns have their names of the database. */
export type KumaSource = {
  /** `2`, `1`, or `backup` for the JSON file of 1.x. */
  version: "2" | "1" | "backup";
  rows: Readonly<Record<TableName, readonly Fields[]>>;
  /** What people should know of the file itself. */
  hints: readonly string[];
  history: History | null;
  /** A picture of its `upload` folder by its address; null where there is none, or no folder was given. */
  picture(path: string): Promise<{ type: string; bytes: Uint8Array } | null>;
  close(): void | Promise<void>;
};

/** What tells Uptime Kuma from any other database. */
export const looksLikeKuma = (names: ReadonlySet<string>) =>
  ["monitor", "heartbeat", "setting", "notification"].every((name) => names.has(name));

export const statusOfBeat = (status: number) =>
  status === 1 ? "up" : status === 3 ? "maintenance" : "down";
