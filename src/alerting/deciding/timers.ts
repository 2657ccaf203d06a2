/** Processes timers: reminders, the end of flapping, certificate expiry, and cases to close. */
import { type Clock, formatTimestamp, dayMs } from "../../core/time/clock.ts";
import type { Statement, Store } from "../../database/store.ts";
import type { LoggedEvent } from "../../events/catalog.ts";
import { AppError } from "../../core/errors.ts";
import type { FairFollower, OnFollowerWrite } from "../../events/fair-follower.ts";
import { type CaseRound, createCaseRound, type EndedCase, type EndedCases } from "./cases.ts";
import { createQuietRound, type QuietRound } from "./quiet-round.ts";
import { createRecordRound, type RecordRound } from "./record-round.ts";
import {
  notifyOfCertificate,
  applyTimer,
  recordState,
  type Decision,
  type DecisionScope,
  type Timer,
} from "./decide.ts";
import { findDueDrills, startMonthlyDrill } from "./drills.ts";
import { applyRecordTimer, sendPlanned } from "./escalation.ts";
import { idlePollMs } from "./holding-rules.ts";
import { joinedNoticeMs } from "./joining-rules.ts";
import { moveEscalationsBack } from "../records/store.ts";
import { announceShifts } from "./notices.ts";
import type { Part } from "../sending/outbox.ts";
import { type OutboxRoom, buildStatements } from "../sending/outbox-room.ts";
import {
  certificateDays,
  type CertificateMemory,
  findCertificateStep,
  steadyStateMs,
} from "./rules.ts";

/** Maximum due timers that one tick reads per organization. */
const timersPerQuery = 2_000;
/** Maximum timers per organization in one write, and maximum organizations per write. */
const maxTimersPerDecision = 500;
const maxOrganizationsPerWrite = 20;
/** Maximum timers per tick that are served alone, because they have failed. */
const maxSuspectsPerTick = 100;
/** Maximum writes per tick. Remaining timers wait for the next tick. */
const maxWritesPerTick = 50;

type Dependencies = {
  store: Store;
  clock: Clock;
  room: OutboxRoom;
  follower: AlertFollower;
  begin: (organizationId: string, scope: DecisionScope) => Promise<Decision>;
  onWrite: OnFollowerWrite;
};

type AlertFollower = Pick<
  FairFollower<LoggedEvent, unknown>,
  "cursor" | "runExclusively" | "rowsAtOnce" | "write" | "tryAlone" | "setbacks"
>;

/** Progress of a timer whose recipients don't fit into one write. */
type TimerPart = Part & { timer: string };

/** Timers by organization. The first organization is served next. */
type DueTimers = Map<string, Timer[]>;

