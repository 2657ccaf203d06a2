import type { ChannelType } from "../channels/kinds-schema.ts";
import { timestamp } from "../../core/time/clock.ts";
import { newId } from "../../core/ids.ts";
import { alertBounds } from "../../core/limits.ts";
import { mustExist } from "../../database/references.ts";
import { insertInto, mustText, StaleRead, type Statement } from "../../database/store.ts";
import {
  alertChannels,
  alertMemory,
  openAlerts,
  openCases,
} from "../../database/tables/alerting.ts";
import type { Alert } from "../alert.ts";
import {
  isOfCertificate,
  type OpenCase,
  opensCases,
  type Problem,
  problemOf,
  replaces,
} from "../deciding/cases.ts";
import { subjectOf } from "./messages.ts";
import { providers } from "../providers.ts";
import { dueAt, type NotifiedState } from "../deciding/rules.ts";
import type { PendingDigest, Remembered, NotifiedAlert, Snapshot } from "../deciding/snapshot.ts";
import { insertAlert, insertDelivery, insertDeliveryAlert } from "../store.ts";

/** Alerts of one channel within so long come as one digest … */
const gatherMs = 5_000;
/** … and while more keep coming, so much longer after each, … */
const extendMs = 1_000;
/** … but no longer than this in all, … */
const maxGatherMs = 10_000;
/** … and never more than this. */
const maxAlerts = alertBounds.alertsPerMessage.value;

const putOpenAlert = insertInto(openAlerts, "insert or replace");
const putCase = insertInto(openCases, "insert or replace");
const putMemory = insertInto(alertMemory, "insert or replace");

const stillGathers = mustText(
  "exists (select 1 from deliveries where organization_id = ? and id = ? and status = 'gathering')",
);

/** When a delivery that takes another alert now is to go. One that has been held back for long begins to gather anew. */
function gatheredAt({ createdAt, dueAt }: PendingDigest, now: number): number {
  if (dueAt + maxGatherMs <= now) return now + gatherMs;
  const latest = Math.max(createdAt + maxGatherMs, dueAt);
  return Math.min(Math.max(dueAt, now + extendMs), latest);
}

/** What a recovery follows: all deliveries of which one has to have arrived. */
function followed(told: NotifiedAlert | undefined): string {
  return JSON.stringify((told?.notifications ?? []).map(([id]) => id));
}

/** So much of one alert was told by earlier writes. */
export type Part = {
  alertId: string;
  /** The last channel that they told. */
  after: string;
};

/** Rows that one write takes, and alerts that the organization's outbox has room for. */
export type Budget = { left: number; alerts: number };
const rowsOfOneChannel = 4;

export type Outbox = ReturnType<typeof outbox>;

