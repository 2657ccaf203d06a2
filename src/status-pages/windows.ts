import { timestamp } from "../core/clock.ts";
import { derivedId } from "../core/ids.ts";
import { mapYielding } from "../core/yielding.ts";
import type { Store } from "../database/store.ts";
import { occurrencesBetween } from "../monitoring/maintenance/rules.ts";
import { publicWindows, type StoredWindow } from "../monitoring/maintenance/store.ts";
import { dayMs } from "../monitoring/uptime/rules.ts";
import type { PublicWindow } from "./public-data.ts";

/** Planned work is announced so long before, each window so many times. */
const announcedMs = 30 * dayMs;
const maxOccurrences = 3;
/** Nothing is planned further ahead. */
const plannedMs = 50 * 366 * dayMs;
/** Feeds tell so long of work that is over; a rule repeats at most hourly. */
const rememberedMs = 8 * dayMs;
const maxRemembered = 200;

type Page = { organizationId: string; isDefault: boolean };

/** Monitors of the page under their public names. */
type Shown = readonly { id: string; name: string; groupId: string | null }[];

type WindowReader = {
  /** Under way or to come, soonest first. */
  current: (now: number) => Promise<PublicWindow[]>;
  /** Over since a few days, latest first. */
  over: (now: number) => Promise<PublicWindow[]>;
  /** Its next occurrence, however far ahead; null where the page does not announce it. */
  one: (id: string, now: number) => Promise<PublicWindow | null>;
};

/** Reads the maintenance that concerns a page; the default page tells of all. */
export function windowReader(
  store: Store,
  { organizationId, isDefault }: Page,
  shown: Shown,
): WindowReader {
  const open = shown.map(({ id, name }) => ({ id, name }));
  const byId = new Map(shown.map(({ id }, index) => [id, [index]]));
  const byGroup = Map.groupBy(shown.keys(), (index) => shown[index]?.groupId ?? "");

  type Notified = readonly [StoredWindow, PublicWindow["monitors"]];

  async function told(endedBefore: number): Promise<Notified[]> {
    const windows = await publicWindows(store, organizationId, timestamp(endedBefore));
    const found = await mapYielding(windows, (window): Notified[] => {
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
    async current(now) {
      const found = await mapYielding(await told(now), ([window, monitors]) =>
        occurrencesBetween(window, now, now + announcedMs, maxOccurrences).map((occurrence) =>
          published(window, occurrence, monitors, now),
        ),
      );
      return found.flat().sort((a, b) => (a.startsAt < b.startsAt ? -1 : 1));
    },
    async over(now) {
      const since = now - rememberedMs;
      const found = await mapYielding(await told(since), ([window, monitors]) =>
        occurrencesBetween(window, since, now, maxRemembered)
          .filter(({ end }) => end <= now)
          .slice(-maxOccurrences)
          .map((occurrence) => published(window, occurrence, monitors, now)),
      );
      return found.flat().sort((a, b) => (a.endsAt < b.endsAt ? 1 : -1));
    },
    async one(id, now) {
      const found = (await told(now)).find(([window]) => window.id === id);
      if (found === undefined) return null;
      const [window, monitors] = found;
      const [next] = occurrencesBetween(window, now, now + plannedMs, 1);
      return next === undefined ? null : published(window, next, monitors, now);
    },
  };
}

function published(
  { id, title, description, rrule, createdAt, updatedAt }: StoredWindow,
  { start, end }: { start: number; end: number },
  monitors: PublicWindow["monitors"],
  now: number,
): PublicWindow {
  const [startsAt, endsAt] = [timestamp(start), timestamp(end)];
  const announcedAt = [createdAt, timestamp(start - announcedMs)].toSorted().at(-1) ?? createdAt;
  const isOver = end <= now;
  const steps = [announcedAt, updatedAt, ...(start <= now ? [startsAt] : [])];
  return {
    id,
    occurrenceId: rrule === null ? id : derivedId(id, startsAt),
    title,
    description,
    monitors,
    startsAt,
    endsAt,
    announcedAt,
    // Work that comes again is changed for the times to come.
    changedAt: isOver ? endsAt : (steps.toSorted().at(-1) ?? announcedAt),
    isRunning: start <= now && !isOver,
    isOver,
  };
}
