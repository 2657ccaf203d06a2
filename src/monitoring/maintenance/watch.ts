/**
 * Tracks which monitors are in maintenance, records when a window starts, ends or is announced again, and ends pauses
 * that are over.
 */
import { type Lease, type Leases, LeaseLost, guardStoreWithLease } from "../../cluster/leases.ts";
import { formatTimestamp, dayMs, hourMs } from "../../core/time/clock.ts";
import type { Log } from "../../core/log.ts";
import { mapYielding } from "../../core/time/event-loop.ts";
import { guardVersion } from "../../database/references.ts";
import { StaleRead, type Statement } from "../../database/store.ts";
import { maintenanceWindows } from "../../database/tables/monitoring.ts";
import type { LoggedEvent } from "../../events/catalog.ts";
import { appendEvent, findLastSeq, readSince } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import type { ScopeServices } from "../../events/scope.ts";
import { concernOf } from "../monitors/events.ts";
import { resumeDueMonitors } from "../monitors/resume-service.ts";
import { type Occurrence, listOccurrences, computeSituation } from "./rules.ts";
import {
  clearMark,
  findMarks,
  findGroupsOfMonitors,
  findRemindedStarts,
  listMaintainedMonitors,
  type OccurrenceMark,
  guardMarked,
  listPlannedWindows,
  markReminded,
  setMark,
  type StoredWindow,
} from "./store.ts";

/** Maximum delay of the event for a start or end. The effect on checks is exact to the millisecond. */
const tickMs = 1_000;

type Dependencies = ScopeServices & {
  leases: Leases;
  events: EventReader;
  log: Log;
};

type Listener = (monitorIds: readonly string[]) => void;
type Effects = { has(id: string): boolean; keys(): Iterable<string> };

export class MaintenanceWatch {
  private readonly dependencies: Dependencies;
  private readonly plans = new Map<string, Plan>();
  /** Monitors in maintenance that the listener was last called for, by organization. */
  private readonly announced = new Map<string, Effects>();
  private marks = new Map<string, OccurrenceMark>();
  /** Lease under which the marks were read. Another node can have changed them before this lease began. */
  private lease: Lease | null = null;
  private listener: Listener | null = null;
  private subscription: Subscription | null = null;
  private timer: ReturnType<typeof setInterval> | null = null;
  private cursor: number | null = null;
  private pending: Promise<void> = Promise.resolve();

  constructor(dependencies: Dependencies) {
    this.dependencies = dependencies;
  }

  /** Loads the windows and follows their changes. */
  async start() {
    const { events } = this.dependencies;
    this.subscription = events.subscribe("maintenance", await this.load(), (added) =>
      this.handleEvents(added),
    );
    this.timer = setInterval(() => {
      void this.tick();
      void this.endPauses();
    }, tickMs);
  }

  async stop() {
    if (this.timer !== null) clearInterval(this.timer);
    await this.subscription?.stop();
    await this.pending;
  }

  /**
   * Loads the windows at the first call; then reads new events, records due starts and ends, and ends pauses. Tests use
   * it instead of `start`.
   */
  async runOnce() {
    if (this.cursor === null) {
      this.cursor = await this.load();
      return;
    }
    const events = await readSince(this.dependencies.store, this.cursor, 10_000);
    this.cursor = events.at(-1)?.seq ?? this.cursor;
    await this.handleEvents(events);
    await this.endPauses();
  }

  /** Returns the effect of the current maintenance on a monitor; null outside maintenance. */
  of = ({ organizationId, id }: { organizationId: string; id: string }) =>
    this.plans.get(organizationId)?.getEffects(this.dependencies.clock()).get(id) ?? null;

  /** Sets the listener for monitors whose maintenance starts or ends. It is also called for earlier changes. */
  onChange(listener: Listener) {
    this.listener = listener;
  }

  private async load(): Promise<number> {
    const { store, clock } = this.dependencies;
    const seq = await findLastSeq(store);
    await this.readMarks();
    const windows = await listPlannedWindows(store, formatTimestamp(clock()));
    const maintained = await listMaintainedMonitors(store);
    for (const [organizationId, own] of Map.groupBy(maintained, (one) => one.organizationId))
      this.announced.set(organizationId, new Set(own.map(({ id }) => id)));
    for (const [organizationId, own] of Map.groupBy(windows, (one) => one.organizationId))
      await this.plan(organizationId, own);
    return seq;
  }