export class AlertTimers {
  readonly #dependencies: Dependencies;
  readonly #findCases: CaseRound;
  readonly #endRecords: RecordRound;
  readonly #quietRound: QuietRound;
  #hasRecordedAll = false;
  #lastNow: number | null = null;
  #mayBeAhead = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#findCases = createCaseRound(dependencies.store);
    this.#endRecords = createRecordRound(dependencies.store);
    this.#quietRound = createQuietRound(dependencies.store);
  }

  async tick() {
    const { clock, room, follower, onWrite } = this.#dependencies;
    // First, so that due messages join the digests.
    const ended = await follower.write("ending quiet hours", await this.#quietRound(clock()));
    const all = await this.#findDueTimers(clock());
    const isSuspect = (timer: Timer) => follower.setbacks.has(buildSetbackKey(timer));
    const due = groupByOrganization(all.filter((timer) => !isSuspect(timer)));
    const failed: Timer[] = [];
    const failures: unknown[] = [];
    for (let writes = 0; due.size > 0 && writes < maxWritesPerTick; writes++) {
      await this.#serveTogether(due).catch(async (error: unknown) => {
        if (error instanceof AppError) throw error;
        failures.push(error);
        failed.push(...(await this.#serveEach(due)));
      });
      await Bun.sleep(0);
    }
    const suspects = all
      .filter((timer) => isSuspect(timer) && !follower.setbacks.isWaiting(buildSetbackKey(timer)))
      .slice(0, maxSuspectsPerTick);
    for (const timer of [...failed, ...suspects]) await this.#serveAlone(timer);
    // Only now, so that the digests are complete when they are sent.
    if (ended.length > 0) onWrite(ended, true);
    for (const one of await this.#findCases(clock())) await this.#closeCases(one);
    await follower.write("ending the problem of a full outbox", await room.listEnds(clock()));
    const endedAlerts = await follower.write("ending alerts", await this.#endRecords(clock()));
    if (endedAlerts.length > 0) onWrite(endedAlerts, false);
    follower.setbacks.throwNew(failures[0]);
  }

  async #serveTogether(due: DueTimers) {
    const { follower, onWrite } = this.#dependencies;
    const { served, hasDeliveries } = await follower.runExclusively(() => this.#serveTimers(due));
    if (served.length > 0) onWrite(served, hasDeliveries);
  }

  /**
   * Serves the next organizations one by one. Returns the timers of organizations that failed; one of these timers
   * can't be handled.
   */
  async #serveEach(due: DueTimers): Promise<Timer[]> {
    const failed: Timer[] = [];
    for (const one of [...due].slice(0, maxOrganizationsPerWrite)) {
      due.delete(one[0]);
      await this.#serveTogether(new Map([one])).catch(() => failed.push(...one[1]));
    }
    return failed;
  }

  /** Serves a timer without others. One that can't be handled is tried again later, and reported. */
  async #serveAlone(timer: Timer) {
    const { follower } = this.#dependencies;
    if (follower.setbacks.isWaiting(buildSetbackKey(timer))) return;
    await follower.tryAlone(formatTimerWork(timer), timer.organizationId, async () => {
      const due = groupByOrganization([timer]);
      for (let writes = 0; due.size > 0 && writes < maxWritesPerTick; writes++)
        await this.#serveTogether(due);
    });
    await Bun.sleep(0);
  }

  /**
   * Writes decisions for the next organizations and removes finished timers from `due`. Returns the
   * organizations of the write, and whether it has deliveries.
   */
  async #serveTimers(due: DueTimers): Promise<{ served: string[]; hasDeliveries: boolean }> {
    const { cursor, rowsAtOnce } = this.#dependencies.follower;
    const position = await cursor.read();
    const turns = [...due].slice(0, maxOrganizationsPerWrite);
    const parts = await this.#readParts(turns.map(([organizationId]) => organizationId));
    const statements: Statement[] = [];
    const rest: [string, Timer[]][] = [];
    let rowsLeft = rowsAtOnce;
    let hasDeliveries = false;
    for (const [index, [organizationId, all]] of turns.entries()) {
      const rows = Math.max(1, Math.floor(rowsLeft / (turns.length - index)));
      const part = parts.get(organizationId) ?? null;
      const timers = sortUnderWayFirst(all, part);
      const outcome = await this.#decideTimers(organizationId, timers, part, rows);
      statements.push(...outcome.statements);
      rowsLeft -= outcome.rows;
      hasDeliveries ||= outcome.hasDeliveries;
      rest.push([organizationId, timers.slice(outcome.finished)]);
    }
    if (statements.length > 0)
      await cursor.advance(position, position.seq, statements, position.part);
    for (const [organizationId, timers] of rest) {
      due.delete(organizationId);
      if (timers.length > 0) due.set(organizationId, timers);
    }
    const served = statements.length > 0 ? rest.map(([organizationId]) => organizationId) : [];
    return { served, hasDeliveries };
  }

  async #decideTimers(
    organizationId: string,
    timers: readonly Timer[],
    part: TimerPart | null,
    rows: number,
  ) {
    const portion = timers.slice(0, maxTimersPerDecision);
    const [first] = portion;
    const resumed = first !== undefined && formatTimerName(first) === part?.timer ? part : null;
    const leaderIds = portion.flatMap(({ leaderId }) => leaderId ?? []);
    const monitorIds = [...portion.map(({ monitorId }) => monitorId), ...leaderIds];
    const incidentIds = portion
      .filter(({ kind }) => kind === "record" || kind === "notification")
      .map(({ monitorId }) => monitorId);
    const scheduleIds = portion
      .filter(({ kind }) => kind === "notice")
      .map(({ monitorId }) => monitorId);
    const escalates = incidentIds.length + scheduleIds.length > 0;
    const joins = leaderIds.length > 0;
    const scope = { monitorIds, incidentIds, escalates, scheduleIds, joins, rows, part: resumed };
    const decision = await this.#dependencies.begin(organizationId, scope);
    let finished = 0;
    let next: TimerPart | null = null;
    for (const timer of portion) {
      decideTimer[timer.kind](decision, timer);
      const rest = decision.out.getRest();
      if (rest !== null) {
        next = rest.part && { timer: formatTimerName(timer), ...rest.part };
        break;
      }
      finished += 1;
      if (decision.out.isFull()) break;
    }
    const outcomeStatements = await buildStatements(this.#dependencies.room, decision);
    const saved = part === null && next === null ? [] : [savePart(organizationId, next)];
    return {
      ...outcomeStatements,
      statements: [...outcomeStatements.statements, ...saved],
      finished,
    };
  }

  /** Closes cases of one organization that no event closes. */
  async #closeCases({ organizationId, cases, finish }: EndedCases) {
    const { follower, onWrite } = this.#dependencies;
    const work = "closing cases";
    if (follower.setbacks.isWaiting(`${work} ${organizationId}`)) return;
    await follower.tryAlone(work, organizationId, async () => {
      const isMore = await follower.runExclusively(async () => {
        const { cursor, rowsAtOnce } = follower;
        const position = await cursor.read();
        const closed = await this.#closeOrganizationCases(organizationId, cases, rowsAtOnce);
        await cursor.advance(position, position.seq, closed.statements, position.part);
        return closed.isMore;
      });
      onWrite([organizationId], true);
      if (!isMore) finish();
    });
  }

  async #closeOrganizationCases(organizationId: string, cases: readonly EndedCase[], rows: number) {
    const monitorIds = cases.map(({ subjectId }) => subjectId);
    const scope = { monitorIds, incidentIds: [], rows, part: null };
    const decision = await this.#dependencies.begin(organizationId, scope);
    const { snapshot, out } = decision;
    let isMore = false;
    for (const { subjectId, key, alertId } of cases) {
      isMore = out.isFull();
      if (isMore) break;
      const known = (snapshot.cases.get(subjectId) ?? []).find((one) => one.key === key);
      if (known?.alertId === alertId) out.closeCase(known);
    }
    return { ...(await buildStatements(this.#dependencies.room, decision)), isMore };
  }

  async #findDueTimers(now: number): Promise<Timer[]> {
    const { store } = this.#dependencies;
    const memories = await store.query<Timer>(dueMemorySql, [now, timersPerQuery]);
    const ahead = await this.#findTimersAhead(now);
    const certificates = await findDueCertificates(store, now);
    const unrecorded = await this.#findUnrecorded();
    const records = await store.query<Timer>(dueRecordsSql, [now, timersPerQuery]);
    const planned = await store.query<Timer>(dueNotificationsSql, [now, timersPerQuery]);
    const drills = await findDueDrills(store, now, timersPerQuery);
    const notices = await store.query<Timer>(dueNoticesSql, [now, timersPerQuery, dayMs]);
    return [
      ...memories,
      ...ahead,
      ...certificates,
      ...unrecorded,
      ...records,
      ...planned,
      ...drills,
      ...notices,
    ];
  }

  /** Returns timers that were set while the clock was ahead. Runs after a start and whenever the clock goes back. */
  async #findTimersAhead(now: number): Promise<Timer[]> {
    const { store } = this.#dependencies;
    if (this.#lastNow === null || now < this.#lastNow) {
      await moveEscalationsBack(store, now);
      this.#mayBeAhead = true;
    }
    this.#lastNow = now;
    if (!this.#mayBeAhead) return [];
    const rows = await store.query<Timer>(nextMemorySql, [
      now,
      steadyStateMs,
      timersPerQuery,
      joinedNoticeMs,
      idlePollMs,
    ]);
    this.#mayBeAhead = rows.length > 0;
    return rows;
  }

  /**
   * Returns monitors with a problem that no alert records, after a start: an older version or a
   * restored backup has none.
   */
  async #findUnrecorded(): Promise<Timer[]> {
    if (this.#hasRecordedAll) return [];
    const { store } = this.#dependencies;
    const rows = await store.query<Timer>(unrecordedSql, [timersPerQuery]);
    this.#hasRecordedAll = rows.length === 0;
    return rows;
  }

  async #readParts(organizationIds: readonly string[]): Promise<Map<string, TimerPart>> {
    const rows = await this.#dependencies.store.query<{ name: string; part: string }>(
      `select name, part from followers
       where name in (select ? || value from json_each(?)) and part is not null`,
      [partPrefix, JSON.stringify(organizationIds)],
    );
    return new Map(
      rows.map(({ name, part }) => [name.slice(partPrefix.length), JSON.parse(part) as TimerPart]),
    );
  }
}

