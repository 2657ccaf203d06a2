/** Folds the timeline of an alert: many channels and reminders would be hundreds of lines. */
import { minuteMs } from "../../../src/core/time/clock.ts";
import type { AlertWithDeliveries } from "../../../src/alerting/records/schema.ts";

export type TimelineEntry = AlertWithDeliveries["timeline"][number];

/** An outcome contains the title of its message, whose own entry is left out. */
type JoinedEntry = TimelineEntry & { title: string | null };

/** Equal entries about several channels. */
export type TimelineLine = [JoinedEntry, ...JoinedEntry[]];

const isSoonAfter = (earlier: TimelineEntry, later: TimelineEntry) =>
  Date.parse(later.at) - Date.parse(earlier.at) < minuteMs;

/** Joins messages with their outcomes, and equal entries about several channels, within a minute. */
export function foldTimeline(timeline: readonly TimelineEntry[]): TimelineLine[] {
  const lines: TimelineLine[] = [];
  const lastByText = new Map<string, TimelineLine>();
  for (const entry of joinOutcomes(timeline)) {
    const text = JSON.stringify([entry.type, entry.title, entry.message]);
    const last = entry.channel === null ? undefined : lastByText.get(text);
    if (last !== undefined && isSoonAfter(last[0], entry)) last.push(entry);
    else {
      const line: TimelineLine = [entry];
      lines.push(line);
      if (entry.channel !== null) lastByText.set(text, line);
    }
  }
  return lines;
}

function joinOutcomes(timeline: readonly TimelineEntry[]): JoinedEntry[] {
  const sentByChannel = new Map<string, JoinedEntry>();
  const joined = new Set<JoinedEntry>();
  const entries = timeline.map((entry): JoinedEntry => {
    const id = entry.channel?.id ?? "";
    const sent = sentByChannel.get(id);
    if (sent !== undefined && entry.type !== "sent" && isSoonAfter(sent, entry)) {
      sentByChannel.delete(id);
      joined.add(sent);
      return { ...entry, title: sent.message };
    }
    const alone = { ...entry, title: null };
    if (entry.type === "sent") sentByChannel.set(id, alone);
    return alone;
  });
  return entries.filter((entry) => !joined.has(entry));
}
