/** Use cases of on-call schedules: records, overrides and swaps, shifts, who is on call, and the calendar. */
import { findMemberNames } from "../../accounts/people/store.ts";
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createId, createToken, sha256 } from "../../core/ids.ts";
import { scheduleBounds } from "../../core/limits.ts";
import { deletedBody } from "../../core/paging.ts";
import { openAll, sealAll } from "../../core/security/secrets.ts";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { mapYielding } from "../../core/time/event-loop.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { findTargetUses, guardNoTarget } from "../../database/escalation-uses.ts";
import { guardLimit, guardVersion, guardMembers } from "../../database/references.ts";
import {
  assertFound,
  buildFirstVersion,
  buildNextVersion,
  removeRow,
  type Tenant,
} from "../../database/rows.ts";
import { guardCondition, type Prepared, retryOnStaleRead } from "../../database/store.ts";
import { scheduleOverrides, schedules } from "../../database/tables/schedules.ts";
import { commit, guardCurrent, guardUnconditional } from "../../events/commit.ts";
import { runInOnCallTurn } from "../../events/organization-turns.ts";
import type { Scope } from "../../events/scope.ts";
import type { Readiness } from "../readiness/schema.ts";
import { readReadiness } from "../readiness/service.ts";
import {
  type DutySpan,
  findOnCall,
  findUpcoming,
  listShifts,
  type ScheduleTimes,
} from "./rules.ts";
import type {
  NewSchedule,
  NewScheduleOverride,
  OnCall,
  OnCallQuery,
  Schedule,
  SchedulePatch,
  SchedulePreview,
  ScheduleSwap,
  Shift,
  ShiftsQuery,
} from "./schema.ts";
import {
  addOverrides,
  changeSchedule,
  findOverride,
  findSchedule,
  insertOverride,
  insertSchedule,
  listOverrides as listOverrideRows,
  listSchedules as listStoredSchedules,
  loadSchedules,
  type OverrideRow,
  setNoticeDueAt,
  type StoredSchedule,
  type TimedSchedule,
} from "./store.ts";

/** A schedule with the version for its ETag. */
type ScheduleRecord = Schedule & { version: number };

export const maxSpanMs = scheduleBounds.span.value * 1000;
const usualSpanMs = 14 * dayMs;

/** Lists all schedules by name. */
export const listSchedules = (scope: Scope): Promise<ScheduleRecord[]> =>
  runInOnCallTurn(scope, async () =>
    mapYielding(await listStoredSchedules(scope), (schedule) => toRecord(scope, schedule)),
  );

/** Reads a schedule. Throws NOT_FOUND. */
export const getSchedule = async (scope: Scope, id: string): Promise<ScheduleRecord> =>
  toRecord(scope, await getStored(scope, id));

const getStored = async (scope: Scope, id: string): Promise<StoredSchedule> =>
  assertFound(await findSchedule(scope, id), "schedule");

const calendarToken = "calendarToken";

/** Path of the calendars. The token is the credential. */
const calendarPath = "/calendars/";

const buildVaultPath = ({ organizationId }: { organizationId: string }, id: string) =>
  `${organizationId}/schedule/${id}`;

/** Columns of a new address of the calendar. */
export function createCalendarAddress(scope: Scope, id: string) {
  const token = createToken(32);
  const secrets = sealAll(scope.vault, buildVaultPath(scope, id), { [calendarToken]: token });
  return { secrets, calendarTokenHash: sha256(token) };
}

function toRecord(scope: Scope, schedule: StoredSchedule): ScheduleRecord {
  const { secrets, ...record } = schedule;
  const token = scope.mayWrite
    ? openAll(scope.vault, buildVaultPath(scope, schedule.id), secrets)[calendarToken]
    : undefined;
  const calendarUrl = token === undefined ? null : `${scope.origin}${calendarPath}${token}.ics`;
  return { ...record, calendarUrl };
}

/** Guard that all people in the layers are members. */
export const guardPeople = (scope: Scope, layers: NewSchedule["layers"]) =>
  guardMembers(
    scope,
    "layers",
    layers.flatMap(({ personIds }) => personIds),
  );

/** Creates a schedule. Throws NOT_FOUND for an unknown person, and CONFLICT at the organization's limit. */
export function createSchedule(scope: Scope, input: NewSchedule): Promise<ScheduleRecord> {
  const now = scope.clock();
  const id = createId(now);
  const schedule: StoredSchedule = {
    organizationId: scope.organizationId,
    id,
    ...input,
    ...createCalendarAddress(scope, id),
    ...buildFirstVersion(formatTimestamp(now)),
  };
  return commit(
    scope,
    [
      guardPeople(scope, schedule.layers),
      ...insertSchedule(scope, schedule),
      guardLimit(scope, "schedules", schedules),
    ],
    { action: "schedule.created", subjectId: id },
    toRecord(scope, schedule),
  );
}

