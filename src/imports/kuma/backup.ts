/** Reads the JSON backup of Uptime Kuma 1.x. */
import { measureDepth } from "../../core/text/json.ts";
import { maxFileBytes, createUnreadableError } from "../limits.ts";
import { createLookup, type Fields, isObject } from "../../core/collections/objects.ts";
import { isOn } from "./values.ts";
import { createFileBudget, type KumaSource, type TableName, tables } from "./source.ts";

const maxDepth = 32;

/** Backup keys whose database columns are not just the snake-case form of the key. */
const columnNames: Record<string, string> = createLookup({
  accepted_statuscodes: "accepted_statuscodes_json",
  kafkaProducerSaslOptions: "kafka_producer_sasl_options",
});

/** Reads a JSON backup of Uptime Kuma 1.x. It contains only monitors, notifications, tags and proxies. */
export function openBackup(text: string, name: string): KumaSource {
  if (text.length > maxFileBytes)
    throw createUnreadableError(name, "it is too large for a backup.");
  if (measureDepth(text) > maxDepth)
    throw createUnreadableError(name, `it is nested deeper than ${maxDepth} levels.`);
  const backup = parseObject(text);
  const { monitorList, notificationList } = backup;
  if (!isList(monitorList) || !isList(notificationList))
    throw createUnreadableError(name, "it is JSON, but not a backup of Uptime Kuma.");
  const rows = Object.fromEntries(tables.map((table) => [table, [] as Fields[]])) as Record<
    TableName,
    Fields[]
  >;
  const spend = createFileBudget(name);
  const count = (table: TableName, rows: number) => spend(table, { rows, largest: 0, bytes: 0 });
  count("monitor", monitorList.length);
  count("notification", notificationList.length);
  count("monitor_tag", countLinks(monitorList));
  rows.notification = notificationList.map((one) => ({
    id: one["id"],
    name: one["name"],
    active: one["active"] ?? true,
    is_default: one["isDefault"],
    config: one["config"],
  }));
  if (isList(backup["proxyList"])) rows.proxy = [...backup["proxyList"]];
  count("proxy", rows.proxy.length);
  const tags = new Map<string, Fields>();
  for (const monitor of monitorList) addMonitor(rows, tags, monitor);
  rows.tag = [...tags.values()];
  count("tag", rows.tag.length);
  return {
    version: "backup",
    rows,
    hints: [
      "A JSON backup holds no status pages, maintenance, incidents, groups' places and history: give kuma.db or the data directory to bring these along.",
      ...buildUnreadHint(backup),
    ],
    history: null,
    picture: async () => null,
    close() {},
  };

  function parseObject(json: string): Fields {
    try {
      const value: unknown = JSON.parse(json);
      if (typeof value === "object" && value !== null) return value as Fields;
    } catch {
      // Falls through to the error below.
    }
    throw createUnreadableError(name, "it is not a JSON backup: it can't be read.");
  }
}

/** Adds a monitor with the links to its notifications and tags. */
function addMonitor(rows: Record<TableName, Fields[]>, tags: Map<string, Fields>, monitor: Fields) {
  rows.monitor.push(toColumns(monitor));
  const notifications = Object.entries((monitor["notificationIDList"] ?? {}) as Fields);
  for (const [id] of notifications.filter(([, isUsed]) => isOn(isUsed)))
    rows.monitor_notification.push({ monitor_id: monitor["id"], notification_id: Number(id) });
  for (const tag of isList(monitor["tags"]) ? monitor["tags"] : []) {
    const id = tag["tag_id"] ?? tag["name"];
    tags.set(String(id), { id, name: tag["name"], color: tag["color"] });
    rows.monitor_tag.push({ monitor_id: monitor["id"], tag_id: id, value: tag["value"] });
  }
}

/** Reports the lists of a backup that are not imported. */
function buildUnreadHint(backup: Fields): string[] {
  const readKeys = ["version", "monitorList", "notificationList", "proxyList"];
  const names = Object.keys(backup).filter((name) => !readKeys.includes(name));
  return names.length === 0
    ? []
    : [`Not imported from the backup: ${names.slice(0, 50).join(", ")}.`];
}

/** Counts the tags and notifications of all monitors. */
const countLinks = (monitors: readonly Fields[]) =>
  monitors.reduce((sum, { tags, notificationIDList }) => {
    const notifications = isObject(notificationIDList) ? Object.keys(notificationIDList).length : 0;
    return sum + notifications + (Array.isArray(tags) ? tags.length : 0);
  }, 0);

function isList(value: unknown): value is Fields[] {
  return Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null);
}

/** Renames a monitor's fields to database columns. Lists and objects become JSON text. */
export function toColumns(monitor: Fields): Fields {
  return Object.fromEntries(
    Object.entries(monitor).map(([key, value]) => {
      const column =
        columnNames[key] ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const isText = typeof value !== "object" || value === null;
      return [column, isText ? value : JSON.stringify(value)];
    }),
  );
}
