/** Turns events into alerts and alerts into deliveries, alternating between organizations. */
import type { Log } from "../../core/log.ts";
import type { Clock } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import {
  FairFollower,
  type OnFollowerWrite,
  type Outcome,
  type FollowerWork,
} from "../../events/fair-follower.ts";
import { readSince } from "../../events/log.ts";
import type { Signals } from "../../events/signals.ts";
import {
  type AlertingEvent,
  applyEvent,
  concernsAlerting,
  type Decision,
  type DecisionScope,
  canReopen,
  isAboutAlert,
} from "./decide.ts";
import { CauseMemory } from "./cause-memory.ts";
import { canNotifyAgain, decideAgain } from "./deciding-again.ts";
import { Outbox, type Part } from "../sending/outbox.ts";
import { type OutboxRoom, createOutboxRoom, buildStatements } from "../sending/outbox-room.ts";
import { loadSnapshot } from "./snapshot.ts";
import { AlertTimers } from "./timers.ts";

type Dependencies = { store: Store; clock: Clock; origin: () => string; signals: Signals } & {
  log?: Log;
  /** Called after each write of deliveries. */
  onWrite?: () => void;
  room?: OutboxRoom;
  /** Maximum rows per write; tests set a lower number. */
  rowsAtOnce?: number;
  /** Unix milliseconds of the start, or of the end of the last standstill. */
  runningSince?: () => number;
};

/** Progress of an event whose recipients don't fit into one write. */
type EventPart = { event: Part & { seq: number } };

export class AlertFanOut {
  readonly follower: FairFollower<AlertingEvent, EventPart>;
  readonly #dependencies: Dependencies;
  readonly #room: OutboxRoom;
  readonly #timers: AlertTimers;
  readonly #causes = new CauseMemory();

  constructor(dependencies: Dependencies) {
    const {
      store,
      clock,
      log,
      rowsAtOnce,
      room = createOutboxRoom(store, "alerts"),
    } = dependencies;
    this.#dependencies = dependencies;
    this.#room = room;
    const onWrite: OnFollowerWrite = (...written) => this.#emitDeliveries(...written);
    this.follower = new FairFollower(store, {
      name: "alerting",
      concerns: concernsAlerting,
      listening: (organizationIds) => findExistingOrganizations(store, organizationIds),
      decide: (work) => this.#decide(work),
      ...(rowsAtOnce !== undefined && { rowsAtOnce }),
      onWrite,
      clock,
      log,
    });
    const begin = (organizationId: string, scope: DecisionScope) =>
      this.#begin(organizationId, scope);
    this.#timers = new AlertTimers({ store, clock, room, begin, follower: this.follower, onWrite });
  }

  /** Decides everything that is due at a time: reminders, the end of flapping, certificates, open cases. */
  async tick() {
    await this.follower.save();
    await this.#timers.tick();
  }