/** Updates a schedule. Throws NOT_FOUND, also for an unknown person, and PRECONDITION_FAILED. */
export function updateSchedule(scope: Scope, id: string, patch: SchedulePatch) {
  return retryOnStaleRead(async () => {
    const before = await getStored(scope, id);
    const after: StoredSchedule = {
      ...before,
      ...(patch as Partial<StoredSchedule>),
      ...buildNextVersion(before, formatTimestamp(scope.clock())),
    };
    return commit(
      scope,
      [
        ...guardCurrent(scope, schedules, before),
        guardPeople(scope, after.layers),
        ...changeSchedule(scope, after),
      ],
      {
        action: "schedule.updated",
        subjectId: id,
        fields: listChangedFields(before, after, Object.keys(patch)),
      },
      toRecord(scope, after),
    );
  });
}

const findNames = (tenant: Tenant, ids: readonly (string | null)[]) =>
  findMemberNames(
    tenant,
    ids.filter((id) => id !== null),
  );

/**
 * Deletes a schedule with its overrides. Throws NOT_FOUND, PRECONDITION_FAILED, and CONFLICT for a schedule that an
 * escalation policy notifies.
 */
export function deleteSchedule(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const schedule = await getStored(scope, id);
    const uses = await findTargetUses(scope, "schedule", [id]);
    return commit(
      scope,
      [
        ...guardCurrent(scope, schedules, schedule),
        guardNoTarget(scope, "schedule", [id], uses),
        removeRow(scope, schedules, id),
      ],
      { action: "schedule.deleted", subjectId: id },
      deletedBody,
    );
  });
}

/** Replaces the address of the calendar. The previous one stops working at once. Throws NOT_FOUND. */
export function renewCalendar(scope: Scope, id: string): Promise<ScheduleRecord> {
  return retryOnStaleRead(async () => {
    const before = await getStored(scope, id);
    const after = {
      ...before,
      ...createCalendarAddress(scope, id),
      ...buildNextVersion(before, formatTimestamp(scope.clock())),
    };
    return commit(
      scope,
      [...guardCurrent(scope, schedules, before), ...changeSchedule(scope, after)],
      { action: "schedule.calendar-renewed", subjectId: id },
      toRecord(scope, after),
    );
  });
}

/** Returns who is on call in a schedule, now or at a time. Throws NOT_FOUND. */
export async function getOnCall(scope: Scope, id: string, query: OnCallQuery): Promise<OnCall> {
  const [found] = await runInOnCallTurn(scope, () => findAllOnCall(scope, [id], query));
  return assertFound(found, "schedule");
}

/** Returns who is on call in every schedule, now or at a time. */
export const listOnCall = (scope: Scope, query: OnCallQuery): Promise<OnCall[]> =>
  runInOnCallTurn(scope, () => findAllOnCall(scope, undefined, query));

/** Returns whether alerts reach people now. */
export const getReadiness = (scope: Scope): Promise<Readiness> =>
  runInOnCallTurn(scope, () => readReadiness(scope, scope.clock(), { withGaps: true }));

async function findAllOnCall(
  scope: Scope,
  ids: readonly string[] | undefined,
  { at = scope.clock() }: OnCallQuery,
): Promise<OnCall[]> {
  const until = at + maxSpanMs;
  const found = await loadSchedules(scope, ids, at, until);
  const duties = await mapYielding(found, (schedule) => ({
    schedule,
    duty: findOnCall(schedule, at),
    ...findSoonOrLater(schedule, at),
  }));
  const names = await findNames(
    scope,
    duties.flatMap(({ duty, next }) => [duty?.personId ?? null, next?.personId ?? null]),
  );
  return duties.map(({ schedule, duty, until: end, next, gapAt }) => ({
    scheduleId: schedule.id,
    scheduleName: schedule.name,
    at: formatTimestamp(at),
    personId: duty?.personId ?? null,
    personName: names.get(duty?.personId ?? "") ?? null,
    overrideId: duty?.overrideId ?? null,
    until: end === null ? null : formatTimestamp(end),
    next: next && toShift(next, names),
    nextGapAt: gapAt === null || gapAt >= at + usualSpanMs ? null : formatTimestamp(gapAt),
  }));
}

