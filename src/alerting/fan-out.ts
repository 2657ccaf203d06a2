import type { Clock } from "../core/clock.ts";
import { timestamp } from "../core/clock.ts";
import { retrying, type Store } from "../database/store.ts";
import { eventCursor, type Position } from "../events/cursor.ts";
import type { LoggedEvent } from "../events/catalogue.ts";
import type { Signals } from "../events/signals.ts";
import { caseRound } from "./cases.ts";
import {
  applyEvent,
  applyTimer,
  concernsAlerting,
  type Decision,
  mayReopen,
  alertOfCertificate,
  type Timer,
} from "./decide.ts";
import { type Budget, outbox, type Part } from "./outbox.ts";
import { certificateDays, certificateStep } from "./rules.ts";
import { loadSnapshot } from "./snapshot.ts";

/** Monitors looked at in one write without an event. */
const timersAtOnce = 500;
/** Events whose subjects are read at one time, and rows that one write takes: others have their turn between two. */
const eventsAtOnce = 500;
const rowsAtOnce = 2_000;
/** Writes of one tick; what is due beyond them waits for the next. */
const writesAtOnce = 50;

type Dependencies = { store: Store; clock: Clock; origin: () => string; signals: Signals };

/** What of an event or a timer earlier writes have told. */
type Parts = { event?: Part & { seq: number }; timer?: Part & { timer: string } };

/** Turns events into alerts and these into deliveries: the new deliveries and the cursor stand in one atomic write. */
export function fanOut({ store, clock, origin, signals }: Dependencies) {
  const cursor = eventCursor(store, "alerting");
  const cases = caseRound(store);
  let pending: Promise<unknown> = Promise.resolve();
  /** One at a time: each decision builds on what the one before has written. */
  function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const result = pending.then(work);
    pending = result.catch(() => {});
    return result;
  }

  async function take(events: readonly LoggedEvent[]) {
    while (await retrying(() => takeSome(events))) await Bun.sleep(0);
  }

  /** As many as one write takes; returns whether there are more. */
  async function takeSome(events: readonly LoggedEvent[]): Promise<boolean> {
    const position = await cursor.read();
    const unread = events.filter((event) => event.seq > position.seq).filter(concernsAlerting);
    const last = unread.at(-1);
    if (last === undefined) return false;
    // Where nobody listens, a write costs others more than reading the events again.
    if (!(await haveChannels([...new Set(unread.map((event) => event.organizationId))]))) {
      cursor.skip(last.seq);
      return false;
    }
    const portion = unread.slice(0, eventsAtOnce);
    const { event: part, ...parts } = partsOf(position);
    const decisions = decisionsOf(clock(), portion[0]?.seq === part?.seq ? part : undefined);
    for (const [organizationId, own] of Map.groupBy(portion, (one) => one.organizationId)) {
      const subjects = [...own.map(({ subjectId }) => subjectId), ...(await reopened(own))];
      await decisions.begin(organizationId, { monitorIds: subjects, incidentIds: subjects });
    }
    let { seq } = position;
    for (const event of portion) {
      const decision = decisions.of(event.organizationId);
      applyEvent(decision, event);
      const rest = decision.out.rest();
      if (rest !== null) {
        const told = rest.part === null ? {} : { event: { seq: event.seq, ...rest.part } };
        await decisions.write(position, seq, { ...parts, ...told });
        return true;
      }
      ({ seq } = event);
      if (decision.out.isFull()) break;
    }
    await decisions.write(position, seq, parts);
    return seq < last.seq;
  }

  async function haveChannels(organizationIds: readonly string[]): Promise<boolean> {
    const found = await store.query(
      `select 1 from json_each(?) wanted cross join alert_channels c
         on c.organization_id = wanted.value limit 1`,
      [JSON.stringify(organizationIds)],
    );
    return found.length > 0;
  }

  /** Monitors that have a problem, of the groups and channels that such events are about. */
  async function reopened(events: readonly LoggedEvent[]): Promise<string[]> {
    const about = events.filter(mayReopen);
    const [first] = about;
    if (first === undefined) return [];
    const rows = await store.query<{ id: string }>(reopenedText, [
      first.organizationId,
      JSON.stringify(about.map(({ subjectId }) => subjectId)),
    ]);
    return rows.map(({ id }) => id);
  }

  const save = () => retrying(() => cursor.save());

  /** What is decided for one write, each organization on a snapshot of its own; `part` is of what comes first. */
  function decisionsOf(now: number, part: Part | undefined) {
    const budget: Budget = { left: rowsAtOnce };
    const all = new Map<string, Decision>();
    const statements = () => [...all.values()].flatMap(({ out }) => out.statements());
    return {
      async begin(
        organizationId: string,
        wanted: { monitorIds: readonly string[]; incidentIds: readonly string[] },
      ) {
        const snapshot = await loadSnapshot(store, organizationId, wanted);
        const resumed = all.size === 0 ? (part ?? null) : null;
        const out = outbox(snapshot, now, { budget, origin: origin(), part: resumed });
        all.set(organizationId, { snapshot, out, now });
      },
      of(organizationId: string) {
        const found = all.get(organizationId);
        if (found === undefined) throw new Error("The organization was not read.");
        return found;
      },
      statements,
      async write(from: Position, seq: number, parts: Parts) {
        await cursor.advance(from, seq, statements(), partOf(parts));
        for (const organizationId of all.keys()) signals.emit("deliveries", organizationId);
      },
    };
  }

  async function tick() {
    for (let writes = 0; writes < writesAtOnce; writes++) {
      if (!(await retrying(tickSome))) return;
      await Bun.sleep(0);
    }
  }

  /** As much of what is due as one write takes; returns whether there is more. */
  async function tickSome(): Promise<boolean> {
    const position = await cursor.read();
    const now = clock();
    const { timer: part, ...parts } = partsOf(position);
    const due = [...(await dueTimers(now)), ...(await dueCertificates(now))];
    const isUnderWay = (timer: Timer) => nameOf(timer) === part?.timer;
    const timers = [...due.filter(isUnderWay), ...due.filter((timer) => !isUnderWay(timer))];
    const over = await cases.find(now);
    if (timers.length === 0 && over.length === 0) {
      cases.next();
      return false;
    }
    const [first] = timers;
    const resumed = first !== undefined && isUnderWay(first) ? part : undefined;
    const decisions = decisionsOf(now, resumed);
    const subjects = [
      ...timers.map(({ organizationId, monitorId: id }) => ({ organizationId, id })),
      ...over.map(({ organizationId, subjectId: id }) => ({ organizationId, id })),
    ];
    for (const [organizationId, own] of Map.groupBy(subjects, (one) => one.organizationId)) {
      const wanted = { monitorIds: own.map(({ id }) => id), incidentIds: [] };
      await decisions.begin(organizationId, wanted);
    }
    const write = async (told: Parts, isMore: boolean) => {
      if (decisions.statements().length > 0)
        await decisions.write(position, position.seq, { ...parts, ...told });
      return isMore;
    };
    for (const timer of timers) {
      const decision = decisions.of(timer.organizationId);
      if (timer.kind === "memory") applyTimer(decision, timer);
      else alertOfCertificate(decision, timer);
      const rest = decision.out.rest();
      if (rest !== null)
        return write(
          rest.part === null ? {} : { timer: { timer: nameOf(timer), ...rest.part } },
          true,
        );
      if (decision.out.isFull()) return write({}, true);
    }
    for (const { organizationId, ...one } of over) {
      const { snapshot, out } = decisions.of(organizationId);
      const known = (snapshot.cases.get(one.subjectId) ?? []).find(({ key }) => key === one.key);
      // What was told just now may have closed it, or told anew of what it is about.
      if (known?.alertId === one.alertId) out.closeCase(known);
      if (out.isFull()) return write({}, true);
    }
    await write({}, false);
    cases.next();
    return false;
  }

  function dueTimers(now: number): Promise<Timer[]> {
    return store.query<Timer>(
      `select 'memory' as kind, organization_id as organizationId, monitor_id as monitorId
       from alert_memory where due_at <= ? limit ?`,
      [now, timersAtOnce],
    );
  }

  async function dueCertificates(now: number): Promise<Timer[]> {
    type Row = Timer & {
      expiresAt: string;
      withinDays: number | null;
      toldOf: string | null;
      days: number | null;
    };
    const rows = await store.query<Row>(certificatesText, [
      timestamp(now + certificateDays[0] * 86_400_000),
    ]);
    return rows
      .filter(({ expiresAt, withinDays, toldOf, days }) => {
        const told = toldOf === null || days === null ? null : { expiresAt: toldOf, days };
        return certificateStep(expiresAt, told, withinDays, now) !== null;
      })
      .slice(0, timersAtOnce);
  }

  return {
    /** The `seq` up to which events were turned into deliveries. */
    position: async () => (await cursor.read()).seq,
    /** Turns events into deliveries, exactly once whatever dies when. */
    take: (events: readonly LoggedEvent[]) => oneAtATime(() => take(events)),
    /** Decides what is due without an event: reminders, the end of flapping, certificates, cases to close. */
    tick: () => oneAtATime(() => save().then(tick)),
    /** Writes down how far it has come, where nothing else did. */
    save: () => oneAtATime(save),
  };
}