  /** Handles all new events, and everything that is due. Tests use it. */
  async runOnce() {
    const { follower } = this;
    const { seq } = await follower.cursor.read();
    await follower.handleBatch(await readSince(this.#dependencies.store, seq, 10_000));
    await follower.drain();
    await this.tick();
  }

  /** Reads the facts for a decision about one organization. */
  async #begin(
    organizationId: string,
    { rows, part, ...wanted }: DecisionScope,
  ): Promise<Decision> {
    const { store, clock, origin, runningSince } = this.#dependencies;
    const now = clock();
    const snapshot = await loadSnapshot(store, organizationId, { ...wanted, now });
    const budget = { left: rows, alerts: await this.#room.countAvailable(organizationId, now) };
    const out = new Outbox(snapshot, now, { budget, origin: origin(), part });
    const causes = this.#causes;
    return { snapshot, out, now, runningSince: runningSince?.() ?? -Infinity, causes };
  }

  async #decide(work: FollowerWork<AlertingEvent, EventPart>): Promise<Outcome<EventPart>> {
    const { organizationId, events, part, rows } = work;
    const resumed = part !== null && part.event?.seq === events[0]?.seq ? part.event : null;
    const causes = events.flatMap(
      (event) => (event.type === "monitor.down" && event.data.causes) || [],
    );
    const leaders = this.#causes.find(organizationId, causes);
    const subjects = [
      ...events.map(({ subjectId }) => subjectId),
      ...leaders.map(({ monitorId }) => monitorId),
      ...(await findReopenedMonitors(this.#dependencies.store, organizationId, events)),
      ...(await findSubjectsOfAlerts(this.#dependencies.store, organizationId, events)),
      ...(await findSubjectsOfChannels(this.#dependencies.store, organizationId, events)),
    ];
    const decidesAgain = events.some(canNotifyAgain);
    const ids = { monitorIds: subjects, incidentIds: subjects };
    const scope = { ...ids, joins: causes.length > 0, decidesAgain, rows, part: resumed };
    const decision = await this.#begin(organizationId, scope);
    let finished = 0;
    let rest: EventPart | null = null;
    for (const event of events) {
      applyEvent(decision, event);
      if (decision.out.getRest() === null) decideAgain(decision, event);
      const unfinished = decision.out.getRest();
      if (unfinished !== null) {
        rest = unfinished.part && { event: { seq: event.seq, ...unfinished.part } };
        break;
      }
      finished += 1;
      if (decision.out.isFull()) break;
    }
    return { ...(await buildStatements(this.#room, decision)), finished, part: rest };
  }

  #emitDeliveries(organizationIds: readonly string[], hasDeliveries: boolean) {
    const { signals, onWrite } = this.#dependencies;
    for (const organizationId of organizationIds) signals.emit("deliveries", organizationId);
    // Many writes only change alerts without a channel.
    if (hasDeliveries) onWrite?.();
  }
}

/** Returns the organizations among these that are not deleted. Alerts are recorded even without a channel. */
async function findExistingOrganizations(store: Store, organizationIds: readonly string[]) {
  const rows = await store.query<{ id: string }>(
    `select id from organizations
     where id in (select value from json_each(?)) and deleted_at is null`,
    [JSON.stringify(organizationIds)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Returns the monitors with a problem that these events concern, by their group or channels. */
async function findReopenedMonitors(
  store: Store,
  organizationId: string,
  events: readonly AlertingEvent[],
): Promise<string[]> {
  const reopening = events.filter(canReopen);
  if (reopening.length === 0) return [];
  const subjectIds = JSON.stringify(reopening.map(({ subjectId }) => subjectId));
  const rows = await store.query<{ id: string }>(
    `select m.id from monitors m
       join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
     where m.organization_id = ?1 and s.status in ('down', 'degraded')
       and (m.group_id in (select value from json_each(?2))
         or exists (select 1 from monitor_channels c
           where c.organization_id = m.organization_id and c.monitor_id = m.id
             and c.channel_id in (select value from json_each(?2))))`,
    [organizationId, subjectIds],
  );
  return rows.map(({ id }) => id);
}

/** Returns the subjects of the open alerts that these events concern. */
async function findSubjectsOfAlerts(
  store: Store,
  organizationId: string,
  events: readonly AlertingEvent[],
): Promise<string[]> {
  const ids = events.filter(isAboutAlert).map(({ subjectId }) => subjectId);
  if (ids.length === 0) return [];
  const rows = await store.query<{ id: string }>(
    `select r.subject_id as id from json_each(?2) w
       cross join alert_records r on r.organization_id = ?1 and r.id = w.value
     where r.resolved_at is null`,
    [organizationId, JSON.stringify(ids)],
  );
  return rows.map(({ id }) => id);
}

/** Returns the subjects of the open alerts about which edited channels hold messages, and all after a restore of a channel. */
async function findSubjectsOfChannels(
  store: Store,
  organizationId: string,
  events: readonly AlertingEvent[],
): Promise<string[]> {
  const listIds = (type: AlertingEvent["type"]) =>
    events.filter((one) => one.type === type).map(({ subjectId }) => subjectId);
  const edited = listIds("alert-channel.updated");
  const restored = listIds("alert-channel.restored").length;
  if (edited.length + restored === 0) return [];
  const rows = await store.query<{ id: string }>(
    `select r.subject_id as id from json_each(?2) w
       cross join deliveries d indexed by deliveries_quiet on d.organization_id = ?1
         and d.receiver_id = w.value and d.due_at is not null and d.quiet
       cross join delivery_alerts t on t.organization_id = ?1 and t.delivery_id = d.id
       cross join alerts a on a.organization_id = ?1 and a.id = t.alert_id
       cross join alert_records r on r.organization_id = ?1 and r.id = a.record_id
     where r.resolved_at is null
     union select r.subject_id from alert_records r indexed by alert_records_open
     where r.organization_id = ?1 and r.resolved_at is null and r.family <> 'drill' and ?3 > 0`,
    [organizationId, JSON.stringify(edited), restored],
  );
  return rows.map(({ id }) => id);
}
