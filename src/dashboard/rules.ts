import type { OverviewMonitor } from "./schema.ts";

type Target = { type: string; url: string | null; host: string | null; port: number | null };

/** What a monitor watches, as short as people say it; null for a push monitor, which watches nothing. */
export function targetOf({ type, url, host, port }: Target): string | null {
  if (url !== null) return url.replace(/^https?:\/\//i, "").replace(/^([^/?#]+)\/$/, "$1");
  if (host === null) return null;
  const isUsual = port === null || (type === "tls" && port === 443);
  if (isUsual) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether the last message says more than that all is well. */
export function hasMessage(status: OverviewMonitor["status"]): boolean {
  return status === "down" || status === "degraded" || status === "pending";
}

/** How many events a page that was away may have missed before it starts afresh. */
export const replayable = 500;

/** Whether a page that knows the log up to `after` can be told what it missed. */
export function canReplay(after: number, lastSeq: number): boolean {
  return after <= lastSeq && lastSeq - after <= 10 * replayable;
}

const statusOfEvent = { resumed: "pending" } as Record<string, OverviewMonitor["status"]>;

/** The state that an event of a monitor says has begun. */
export function statusBegun(eventType: string): OverviewMonitor["status"] {
  const verb = eventType.slice("monitor.".length);
  return statusOfEvent[verb] ?? (verb as OverviewMonitor["status"]);
}
