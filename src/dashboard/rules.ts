/** Compacts the rows of the Monitors page, and seals positions in the event log. */
import type { Vault } from "../core/security/secrets.ts";
import { findEffect, type EventEffects, type EventType } from "../events/catalog.ts";
import { formatWatched, type StoredTarget } from "../monitoring/monitors/target-rules.ts";
import type { CompactMonitor, CompactOverview, Overview, OverviewMonitor } from "./schema.ts";

/** Default values of a row of the Monitors page. The default group is the folder of the row. */
const defaultRow = {
  type: "http",
  tags: [] as string[],
  status: "up" as const,
  lastMessage: null,
  latencyMs: null,
  uptime24h: 1,
  uptime30d: 1,
  since: null,
  paused: false,
  pausedUntil: null,
  muted: false,
  target: null,
  day: "u".repeat(24),
  month: "u".repeat(30),
  spark: "",
};

/** Compacts a row: omits default values, and the group if it is the folder. */
export function compactMonitor(
  row: OverviewMonitor,
  folderId: string | null = null,
): CompactMonitor {
  const { id, name, type, groupId, tags, status, statusSince, day, month } = row;
  const { lastMessage, latencyMs, uptime24h, uptime30d, since, muted, target, spark } = row;
  const { paused, pausedUntil } = row;
  return {
    id,
    name,
    ...(type !== defaultRow.type && { type }),
    ...(groupId !== folderId && { groupId }),
    ...(tags.length > 0 && { tags }),
    ...(status !== defaultRow.status && { status }),
    statusSince,
    ...(lastMessage !== null && { lastMessage }),
    ...(latencyMs !== null && { latencyMs }),
    ...(uptime24h !== defaultRow.uptime24h && { uptime24h }),
    ...(uptime30d !== defaultRow.uptime30d && { uptime30d }),
    ...(since !== null && { since }),
    ...(paused && { paused }),
    ...(pausedUntil !== null && { pausedUntil }),
    ...(muted && { muted }),
    ...(target !== null && { target }),
    ...(day !== defaultRow.day && { day }),
    ...(month !== defaultRow.month && { month }),
    ...(spark !== "" && { spark }),
  };
}

/** Restores a compacted row. */
export function expandMonitor(
  compact: CompactMonitor,
  folderId: string | null = null,
): OverviewMonitor {
  return { ...defaultRow, groupId: folderId, ...compact };
}

const maxSparkDigit = 35;

/** Encodes each figure as a base-36 digit relative to their range, `-` for a missing one; empty if all are missing. */
export function renderSpark(figures: readonly (number | null)[]): string {
  const known = figures.filter((figure) => figure !== null);
  if (known.length === 0) return "";
  const least = Math.min(...known);
  // The range has a minimum, so that small changes stay small in the line.
  const span = Math.max(Math.max(...known) - least, least / 2, 1);
  return figures
    .map((one) =>
      one === null
        ? "-"
        : Math.round(((one - least) / span) * maxSparkDigit).toString(maxSparkDigit + 1),
    )
    .join("");
}

/** Compacts the overview for a response. */
export function compactOverview(overview: Overview): CompactOverview {
  const { groups, monitors, position, totals, openIncidents } = overview;
  const folders = Map.groupBy(monitors, ({ groupId }) => groupId);
  const compact = groups.map((group) => {
    const members = folders.get(group.id) ?? [];
    folders.delete(group.id);
    return { ...group, monitors: members.map((row) => compactMonitor(row, group.id)) };
  });
  // Includes members of a group that was created after the groups were read.
  const ungrouped = [...folders.values()].flat().map((row) => compactMonitor(row));
  return {
    groups: compact,
    ungrouped,
    position,
    ...(openIncidents && { openIncidents }),
    ...(totals && {
      totals: { ...totals, troubled: totals.troubled.map((row) => compactMonitor(row)) },
    }),
  };
}

/** Restores a compacted overview. */
export function expandOverview({
  groups: folders,
  ungrouped,
  position,
  totals,
  openIncidents,
}: CompactOverview): Overview {
  const groups: Overview["groups"] = [];
  const rows: OverviewMonitor[] = [];
  for (const { monitors, ...group } of folders) {
    groups.push(group);
    for (const row of monitors) rows.push(expandMonitor(row, group.id));
  }
  for (const row of ungrouped) rows.push(expandMonitor(row));
  return {
    groups,
    monitors: rows,
    position,
    ...(openIncidents && { openIncidents }),
    ...(totals && {
      totals: { ...totals, troubled: totals.troubled.map((row) => expandMonitor(row)) },
    }),
  };
}

/** Returns the target of a monitor in its shortest form; null for a push monitor. */
export function formatTarget({ type, url, watched, port }: StoredTarget): string | null {
  if (url !== null) return url.replace(/^https?:\/\//i, "").replace(/^([^/?#]+)\/$/, "$1");
  return watched === null ? null : formatWatched(type, watched, port);
}

export {
  adjustToPresent,
  determineShownStatus,
} from "../monitoring/monitors/shown-status-rules.ts";

/** Whether rows of this state show the last message. A success needs no explanation. */
export function hasMessage(status: OverviewMonitor["status"]): boolean {
  return ["down", "degraded", "pending", "unknown"].includes(status);
}

/** Maximum missed events that are sent to a reconnected page. With more, it reloads everything. */
export const replayable = 500;

/** A reader of the live stream: the organization, and the monitor groups to which the reader is limited. */
type StreamReader = { organizationId: string; groupIds: readonly string[] | null };

const locationOf = ({ organizationId, groupIds }: StreamReader) =>
  groupIds === null
    ? `live/${organizationId}`
    : `live/${organizationId}/${JSON.stringify(groupIds)}`;

/**
 * Seals a position in the event log for pages. Plain numbers would reveal how active other organizations are. A page
 * whose limit changed can't continue from its position, and reloads everything.
 */
export function sealPosition(vault: Vault, reader: StreamReader, seq: number): string {
  return vault.sealNumber(seq, locationOf(reader));
}

/** Opens a sealed position; null if it was not sealed for such a reader. */
export function openPosition(vault: Vault, reader: StreamReader, position: string): number | null {
  return vault.openNumber(position, locationOf(reader));
}

/**
 * Effects of events on open pages. `access` can end the right to listen. `rows` changes rows without a check result.
 * `overview` changes the set of rows and groups, or their contents.
 */
const effects: EventEffects<"access" | "rows" | "overview" | null> = {
  "group.*": "overview",
  "monitor.created": "overview",
  "monitor.updated": "overview",
  "monitor.deleted": "overview",
  "monitor.restored": "overview",
  "monitor.paused": "rows",
  "monitor.resumed": "rows",
  "organization.deleted": "access",
  "person.*": "access",
  "person.added": null,
  "person.signed-in": null,
  "person.code-refused": null,
  "person.two-factor-begun": null,
  "person.recovery-codes-renewed": null,
  "person.administrator-granted": null,
};

export const effectOf = (type: EventType) => findEffect(effects, type) ?? null;
