/** Compact rows of the Monitors page, live-stream limits, and positions in the log. */
import { livePageBounds } from "../core/limits.ts";
import type { Vault } from "../core/security/secrets.ts";
import {
  effectOn,
  type EventEffects,
  type EventType,
  type StateType,
} from "../events/catalogue.ts";
import { watchedInWords } from "../monitoring/monitors/target-rules.ts";
import type {
  CompactMonitor,
  CompactOverview,
  Overview,
  OverviewMonitor,
  PastState,
} from "./schema.ts";

/** Default values of a row of the Monitors page; the default group is its folder. */
const usual = {
  type: "http",
  tags: [] as string[],
  status: "up" as const,
  lastMessage: null,
  latencyMs: null,
  uptime24h: 1,
  uptime30d: 1,
  since: null,
  paused: false,
  muted: false,
  target: null,
  day: "u".repeat(24),
  spark: "",
};

/** A row as it is sent, in this folder or by itself. */
export function compactMonitor(
  row: OverviewMonitor,
  folderId: string | null = null,
): CompactMonitor {
  const { id, name, type, groupId, tags, status, statusSince, day } = row;
  const { lastMessage, latencyMs, uptime24h, uptime30d, since, paused, muted, target, spark } = row;
  return {
    id,
    name,
    ...(type !== usual.type && { type }),
    ...(groupId !== folderId && { groupId }),
    ...(tags.length > 0 && { tags }),
    ...(status !== usual.status && { status }),
    statusSince,
    ...(lastMessage !== null && { lastMessage }),
    ...(latencyMs !== null && { latencyMs }),
    ...(uptime24h !== usual.uptime24h && { uptime24h }),
    ...(uptime30d !== usual.uptime30d && { uptime30d }),
    ...(since !== null && { since }),
    ...(paused && { paused }),
    ...(muted && { muted }),
    ...(target !== null && { target }),
    ...(day !== usual.day && { day }),
    ...(spark !== "" && { spark }),
  };
}

/** The row that was sent. */
export function expandMonitor(
  compact: CompactMonitor,
  folderId: string | null = null,
): OverviewMonitor {
  return { ...usual, groupId: folderId, ...compact };
}

const highest = 35;

/** The course of figures as a digit of base 36 each, `-` for none; empty where there is none at all. */
export function sparkOf(figures: readonly (number | null)[]): string {
  const known = figures.filter((figure) => figure !== null);
  if (known.length === 0) return "";
  const least = Math.min(...known);
  // Small changes stay small in the line.
  const span = Math.max(Math.max(...known) - least, least / 2, 1);
  return figures
    .map((one) =>
      one === null ? "-" : Math.round(((one - least) / span) * highest).toString(highest + 1),
    )
    .join("");
}

/** The overview as it is sent. */
export function compactOverview({ groups, monitors, position, totals }: Overview): CompactOverview {
  const folders = Map.groupBy(monitors, ({ groupId }) => groupId);
  const compact = groups.map((group) => {
    const members = folders.get(group.id) ?? [];
    folders.delete(group.id);
    return { ...group, monitors: members.map((row) => compactMonitor(row, group.id)) };
  });
  // Includes members of a group that was created a moment ago.
  const ungrouped = [...folders.values()].flat().map((row) => compactMonitor(row));
  return {
    groups: compact,
    ungrouped,
    position,
    ...(totals && {
      totals: { ...totals, troubled: totals.troubled.map((row) => compactMonitor(row)) },
    }),
  };
}

/** The overview that was sent. */
export function expandOverview({
  groups: folders,
  ungrouped,
  position,
  totals,
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
    ...(totals && {
      totals: { ...totals, troubled: totals.troubled.map((row) => expandMonitor(row)) },
    }),
  };
}

type Target = { type: string; url: string | null; watched: string | null; port: number | null };

/** Target of a monitor in its shortest form; null for a push monitor. */
export function targetOf({ type, url, watched, port }: Target): string | null {
  if (url !== null) return url.replace(/^https?:\/\//i, "").replace(/^([^/?#]+)\/$/, "$1");
  return watched === null ? null : watchedInWords(type, watched, port);
}

export { asJudged, shownStatus } from "../monitoring/monitors/judgement-rules.ts";

/** Whether the last message says more than that all is well. */
export function hasMessage(status: OverviewMonitor["status"]): boolean {
  return ["down", "degraded", "pending", "unknown"].includes(status);
}

/** Limits on live streams per session, per organization and in total. The last streams are reserved for clients with few. */
const maxStreams = {
  session: livePageBounds.perSession.value,
  organization: livePageBounds.perOrganization.value,
  appliance: livePageBounds.perAppliance.value,
};
const keptStreams = { organization: 20, appliance: 200 };
/** Reserved streams per person in an organization, and per organization in the appliance. */
const fewStreams = { person: 2, organization: 10 };

type Stream = { organizationId: string; personId: string; sessionId: string };

/** Whether one more page can listen. */
export function mayListen(one: Stream, others: Iterable<Stream>): boolean {
  const count = { session: 0, person: 0, organization: 0, appliance: 0 };
  for (const { organizationId, personId, sessionId } of others) {
    count.appliance++;
    if (sessionId === one.sessionId) count.session++;
    if (organizationId !== one.organizationId) continue;
    count.organization++;
    if (personId === one.personId) count.person++;
  }
  const inOrganization = count.person < fewStreams.person ? 0 : keptStreams.organization;
  const inAppliance = count.organization < fewStreams.organization ? 0 : keptStreams.appliance;
  return (
    count.session < maxStreams.session &&
    count.organization < maxStreams.organization - inOrganization &&
    count.appliance < maxStreams.appliance - inAppliance
  );
}

/** How many events a page that was away may have missed before it starts afresh. */
export const replayable = 500;

/** The state that an event of a monitor says has begun. */
export const statusBegun = {
  "monitor.pending": "pending",
  "monitor.up": "up",
  "monitor.degraded": "degraded",
  "monitor.down": "down",
  "monitor.maintenance": "maintenance",
  "monitor.paused": "paused",
  "monitor.resumed": "pending",
} as const satisfies Record<StateType, PastState["status"]>;

const locationOf = (organizationId: string) => `live/${organizationId}`;

/** The position of an event in the log as pages know it: the log is everybody's, and its numbers would tell how busy others are. */
export function positionOf(vault: Vault, organizationId: string, seq: number): string {
  return vault.sealNumber(seq, locationOf(organizationId));
}

/** The inverse; null for a position that this organization never had. */
export function seqOf(vault: Vault, organizationId: string, position: string): number | null {
  return vault.openNumber(position, locationOf(organizationId));
}

/**
 * Effect of an event on open pages: a reader's right to listen; rows of the Monitors page, in a way that no check
 * result does; or the set of rows and groups and their contents.
 */
const effects: EventEffects<"access" | "rows" | "overview" | null> = {
  "group.*": "overview",
  "monitor.created": "overview",
  "monitor.updated": "overview",
  "monitor.deleted": "overview",
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

export const effectOf = (type: EventType) => effectOn(effects, type) ?? null;
