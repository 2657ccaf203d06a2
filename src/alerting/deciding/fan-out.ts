import type { Clock } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { fairFollower, type Outcome, type Work } from "../../events/fair-follower.ts";
import type { Signals } from "../../events/signals.ts";
import {
  type AlertingEvent,
  applyEvent,
  concernsAlerting,
  type Decision,
  type DecisionScope,
  mayReopen,
} from "./decide.ts";
import { outbox, type Part } from "../sending/outbox.ts";
import { type OutboxRoom, outboxRoom, statementsOf } from "../sending/outbox-room.ts";
import { loadSnapshot } from "./snapshot.ts";
import { alertTimers } from "./timers.ts";

type Dependencies = { store: Store; clock: Clock; origin: () => string; signals: Signals } & {
  /** Called after each write of deliveries. */
  onWrite?: () => void;
  room?: OutboxRoom;
  /** Unix milliseconds of the start or of the last standstill. */
  runningSince?: () => number;
};

/** Progress with an event that has more recipients than one write takes. */
type EventPart = { event: Part & { seq: number } };

/** Turns events into alerts and alerts into deliveries, in turns between organizations. */
export function fanOut(dependencies: Dependencies) {
  const { store, clock, origin, signals, onWrite } = dependencies;
  const { room = outboxRoom(store, "alerts") } = dependencies;
  const follower = fairFollower<AlertingEvent, EventPart>(store, {
    name: "alerting",
    concerns: concernsAlerting,
    listening,
    decide,
    onWrite: emitDeliveries,
  });
  const timers = alertTimers({ store, clock, room, begin, cursor: follower.cursor });

  /** Reads what a decision about one organization needs. */
  async function begin(organizationId: string, { rows, part, ...wanted }: DecisionScope) {
    const now = clock();
    const snapshot = await loadSnapshot(store, organizationId, wanted);
    const budget = { left: rows, alerts: await room.of(organizationId, now) };
    const out = outbox(snapshot, now, { budget, origin: origin(), part });
    return { snapshot, out, now, runningSince: dependencies.runningSince?.() ?? -Infinity };
  }

  async function decide({
    organizationId,
    events,
    part,
    rows,
  }: Work<AlertingEvent, EventPart>): Promise<Outcome<EventPart>> {
    const resumed = part !== null && part.event?.seq === events[0]?.seq ? part.event : null;
    const subjects = [
      ...events.map(({ subjectId }) => subjectId),
      ...(await reopened(organizationId, events)),
    ];
    const scope = { monitorIds: subjects, incidentIds: subjects, rows, part: resumed };
    const decision = await begin(organizationId, scope);
    const { out } = decision;
    let finished = 0;
    for (const event of events) {
      applyEvent(decision, event);
      const rest = out.rest();
      if (rest !== null)
        return outcomeOf(decision, finished, rest.part && { seq: event.seq, ...rest.part });
      finished += 1;
      if (out.isFull()) break;
    }
    return outcomeOf(decision, finished, null);
  }

  async function outcomeOf(
    decision: Decision,
    finished: number,
    event: (Part & { seq: number }) | null,
  ): Promise<Outcome<EventPart>> {
    const written = await statementsOf(room, decision);
    return { ...written, finished, part: event && { event } };
  }

  /** Organizations among these that have alert channels. */
  async function listening(organizationIds: readonly string[]) {
    const rows = await store.query<{ id: string }>(
      `select value as id from json_each(?) where exists (
         select 1 from alert_channels where organization_id = value)`,
      [JSON.stringify(organizationIds)],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Monitors with a problem, of the groups and channels that such events are about. */
  async function reopened(organizationId: string, events: readonly AlertingEvent[]) {
    const about = events.filter(mayReopen);
    if (about.length === 0) return [];
    const rows = await store.query<{ id: string }>(reopenedText, [
      organizationId,
      JSON.stringify(about.map(({ subjectId }) => subjectId)),
    ]);
    return rows.map(({ id }) => id);
  }

  function emitDeliveries(organizationIds: readonly string[]) {
    for (const organizationId of organizationIds) signals.emit("deliveries", organizationId);
    onWrite?.();
  }

  return {
    ...follower,
    /** Decides what is due without an event: reminders, the end of flapping, certificates, cases to close. */
    async tick() {
      await follower.save();
      await timers.tick(follower.exclusively, emitDeliveries);
    },
  };
}

const reopenedText = `select m.id from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  where m.organization_id = ?1 and s.status in ('down', 'degraded')
    and (m.group_id in (select value from json_each(?2)) or exists (select 1 from monitor_channels c
      where c.organization_id = m.organization_id and c.monitor_id = m.id
        and c.channel_id in (select value from json_each(?2))))`;
