/** Finds facts that can explain a failure: an expired certificate, and neighbors that failed with it. */
import { formatFullTarget } from "../monitoring/monitors/target-rules.ts";
import type { Neighbor } from "./cause-schema.ts";

/** Changes that are older than this, in milliseconds, are not shown. */
export const changesBeforeMs = 3_600_000;
/** Neighbors fail at most this long before or after, in milliseconds. */
export const neighborsWithinMs = 60_000;

type Checked = { type: string; [field: string]: unknown };

/** The host that a monitor checks, in lower case; null without one. */
export function findHost(monitor: Checked): string | null {
  const { url, host, domain } = monitor;
  if (typeof url === "string" && URL.canParse(url)) return normalizeHost(new URL(url).hostname);
  const named = typeof host === "string" ? host : domain;
  return typeof named === "string" && formatFullTarget(monitor) !== null
    ? normalizeHost(named)
    : null;
}

const normalizeHost = (host: string) => host.toLowerCase().replace(/^\[|\]$|\.$/g, "") || null;

/** A monitor that is failing since about the same time. */
export type FailingMonitor = Pick<Neighbor, "id" | "name" | "status" | "since"> & {
  groupId: string | null;
  checked: Checked;
};

/** Sorts neighbors: those on the same host first, then those of the same group, each by their start. */
export function rankNeighbors(
  monitor: { groupId: string | null } & Checked,
  failing: readonly FailingMonitor[],
): Neighbor[] {
  const host = findHost(monitor);
  const rank = (one: Neighbor) => (one.host !== null ? 0 : one.isInGroup ? 1 : 2);
  return failing
    .map(({ groupId, checked, id, name, status, since }) => ({
      id,
      name,
      status,
      since,
      host: host !== null && findHost(checked) === host ? host : null,
      isInGroup: groupId !== null && groupId === monitor.groupId,
    }))
    .sort((one, other) => rank(one) - rank(other) || one.since.localeCompare(other.since));
}

/** The end of a certificate that expired before a time; null for a valid or unknown one. */
export const findExpiry = (certificateExpiresAt: string | null, now: number): string | null =>
  certificateExpiresAt !== null && Date.parse(certificateExpiresAt) <= now
    ? certificateExpiresAt
    : null;
