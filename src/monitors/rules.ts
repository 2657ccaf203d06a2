import type { MonitorStatus } from "./schema.ts";
import type { z } from "zod";

type Status = z.infer<typeof MonitorStatus>;

/** What a monitor is now: a pause of its own or of its group hides whatever the last check found. */
export function statusOf(
  monitor: { paused: boolean },
  groupPaused: boolean,
  lastStatus: Exclude<Status, "paused">,
): Status {
  return monitor.paused || groupPaused ? "paused" : lastStatus;
}

/** Channel lists joined into one: duplicates collapse, the first mention keeps its place. */
export function channelsTogether(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}
