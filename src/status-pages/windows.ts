/** Reads the maintenance that a status page shows: running, announced and recently completed work. */
import { timestamp } from "../core/time/clock.ts";
import { derivedId } from "../core/ids.ts";
import { mapYielding } from "../core/time/yielding.ts";
import type { Store } from "../database/store.ts";
import { occurrencesBetween } from "../monitoring/maintenance/rules.ts";
import { publicWindows, type StoredWindow } from "../monitoring/maintenance/store.ts";
import { dayMs } from "../monitoring/uptime/rules.ts";

/** Time before its start from which maintenance is announced. */
const announcedMs = 30 * dayMs;
/** Maximum occurrences of a window in a list. */
const maxOccurrences = 3;
/** How far ahead the next occurrence of a window is searched: 50 years, as in the maintenance service. */
const plannedMs = 50 * 366 * dayMs;
/** How long feeds list completed maintenance. */
const rememberedMs = 8 * dayMs;
/** Maximum occurrences of a window in that time: a rule repeats at most hourly, so 192. */
const maxRemembered = 200;

/** One occurrence of a maintenance window. */
export type PublicWindow = ReturnType<typeof publicWindow>;

type Monitors = readonly { id: string; name: string }[];
type Page = { organizationId: string; isDefault: boolean };

/** Monitors of the page under their public names. */
type Shown = readonly { id: string; name: string; groupId: string | null }[];

/** Creates a reader of a page's maintenance at `now`. The default page shows all windows. */
export function windowReader(
  store: Store,
  { organizationId, isDefault }: Page,
  shown: Shown,
  now: number,
) {
  const open = shown.map(({ id, name }) => ({ id, name }));
  const byId = new Map(shown.map(({ id }, index) => [id, [index]]));
  const byGroup = Map.groupBy(shown.keys(), (index) => shown[index]?.groupId ?? "");

  type Announced = readonly [StoredWindow, Monitors];

  async function announced(endedBefore: number): Promise<Announced[]> {
    const windows = await publicWindows(store, organizationId, timestamp(endedBefore));
    const found = await mapYielding(windows, (window): Announced[] => {
      const { monitorIds, groupIds } = window;
      const affected = new Set([
        ...monitorIds.flatMap((id) => byId.get(id) ?? []),
        ...groupIds.flatMap((id) => byGroup.get(id) ?? []),
      ]);
      if (!isDefault && affected.size === 0 && monitorIds.length + groupIds.length > 0) return [];
      const inOrder = [...affected].sort((a, b) => a - b);
      return [[window, inOrder.flatMap((index) => open[index] ?? [])]];
    });
    return found.flat();
  }

  return {
    /** Running and announced occurrences, soonest first. */
    currentWindows: async () => {
      const found = await mapYielding(await announced(now), ([window, monitors]) =>
        occurrencesBetween(window, now, now + announcedMs, maxOccurrences).map((occurrence) =>
          publicWindow(window, occurrence, monitors, now),
        ),
      );
      return found.flat().sort((a, b) => (a.startsAt < b.startsAt ? -1 : 1));
    },
    /** Occurrences that ended in the last 8 days, latest first. */
    async windowsOver() {
      const since = now - rememberedMs;
      const found = await mapYielding(await announced(since), ([window, monitors]) =>
        occurrencesBetween(window, since, now, maxRemembered)
          .filter(({ end }) => end <= now)
          .slice(-maxOccurrences)
          .map((occurrence) => publicWindow(window, occurrence, monitors, now)),
      );
      return found.flat().sort((a, b) => (a.endsAt < b.endsAt ? 1 : -1));
    },
    /** The current or next occurrence of a window, even if it is years ahead; null if the page does not show it. */
    async window(id: string) {
      const found = (await announced(now)).find(([window]) => window.id === id);
      if (found === undefined) return null;
      const [window, monitors] = found;
      const [next] = occurrencesBetween(window, now, now + plannedMs, 1);
      return next === undefined ? null : publicWindow(window, next, monitors, now);
    },
  };
}

function publicWindow(
  { id, title, description, rrule, createdAt, updatedAt }: StoredWindow,
  { start, end }: { start: number; end: number },
  monitors: Monitors,
  now: number,
) {
  const [startsAt, endsAt] = [timestamp(start), timestamp(end)];
  const announcedAt = [createdAt, timestamp(start - announcedMs)].toSorted().at(-1) ?? createdAt;
  const isOver = end <= now;
  const steps = [announcedAt, updatedAt, ...(start <= now ? [startsAt] : [])];
  return {
    id,
    /** Stable id of this occurrence. A window that does not repeat uses its own id. */
    occurrenceId: rrule === null ? id : derivedId(id, startsAt),
    title,
    description,
    /** Affected monitors that the page shows. */
    monitors,
    startsAt,
    endsAt,
    announcedAt,
    /** Last announcement, edit or start. If it has ended, its end, because edits only affect later occurrences. */
    changedAt: isOver ? endsAt : (steps.toSorted().at(-1) ?? announcedAt),
    isRunning: start <= now && !isOver,
    isOver,
  };
}