/** Like `findUpcoming`. Most schedules have their next shift soon, and later gaps are not shown. */
function findSoonOrLater(schedule: ScheduleTimes, at: number) {
  const soon = findUpcoming(schedule, at, at + usualSpanMs);
  return soon.next === null ? findUpcoming(schedule, at, at + maxSpanMs) : soon;
}

function toShift(span: DutySpan, names: ReadonlyMap<string, string>): Shift {
  const { start, end, personId, overrideId } = span;
  return {
    startsAt: formatTimestamp(start),
    endsAt: formatTimestamp(end),
    personId,
    personName: names.get(personId ?? "") ?? null,
    overrideId,
  };
}

function limitSpan(
  scope: Scope,
  { from = scope.clock(), until = from + usualSpanMs }: ShiftsQuery,
) {
  if (until <= from) throw invalidFieldError("until", "must be later than from");
  return { from, until: Math.min(until, from + maxSpanMs) };
}

/** Lists the shifts of a span, with its gaps. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function getShifts(scope: Scope, id: string, query: ShiftsQuery): Promise<Shift[]> {
  const { from, until } = limitSpan(scope, query);
  return runInOnCallTurn(scope, async () => {
    const [schedule] = await loadSchedules(scope, [id], from, until);
    return buildShifts(scope, assertFound(schedule, "schedule"), from, until);
  });
}

/** Lists the shifts of unsaved layers. Throws NOT_FOUND for an unknown schedule, VALIDATION_ERROR. */
export async function previewShifts(scope: Scope, preview: SchedulePreview): Promise<Shift[]> {
  const { id, timeZone, layers } = preview;
  const { from, until } = limitSpan(scope, {
    from: preview.from === undefined ? undefined : Date.parse(preview.from),
    until: preview.until === undefined ? undefined : Date.parse(preview.until),
  });
  if (id !== undefined) await getStored(scope, id);
  const [schedule] = await addOverrides(scope, [{ id: id ?? "", timeZone }], from, until);
  const overrides = schedule?.overrides ?? [];
  return runInOnCallTurn(scope, () =>
    buildShifts(scope, { timeZone, layers, overrides }, from, until),
  );
}

async function buildShifts(
  tenant: Tenant,
  schedule: Pick<TimedSchedule, "timeZone" | "layers" | "overrides">,
  from: number,
  until: number,
): Promise<Shift[]> {
  const spans = listShifts(schedule, from, until);
  const names = await findNames(
    tenant,
    spans.map(({ personId }) => personId),
  );
  return spans.map((span) => toShift(span, names));
}

/** Lists the overrides of a span. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function listOverrides(scope: Scope, id: string, query: ShiftsQuery) {
  const { from, until } = limitSpan(scope, query);
  await getStored(scope, id);
  return listOverrideRows(scope, [id], from, until);
}

/** Longest override, in milliseconds. */
const maxOverrideMs = 366 * dayMs;

function buildOverride(
  scope: Scope,
  scheduleId: string,
  { personId, ...span }: NewScheduleOverride,
  path = "",
): OverrideRow {
  const now = scope.clock();
  const startsAt = formatTimestamp(Math.max(Date.parse(span.startsAt), now));
  if (Date.parse(span.endsAt) <= now)
    throw invalidFieldError(`${path}endsAt`, "must be later than now");
  if (span.endsAt <= startsAt)
    throw invalidFieldError(`${path}endsAt`, "must be later than startsAt");
  if (Date.parse(span.endsAt) - Date.parse(startsAt) > maxOverrideMs)
    throw invalidFieldError(`${path}endsAt`, "must be at most 366 days after startsAt");
  return {
    organizationId: scope.organizationId,
    id: createId(now),
    scheduleId,
    personId,
    startsAt,
    endsAt: span.endsAt,
    createdAt: formatTimestamp(now),
  };
}

/** Fails the write if a schedule has too many overrides. Must follow the insert. */
const guardOverrideLimit = ({ organizationId }: Scope, scheduleId: string): Prepared =>
  guardCondition(
    "(select count(*) from schedule_overrides where organization_id = ? and schedule_id = ?) <= ?",
    [organizationId, scheduleId, scheduleBounds.overrides.value],
    () =>
      new AppError(
        "CONFLICT",
        `A schedule can have at most ${scheduleBounds.overrides.value} overrides, including those of the past year. Remove planned overrides.`,
      ),
  );

/**
 * Puts a person on call for a time, instead of the layers and earlier overrides. Throws NOT_FOUND, also for an unknown
 * person, VALIDATION_ERROR, and CONFLICT at the limit.
 */
