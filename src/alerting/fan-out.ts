import type { Clock } from "../base/clock.ts";
import { timestamp } from "../base/clock.ts";
import {
  mustText,
  type Prepared,
  retrying,
  StaleRead,
  type Statement,
  type Store,
} from "../database/store.ts";
import type { LoggedEvent } from "../events/log.ts";
import { applyEvent, applyTimer, tellCertificate, type Timer } from "./decide.ts";
import { type Outbox, outbox } from "./outbox.ts";
import { certificateDays, certificateStep } from "./rules.ts";
import { type World, worldOf } from "./world.ts";

const name = "alerting";
/** Monitors looked at in one write without an event. */
const timersAtOnce = 500;

export type FanOut = {
  /** Place in the log up to which events were turned into deliveries. */
  cursor(): Promise<number>;
  /** Turns events into deliveries, exactly once whatever dies when. */
  take(events: readonly LoggedEvent[]): Promise<void>;
  /** Writes down how far it has come, where nothing else did. */
  save(): Promise<void>;
  /** Decides what is due without an event: reminders, the end of flapping, certificates. */
  tick(): Promise<void>;
};

type Place = { seq: number; version: number };

/** Turns events into alerts and these into deliveries: the new deliveries and the cursor stand in one atomic write. */
export function fanOut(store: Store, clock: Clock): FanOut {
  /** Place in the log behind events that nobody could be told of, not written down yet. */
  let unsaved: number | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  /** One at a time: each decision builds on what the one before has written. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  }

  async function place(): Promise<Place> {
    const [row] = await store.query<Place>("select seq, version from followers where name = ?", [
      name,
    ]);
    return row ?? { seq: 0, version: 0 };
  }

  /** Who else reads along has written meanwhile: what was decided is stale. */
  function moved({ seq, version }: Place): Prepared[] {
    return [
      {
        ...mustText("coalesce((select version from followers where name = ?), 0) = ?"),
        parameters: [name, version],
        otherwise: () => new StaleRead(),
      },
      {
        text: "insert or replace into followers (name, seq, version) values (?, ?, ?)",
        parameters: [name, seq, version + 1],
      },
    ];
  }

  const take = (events: readonly LoggedEvent[]) =>
    retrying(async () => {
      const { seq, version } = await place();
      const unread = events.filter((event) => event.seq > seq && isTold(event.type));
      const last = unread.at(-1);
      if (last === undefined) return;
      const byOrganization = Map.groupBy(unread, (event) => event.organizationId);
      // Where nobody listens, a write costs others more than reading the events again.
      if (!(await haveChannels([...byOrganization.keys()]))) {
        unsaved = last.seq;
        return;
      }
      const statements: Statement[] = [];
      for (const [organizationId, own] of byOrganization) {
        const subjects = own.map(({ subjectId }) => subjectId);
        const wanted = { monitorIds: subjects, incidentIds: subjects };
        statements.push(
          ...(await decide(organizationId, wanted, (world, out) => {
            for (const event of own) applyEvent(world, out, event, clock());
          })),
        );
      }
      await store.atomic([...moved({ seq: last.seq, version }), ...statements]);
      unsaved = null;
    });

  async function haveChannels(organizationIds: readonly string[]): Promise<boolean> {
    const found = await store.query(
      `select 1 from json_each(?) wanted cross join alert_channels c
         on c.organization_id = wanted.value limit 1`,
      [JSON.stringify(organizationIds)],
    );
    return found.length > 0;
  }

  const save = () =>
    retrying(async () => {
      if (unsaved === null) return;
      const { seq, version } = await place();
      await store.atomic(moved({ seq: Math.max(seq, unsaved), version }));
      unsaved = null;
    });

  async function decide(
    organizationId: string,
    wanted: { monitorIds: readonly string[]; incidentIds: readonly string[] },
    work: (world: World, out: Outbox) => void,
  ): Promise<Statement[]> {
    const world = await worldOf(store, organizationId, wanted);
    const out = outbox(world, clock());
    work(world, out);
    return out.statements();
  }

  const tick = () =>
    retrying(async () => {
      const { seq, version } = await place();
      const now = clock();
      const timers = [...(await dueTimers(now)), ...(await dueCertificates(now))];
      if (timers.length === 0) return;
      const statements: Statement[] = [];
      for (const [organizationId, own] of Map.groupBy(timers, (timer) => timer.organizationId)) {
        const monitorIds = own.map(({ monitorId }) => monitorId);
        statements.push(
          ...(await decide(organizationId, { monitorIds, incidentIds: [] }, (world, out) => {
            for (const timer of own)
              if (timer.kind === "memory") applyTimer(world, out, timer, now);
              else tellCertificate(world, out, timer, now);
          })),
        );
      }
      if (statements.length > 0) await store.atomic([...moved({ seq, version }), ...statements]);
    });

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
    cursor: async () => (await place()).seq,
    take: (events) => inTurn(() => take(events)),
    tick: () => inTurn(() => save().then(tick)),
    save: () => inTurn(save),
  };
}

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

const told = new Set([
  "monitor.up",
  "monitor.degraded",
  "monitor.down",
  "monitor.pending",
  "monitor.maintenance",
  "monitor.updated",
  "monitor.deleted",
  "incident.opened",
  "incident.updated",
  "incident.reopened",
  "incident.resolved",
  "incident.deleted",
  "alert-channel.created",
  "channel.failed",
  "appliance.troubled",
]);

/** Whether an event may lead to an alert, or says that from here on somebody listens. */
function isTold(type: string): boolean {
  return told.has(type);
}