  private async plan(organizationId: string, windows: readonly StoredWindow[]) {
    const { store, clock } = this.dependencies;
    const groupIds = [...new Set(windows.flatMap((window) => window.groupIds))];
    const groups =
      groupIds.length === 0
        ? new Map<string, string>()
        : await findGroupsOfMonitors(store, organizationId, groupIds);
    // Fills the cache of long gaps, so that later evaluations are quick.
    await mapYielding(windows, (window) => computeSituation(window, clock()));
    if (windows.length === 0) this.plans.delete(organizationId);
    else {
      const isReminding = windows.some(({ reminderHours }) => reminderHours !== null);
      const reminded = isReminding ? await findRemindedStarts(store, organizationId) : new Map();
      this.plans.set(organizationId, new Plan(windows, groups, reminded));
    }
  }

  private async readMarks() {
    const { store, leases } = this.dependencies;
    this.lease = leases.findNamed("maintenance");
    this.marks = new Map((await findMarks(store)).map((mark) => [mark.windowId, mark]));
  }

  private async handleEvents(events: readonly LoggedEvent[]) {
    const { store, clock } = this.dependencies;
    if (events.some(({ type }) => type === "organization.deleted")) await this.readMarks();
    for (const [organizationId, own] of Map.groupBy(events, (event) => event.organizationId)) {
      const concerned = new Set(own.map(concernOf));
      if (concerned.has("windows") || concerned.has("organization")) {
        const windows = await listPlannedWindows(store, formatTimestamp(clock()), organizationId);
        await this.plan(organizationId, windows);
      } else if (concerned.has("group")) await this.regroup(organizationId, null);
      else if (concerned.has("monitor")) {
        const monitors = own.filter((event) => concernOf(event) === "monitor");
        await this.regroup(
          organizationId,
          monitors.map(({ subjectId }) => subjectId),
        );
      }
    }
    await this.tick();
  }

  /** Reloads the groups of these monitors, or of all monitors for null. */
  private async regroup(organizationId: string, monitorIds: string[] | null) {
    const plan = this.plans.get(organizationId);
    if (plan === undefined || plan.groupIds.length === 0) return;
    const { store } = this.dependencies;
    plan.regroup(
      monitorIds,
      await findGroupsOfMonitors(store, organizationId, plan.groupIds, monitorIds),
    );
  }

  /** Records starts and ends one after another, because each write depends on the marks of the previous one. */
  private tick(): Promise<void> {
    const recorded = this.enqueue("starts and ends of maintenance can't be recorded", () =>
      this.recordChanges(),
    );
    this.announce();
    return recorded;
  }

  /** Resumes monitors at the end of their pause, if this node has the lease. */
  private endPauses(): Promise<void> {
    return this.enqueue("pauses that are over can't be ended", async () => {
      const { store, leases, log } = this.dependencies;
      const lease = leases.findNamed("maintenance");
      if (lease === null) return;
      const guarded = guardStoreWithLease(store, lease);
      await resumeDueMonitors({ ...this.dependencies, store: guarded }, log).catch(
        (error: unknown) => {
          if (!(error instanceof LeaseLost)) throw error;
        },
      );
    });
  }

  private enqueue(failure: string, work: () => Promise<void>): Promise<void> {
    this.pending = this.pending.then(work).catch((error: unknown) => {
      this.dependencies.log.error(failure, { cause: String(error) });
    });
    return this.pending;
  }

  private announce() {
    if (this.listener === null) return;
    const now = this.dependencies.clock();
    for (const organizationId of new Set([...this.plans.keys(), ...this.announced.keys()])) {
      const effects = this.plans.get(organizationId)?.getEffects(now) ?? noEffects;
      const known = this.announced.get(organizationId) ?? noEffects;
      if (effects === known) continue;
      this.announced.set(organizationId, effects);
      const startedIds = [...effects.keys()].filter((id) => !known.has(id));
      const ended = [...known.keys()].filter((id) => !effects.has(id));
      if (startedIds.length + ended.length > 0) this.listener([...startedIds, ...ended]);
    }
  }

