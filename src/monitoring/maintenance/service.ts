/** Creates, changes and deletes maintenance windows, and lists their occurrences. */
import { removeRecords } from "../../database/deleted-records.ts";
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { mapYielding } from "../../core/time/event-loop.ts";
import { createFairQueue } from "../../core/collections/fair-queue.ts";
import { AppError } from "../../core/errors.ts";
import { maintenanceBounds } from "../../core/limits.ts";
import { createId } from "../../core/ids.ts";
import { deletedBody, buildPage } from "../../core/paging.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { noMonitorError } from "../../database/group-limit.ts";
import { guardLimit } from "../../database/references.ts";
import {
  assertFound,
  guardFieldExists,
  buildFirstVersion,
  buildNextVersion,
} from "../../database/rows.ts";
import {
  guardCondition,
  type Prepared,
  retryOnStaleRead,
  type Statement,
} from "../../database/store.ts";
import { maintenanceWindows, monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import {
  type Occurrence,
  searchSpanMs,
  listOccurrences,
  computeSituation,
  type Times,
  findTimesIssue,
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
  listAllWindows,
  changeWindow,
  findWindow,
  insertWindow,
  listWindowPage,
  replaceMembers,
  type StoredWindow,
} from "./store.ts";

/** A window with its current state, and the version for its ETag. */
type MaintenanceRecord = MaintenanceWindow & { version: number };

export async function listWindows(scope: Scope, query: MaintenanceQuery) {
  const now = scope.clock();
  const { windows, total } = await listWindowPage(scope, query, now);
  return buildPage(query, await mapYielding(windows, (window) => toRecord(window, now)), total);
}

/** Throws NOT_FOUND. */
export async function getWindow(scope: Scope, id: string): Promise<MaintenanceRecord> {
  return toRecord(await getStored(scope, id), scope.clock());
}

async function getStored(scope: Scope, id: string): Promise<StoredWindow> {
  return assertFound(await findWindow(scope, id), "maintenance window");
}

/** Schedules maintenance. Throws NOT_FOUND for an unknown monitor or group, VALIDATION_ERROR for invalid times. */
export async function createWindow(scope: Scope, { notify, ...input }: NewMaintenanceWindow) {
  const { organizationId } = scope;
  await assertTimesPossible(scope, input);
  assertNamesMonitor(scope, input);
  const now = scope.clock();
  const at = formatTimestamp(now);
  const id = createId(now);
  const window = {
    ...input,
    ...(notify === false && { progressNotices: false, reminderHours: null }),
    organizationId,
    id,
    ...buildFirstVersion(at),
  };
  return commit(
    scope,
    [
      ...guardReferences(scope, input),
      insertWindow(window),
      guardCurrentWindowLimit(scope, at),
      guardWindowLimit(scope),
      ...replaceMembers(scope, id, input),
    ],
    {
      action: "maintenance.created",
      subjectId: id,
      ...(notify === false && { data: { notify } }),
    },
    toRecord(window, now),
  );
}

/**
 * Updates a window. Throws NOT_FOUND, also for an unknown monitor or group, PRECONDITION_FAILED and
 * VALIDATION_ERROR.
 */
export function updateWindow(
  scope: Scope,
  id: string,
  { notify, ...patch }: MaintenanceWindowPatch,
) {
  return retryOnStaleRead(async () => {
    const before = await getStored(scope, id);
    const now = scope.clock();
    const after: StoredWindow = {
      ...before,
      ...(patch as Partial<StoredWindow>),
      ...buildNextVersion(before, formatTimestamp(now)),
    };
    await assertTimesPossible(scope, after);
    assertNamesMonitor(scope, after);
    return commit(
      scope,
      [
        ...guardReferences(scope, patch),
        ...guardCurrent(scope, maintenanceWindows, before),
        changeWindow(after),
        guardCurrentWindowLimit(scope, after.updatedAt),
        ...replaceMembers(scope, id, patch as Partial<StoredWindow>),
      ],
      {
        action: "maintenance.updated",
        subjectId: id,
        fields: listChangedFields(before, after, Object.keys(patch)),
        ...(notify === false && { data: { notify } }),
      },
      toRecord(after, now),
    );
  });
}

/** Throws FORBIDDEN if a limited caller names neither a monitor nor a group. They could not see such a window. */
function assertNamesMonitor(
  scope: Scope,
  { monitorIds, groupIds }: Pick<StoredWindow, "monitorIds" | "groupIds">,
) {
  if (scope.groupIds !== null && monitorIds.length + groupIds.length === 0) throw noMonitorError();
}

/** Deletes a window. A running occurrence ends immediately. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteWindow(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const window = await getStored(scope, id);
    return commit(
      scope,
      [
        ...guardCurrent(scope, maintenanceWindows, window),
        ...removeRecords(scope, "maintenance", [id], formatTimestamp(scope.clock())),
      ],
      { action: "maintenance.deleted", subjectId: id },
      { ...deletedBody, title: window.title },
    );
  });
}

/** Returns the next occurrences of unsaved times, or the invalid field with the reason. */
export async function previewTimes(scope: Scope, { count, ...query }: PreviewQuery) {
  const times: Times = { ...query, rrule: query.rrule ?? null };
  return evaluations.run(scope.organizationId, async () => {
    const issue = findTimesIssue(times);
    const now = scope.clock();
    const found = issue ? [] : listOccurrences(times, now, now + searchSpanMs, count);
    return { issue, occurrences: found.map(formatOccurrence) };
  });
}

/** Lists each window's occurrences in a span of at most 62 days. Omits windows without occurrences. */
export async function buildCalendar(scope: Scope, query: CalendarQuery) {
  const from = Date.parse(query.from);
  const to = Math.min(Date.parse(query.to), from + maxCalendarMs);
  const all = await listAllWindows(scope);
  const windows = await evaluations.run(scope.organizationId, () =>
    mapYielding(all, (window) => ({
      id: window.id,
      title: window.title,
      occurrences: listOccurrences(window, from, to, maxCalendarEntries).map(formatOccurrence),
    })),
  );
  return windows.filter(({ occurrences }) => occurrences.length > 0);
}

/** Fails the write if too many windows are not over. Must follow the insert. */
export function guardCurrentWindowLimit(scope: Scope, at: string): Statement {
  const canRecurSql = `(rrule is not null or ends_at > '${at}')`;
  return guardLimit(scope, "maintenance-windows", maintenanceWindows, canRecurSql);
}

/** Fails the write if there are too many windows, including past ones. Must follow the insert. */
export const guardWindowLimit = ({ organizationId }: Scope): Prepared =>
  guardCondition(
    "(select count(*) from maintenance_windows where organization_id = ?) <= ?",
    [organizationId, maintenanceBounds.windows.value],
    () =>
      new AppError(
        "CONFLICT",
        `An organization can have at most ${maintenanceBounds.windows.value} maintenance windows, including past ones. Delete old windows.`,
      ),
  );

/** Queue for evaluating one rule at a time, because some rules take milliseconds. Organizations take turns. */
const evaluations = createFairQueue({ atOnce: 1 });
const maxCalendarMs = 62 * dayMs;
/** Maximum occurrences per window. Six weeks of hourly occurrences have 1,008. */
const maxCalendarEntries = 1_100;

/** Throws VALIDATION_ERROR for invalid times. */
export async function assertTimesPossible({ organizationId }: Scope, times: Times) {
  const issue =
    times.rrule === null
      ? findTimesIssue(times)
      : await evaluations.run(organizationId, async () => findTimesIssue(times));
  if (issue !== null) throw invalidFieldError(issue.path, issue.message);
}

function guardReferences(scope: Scope, { monitorIds, groupIds }: MaintenanceWindowPatch) {
  return [
    ...guardFieldExists(scope, "monitorIds", monitors, monitorIds),
    ...guardFieldExists(scope, "groupIds", monitorGroups, groupIds),
  ];
}

function toRecord(window: StoredWindow, now: number): MaintenanceRecord {
  const { state, current, next } = computeSituation(window, now);
  return {
    ...window,
    state,
    current: current && formatOccurrence(current),
    next: next && formatOccurrence(next),
  };
}

const formatOccurrence = ({ start, end }: Occurrence) => ({
  startsAt: formatTimestamp(start),
  endsAt: formatTimestamp(end),
});
