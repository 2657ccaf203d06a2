import type { ChannelType } from "../alert-channels/schema.ts";
import { timestamp } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { mustExist } from "../database/references.ts";
import { insertInto, mustText, StaleRead, type Statement } from "../database/store.ts";
import {
  alertChannels,
  alertMemory,
  alerts as alertTable,
  deliveries,
  deliveryAlerts,
  openAlerts,
} from "../database/tables.ts";
import type { Alert } from "./alert.ts";
import { providers } from "./providers.ts";
import { dueAt, type ToldState } from "./rules.ts";
import type { Gathering, Remembered, ToldAlert, World } from "./world.ts";

/** Alerts of one channel within so long come as one digest … */
const gatherMs = 5_000;
/** … and while more keep coming, so much longer after each, … */
const extendMs = 1_000;
/** … but no longer than this in all, … */
const maxGatherMs = 10_000;
/** … and never more than this. */
const maxAlerts = 5_000;

const insertAlert = insertInto(alertTable);
const insertDelivery = insertInto(deliveries);
const insertDeliveryAlert = insertInto(deliveryAlerts);
const putOpenAlert = insertInto(openAlerts, "insert or replace");
const putMemory = insertInto(alertMemory, "insert or replace");

const stillGathers = mustText(
  "exists (select 1 from deliveries where organization_id = ? and id = ? and status = 'gathering')",
);

/** When a delivery that takes another alert now is to go. One that has been held back for long begins to gather anew. */
function gatheredAt({ createdAt, dueAt }: Gathering, now: number): number {
  if (dueAt + maxGatherMs <= now) return now + gatherMs;
  const latest = Math.max(createdAt + maxGatherMs, dueAt);
  return Math.min(Math.max(dueAt, now + extendMs), latest);
}

/** What a recovery follows: all deliveries of which one has to have arrived. */
function followed(told: ToldAlert | undefined): string {
  return JSON.stringify((told?.tellings ?? []).map(([id]) => id));
}

/** Deliveries in the making, on top of what an organization's world is; `statements` write them. */
export type Outbox = {
  /** Puts an alert into the deliveries of these channels; a recovery names what it follows. */
  tell(alert: Alert, to: readonly string[], isRecovery: boolean): void;
  /** From now on these channels believe this of the subject of the alert they were just told. */
  believe(subjectId: string, to: readonly string[], state: ToldState, since: string): void;
  /** The problem is over for everybody. */
  close(subjectId: string): void;
  remember(monitorId: string, memory: Remembered): void;
  forget(monitorId: string): void;
  statements(): Statement[];
};

export function outbox(world: World, now: number): Outbox {
  const { organizationId, told, memories, gathering } = world;
  const statements: Statement[] = [];
  /** The delivery that each channel was just told in. */
  const latest = new Map<string, string>();
  const touched = new Map<string, Gathering>();
  const used = new Set<string>();

  function deliveryFor(channelId: string, type: string): { id: string; alerts: number } {
    const { digests } = providers[type as ChannelType];
    const open = gathering.get(channelId);
    if (digests && open !== undefined && open.alerts < maxAlerts) {
      open.dueAt = gatheredAt(open, now);
      touched.set(open.id, open);
      return open;
    }
    const made = {
      id: newId(now),
      alerts: 0,
      createdAt: now,
      dueAt: now + (digests ? gatherMs : 0),
    };
    if (digests) gathering.set(channelId, made);
    statements.push(
      insertDelivery({
        organizationId,
        id: made.id,
        receiverType: "channel",
        receiverId: channelId,
        status: "gathering",
        attempts: 0,
        scheduledAttempts: 0,
        dueAt: made.dueAt,
        createdAt: timestamp(now),
      }),
    );
    return made;
  }

  function extended({ id, dueAt }: Gathering): Statement[] {
    return [
      {
        ...stillGathers,
        parameters: [organizationId, id],
        otherwise: () => new StaleRead(),
      },
      {
        text: "update deliveries set due_at = ? where organization_id = ? and id = ?",
        parameters: [dueAt, organizationId, id],
      },
    ];
  }

  return {
    tell(alert, to, isRecovery) {
      const { id, type, at, data } = alert;
      const monitorId = "monitor" in data ? data.monitor.id : null;
      const incidentId = "incident" in data ? data.incident.id : null;
      statements.push(
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
      for (const channelId of to) {
        const channel = world.channels.get(channelId);
        if (channel === undefined) continue;
        used.add(channelId);
        const delivery = deliveryFor(channelId, channel.type);
        const subject = told.get(monitorId ?? incidentId ?? "");
        statements.push(
          insertDeliveryAlert({
            organizationId,
            deliveryId: delivery.id,
            position: delivery.alerts++,
            alertId: id,
            follows: isRecovery ? followed(subject?.get(channelId)) : null,
            withheld: false,
          }),
        );
        latest.set(channelId, delivery.id);
      }
    },
    believe(subjectId, to, state, since) {
      const known = told.get(subjectId) ?? new Map();
      told.set(subjectId, known);
      for (const channelId of to) {
        const deliveryId = latest.get(channelId);
        if (deliveryId === undefined) continue;
        const tellings = [...(known.get(channelId)?.tellings ?? []), [deliveryId, state] as const];
        statements.push(
          putOpenAlert({
            organizationId,
            subjectId,
            channelId,
            since,
            tellings: JSON.stringify(tellings),
          }),
        );
        known.set(channelId, { state, since, tellings });
      }
    },
    close(subjectId) {
      if (told.get(subjectId) === undefined) return;
      told.delete(subjectId);
      statements.push({
        text: "delete from open_alerts where organization_id = ? and subject_id = ?",
        parameters: [organizationId, subjectId],
      });
    },
    remember(monitorId, memory) {
      memories.set(monitorId, memory);
      const { changes, flappingSince, remindAt, certificate } = memory;
      statements.push(
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
    forget(monitorId) {
      memories.delete(monitorId);
      statements.push({
        text: "delete from alert_memory where organization_id = ? and monitor_id = ?",
        parameters: [organizationId, monitorId],
      });
    },
    statements() {
      return [
        ...mustExist(alertChannels, organizationId, [...used], () => new StaleRead()),
        ...statements,
        ...[...touched.values()].flatMap(extended),
      ];
    },
  };
}
