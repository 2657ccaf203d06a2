/** Pure rules of alert sources: what a report changes, and how a request is described. */
import { minuteMs } from "../../core/time/clock.ts";
import type { Priority } from "../../core/statuses.ts";
import { sourceBounds } from "../../core/limits.ts";
import { sha256 } from "../../core/ids.ts";
import { pluralize, toLine, toRemoteLine, toRemoteText } from "../../core/text/formatting.ts";
import type { Report, ReportStatus } from "./report-rules.ts";

/** Content of a message about the alert. */
export type SourceContent = {
  title: string;
  text: string;
  link: string | null;
  priority: Priority;
};

/** The last known state of a problem that a source reported. */
export type SourceAlert = {
  id: string;
  key: string;
  status: ReportStatus;
  content: SourceContent;
  episode: string | null;
  openedAt: string;
  updatedAt: string;
  incidentId: string | null;
  /** Unix milliseconds. */
  dueAt: number | null;
  /** 0 for a new one. */
  version: number;
};

export type SourceChange = "opened" | "changed" | "acknowledged" | "resolved";

type SourceSettings = {
  /** Null for the one that the sender names. */
  priority: Priority | null;
  resolveAfterMinutes: number | null;
};

const maxTitleLength = 300;
const maxKeyLength = 500;

/**
 * Shortens the sender's texts, and removes control and invisible characters. Replaces a long key by its hash, so that
 * keys with the same start remain different.
 */
export function boundReport(report: Report): Report {
  const { key, title, text, link } = report;
  return {
    ...report,
    key: key.length <= maxKeyLength ? toLine(key, maxKeyLength) : `sha256 ${sha256(key)}`,
    title: toRemoteLine(title, maxTitleLength).trim(),
    text: truncate(toRemoteText(text), sourceBounds.text.value),
    link: link === null || link.length > maxTitleLength * 4 ? null : link,
    episode: report.episode == null ? null : toLine(report.episode, 100),
  };
}

const truncate = (text: string, max: number) =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;

/** Returns the state after a report, and the change that people see; `change` is null without one. */
export function applyReport(
  before: SourceAlert | null,
  report: Report,
  settings: SourceSettings,
  { id, at, now }: { id: string; at: string; now: number },
): { after: SourceAlert | null; change: SourceChange | null } {
  const { status, key } = report;
  const episode = report.episode ?? null;
  const isActive = before !== null && before.status !== "resolved";
  if (report.isTimed === true && isLate(episode, before)) return { after: before, change: null };
  const dueAt =
    status === "resolved" || settings.resolveAfterMinutes === null
      ? null
      : now + settings.resolveAfterMinutes * minuteMs;
  if (status === "open" && !isActive) {
    // The sender reported the end of this problem before, so this report is late.
    if (before !== null && episode !== null && before.episode === episode)
      return { after: before, change: null };
    const after: SourceAlert = {
      id: before?.id ?? id,
      key,
      status,
      content: contentOf(report, settings),
      episode,
      openedAt: at,
      updatedAt: at,
      incidentId: null,
      dueAt,
      version: (before?.version ?? 0) + 1,
    };
    return { after, change: "opened" };
  }
  if (!isActive) return { after: rememberEnd(before, report, { id, at }), change: null };
  if (status === "open") return refreshAlert(before, report, settings, { at, dueAt, episode });
  if (status === before.status) return { after: before, change: null };
  // An older end of another episode does not end this one.
  if (status === "resolved" && isOlderEpisode(episode, before.episode))
    return { after: before, change: null };
  const after = {
    ...before,
    status,
    episode: report.isTimed === true ? episode : before.episode,
    dueAt,
    updatedAt: at,
    version: before.version + 1,
  };
  return { after, change: status };
}

/** Whether a report is not newer than the last one. */
const isLate = (episode: string | null, before: SourceAlert | null): boolean =>
  episode !== null &&
  before !== null &&
  (episode === before.episode || isOlderEpisode(episode, before.episode));

/** Whether one episode is earlier than another. Only times can be compared. */
const isOlderEpisode = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && Date.parse(one) < Date.parse(other);

/** An end without a start is remembered if the start can still arrive late. */
function rememberEnd(
  before: SourceAlert | null,
  { key, status, title, episode }: Report,
  { id, at }: { id: string; at: string },
): SourceAlert | null {
  if (status !== "resolved" || episode == null) return before;
  if (before !== null)
    return isOlderEpisode(before.episode, episode)
      ? { ...before, episode, updatedAt: at, version: before.version + 1 }
      : before;
  const content: SourceContent = { title, text: "", link: null, priority: "normal" };
  return {
    id,
    key,
    status,
    content,
    episode,
    openedAt: at,
    updatedAt: at,
    incidentId: null,
    dueAt: null,
    version: 1,
  };
}

/** An acknowledged problem stays acknowledged while its sender repeats it. */
function refreshAlert(
  before: SourceAlert,
  report: Report,
  settings: SourceSettings,
  { at, dueAt, episode }: { at: string; dueAt: number | null; episode: string | null },
): { after: SourceAlert; change: SourceChange | null } {
  const content = contentOf(report, settings);
  const isSame = Bun.deepEquals(content, before.content);
  const current = episode ?? before.episode;
  if (isSame && dueAt === before.dueAt && current === before.episode)
    return { after: before, change: null };
  const after = {
    ...before,
    content,
    episode: current,
    dueAt,
    updatedAt: at,
    version: before.version + 1,
  };
  return { after, change: isSame ? null : "changed" };
}

type Applied = ReturnType<typeof applyReport>;

/** Whether the number of such changes to a problem is limited. Openings need no limit, because each follows an end. */
export const isLimitedChange = (change: SourceChange | null): boolean =>
  change === "resolved" || change === "changed";

/** A flapping problem is resolved after it was over for this time. */
const settlingMs = 60_000;

/**
 * Returns the state of a problem that has changed too often. It stays open until nothing has opened it again for a
 * minute. Only a more urgent report still changes its content.
 */
export function postponeChange(before: SourceAlert | null, applied: Applied, now: number): Applied {
  const { after, change } = applied;
  if (before === null || after === null) return applied;
  if (change === "resolved")
    return {
      after: { ...before, dueAt: now + settlingMs, version: before.version + 1 },
      change: null,
    };
  return isWorse(before.content.priority, after.content.priority)
    ? applied
    : { after: { ...before, dueAt: after.dueAt, version: before.version + 1 }, change: null };
}

const contentOf = (
  { title, text, link, priority }: Report,
  settings: SourceSettings,
): SourceContent => ({
  title: title === "" ? "Alert" : title,
  text,
  link,
  priority: settings.priority ?? priority ?? "normal",
});

const order: readonly Priority[] = ["low", "normal", "critical"];

/** Whether a changed alert is more urgent than before, so that people are notified again. */
export const isWorse = (before: Priority, after: Priority): boolean =>
  order.indexOf(after) > order.indexOf(before);

const verbs: Record<SourceChange, string> = {
  opened: "Opened",
  changed: "Changed",
  acknowledged: "Acknowledged",
  resolved: "Resolved",
};

/** Describes the outcome of a request, such as `Opened 2 alerts. Resolved 1 alert.` */
export function describeOutcome(reports: number, changes: readonly SourceChange[]): string {
  if (reports === 0) return "It reports no alert.";
  const parts = Object.entries(verbs).flatMap(([change, verb]) => {
    const count = changes.filter((one) => one === change).length;
    return count === 0 ? [] : [`${verb} ${pluralize(count, "alert")}.`];
  });
  return parts.length === 0 ? "It changed no alert." : parts.join(" ");
}