  /**
   * Appends an event for each start and end, in one write with its mark, if this node has the lease. An organization that
   * fails delays no other.
   */
  private async recordChanges() {
    const { clock, leases } = this.dependencies;
    const now = clock();
    if (leases.findNamed("maintenance") === null) return;
    if (leases.findNamed("maintenance") !== this.lease) await this.readMarks();
    const marks = Map.groupBy(this.marks.values(), (mark) => mark.organizationId);
    const failures: unknown[] = [];
    for (const organizationId of new Set([...marks.keys(), ...this.plans.keys()]))
      await this.recordOwnChanges(organizationId, marks.get(organizationId) ?? [], now).catch(
        (error: unknown) => failures.push(error),
      );
    if (failures.length > 0) throw failures[0];
  }

  private async recordOwnChanges(
    organizationId: string,
    marks: readonly OccurrenceMark[],
    now: number,
  ) {
    const plan = this.plans.get(organizationId);
    const running = new Map(plan?.listRunning(now).map((one) => [one.window.id, one]));
    for (const mark of marks)
      if (running.get(mark.windowId)?.start !== mark.start)
        await this.write(this.buildEndStatements(mark, now));
    for (const one of running.values())
      if (!this.marks.has(one.window.id)) await this.write(startStatements(one, now));
    for (const one of plan?.listDueReminders(now) ?? [])
      if (await this.write(buildReminders(one, now))) plan?.reminded.set(one.window.id, one.start);
  }

  /** Creates the statements for an end: the planned time if it is past, or now if the window was cut short. */
  private buildEndStatements(mark: OccurrenceMark, now: number): Statement[] {
    const plan = this.plans.get(mark.organizationId);
    const window = plan?.windows.find(({ id }) => id === mark.windowId);
    const [last] = window ? listOccurrences(window, mark.start, mark.start + 1, 1) : [];
    const end = last?.start === mark.start ? Math.min(last.end, now) : now;
    return [
      guardMarked(mark, true),
      clearMark(mark),
      buildEvent("maintenance.ended", mark, end, now),
    ];
  }

  /**
   * Writes under the lease. Returns false without the lease. After a conflict with another node, or a change to the
   * window, the next tick retries.
   */
  private async write(statements: readonly Statement[]): Promise<boolean> {
    if (this.lease === null) return false;
    let isDecided = true;
    try {
      await guardStoreWithLease(this.dependencies.store, this.lease).atomic(statements);
    } catch (error) {
      if (!(error instanceof StaleRead || error instanceof LeaseLost)) throw error;
      isDecided = error instanceof StaleRead;
    }
    await this.readMarks();
    return isDecided;
  }
}

function startStatements({ window, start, end }: RunningOccurrence, now: number): Statement[] {
  const { organizationId, id } = window;
  const mark = { organizationId, windowId: id, start };
  return [
    guardVersion(maintenanceWindows, organizationId, window),
    guardMarked(mark, false),
    setMark(mark),
    buildEvent("maintenance.started", mark, end, now),
  ];
}

function buildReminders({ window, start, end }: RunningOccurrence, now: number): Statement[] {
  const mark = { organizationId: window.organizationId, windowId: window.id, start };
  return [...markReminded(window, start), buildEvent("maintenance.reminded", mark, end, now)];
}

const noEffects: ReadonlyMap<string, MaintenanceEffect> = new Map();

function buildEvent(
  type: "maintenance.started" | "maintenance.ended" | "maintenance.reminded",
  mark: OccurrenceMark,
  end: number,
  now: number,
): Statement {
  const { organizationId, windowId, start } = mark;
  const data = { startsAt: formatTimestamp(start), endsAt: formatTimestamp(end) };
  return appendEvent({ organizationId, at: formatTimestamp(now), type, subjectId: windowId, data });
}

/** Effect of maintenance on a monitor. */
type MaintenanceEffect = { countsUptime: boolean };

type RunningOccurrence = Occurrence & { window: StoredWindow };

/** An occurrence. Subscribers are reminded of it from the time `at`. */
type Reminder = RunningOccurrence & { at: number };

/** Time span of one search. A longer search of a rare rule would take long. */
const lookAheadMs = dayMs;

type Situation = { window: StoredWindow; current: Occurrence | null; until: number };

/** Windows of one organization and their effects. Evaluates them again only when one starts or ends. */
class Plan {
  readonly windows: readonly StoredWindow[];
  /** Groups of at least one window. */
  readonly groupIds: readonly string[];
  private readonly groupOf: Map<string, string>;
  private readonly situations: Situation[];
  private since = Infinity;
  private until = -Infinity;
  private running: RunningOccurrence[] = [];
  private effects = new Map<string, MaintenanceEffect>();
  /** Starts for which reminders were sent, by window. */
  readonly reminded: Map<string, number>;
  private reminders: Reminder[] = [];
  private remindersSince = Infinity;
  private remindersUntil = -Infinity;

