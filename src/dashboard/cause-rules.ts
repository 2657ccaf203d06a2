/** Finds facts that can explain a failure: an expired certificate, and neighbors that failed with it. */
import { formatFullTarget } from "../monitoring/monitors/target-rules.ts";
import { type Cause, causeKinds } from "../core/causes.ts";
import type { Neighbor } from "./cause-schema.ts";

/** Changes that are older than this, in milliseconds, are not shown. */
export const changesBeforeMs = 3_600_000;
/** Neighbors fail at most this long before or after, in milliseconds. */
export const neighborsWithinMs = 60_000;

type Checked = { type: string; [field: string]: unknown };

/** The host that a monitor checks, in lower case; null if there is none. */
export function findHost(monitor: Checked): string | null {
  const { url, host, domain } = monitor;
  if (typeof url === "string" && URL.canParse(url)) return normalizeHost(new URL(url).hostname);
  const namedHost = typeof host === "string" ? host : domain;
  return typeof namedHost === "string" && formatFullTarget(monitor) !== null
    ? normalizeHost(namedHost)
    : null;
}

const normalizeHost = (host: string) => host.toLowerCase().replace(/^\[|\]$|\.$/g, "") || null;

/** Possible causes that a failure shares with others, in addition to the host of its monitor. */
type Failure = { groupId: string | null; checked: Checked; causes: readonly Cause[] };

/** A monitor that is failing since about the same time. */
export type FailingMonitor = Pick<Neighbor, "id" | "name" | "status" | "since"> & Failure;

/** Returns the most specific cause that two failures share; null for none. */
function findCommon(own: Failure, other: Failure): Cause | null {
  const [mine, others] = [own, other].map(({ checked, causes }) => {
    const host = findHost(checked);
    return [...causes, ...(host === null ? [] : [{ kind: "host", value: host } as const])];
  });
  const common = mine?.filter((one) =>
    others?.some(({ kind, value }) => kind === one.kind && value === one.value),
  );
  const rank = ({ kind }: Cause) => causeKinds.indexOf(kind);
  return common?.toSorted((one, another) => rank(one) - rank(another))[0] ?? null;
}

/** Sorts neighbors: first monitors with a shared cause, then monitors of the same group, each by their start. */
export function rankNeighbors(own: Failure, failing: readonly FailingMonitor[]): Neighbor[] {
  const rank = (one: Neighbor) => (one.common !== null ? 0 : one.isInGroup ? 1 : 2);
  return failing
    .map((failure) => ({
      id: failure.id,
      name: failure.name,
      status: failure.status,
      since: failure.since,
      common: findCommon(own, failure),
      isInGroup: failure.groupId !== null && failure.groupId === own.groupId,
    }))
    .sort((one, other) => rank(one) - rank(other) || one.since.localeCompare(other.since));
}

/** The end of a certificate that expired before a time; null for a valid or unknown one. */
export const findExpiry = (certificateExpiresAt: string | null, now: number): string | null =>
  certificateExpiresAt !== null && Date.parse(certificateExpiresAt) <= now
    ? certificateExpiresAt
    : null;