const decideTimer = {
  memory: applyTimer,
  certificate: notifyOfCertificate,
  unrecorded: recordState,
  record: applyRecordTimer,
  notification: sendPlanned,
  drill: startMonthlyDrill,
  notice: announceShifts,
} satisfies Record<Timer["kind"], (decision: Decision, timer: Timer) => void>;

async function findDueCertificates(store: Store, now: number): Promise<Timer[]> {
  type Row = Timer & {
    expiresAt: string;
    withinDays: number | null;
    notifiedExpiry: string | null;
    days: number | null;
    recordedOf: string | null;
    daysRecorded: number;
    isAttached: number;
  };
  const rows = await store.query<Row>(dueCertificatesSql, [
    formatTimestamp(now + certificateDays[0] * dayMs),
  ]);
  const due = rows.filter(({ expiresAt, withinDays, ...row }) => {
    const recorded =
      row.recordedOf === null ? null : buildCertificateMemory(row.recordedOf, row.daysRecorded);
    const { notifiedExpiry, days } = row;
    const told =
      notifiedExpiry === null || days === null ? null : { expiresAt: notifiedExpiry, days };
    const isNewTo = (notified: CertificateMemory) =>
      findCertificateStep(expiresAt, notified, withinDays, now) !== null;
    return isNewTo(recorded) || (row.isAttached === 1 && isNewTo(told));
  });
  const groups = Map.groupBy(due, ({ organizationId }) => organizationId);
  return [...groups.values()].flatMap((own) => own.slice(0, timersPerQuery));
}

