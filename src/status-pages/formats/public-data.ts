import { beginOfSpan, dayMs, ratioOf, type Sums } from "../../monitoring/uptime/rules.ts";
import type { Severity } from "../../core/fields.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import type { ShownStatus } from "../../monitoring/monitors/judgement-rules.ts";
import type { IncidentStatus } from "../../incidents/schema.ts";
import type { PublicWindow } from "../windows.ts";

/** What a page publishes, as it was read at one time. */
export type PublicData = {
  page: {
    id: string;
    slug: string;
    title: string;
    description: string;
    accentColor: string | null;
    theme: "auto" | "light" | "dark";
    logoUrl: string | null;
    showLatency: boolean;
    historyDays: number;
    timeZone: string;
    createdAt: string;
    updatedAt: string;
  };
  sections: readonly {
    /** The same wherever the section is on the page. */
    id: string;
    name: string;
    monitors: readonly PublicMonitor[];
  }[];
  /** Newest first. */
  incidents: readonly PublicIncident[];
  windows: readonly PublicWindow[];
  /** Those of its monitors that were opened in the days that it tells of, newest first. */
  marks: readonly IncidentMark[];
  /** Whether there is a mail server, so that people can subscribe by e-mail. */
  takesMail: boolean;
};

/** The monitor with this id, if the page shows it. */
export function findMonitor({ sections }: PublicData, id: string): PublicMonitor | undefined {
  return sections.flatMap(({ monitors }) => monitors).find((monitor) => monitor.id === id);
}

export type PublicMonitor = {
  id: string;
  name: string;
  /** Null unless it is public on purpose. */
  description: string | null;
  /** `unknown` where it can't be judged, for trouble of this appliance. */
  state: ShownStatus;
  lastKnown: MonitorStatus;
  /** RFC 3339; since when it can't be judged, null while it is. */
  notJudgedSince: string | null;
  latencyMs: number | null;
  days: DaySums;
  lastCheckedAt: string | null;
  createdAt: string;
  /** Since when it is in its state. */
  since: string;
};

/** By day since 1970 in UTC; undefined where nothing was measured. Days that are over don't change. */
type DaySums = Pick<ReadonlyMap<number, Totals>, "get">;

/** What a monitor measured in a period. */
export type Totals = Pick<
  Sums,
  "upSeconds" | "degradedSeconds" | "downSeconds" | "maintenanceSeconds"
>;

/** An incident as the bar of a day names it. */
export type IncidentMark = Pick<
  PublicIncident,
  "id" | "title" | "severity" | "monitors" | "createdAt" | "resolvedAt"
>;

export type PublicIncident = {
  id: string;
  title: string;
  status: IncidentStatus;
  severity: Severity;
  /** Those of its monitors that the page shows, under their public names. */
  monitors: readonly { id: string; name: string }[];
  createdAt: string;
  /** When it was told of or corrected last. */
  updatedAt: string;
  resolvedAt: string | null;
  /** Null unless it is published. */
  postmortem: { message: string; publishedAt: string } | null;
  /** Updates before these. */
  earlier: number;
  /** The last ones, newest first. */
  updates: readonly {
    id: string;
    status: string;
    message: string;
    /** Whether people typed it. */
    isMarkdown: boolean;
    createdAt: string;
    editedAt: string | null;
    /** State of the first monitor that the update reports; null for other updates. */
    reports: "up" | "degraded" | "down" | null;
  }[];
};

/** Uptime of the last `count` days up to `today`, in 0…1; null when nothing was measured. */
export function uptimeOf(days: DaySums, today: number, count: number): number | null {
  const sums = { upSeconds: 0, degradedSeconds: 0, downSeconds: 0 };
  for (let day = today - count + 1; day <= today; day++) {
    const totals = days.get(day);
    if (totals === undefined) continue;
    sums.upSeconds += totals.upSeconds;
    sums.degradedSeconds += totals.degradedSeconds;
    sums.downSeconds += totals.downSeconds;
  }
  return ratioOf(sums);
}

/** When a monitor began that was not there for all of the last `count` days, in Unix milliseconds; null for others. */
export function partialSince(
  { createdAt, days }: Pick<PublicMonitor, "createdAt" | "days">,
  today: number,
  count: number,
): number | null {
  const first = today - count + 1;
  const createdMs = Date.parse(createdAt);
  if (createdMs <= first * dayMs) return null;
  let measured = first;
  while (measured <= today && days.get(measured) === undefined) measured++;
  const firstMs = measured > today ? null : measured * dayMs;
  const from = beginOfSpan(first * dayMs, createdMs, firstMs, dayMs);
  return from > first * dayMs ? from : null;
}