  constructor(
    windows: readonly StoredWindow[],
    groupOf: Map<string, string>,
    reminded: Map<string, number>,
  ) {
    this.windows = windows;
    this.reminded = reminded;
    this.groupIds = [...new Set(windows.flatMap(({ groupIds }) => groupIds))];
    this.groupOf = groupOf;
    this.situations = windows.map((window) => ({ window, current: null, until: -Infinity }));
  }

  /** Returns the effect on each monitor in maintenance. Returns the same object until something changes. */
  getEffects(now: number): ReadonlyMap<string, MaintenanceEffect> {
    this.renew(now);
    return this.effects;
  }

  listRunning(now: number): readonly RunningOccurrence[] {
    this.renew(now);
    return this.running;
  }

  /** Returns the next occurrences of which subscribers must be reminded now. */
  listDueReminders(now: number): readonly Reminder[] {
    if (now < this.remindersSince || now >= this.remindersUntil) {
      this.reminders = this.windows.flatMap((window) => findReminder(window, now) ?? []);
      this.remindersSince = now;
      this.remindersUntil = Math.min(
        now + lookAheadMs,
        ...this.reminders.map(({ start }) => start),
      );
    }
    return this.reminders.filter(
      ({ window, start, at }) => at <= now && start > now && this.reminded.get(window.id) !== start,
    );
  }

  /** Updates the groups of monitors. Monitors that are absent from `groups` are in no group of a window. */
  regroup(monitorIds: readonly string[] | null, groups: ReadonlyMap<string, string>) {
    const ids = new Set(monitorIds ?? [...this.groupOf.keys(), ...groups.keys()]);
    const movedIds = [...ids].filter((id) => this.groupOf.get(id) !== groups.get(id));
    for (const id of movedIds) {
      const groupId = groups.get(id);
      if (groupId === undefined) this.groupOf.delete(id);
      else this.groupOf.set(id, groupId);
    }
    if (movedIds.length > 0 && this.running.length > 0)
      this.effects = computeEffects(this.running, this.groupOf);
  }

  private renew(now: number) {
    if (now >= this.since && now < this.until) return;
    for (const one of this.situations) {
      if (now >= this.since && now < one.until) continue;
      const { current, next } = computeSituation(one.window, now);
      one.current = current;
      one.until = Math.min(one.current?.end ?? Infinity, next?.start ?? now + lookAheadMs);
    }
    this.since = now;
    this.until = Math.min(...this.situations.map(({ until }) => until));
    this.running = this.situations.flatMap(({ window, current }) =>
      current ? { window, ...current } : [],
    );
    this.effects = computeEffects(this.running, this.groupOf);
  }
}

/**
 * Returns the reminder of the next occurrence. None is sent if the window was created or changed later than its time:
 * subscribers have just been notified.
 */
function findReminder(window: StoredWindow, now: number): Reminder | null {
  const { reminderHours, updatedAt } = window;
  if (reminderHours === null || !window.public) return null;
  const leadMs = reminderHours * hourMs;
  const found = listOccurrences(window, now, now + leadMs + lookAheadMs, 2);
  const next = found.find(({ start }) => start > now);
  if (next === undefined || next.start - leadMs < Date.parse(updatedAt)) return null;
  return { window, ...next, at: next.start - leadMs };
}

/** Computes the effects of running windows. If one of several windows does not count in uptime, it wins. */
function computeEffects(
  running: readonly RunningOccurrence[],
  groupOf: ReadonlyMap<string, string>,
) {
  const effects = new Map<string, MaintenanceEffect>();
  const applyEffect = (id: string, countsUptime: boolean) => {
    if (!countsUptime || !effects.has(id)) effects.set(id, { countsUptime });
  };
  const idsByGroup = Map.groupBy(groupOf.keys(), (id) => groupOf.get(id));
  for (const { window } of running) {
    for (const id of window.monitorIds) applyEffect(id, window.countsUptime);
    for (const groupId of window.groupIds)
      for (const id of idsByGroup.get(groupId) ?? []) applyEffect(id, window.countsUptime);
  }
  return effects;
}