/** Returns the memory of a certificate that was reported with this number of days left. */
function buildCertificateMemory(expiresAt: string, daysLeft: number): CertificateMemory {
  const days = certificateDays.findLast((one) => daysLeft < one);
  return days === undefined ? null : { expiresAt, days };
}

const partPrefix = "alert timer/";

function savePart(organizationId: string, part: TimerPart | null): Statement {
  const name = partPrefix + organizationId;
  if (part === null) return { text: "delete from followers where name = ?", parameters: [name] };
  return {
    text: "insert or replace into followers (name, seq, version, part) values (?, 0, 1, ?)",
    parameters: [name, JSON.stringify(part)],
  };
}

const groupByOrganization = (timers: readonly Timer[]): DueTimers =>
  Map.groupBy(timers, ({ organizationId }) => organizationId);

/** Names of timers in reports. */
const timerWork: Record<Timer["kind"], string> = {
  memory: "a reminder or a held alert",
  certificate: "the expiry of a certificate",
  unrecorded: "recording an outage",
  record: "an escalation",
  notification: "a planned notification",
  drill: "a monthly drill",
  notice: "notices of shifts",
};

const formatTimerWork = (timer: Timer) => `${timerWork[timer.kind]} (${formatTimerName(timer)})`;

/** Key of a timer among failed work. */
const buildSetbackKey = (timer: Timer) => `${formatTimerWork(timer)} ${timer.organizationId}`;

const formatTimerName = ({ kind, monitorId, recordId = monitorId, channelId = "" }: Timer) =>
  `${kind} ${recordId}${channelId}`;

function sortUnderWayFirst(timers: readonly Timer[], part: TimerPart | null): Timer[] {
  const isUnderWay = (timer: Timer) => formatTimerName(timer) === part?.timer;
  return [...timers.filter(isUnderWay), ...timers.filter((timer) => !isUnderWay(timer))];
}

/** Selects the first due timers of each organization. The index starts with the organization. */
const dueMemorySql = `with recursive o(id) as (
    select min(organization_id) from alert_memory indexed by alert_memory_due_of_organization
      where due_at is not null
    union all select (select min(organization_id)
      from alert_memory indexed by alert_memory_due_of_organization
      where due_at is not null and organization_id > o.id)
    from o where o.id is not null)
  select 'memory' as kind, o.id as organizationId, a.monitor_id as monitorId,
    iif(a.held_cause is null, null, a.held_behind) as leaderId
  from o cross join alert_memory a on a.organization_id = o.id and a.monitor_id in (
    select monitor_id from alert_memory indexed by alert_memory_due_of_organization
    where organization_id = o.id and due_at <= ?1 order by due_at limit ?2)`;

