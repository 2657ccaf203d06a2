import { type Lease, type Leases, LeaseLost, underLease } from "../../cluster/leases.ts";
import { type Clock, timestamp } from "../../core/time/clock.ts";
import type { Log } from "../../core/log.ts";
import { mapYielding } from "../../core/time/yielding.ts";
import { mustBeUnchanged } from "../../database/references.ts";
import { StaleRead, type Statement, type Store } from "../../database/store.ts";
import { maintenanceWindows } from "../../database/tables/monitoring.ts";
import type { LoggedEvent } from "../../events/catalogue.ts";
import { appendEvent, lastSeq, readSince } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import { concernOf } from "../monitors/events.ts";
import { type Occurrence, occurrencesBetween, situationAt } from "./rules.ts";
import {
  clearMark,
  findMarks,
  groupsOfMonitors,
  maintainedMonitors,
  type Mark,
  mustBeMarked,
  plannedWindows,
  setMark,
  type StoredWindow,
} from "./store.ts";

/** A beginning and an end are told this late at most; they hold to the millisecond. */
const tickMs = 1_000;

type Dependencies = {
  store: Store;
  clock: Clock;
  leases: Leases;
  events: EventReader;
  log: Log;
};

/** Knows from the events and the clock which monitors are in maintenance, and tells when windows begin and end. */
export function maintenanceWatch(dependencies: Dependencies) {
  const { store, clock, leases, events: reader, log } = dependencies;
  const plans = new Map<string, Plan>();
  /** Monitors that listeners know to be in maintenance, by organization. */
  const announced = new Map<string, { has(id: string): boolean; keys(): Iterable<string> }>();
  let marks = new Map<string, Mark>();
  /** Under which the marks were read: who had it before may have set others. */
  let lease: Lease | null = null;
  let listener: ((monitorIds: readonly string[]) => void) | null = null;
  let subscription: Subscription | null = null;
  let ticking: ReturnType<typeof setInterval> | null = null;
  let cursor: number | null = null;
  let pending: Promise<void> = Promise.resolve();

  async function load(): Promise<number> {
    const seq = await lastSeq(store);
    await readMarks();
    const windows = await plannedWindows(store, timestamp(clock()));
    const maintained = await maintainedMonitors(store);
    for (const [organizationId, its] of Map.groupBy(maintained, (one) => one.organizationId))
      announced.set(organizationId, new Set(its.map(({ id }) => id)));
    for (const [organizationId, its] of Map.groupBy(windows, (one) => one.organizationId))
      await plan(organizationId, its);
    return seq;
  }

  async function plan(organizationId: string, windows: Plan["windows"]) {
    const groupIds = [...new Set(windows.flatMap((window) => window.groupIds))];
    const groups =
      groupIds.length === 0
        ? new Map<string, string>()
        : await groupsOfMonitors(store, organizationId, groupIds);
    // Later looks at their rules go on from what this one found.
    await mapYielding(windows, (window) => situationAt(window, clock()));
    if (windows.length === 0) plans.delete(organizationId);
    else plans.set(organizationId, planOf(windows, groups));
  }

  async function readMarks() {
    lease = leases.named("maintenance");
    marks = new Map((await findMarks(store)).map((mark) => [mark.windowId, mark]));
  }

  async function take(events: readonly LoggedEvent[]) {
    if (events.some(({ type }) => type === "organization.deleted")) await readMarks();
    for (const [organizationId, its] of Map.groupBy(events, (event) => event.organizationId)) {
      const concerned = new Set(its.map(concernOf));
      if (concerned.has("windows") || concerned.has("organization"))
        await plan(organizationId, await plannedWindows(store, timestamp(clock()), organizationId));
      else if (concerned.has("group")) await regroup(organizationId, null);
      else if (concerned.has("monitor")) {
        const monitors = its.filter((event) => concernOf(event) === "monitor");
        await regroup(
          organizationId,
          monitors.map(({ subjectId }) => subjectId),
        );
      }
    }
    await tick();
  }

  /** Reads anew which groups monitors are in: these, or null for all. */
  async function regroup(organizationId: string, monitorIds: string[] | null) {
    const plan = plans.get(organizationId);
    if (plan === undefined || plan.groupIds.length === 0) return;
    plan.regroup(
      monitorIds,
      await groupsOfMonitors(store, organizationId, plan.groupIds, monitorIds),
    );
  }

  /** One at a time: what is told builds on what was told before. */
  function tick(): Promise<void> {
    pending = pending.then(tell).catch((error: unknown) => {
      log.error("telling about maintenance failed", { cause: String(error) });
    });
    announce();
    return pending;
  }

  function announce() {
    if (listener === null) return;
    const now = clock();
    for (const organizationId of new Set([...plans.keys(), ...announced.keys()])) {
      const effects = plans.get(organizationId)?.effectsAt(now) ?? nobody;
      const known = announced.get(organizationId) ?? nobody;
      if (effects === known) continue;
      announced.set(organizationId, effects);
      const began = [...effects.keys()].filter((id) => !known.has(id));
      const ended = [...known.keys()].filter((id) => !effects.has(id));
      if (began.length + ended.length > 0) listener([...began, ...ended]);
    }
  }

  /** Tells of each occurrence that it began and that it ended, where no other node does: what was told stands in the same write as its mark. */
  async function tell() {
    const now = clock();
    if (leases.named("maintenance") === null) return;
    if (leases.named("maintenance") !== lease) await readMarks();
    const running = new Map(
      [...plans.values()].flatMap((plan) => plan.runningAt(now)).map((one) => [one.window.id, one]),
    );
    const told = marks;
    for (const mark of told.values())
      if (running.get(mark.windowId)?.start !== mark.start) await write(ended(mark, now));
    for (const one of running.values())
      if (!marks.has(one.window.id)) await write(started(one, now));
  }

  function started({ window, start, end }: Running, now: number): Statement[] {
    const { organizationId, id } = window;
    const mark = { organizationId, windowId: id, start };
    return [
      mustBeUnchanged(maintenanceWindows, organizationId, window),
      mustBeMarked(mark, false),
      setMark(mark),
      eventOf("maintenance.started", mark, end, now),
    ];
  }

  /** An end that was cut short is now; one that nobody was there to tell is told when it was. */
  function ended(mark: Mark, now: number): Statement[] {
    const window = plans.get(mark.organizationId)?.windows.find(({ id }) => id === mark.windowId);
    const [last] = window ? occurrencesBetween(window, mark.start, mark.start + 1, 1) : [];
    const end = last?.start === mark.start ? Math.min(last.end, now) : now;
    return [
      mustBeMarked(mark, true),
      clearMark(mark),
      eventOf("maintenance.ended", mark, end, now),
    ];
  }

  /** Somebody else may have told it, or changed the window: then it is looked at again with the next tick. */
  async function write(statements: readonly Statement[]) {
    if (lease === null) return;
    try {
      await underLease(store, lease).atomic(statements);
    } catch (error) {
      if (!(error instanceof StaleRead || error instanceof LeaseLost)) throw error;
    }
    await readMarks();
  }

  return {
    /** Loads the windows and follows what changes them. */
    async start() {
      subscription = reader.subscribe("maintenance", await load(), take);
      ticking = setInterval(() => void tick(), tickMs);
    },
    async stop() {
      if (ticking !== null) clearInterval(ticking);
      await subscription?.stop();
      await pending;
    },
    /** Loads, or takes in what happened and tells what is due now: for tests, instead of `start`. */
    async runOnce() {
      if (cursor === null) {
        cursor = await load();
        return;
      }
      const events = await readSince(store, cursor, 10_000);
      cursor = events.at(-1)?.seq ?? cursor;
      await take(events);
    },
    /** What holds for a monitor at this moment; null for nothing. */
    of: ({ organizationId, id }: { organizationId: string; id: string }) =>
      plans.get(organizationId)?.effectsAt(clock()).get(id) ?? null,
    /** Has the listener hear of monitors whose maintenance began or ended, also while nobody listened. */
    onChange: (heard: (monitorIds: readonly string[]) => void) => void (listener = heard),
  };
}

