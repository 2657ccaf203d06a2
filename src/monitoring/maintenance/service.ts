/** Creates, changes and deletes maintenance windows, and lists their occurrences. */
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { dayMs, timestamp } from "../../core/time/clock.ts";
import { mapYielding } from "../../core/time/yielding.ts";
import { fairQueue } from "../../core/collections/fair-queue.ts";
import { AppError } from "../../core/errors.ts";
import { maintenanceBounds } from "../../core/limits.ts";
import { newId } from "../../core/ids.ts";
import { deleted, page } from "../../core/paging.ts";
import { invalid } from "../../core/validation.ts";
import { mustBeWithin } from "../../database/references.ts";
import { found, mustName, removeRow, firstVersion, nextVersion } from "../../database/rows.ts";
import { mustText, type Prepared, retrying, type Statement } from "../../database/store.ts";
import { maintenanceWindows, monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import {
  type Occurrence,
  occurrencesBetween,
  situationAt,
  type Times,
  validateTimes,
} from "./rules.ts";
import type {
  CalendarQuery,
  MaintenanceQuery,
  MaintenanceWindow,
  MaintenanceWindowPatch,
  NewMaintenanceWindow,
  PreviewQuery,
} from "./schema.ts";
import {
  allWindows,
  changeWindow,
  findWindow,
  insertWindow,
  pageOfWindows,
  replaceMembers,
  type StoredWindow,
} from "./store.ts";

/** A window with its current state, and the version for its ETag. */
type MaintenanceRecord = MaintenanceWindow & { version: number };

export async function listWindows(scope: Scope, query: MaintenanceQuery) {
  const now = scope.clock();
  const { windows, total } = await pageOfWindows(scope, query, now);
  return page(
    query,
    windows.map((window) => shown(window, now)),
    total,
  );
}

/** Throws NOT_FOUND. */
export async function getWindow(scope: Scope, id: string): Promise<MaintenanceRecord> {
  return shown(await getStored(scope, id), scope.clock());
}

async function getStored(scope: Scope, id: string): Promise<StoredWindow> {
  return found(await findWindow(scope, id), "maintenance window");
}

/** Schedules maintenance. Throws NOT_FOUND for an unknown monitor or group, VALIDATION_ERROR for invalid times. */
export async function createWindow(scope: Scope, input: NewMaintenanceWindow) {
  const { organizationId } = scope;
  await mustBePossible(scope, input);
  const now = scope.clock();
  const at = timestamp(now);
  const id = newId(now);
  const window = { ...input, organizationId, id, ...firstVersion(at) };
  return commit(
    scope,
    [
      ...mustKnow(scope, input),
      insertWindow(window),
      mustBeFew(scope, at),
      mustHaveRoomForWindow(scope),
      ...replaceMembers(scope, id, input),
    ],
    { action: "maintenance.created", subjectId: id },
    shown(window, now),
  );
}

/**
 * Updates a window. Throws NOT_FOUND, also for an unknown monitor or group, PRECONDITION_FAILED and
 * VALIDATION_ERROR.
 */
export function updateWindow(scope: Scope, id: string, patch: MaintenanceWindowPatch) {
  return retrying(async () => {
    const before = await getStored(scope, id);
    const now = scope.clock();
    const after: StoredWindow = {
      ...before,
      ...(patch as Partial<StoredWindow>),
      ...nextVersion(before, timestamp(now)),
    };
    await mustBePossible(scope, after);
    return commit(
      scope,
      [
        ...mustKnow(scope, patch),
        ...guardCurrent(scope, maintenanceWindows, before),
        changeWindow(after),
        mustBeFew(scope, after.updatedAt),
        ...replaceMembers(scope, id, patch as Partial<StoredWindow>),
      ],
      { action: "maintenance.updated", subjectId: id, fields: Object.keys(patch) },
      shown(after, now),
    );
  });
}

/** Deletes a window. A running occurrence ends immediately. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteWindow(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const window = await getStored(scope, id);
    return commit(
      scope,
      [
        ...guardCurrent(scope, maintenanceWindows, window),
        removeRow(scope, maintenanceWindows, id),
      ],
      { action: "maintenance.deleted", subjectId: id },
      deleted,
    );
  });
}

/** Returns the next occurrences of unsaved times, or the invalid field with the reason. */
export async function previewTimes(scope: Scope, { count, ...query }: PreviewQuery) {
  const times: Times = { ...query, rrule: query.rrule ?? null };
  return evaluations.run(scope.organizationId, async () => {
    const issue = validateTimes(times);
    const now = scope.clock();
    const found = issue ? [] : occurrencesBetween(times, now, now + searchedMs, count);
    return { issue, occurrences: found.map(occurrenceFields) };
  });
}

/** Lists each window's occurrences in a span of at most 62 days. Omits windows without occurrences. */
export async function maintenanceCalendar(scope: Scope, query: CalendarQuery) {
  const from = Date.parse(query.from);
  const to = Math.min(Date.parse(query.to), from + maxCalendarMs);
  const windows = await mapYielding(await allWindows(scope), (window) => ({
    id: window.id,
    title: window.title,
    occurrences: occurrencesBetween(window, from, to, maxCalendarEntries).map(occurrenceFields),
  }));
  return windows.filter(({ occurrences }) => occurrences.length > 0);
}

/** Fails the write if too many windows are not over. Must follow the insert. */
export function mustBeFew(scope: Scope, at: string): Statement {
  const mayCome = `(rrule is not null or ends_at > '${at}')`;
  return mustBeWithin(scope, "maintenance-windows", maintenanceWindows, mayCome);
}

const fewEnough = mustText(
  "(select count(*) from maintenance_windows where organization_id = ?) <= ?",
);

/** Fails the write if there are too many windows, including past ones. Must follow the insert. */
export const mustHaveRoomForWindow = ({ organizationId }: Scope): Prepared => ({
  ...fewEnough,
  parameters: [organizationId, maintenanceBounds.windows.value],
  otherwise: () =>
    new AppError(
      "CONFLICT",
      `An organization can have at most ${maintenanceBounds.windows.value} maintenance windows, including past ones. Delete old windows.`,
    ),
});

/** Queue for evaluating one rule at a time, because some rules take milliseconds. Organizations take turns. */
const evaluations = fairQueue({ atOnce: 1 });
const searchedMs = 50 * 366 * dayMs;
const maxCalendarMs = 62 * dayMs;
/** Maximum occurrences per window. Six weeks of hourly occurrences have 1,008. */
const maxCalendarEntries = 1_100;

/** Throws VALIDATION_ERROR for invalid times. */
export async function mustBePossible({ organizationId }: Scope, times: Times) {
  const issue =
    times.rrule === null
      ? validateTimes(times)
      : await evaluations.run(organizationId, async () => validateTimes(times));
  if (issue !== null) throw invalid(issue.path, issue.message);
}

function mustKnow(scope: Scope, { monitorIds, groupIds }: MaintenanceWindowPatch) {
  return [
    ...mustName(scope, "monitorIds", monitors, monitorIds),
    ...mustName(scope, "groupIds", monitorGroups, groupIds),
  ];
}

function shown(window: StoredWindow, now: number): MaintenanceRecord {
  const { state, current, next } = situationAt(window, now);
  return {
    ...window,
    state,
    current: current && occurrenceFields(current),
    next: next && occurrenceFields(next),
  };
}

const occurrenceFields = ({ start, end }: Occurrence) => ({
  startsAt: timestamp(start),
  endsAt: timestamp(end),
});