export function createOverride(scope: Scope, scheduleId: string, input: NewScheduleOverride) {
  return retryOnStaleRead(async () => {
    const schedule = await getStored(scope, scheduleId);
    const override = buildOverride(scope, scheduleId, input);
    const { statements, fields } = await buildOverrideWrite(
      scope,
      schedule,
      [override],
      "personId",
    );
    return commit(
      scope,
      statements,
      { action: "schedule.overridden", subjectId: scheduleId, fields },
      override,
    );
  });
}

/** Builds the statements that add overrides to a schedule, and their fields for the audit log. */
async function buildOverrideWrite(
  scope: Scope,
  schedule: StoredSchedule,
  overrides: readonly OverrideRow[],
  personField: string,
) {
  const personIds = overrides.map(({ personId }) => personId);
  const names = await findNames(scope, personIds);
  return {
    statements: [
      ...guardUnconditional(scope),
      guardVersion(schedules, scope.organizationId, schedule),
      guardMembers(scope, personField, personIds),
      ...overrides.map((override) => insertOverride(override)),
      setNoticeDueAt(scope.organizationId, schedule.id, scope.clock()),
      guardOverrideLimit(scope, schedule.id),
    ],
    fields: overrides.flatMap((override) => describeOverride(null, override, names)),
  };
}

/** Fields of an override for the audit log. */
function describeOverride(
  before: OverrideRow | null,
  after: OverrideRow | null,
  names: ReadonlyMap<string, string>,
) {
  const describe = (one: OverrideRow | null) =>
    one === null
      ? {}
      : {
          person: names.get(one.personId) ?? "someone",
          startsAt: one.startsAt,
          endsAt: one.endsAt,
        };
  return listChangedFields(describe(before), describe(after), ["person", "startsAt", "endsAt"]);
}

/**
 * Exchanges the people of two times with two overrides. Throws NOT_FOUND, CONFLICT at the limit, and VALIDATION_ERROR
 * if a time has several people or nobody on call.
 */
export function swapShifts(scope: Scope, scheduleId: string, swap: ScheduleSwap) {
  return retryOnStaleRead(async () => {
    const { first, second } = swap;
    const [schedule] = await loadSchedules(
      scope,
      [scheduleId],
      Math.min(Date.parse(first.startsAt), Date.parse(second.startsAt)),
      Math.max(Date.parse(first.endsAt), Date.parse(second.endsAt)),
    );
    const known = assertFound(schedule, "schedule");
    const onlyFirst = findOnlyPerson(known, first, "first");
    const other = findOnlyPerson(known, second, "second");
    if (first.startsAt < second.endsAt && second.startsAt < first.endsAt)
      throw invalidFieldError("second", "must not overlap first");
    const overrides = [
      buildOverride(scope, scheduleId, { ...first, personId: other }, "first."),
      buildOverride(scope, scheduleId, { ...second, personId: onlyFirst }, "second."),
    ];
    const { statements, fields } = await buildOverrideWrite(scope, known, overrides, "first");
    return commit(
      scope,
      statements,
      { action: "schedule.swapped", subjectId: scheduleId, fields },
      overrides,
    );
  });
}

/** Returns the person who is on call for the whole time. Throws VALIDATION_ERROR if there is none. */
function findOnlyPerson(
  schedule: TimedSchedule,
  { startsAt, endsAt }: ScheduleSwap["first"],
  path: string,
): string {
  const [from, until] = [Date.parse(startsAt), Date.parse(endsAt)];
  if (until <= from) throw invalidFieldError(`${path}.endsAt`, "must be later than startsAt");
  if (until - from > maxSpanMs)
    throw invalidFieldError(`${path}.endsAt`, "must be at most 62 days after startsAt");
  const people = new Set(listShifts(schedule, from, until).map(({ personId }) => personId));
  const [person] = people;
  if (people.size !== 1 || person == null)
    throw invalidFieldError(path, "must be a time with one person on call");
  return person;
}

/** Removes an override, so that earlier overrides and the layers decide again. Throws NOT_FOUND. */
export function deleteOverride(scope: Scope, scheduleId: string, id: string) {
  return retryOnStaleRead(async () => {
    const override = assertFound(await findOverride(scope, scheduleId, id), "override");
    const names = await findNames(scope, [override.personId]);
    return commit(
      scope,
      [
        ...guardUnconditional(scope),
        guardCondition(
          "exists (select 1 from schedule_overrides where organization_id = ? and id = ?)",
          [scope.organizationId, id],
        ),
        removeRow(scope, scheduleOverrides, id),
        setNoticeDueAt(scope.organizationId, scheduleId, scope.clock()),
      ],
      {
        action: "schedule.override-removed",
        subjectId: scheduleId,
        fields: describeOverride(override, null, names),
      },
      deletedBody,
    );
  });
}
