/** Lets the alert of an outage belong to that of another monitor, if both have the same cause. */
import type { Cause } from "../../core/causes.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { StoredStatus } from "../../core/statuses.ts";
import type { JoinedMonitors } from "../alert.ts";
import { addEntry } from "../records/store.ts";
import { listNames } from "../sending/messages.ts";
import type { Outbox } from "../sending/outbox.ts";
import type { CauseMemory } from "./cause-memory.ts";
import { decideHold, idlePollMs } from "./holding-rules.ts";
import {
  describeCause,
  isCovered,
  isTogether,
  type JoinedOutage,
  joinedNoticeMs,
  pickCommonCause,
} from "./joining-rules.ts";
import { changeContent, createAlert, findPolicyId, findRecord } from "./records.ts";
import {
  audienceOf,
  buildAlertedMonitor,
  type HeldOutage,
  type JoinedMonitor,
  listNotified,
  memoryOf,
  reminderMsOf,
  type Snapshot,
  type WatchedMonitor,
} from "./snapshot.ts";

type JoiningContext = { snapshot: Snapshot; out: Outbox; now: number; causes: CauseMemory };

/** An outage of a monitor that is being decided. `isReported`: someone was notified of it before. */
type NewOutage = { at: string; causes: readonly Cause[]; isFlapping: boolean };

/** Returns the outage that this one joins; null if it gets its own alert, which other outages can join. */
export function joinOutage(
  decision: JoiningContext,
  monitor: WatchedMonitor,
  { at, causes, isFlapping }: NewOutage,
): HeldOutage | null {
  const { snapshot, now } = decision;
  const { organizationId, monitors } = snapshot;
  const { id } = monitor;
  if (causes.length === 0 || isFlapping || audienceOf(snapshot, monitor).muted) return null;
  const ownOutage = describeOutage(snapshot, monitor, Date.parse(at));
  const isReported = (snapshot.notified.get(id)?.size ?? 0) > 0;
  const leader = decision.causes
    .find(organizationId, causes)
    .map(({ monitorId, since, cause }) => ({ cause, since, monitor: monitors.get(monitorId) }))
    .find((one) => one.monitor?.since === one.since && canLead(snapshot, one.monitor, ownOutage));
  if (!snapshot.canJoin || isReported || leader?.monitor === undefined) {
    decision.causes.add(organizationId, causes, { monitorId: id, since: at });
    return null;
  }
  const { cause } = leader;
  addJoined(decision, leader.monitor, { id, name: monitor.name, cause });
  return { since: ownOutage.since, behind: leader.monitor.id, cause, until: now + idlePollMs };
}

/** Whether an outage can belong to that of another monitor, which has just been reported. */
function canLead(snapshot: Snapshot, leader: WatchedMonitor, own: JoinedOutage): boolean {
  const reported = findReported(snapshot, leader);
  const isSnoozed = findRecord(snapshot, leader.id, "state")?.snoozedUntil !== null;
  return reported !== null && !isSnoozed && isTogether(own, reported) && isCovered(own, reported);
}

const describeOutage = (
  snapshot: Snapshot,
  monitor: WatchedMonitor,
  since: number,
): JoinedOutage => ({
  since,
  priority: monitor.priority,
  channels: audienceOf(snapshot, monitor).channels,
  policyId: findPolicyId(snapshot.policies, monitor),
  reminderMs: reminderMsOf(monitor),
});

/** Returns the people whom the open alert of an outage reaches; null if the monitor has none that reached someone. */
function findReported(snapshot: Snapshot, monitor: WatchedMonitor): JoinedOutage | null {
  const { id, status, since, paused, groupPaused } = monitor;
  const { held, flappingSince } = memoryOf(snapshot, id);
  const record = findRecord(snapshot, id, "state");
  if (status !== "down" || paused || groupPaused || audienceOf(snapshot, monitor).muted)
    return null;
  if (held !== null || flappingSince !== null || record?.type !== "monitor.down") return null;
  return {
    since: Date.parse(since),
    priority: record.priority,
    channels: listNotified(snapshot, id, "down"),
    policyId: record.policyId,
    reminderMs: reminderMsOf(monitor),
  };
}

