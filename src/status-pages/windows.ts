/** Reads the maintenance that a status page shows: running, announced and recently completed work. */
import { formatTimestamp, dayMs } from "../core/time/clock.ts";
import { deriveId } from "../core/ids.ts";
import { toLocal } from "../core/time/time-zones.ts";
import { mapYielding } from "../core/time/event-loop.ts";
import type { Tenant } from "../database/rows.ts";
import type { Store } from "../database/store.ts";
import { parseRule } from "../monitoring/maintenance/recurrence-rules.ts";
import { listOccurrences, searchSpanMs } from "../monitoring/maintenance/rules.ts";
import {
  listPublicWindows,
  rewindWindows,
  type StoredWindow,
} from "../monitoring/maintenance/store.ts";

/** Time before its start from which maintenance is announced. */
const announcedMs = 30 * dayMs;
/** Maximum occurrences of a window in a list. */
const maxOccurrences = 3;
/** How long feeds list completed maintenance. */
const endedWindowsMs = 8 * dayMs;
/** Maximum occurrences of a window in that time: a rule repeats at most hourly, so 192. */
const maxEndedWindows = 200;

/** One occurrence of a maintenance window. */
export type PublicWindow = ReturnType<typeof buildPublicWindow>;

/** Monitors and groups that the audience must not see. */
export type ConcealedRecords = { monitorIds: ReadonlySet<string>; groupIds: ReadonlySet<string> };

type Monitors = readonly { id: string; name: string }[];
type Page = { organizationId: string; isDefault: boolean };

/** Monitors of the page under their public names. */
type ShownMonitorList = readonly { id: string; name: string; groupId: string | null }[];

/**
 * Creates a reader of a page's maintenance. The default page shows all windows, except of `concealed` ones.
 * With `at`, they are as they were at that past time.
 */
export function createWindowReader(
  store: Store,
  { organizationId, isDefault }: Page,
  shownMonitors: ShownMonitorList,
  concealed: ConcealedRecords,
  currentTime: number,
  at: number | null,
) {
  const now = at ?? currentTime;
  const open = shownMonitors.map(({ id, name }) => ({ id, name }));
  const byId = new Map(shownMonitors.map(({ id }, index) => [id, [index]]));
  const byGroup = Map.groupBy(shownMonitors.keys(), (index) => shownMonitors[index]?.groupId ?? "");

  /** Returns the affected monitors that the page shows; null if it does not show the window. */
  function findAffected({ monitorIds, groupIds }: StoredWindow): Monitors | null {
    const affected = new Set([
      ...monitorIds.flatMap((id) => byId.get(id) ?? []),
      ...groupIds.flatMap((id) => byGroup.get(id) ?? []),
    ]);
    const isElsewhere = !isDefault && monitorIds.length + groupIds.length > 0;
    const isConcealed =
      monitorIds.some((id) => concealed.monitorIds.has(id)) ||
      groupIds.some((id) => concealed.groupIds.has(id));
    if (affected.size === 0 && (isElsewhere || isConcealed)) return null;
    const inOrder = [...affected].sort((a, b) => a - b);
    return inOrder.flatMap((index) => open[index] ?? []);
  }

  const readAnnounced = (endedBefore: number) =>
    readAnnouncedWindows({ store, organizationId }, endedBefore, findAffected, at);

  return {
    /** Running and announced occurrences, soonest first. */
    currentWindows: async () => {
      const found = await mapYielding(await readAnnounced(now), ([window, monitors]) =>
        listOccurrences(window, now, now + announcedMs, maxOccurrences).map((occurrence) =>
          buildPublicWindow(window, occurrence, monitors, now),
        ),
      );
      return found.flat().sort((a, b) => (a.startsAt < b.startsAt ? -1 : 1));
    },
    /** Occurrences that ended in the last 8 days, latest first. */
    async readEndedWindows() {
      const since = now - endedWindowsMs;
      const found = await mapYielding(await readAnnounced(since), ([window, monitors]) =>
        listOccurrences(window, since, now, maxEndedWindows)
          .filter(({ end }) => end <= now)
          .slice(-maxOccurrences)
          .map((occurrence) => buildPublicWindow(window, occurrence, monitors, now)),
      );
      return found.flat().sort((a, b) => (a.endsAt < b.endsAt ? 1 : -1));
    },
    /**
     * An occurrence of a window, also a past one. By default the current or next one, even if it is years ahead. Null
     * if the page does not show the window.
     */
    async findWindow(id: string, occurrence?: { start: number; end: number }) {
      const announced = await readAnnounced(Math.min(now, occurrence?.start ?? now));
      const found = announced.find(([window]) => window.id === id);
      if (found === undefined) return null;
      const [window, monitors] = found;
      const nextOccurrence = occurrence ?? listOccurrences(window, now, now + searchSpanMs, 1)[0];
      if (nextOccurrence === undefined) return null;
      return {
        ...buildPublicWindow(window, nextOccurrence, monitors, now),
        ...describeNotices(window),
      };
    },
  };
}

type AnnouncedWindow = readonly [StoredWindow, Monitors];

/** Reads the windows that a page shows today, with `at` as they were at that time if it showed them then. */
async function readAnnouncedWindows(
  tenant: Tenant,
  endedBefore: number,
  findAffected: (window: StoredWindow) => Monitors | null,
  at: number | null,
): Promise<AnnouncedWindow[]> {
  const { store, organizationId } = tenant;
  const list = async (windows: readonly StoredWindow[]) => {
    const found = await mapYielding(windows, (window): AnnouncedWindow[] => {
      const monitors = findAffected(window);
      return monitors === null ? [] : [[window, monitors]];
    });
    return found.flat();
  };
  const today = await list(
    await listPublicWindows(store, organizationId, formatTimestamp(endedBefore)),
  );
  if (at === null) return today;
  const windows = today.map(([window]) => window);
  return list(await rewindWindows(tenant, windows, at));
}

/** Data that decides on further notices of a window. `times` changes if its plan does. */
const describeNotices = ({ progressNotices, startsAt, endsAt, timeZone, rrule }: StoredWindow) => ({
  progressNotices,
  times: [startsAt, endsAt, ...(rrule === null ? [] : [timeZone, rrule])].join(" "),
});

function buildPublicWindow(
  window: StoredWindow,
  { start, end }: { start: number; end: number },
  monitors: Monitors,
  now: number,
) {
  const { id, title, description, rrule, timeZone, createdAt, updatedAt } = window;
  const [startsAt, endsAt] = [formatTimestamp(start), formatTimestamp(end)];
  const announcedAt =
    [createdAt, formatTimestamp(start - announcedMs)].toSorted().at(-1) ?? createdAt;
  const isOver = end <= now;
  const steps = [announcedAt, updatedAt, ...(start <= now ? [startsAt] : [])];
  return {
    id,
    /** Stable id of this occurrence. A window that does not repeat uses its own id. */
    occurrenceId: rrule === null ? id : deriveId(id, startsAt),
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
    /** Recurrence, on days of `timeZone`. */
    plan: parseRule(rrule, toLocal(Date.parse(window.startsAt), timeZone)),
    timeZone,
  };
}