const nobody: ReadonlyMap<string, MaintenanceEffect> = new Map();

function eventOf(
  type: "maintenance.started" | "maintenance.ended",
  mark: Mark,
  end: number,
  now: number,
): Statement {
  const { organizationId, windowId, start } = mark;
  const data = { startsAt: timestamp(start), endsAt: timestamp(end) };
  return appendEvent({ organizationId, at: timestamp(now), type, subjectId: windowId, data });
}

/** What maintenance means for a monitor. */
type MaintenanceEffect = { countsUptime: boolean };

type Running = Occurrence & { window: StoredWindow };

type Plan = ReturnType<typeof planOf>;

/** Looking further ahead than this at a time would take long where a rule names times that are years apart. */
const lookAheadMs = 86_400_000;

/** The windows of one organization and what they hold at a time, worked out anew only when one begins or ends. */
function planOf(windows: readonly StoredWindow[], groupOf: Map<string, string>) {
  const situations = windows.map((window) => ({
    window,
    current: null as Occurrence | null,
    until: -Infinity,
  }));
  let [since, until] = [Infinity, -Infinity];
  let running: Running[] = [];
  let effects = new Map<string, MaintenanceEffect>();

  function renew(now: number) {
    if (now >= since && now < until) return;
    for (const one of situations) {
      if (now >= since && now < one.until) continue;
      const times = occurrencesBetween(one.window, now, now + lookAheadMs, 2);
      one.current = times.find(({ start }) => start <= now) ?? null;
      const next = times.find(({ start }) => start > now);
      one.until = Math.min(one.current?.end ?? Infinity, next?.start ?? now + lookAheadMs);
    }
    since = now;
    until = Math.min(...situations.map((one) => one.until));
    running = situations.flatMap(({ window, current }) => (current ? { window, ...current } : []));
    effects = effectsOf(running, groupOf);
  }

  return {
    windows,
    /** Groups that a window names. */
    groupIds: [...new Set(windows.flatMap(({ groupIds }) => groupIds))],
    /** Each monitor in maintenance; the same object for as long as nothing changes. */
    effectsAt(now: number): ReadonlyMap<string, MaintenanceEffect> {
      renew(now);
      return effects;
    },
    runningAt(now: number): readonly Running[] {
      renew(now);
      return running;
    },
    /** Takes in that these monitors are now in those groups, or, where absent from them, in none that matters. */
    regroup(monitorIds: readonly string[] | null, groups: ReadonlyMap<string, string>) {
      const ids = new Set(monitorIds ?? [...groupOf.keys(), ...groups.keys()]);
      const moved = [...ids].filter((id) => groupOf.get(id) !== groups.get(id));
      for (const id of moved) {
        const groupId = groups.get(id);
        if (groupId === undefined) groupOf.delete(id);
        else groupOf.set(id, groupId);
      }
      if (moved.length > 0 && running.length > 0) effects = effectsOf(running, groupOf);
    },
  };
}

/** Where several windows hold, one that does not count in uptime decides. */
function effectsOf(running: readonly Running[], groupOf: ReadonlyMap<string, string>) {
  const effects = new Map<string, MaintenanceEffect>();
  const hold = (id: string, countsUptime: boolean) => {
    if (!countsUptime || !effects.has(id)) effects.set(id, { countsUptime });
  };
  const ofGroups = Map.groupBy(groupOf.keys(), (id) => groupOf.get(id));
  for (const { window } of running) {
    for (const id of window.monitorIds) hold(id, window.countsUptime);
    for (const groupId of window.groupIds)
      for (const id of ofGroups.get(groupId) ?? []) hold(id, window.countsUptime);
  }
  return effects;
}