/** Selects the first due alerts of each organization, by rowid: with the organization, all of its alerts would be read. */
const dueRecordsSql = `with recursive o(id) as (
    select min(organization_id) from alert_records indexed by alert_records_due_of_organization
      where due_at is not null
    union all select (select min(organization_id)
      from alert_records indexed by alert_records_due_of_organization
      where due_at is not null and organization_id > o.id)
    from o where o.id is not null)
  select 'record' as kind, o.id as organizationId, r.subject_id as monitorId, r.id as recordId
  from o cross join alert_records r on r.rowid in (
    select rowid from alert_records indexed by alert_records_due_of_organization
    where organization_id = o.id and due_at <= ?1 order by due_at limit ?2)`;

/** Selects the first due planned notifications of each organization. */
const dueNotificationsSql = `with recursive o(id) as (
    select min(organization_id) from alert_notifications
    union all select (select min(organization_id) from alert_notifications
      where organization_id > o.id)
    from o where o.id is not null)
  select 'notification' as kind, o.id as organizationId, r.subject_id as monitorId,
    r.id as recordId, n.channel_id as channelId, n.step
  from o cross join alert_notifications n on n.rowid in (
      select rowid from alert_notifications indexed by alert_notifications_due_of_organization
      where organization_id = o.id and due_at <= ?1 order by due_at limit ?2)
    cross join alert_records r on r.organization_id = o.id and r.id = n.record_id`;

/** Selects schedules with shifts to examine. A time more than a day ahead was set while the clock was ahead. */
const dueNoticesSql = `select 'notice' as kind, s.organization_id as organizationId,
    s.id as monitorId, s.notice_due_at as dueAt
  from schedules s indexed by schedules_notice_due
    join organizations o on o.id = s.organization_id and o.deleted_at is null
  where s.notice_due_at is not null and (s.notice_due_at <= ?1 or s.notice_due_at > ?1 + ?3)
  limit ?2`;

/** Selects timers farther ahead than any interval allows: they were set while the clock was ahead. */
const nextMemorySql = `select 'memory' as kind, a.organization_id as organizationId,
    a.monitor_id as monitorId, iif(a.held_cause is null, null, a.held_behind) as leaderId
  from alert_memory a
    join monitors m on m.organization_id = a.organization_id and m.id = a.monitor_id
  where a.due_at > ?1 and (a.remind_at > ?1 + m.reminder_interval_seconds * 1000
    or a.flapping_since is not null and a.due_at > ?1 + ?2
    or a.joined_due_at > ?1 + ?4
    or a.held_until > ?1 + ?5)
  limit ?3`;

/** Selects certificates that expire soon, and whether the monitor has an enabled alert channel. */
const dueCertificatesSql = `select 'certificate' as kind, s.organization_id as organizationId,
    s.monitor_id as monitorId, s.certificate_expires_at as expiresAt,
    json_extract(m.settings, '$.certificateExpiryDays') as withinDays,
    a.certificate_expires_at as notifiedExpiry, a.certificate_days as days,
    r.data ->> 'expiresAt' as recordedOf, r.data ->> 'daysLeft' as daysRecorded,
    exists (select 1 from monitor_channels c
      join alert_channels h on h.organization_id = c.organization_id and h.id = c.channel_id
      where c.organization_id = m.organization_id and c.monitor_id = m.id and h.enabled) as isAttached
  from monitor_states s
    join monitors m on m.organization_id = s.organization_id and m.id = s.monitor_id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
    left join alert_memory a on a.organization_id = m.organization_id and a.monitor_id = m.id
    left join alert_records r on r.organization_id = m.organization_id and r.subject_id = m.id
      and r.family = 'certificate' and r.resolved_at is null
  where s.certificate_expires_at < ? and s.status in ('up', 'degraded', 'down')
    and not s.paused and not m.muted and not coalesce(g.muted, 0)`;

/** Selects monitors with a lasting problem and without an open alert. */
const unrecordedSql = `select 'unrecorded' as kind, s.organization_id as organizationId,
    s.monitor_id as monitorId
  from monitor_states s
    join organizations o on o.id = s.organization_id and o.deleted_at is null
    join monitors m on m.organization_id = s.organization_id and m.id = s.monitor_id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
    left join alert_memory a on a.organization_id = m.organization_id and a.monitor_id = m.id
  where s.status in ('down', 'degraded') and not s.paused and not m.muted
    and not coalesce(g.muted, 0) and a.flapping_since is null
    and not exists (select 1 from alert_records r where r.organization_id = m.organization_id
      and r.subject_id = m.id and r.family = 'state' and r.resolved_at is null)
  limit ?`;