/** Deliveries in the making, on top of what an organization's snapshot says; `statements` write them. */
export function outbox(
  snapshot: Snapshot,
  now: number,
  { budget, origin, part }: { budget: Budget; origin: string; part: Part | null },
) {
  const { organizationId, told, memories, gathering, cases } = snapshot;
  const written: Statement[] = [];
  /** The delivery that each channel was just told in. */
  const latest = new Map<string, string>();
  const touched = new Map<string, PendingDigest>();
  const used = new Set<string>();
  let resumed = part;
  let rest: { part: Part | null } | null = null;
  let added = 0;
  let leftOut = 0;

  function write(...statements: readonly Statement[]) {
    written.push(...statements);
    budget.left -= statements.length;
  }

  function made(
    channelId: string,
    about: { dueAt: number; bytes?: number; caseKey?: string; closesCase?: boolean },
  ) {
    const id = newId(now);
    write(
      insertDelivery({
        organizationId,
        id,
        receiverType: "channel",
        receiverId: channelId,
        status: "gathering",
        attempts: 0,
        scheduledAttempts: 0,
        createdAt: timestamp(now),
        ...about,
      }),
    );
    return id;
  }

  function put(deliveryId: string, position: number, alertId: string, follows: string | null) {
    write(
      insertDeliveryAlert({
        organizationId,
        deliveryId,
        position,
        alertId,
        follows,
        withheld: false,
      }),
    );
  }

  /** The digest of a channel that takes this alert, with room for it. */
  function digestFor(channelId: string, type: ChannelType, alert: Alert): PendingDigest {
    const { digestLimit: limit } = providers[type];
    const bytes = limit?.bytesOf(alert, origin) ?? 0;
    const open = gathering.get(channelId);
    const fits =
      open !== undefined &&
      open.alerts < maxAlerts &&
      (limit === undefined || (open.bytes ?? Infinity) + bytes <= limit.bytes);
    if (fits) {
      open.dueAt = gatheredAt(open, now);
      open.bytes = (open.bytes ?? 0) + bytes;
      touched.set(open.id, open);
      return open;
    }
    // What one digest has no room for goes with it, in another.
    const dueAt = open === undefined ? now + gatherMs : gatheredAt(open, now);
    const digest = {
      id: made(channelId, { dueAt, bytes }),
      alerts: 0,
      bytes,
      createdAt: open?.createdAt ?? now,
      dueAt,
    };
    gathering.set(channelId, digest);
    return digest;
  }

  function tellDigest(channelId: string, type: ChannelType, alert: Alert, follows: string | null) {
    const digest = digestFor(channelId, type, alert);
    put(digest.id, digest.alerts++, alert.id, follows);
    latest.set(channelId, digest.id);
  }

  const casesAt = (channelId: string, subjectId: string) =>
    (cases.get(subjectId) ?? []).filter((one) => one.channelId === channelId);

  /** Opens a case, or tells more of it; what it takes the place of is closed. */
  function tellCase(channelId: string, alert: Alert, found: Problem) {
    const before = casesAt(channelId, found.subjectId);
    const same = before.find(({ problem }) => problem === found.problem);
    const key = same?.key ?? `signalbox-${newId(now)}`;
    const deliveryId = made(channelId, { dueAt: now, caseKey: key });
    put(deliveryId, 0, alert.id, null);
    latest.set(channelId, deliveryId);
    const open = { channelId, ...found, key, alertId: alert.id };
    write(putCase({ organizationId, ...open }));
    for (const other of before)
      if (other !== same && replaces(found.problem, other.problem)) closeCase(other, alert.id);
    const others = (cases.get(found.subjectId) ?? []).filter((one) => one !== same);
    cases.set(found.subjectId, [...others, open]);
  }

  function closeCase(one: OpenCase, alertId = one.alertId) {
    const { channelId, subjectId, problem, key } = one;
    used.add(channelId);
    put(made(channelId, { dueAt: now, caseKey: key, closesCase: true }), 0, alertId, null);
    write({
      text: `delete from open_cases where organization_id = ? and channel_id = ? and subject_id = ?
        and problem = ?`,
      parameters: [organizationId, channelId, subjectId, problem],
    });
    const others = (cases.get(subjectId) ?? []).filter((other) => other !== one);
    cases.set(subjectId, others);
  }

  function extended({ id, dueAt, bytes }: PendingDigest): Statement[] {
    return [
      {
        ...stillGathers,
        parameters: [organizationId, id],
        otherwise: () => new StaleRead(),
      },
      {
        text: "update deliveries set due_at = ?, bytes = ? where organization_id = ? and id = ?",
        parameters: [dueAt, bytes, organizationId, id],
      },
    ];
  }

  /** Those who are told in this write: all in their order, or as many as it takes, by their ids. */
  function inThisWrite(alertId: string, all: readonly string[], known: Part | null) {
    const available = Math.max(1, Math.floor(budget.left / rowsOfOneChannel));
    if (known === null && all.length <= available) return all;
    const left = all.filter((id) => known === null || id > known.after).toSorted();
    const first = left.slice(0, available);
    const last = first.at(-1);
    if (last !== undefined && first.length < left.length) rest = { part: { alertId, after: last } };
    return first;
  }

  return {
    /** Puts an alert into the deliveries of these channels, as many as the write takes; a recovery names what it follows. Returns whom it told. */
    tell(alert: Alert, to: readonly string[], isRecovery: boolean): readonly string[] {
      const { type, at, data } = alert;
      const known = resumed;
      resumed = null;
      const id = known?.alertId ?? alert.id;
      const monitorId = "monitor" in data ? data.monitor.id : null;
      const incidentId = "incident" in data ? data.incident.id : null;
      const subject = subjectOf(alert);
      const problem = problemOf(alert);
      const over = (channelId: string) =>
        casesAt(channelId, subject).filter((one) => !isOfCertificate(one.problem));
      const typeOf = (channelId: string) => snapshot.channels.get(channelId)?.type as ChannelType;
      const hears = (channelId: string) =>
        snapshot.channels.has(channelId) &&
        (!opensCases(typeOf(channelId)) ||
          (isRecovery ? over(channelId).length > 0 : problem !== null));
      const hearing = to.filter(hears);
      if (budget.alerts <= 0 && !isRecovery && type !== "appliance.troubled") {
        leftOut += hearing.filter((channelId) => known === null || channelId > known.after).length;
        return [];
      }
      const those = inThisWrite(id, hearing, known);
      added += those.length;
      budget.alerts -= those.length;
      if (those.length > 0 && known === null)
        write(
          insertAlert({
            organizationId,
            id,
            type,
            at,
            monitorId,
            incidentId,
            data: JSON.stringify(data),
          }),
        );
      for (const channelId of those) {
        used.add(channelId);
        const about = { ...alert, id };
        if (!opensCases(typeOf(channelId))) {
          const believed = told.get(subject)?.get(channelId);
          tellDigest(channelId, typeOf(channelId), about, isRecovery ? followed(believed) : null);
        } else if (isRecovery) for (const one of over(channelId)) closeCase(one, id);
        else if (problem !== null) tellCase(channelId, about, problem);
      }
      return those;
    },
    /** From now on these channels believe this of the subject of the alert they were just told. */
    believe(subjectId: string, to: readonly string[], state: NotifiedState, since: string) {
      const known = told.get(subjectId) ?? new Map();
      told.set(subjectId, known);
      for (const channelId of to) {
        const deliveryId = latest.get(channelId);
        if (deliveryId === undefined) continue;
        const notifications = [
          ...(known.get(channelId)?.notifications ?? []),
          [deliveryId, state] as const,
        ];
        write(
          putOpenAlert({
            organizationId,
            subjectId,
            channelId,
            since,
            notifications: JSON.stringify(notifications),
          }),
        );
        known.set(channelId, { state, since, notifications });
      }
    },
    /** The problem is over for everybody, and every case of it is closed. */
    close(subjectId: string) {
      if (rest !== null) return;
      for (const one of cases.get(subjectId) ?? [])
        if (!isOfCertificate(one.problem)) closeCase(one);
      if (told.get(subjectId) === undefined) return;
      told.delete(subjectId);
      write({
        text: "delete from open_alerts where organization_id = ? and subject_id = ?",
        parameters: [organizationId, subjectId],
      });
    },
    /** Closes a case of whose end its channel is told by nothing else. */
    closeCase(one: OpenCase) {
      closeCase(one);
      if (isOfCertificate(one.problem)) return;
      const { subjectId, channelId } = one;
      told.get(subjectId)?.delete(channelId);
      write({
        text: "delete from open_alerts where organization_id = ? and subject_id = ? and channel_id = ?",
        parameters: [organizationId, subjectId, channelId],
      });
    },
    remember(monitorId: string, memory: Remembered) {
      if (rest !== null) return;
      memories.set(monitorId, memory);
      const { changes, flappingSince, remindAt, certificate } = memory;
      write(
        putMemory({
          organizationId,
          monitorId,
          changes: JSON.stringify(changes),
          flappingSince,
          remindAt,
          dueAt: dueAt(memory),
          certificateExpiresAt: certificate?.expiresAt ?? null,
          certificateDays: certificate?.days ?? null,
        }),
      );
    },
    forget(monitorId: string) {
      memories.delete(monitorId);
      write({
        text: "delete from alert_memory where organization_id = ? and monitor_id = ?",
        parameters: [organizationId, monitorId],
      });
    },
    /** Whether the write takes no more. */
    isFull: () => budget.left <= 0,
    /** Leaves the rest of what is being decided to the next write, which decides anew. */
    stop: () => void (rest = { part: null }),
    /** What is left to the next write; null where all was written. */
    rest: () => rest,
    /** Alerts that channels get by this write, and that were left out because the outbox is full. */
    counts: () => ({ added, leftOut }),
    statements(): Statement[] {
      return [
        ...mustExist(alertChannels, organizationId, [...used], () => new StaleRead()),
        ...written,
        ...[...touched.values()].flatMap(extended),
      ];
    },
  };
}
