/** Defines the published data of a status page, and computes uptime from its daily sums. */
import { dayMs } from "../../core/time/clock.ts";
import { computeSpanStart, computeRatio, type Sums } from "../../monitoring/uptime/rules.ts";
import type { Severity } from "../../core/fields.ts";
import type { ImpactLevel, MonitorStatus } from "../../core/statuses.ts";
import type { ShownStatus } from "../../monitoring/monitors/shown-status-rules.ts";
import type { ImpactChange } from "../../incidents/rules.ts";
import type { IncidentStatus } from "../../incidents/schema.ts";
import type { PublicWindow } from "../windows.ts";
import type { MessageSources } from "../languages/updates.ts";
import type { Look } from "../look-schema.ts";
import type { PageFiles } from "../store.ts";
import type { PageLanguage } from "../../core/languages.ts";

/** Published data of a page at one time. */
export type PublicData = {
  page: {
    id: string;
    slug: string;
    title: string;
    description: string;
    accentColor: string | null;
    theme: "auto" | "light" | "dark";
    look: Look;
    logoUrl: string | null;
    files: PageFiles;
    showLatency: boolean;
    historyDays: number;
    timeZone: string;
    /** Whether search engines may list the page. */
    indexing: boolean;
    language: PageLanguage;
    languages: readonly PageLanguage[];
    createdAt: string;
    updatedAt: string;
  };
  sections: readonly {
    /** Stable id, independent of the section's position on the page. */
    id: string;
    name: string;
    /** Whether it is part of the closest earlier section that is not nested. */
    nested?: boolean;
    folding?: "auto" | "folded" | "open";
    monitors: readonly PublicMonitor[];
  }[];
  /** Incidents of the page, newest first. */
  incidents: readonly PublicIncident[];
  windows: readonly PublicWindow[];
  /** Incidents opened in the days that the page shows, newest first. */
  marks: readonly IncidentMark[];
  /** Whether people can subscribe by e-mail, which needs a mail server. */
  takesMail: boolean;
};

/** Finds a monitor by id; undefined if the page does not show it. */
export function findMonitor({ sections }: PublicData, id: string): PublicMonitor | undefined {
  return sections.flatMap(({ monitors }) => monitors).find((monitor) => monitor.id === id);
}

export type PublicMonitor = {
  id: string;
  name: string;
  /** Null unless the page is set to show it. */
  description: string | null;
  /** Address that its name links to. */
  link?: string | null;
  /** `unknown` if trouble of the appliance itself prevents judging the monitor. */
  state: ShownStatus;
  /** The impact of an incident that sets `state`; null while it is the monitor's own. */
  impact: ImpactLevel | null;
  lastKnown: MonitorStatus;
  /** Since when the monitor is not judged, in RFC 3339; null while it is judged. */
  notJudgedSince: string | null;
  latencyMs: number | null;
  days: DaySums;
  lastCheckedAt: string | null;
  createdAt: string;
  /** Start of the current state. */
  since: string;
};

/** Sums by UTC day since 1970; undefined without measurements. Days before yesterday don't change. */
type DaySums = Pick<ReadonlyMap<number, Totals>, "get">;

/** Seconds that a monitor spent in each state during a period. */
export type Totals = Pick<
  Sums,
  "upSeconds" | "degradedSeconds" | "downSeconds" | "maintenanceSeconds"
>;

/** Fields of an incident that the bar of a day shows. */
export type IncidentMark = Pick<
  PublicIncident,
  | "id"
  | "title"
  | "severity"
  | "monitors"
  | "impactChanges"
  | "createdAt"
  | "resolvedAt"
  | "automatic"
>;

export type PublicIncident = {
  id: string;
  title: string;
  /** Present if a monitor wrote texts: its public name, and whether one of them is the title. */
  automatic?: { subject: string | null; hasTitle: boolean };
  status: IncidentStatus;
  severity: Severity;
  /** Affected monitors that the page shows, under their public names. */
  monitors: readonly { id: string; name: string; impact: ImpactLevel | null }[];
  /** Changes of impacts on monitors that the page shows; absent if all impacts lasted from its start to its end. */
  impactChanges?: readonly ImpactChange[];
  createdAt: string;
  /** Time of the last update or correction. */
  updatedAt: string;
  resolvedAt: string | null;
  /** Null unless published. */
  postmortem: { message: string; publishedAt: string } | null;
  /** Number of updates before the listed ones. */
  earlier: number;
  /** Latest updates, newest first. */
  updates: readonly {
    id: string;
    status: string;
    message: string;
    /** Whether a person wrote the message. */
    isMarkdown: boolean;
    /** Sources of the message in other languages. */
    sources?: MessageSources;
    /** Language of an original without a translation; null in the language of the reader. */
    lang?: string | null;
    createdAt: string;
    editedAt: string | null;
    /** State of the first monitor that the update reports; null for other updates. */
    reports: "up" | "degraded" | "down" | null;
  }[];
};

/** Computes the uptime of the last `count` days up to `today`, 0–1; null without measurements. */
export function computeUptime(days: DaySums, today: number, count: number): number | null {
  const sums = { upSeconds: 0, degradedSeconds: 0, downSeconds: 0 };
  for (let day = today - count + 1; day <= today; day++) {
    const totals = days.get(day);
    if (totals === undefined) continue;
    sums.upSeconds += totals.upSeconds;
    sums.degradedSeconds += totals.degradedSeconds;
    sums.downSeconds += totals.downSeconds;
  }
  return computeRatio(sums);
}

/** Returns the start of a monitor that covers only some of the last `count` days, in Unix milliseconds; else null. */
export function findPartialStart(
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
  const from = computeSpanStart(first * dayMs, createdMs, firstMs, dayMs);
  return from > first * dayMs ? from : null;
}