function partsOf({ part }: Position): Parts {
  return part === null ? {} : (JSON.parse(part) as Parts);
}

function partOf(parts: Parts): string | null {
  return Object.keys(parts).length === 0 ? null : JSON.stringify(parts);
}

const nameOf = ({ kind, organizationId, monitorId }: Timer) =>
  `${kind} ${organizationId} ${monitorId}`;

const reopenedText = `select m.id from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  where m.organization_id = ?1 and s.status in ('down', 'degraded')
    and (m.group_id in (select value from json_each(?2)) or exists (select 1 from monitor_channels c
      where c.organization_id = m.organization_id and c.monitor_id = m.id
        and c.channel_id in (select value from json_each(?2))))`;

/** Certificates that end soon, of monitors that somebody hears of. */
const certificatesText = `select 'certificate' as kind, s.organization_id as organizationId,
    s.monitor_id as monitorId, s.certificate_expires_at as expiresAt,
    json_extract(m.settings, '$.certificateExpiryDays') as withinDays,
    a.certificate_expires_at as toldOf, a.certificate_days as days
  from monitor_states s
    join monitors m on m.organization_id = s.organization_id and m.id = s.monitor_id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
    left join alert_memory a on a.organization_id = m.organization_id and a.monitor_id = m.id
  where s.certificate_expires_at < ? and s.status in ('up', 'degraded', 'down')
    and not s.paused and not m.muted and not coalesce(g.muted, 0)
    and exists (select 1 from monitor_channels c
      join alert_channels h on h.organization_id = c.organization_id and h.id = c.channel_id
      where c.organization_id = m.organization_id and c.monitor_id = m.id and h.enabled)`;