/** Plans to notify the channels of an outage that another one belongs to it. */
function addJoined({ snapshot, out }: JoiningContext, leader: WatchedMonitor, one: JoinedMonitor) {
  const { joined, holding } = snapshot;
  const known = joined.get(leader.id) ?? new Map<string, JoinedMonitor>();
  joined.set(leader.id, known.set(one.id, one));
  holding.add(leader.id);
  const memory = memoryOf(snapshot, leader.id);
  const joinedDueAt = Date.parse(leader.since) + joinedNoticeMs;
  if (memory.joinedDueAt === null) out.remember(leader.id, { ...memory, joinedDueAt });
}

/**
 * Decides again whether an outage belongs to the outage of another monitor. After the other outage is over, this one
 * waits for its own check. Null if it gets its own alert now.
 */
export function stayJoined(
  { snapshot, now }: JoiningContext,
  monitor: WatchedMonitor,
  status: StoredStatus,
  held: HeldOutage,
): HeldOutage | null {
  const leader = held.behind === null ? undefined : snapshot.monitors.get(held.behind);
  if (held.cause === null || leader === undefined || status !== "down") return null;
  if (!snapshot.canJoin) return null;
  const reported = findReported(snapshot, leader);
  const ownOutage = describeOutage(snapshot, monitor, held.since);
  const isUp = leader.status === "up" || leader.status === "degraded";
  const outage = {
    ...monitor,
    since: held.since,
    lastCheckedAt: timeOf(monitor.lastCheckedAt),
    behind: null,
  };
  const hold = decideHold(
    outage,
    [
      {
        ...leader,
        since: Date.parse(leader.since),
        lastCheckedAt: timeOf(leader.lastCheckedAt),
        notifies: isUp || (reported !== null && isCovered(ownOutage, reported)),
      },
    ],
    now,
  );
  return hold && { ...held, until: hold.until };
}

const timeOf = (timestamp: string | null) => (timestamp === null ? 0 : Date.parse(timestamp));

/** Maximum names of joined monitors in a message, and in an entry of the timeline. */
const maxNames = { message: 20, entry: 50 };

/** Describes the monitors that belong to the alert of another one; undefined without any. */
export function describeJoined({ joined }: Snapshot, leaderId: string): JoinedMonitors | undefined {
  const all = [...(joined.get(leaderId)?.values() ?? [])];
  const cause = pickCommonCause(all.map((one) => one.cause));
  if (cause === null) return undefined;
  return {
    place: describeCause(cause),
    count: all.length,
    monitors: all.slice(0, maxNames.message).map(({ id, name }) => ({ id, name })),
  };
}

/** Notifies the channels of an outage once of all others that belong to it. */
export function notifyOfJoined(decision: JoiningContext, monitor: WatchedMonitor) {
  const { snapshot, out, now } = decision;
  const { id, since, lastMessage, latencyMs } = monitor;
  const record = findRecord(snapshot, id, "state");
  const joined = describeJoined(snapshot, id);
  if (record !== null && joined !== undefined && findReported(snapshot, monitor) !== null) {
    const at = formatTimestamp(now);
    const message = lastMessage ?? "";
    const data = { monitor: buildAlertedMonitor(monitor), since, message, latencyMs, joined };
    const alert = createAlert("monitor.down", at, data, now);
    const notified = out.notify(alert, listNotified(snapshot, id, "down"), false, record);
    out.recordNotified(id, notified, "down", since);
    if (out.getRest() !== null) return;
    changeContent(decision, record, { type: record.type, at, data });
  }
  recordJoined(decision, id, formatTimestamp(now));
}

/** Lists the joined outages of an alert in its timeline, no later than its end. */
export function recordJoined({ snapshot, out }: JoiningContext, leaderId: string, at: string) {
  const memory = memoryOf(snapshot, leaderId);
  if (memory.joinedDueAt === null || out.getRest() !== null) return;
  const all = [...(snapshot.joined.get(leaderId)?.values() ?? [])];
  const joined = describeJoined(snapshot, leaderId);
  const record = findRecord(snapshot, leaderId, "state");
  if (joined !== undefined && record !== null) {
    const names = all.slice(0, maxNames.entry).map(({ name }) => name);
    const message = `Also down ${joined.place}: ${listNames(names, all.length)}.`;
    out.write(addEntry(snapshot.organizationId, record.id, { at, type: "joined", message }));
  }
  out.remember(leaderId, { ...memory, joinedDueAt: null });
}
