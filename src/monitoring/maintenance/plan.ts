import { type Occurrence, occurrencesBetween } from "./rules.ts";
import type { StoredWindow } from "./store.ts";

/** What maintenance means for a monitor. */
export type MaintenanceEffect = { countsUptime: boolean };

export type Running = Occurrence & { window: StoredWindow };

export type Plan = ReturnType<typeof planOf>;

/** Looking further ahead than this at a time would take long where a rule names times that are years apart. */
const lookAheadMs = 86_400_000;

/** The windows of one organization and what they hold at a time, worked out anew only when one begins or ends. */
export function planOf(windows: readonly StoredWindow[], groupOf: Map<string, string>) {
  const situations = windows.map((window) => ({
    window,
    current: null as Occurrence | null,
    until: -Infinity,
  }));
  let [since, until] = [Infinity, -Infinity];
  let running: Running[] = [];
  let held = new Map<string, MaintenanceEffect>();

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
    held = effectsOf(running, groupOf);
  }

  return {
    windows,
    /** Groups that a window names. */
    groupIds: [...new Set(windows.flatMap(({ groupIds }) => groupIds))],
    /** Each monitor in maintenance; the same object for as long as nothing changes. */
    effectsAt(now: number): ReadonlyMap<string, MaintenanceEffect> {
      renew(now);
      return held;
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
      if (moved.length > 0 && running.length > 0) held = effectsOf(running, groupOf);
    },
  };
}

/** Where several windows hold, one that does not count in uptime decides. */
function effectsOf(running: readonly Running[], groupOf: ReadonlyMap<string, string>) {
  const held = new Map<string, MaintenanceEffect>();
  const hold = (id: string, countsUptime: boolean) => {
    if (!countsUptime || !held.has(id)) held.set(id, { countsUptime });
  };
  const ofGroups = Map.groupBy(groupOf.keys(), (id) => groupOf.get(id));
  for (const { window } of running) {
    for (const id of window.monitorIds) hold(id, window.countsUptime);
    for (const groupId of window.groupIds)
      for (const id of ofGroups.get(groupId) ?? []) hold(id, window.countsUptime);
  }
  return held;
}
