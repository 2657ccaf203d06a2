/** The only way to write a change: with its audit row, its event and its idempotent response. */
import { formatTimestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import type { ChangedField } from "../core/field-changes.ts";
import { guardVersion, type VersionedTable } from "../database/references.ts";
import { buildStoredNameSql, hasStoredName } from "../database/subject-names.ts";
import {
  splitIntoPortions,
  createInsert,
  guardCondition,
  type Prepared,
  RehearsalPassed,
  type Statement,
} from "../database/store.ts";
import { auditEntries } from "../database/tables/events.ts";
import type { AuditAction, DataOf, Event } from "./catalog.ts";
import { appendEvent } from "./log.ts";
import type { Scope } from "./scope.ts";

const insertAuditEntry = createInsert(auditEntries);

/** A change by a person or key, for the audit log and all followers of events. */
export type AuditedChange<A extends AuditAction = AuditAction> = {
  [K in A]: {
    action: K;
    subjectId: string;
    /** Changed fields. A change without any is not in the audit log. */
    fields?: readonly ChangedField[];
  } & DataOf<K>;
}[A];

/** One change to several subjects. */
type AuditedChanges = {
  action: PlainAction;
  subjectIds: readonly string[];
  /** Changed fields, of all subjects or of each. Subjects without any are not in the audit log. */
  fields?: readonly ChangedField[] | ((subjectId: string) => readonly ChangedField[]);
};

/** Actions whose events have no data. */
type PlainAction = {
  [A in AuditAction]: DataOf<A> extends { data: object } ? never : A;
}[AuditAction];

type Author = Pick<Scope, "organizationId" | "actor" | "requestId"> & Partial<Pick<Scope, "tool">>;

/** Atomically writes a change, its audit row, its event and, for a request with an Idempotency-Key, its response. */
export function commit<T extends object>(
  scope: Scope,
  statements: readonly Statement[],
  change: AuditedChange,
  response: T,
): Promise<T> {
  const at = formatTimestamp(scope.clock());
  const entry = buildAuditEntry(scope, change, at);
  return writeChange(scope, [...entry, ...statements, buildEvent(scope, change, at)], response);
}

/** Writes the same change to several records, each with an audit row and an event. */
export function commitEach<T extends object>(
  scope: Scope,
  statements: readonly Statement[],
  changes: AuditedChanges,
  response: T,
): Promise<T> {
  const at = formatTimestamp(scope.clock());
  const entries = buildAuditRows(scope, changes, at);
  return writeChange(
    scope,
    [...entries, ...statements, ...buildEvents(scope, changes, at)],
    response,
  );
}

/** Writes no change, but verifies the conditions, such as the version in If-Match. */
export const commitUnchanged = <T extends object>(
  scope: Scope,
  conditions: readonly Statement[],
  response: T,
): Promise<T> => writeChange(scope, conditions, response);

/**
 * Writes without an audit row. For changes that are audited later, such as a held change when it is sent, and for
 * changes without meaning for an audit.
 */
export const commitUnaudited = <T extends object>(
  scope: Scope,
  statements: readonly Statement[],
  response: T,
): Promise<T> => writeChange(scope, statements, response);

async function writeChange<T extends object>(
  scope: Scope,
  statements: readonly Statement[],
  response: T,
) {
  // First, so that the second of two identical requests gets the stored response, not an error of If-Match.
  const remembered = scope.remember?.(response) ?? [];
  await scope.store.atomic([
    guardOrganizationExists(scope.organizationId),
    ...remembered,
    ...statements,
    ...(scope.isRehearsal ? [endRehearsal(response)] : []),
  ]);
  return response;
}

/** Rolls the whole write back after all its conditions held. */
const endRehearsal = (response: object): Prepared =>
  guardCondition("false", [], () => new RehearsalPassed(response));

/** Guard that fails with NOT_FOUND if the organization was deleted. */
function guardOrganizationExists(organizationId: string): Prepared {
  return guardCondition(
    "exists (select 1 from organizations where id = ? and deleted_at is null)",
    [organizationId],
    () => new AppError("NOT_FOUND", "This organization was deleted."),
  );
}

/** Creates audit rows and events of a change to several subjects, for a write with other statements. */
export const buildAuditsAndEvents = (author: Author, changes: AuditedChanges, at: string) => [
  ...buildAuditRows(author, changes, at),
  ...buildEvents(author, changes, at),
];

/** Creates audit rows. Must precede the statements that remove the subjects, because it copies their names. */
export function buildAuditRows(
  { organizationId, actor, requestId, tool = null }: Author,
  { action, subjectIds, fields }: { action: AuditAction } & Omit<AuditedChanges, "action">,
  at: string,
): Prepared[] {
  const shared = [organizationId, at, actor.type, actor.id, actor.name, action, requestId, tool];
  const subjectId = "(value ->> 0)";
  const text = `insert into audit_entries (organization_id, at, actor_type, actor_id, actor_name,
      action, request_id, tool, subject_id, subject_name, fields, changes)
    select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ${subjectId}, ${buildStoredNameSql(action, "?1", subjectId)},
      value ->> 1, value ->> 2
    from json_each(?9)`;
  const alike = typeof fields === "function" ? null : serializeFields(fields);
  const rows = subjectIds.flatMap((id) => {
    const serialized = typeof fields === "function" ? serializeFields(fields(id)) : alike;
    return serialized === null ? [] : [[id, serialized.fields, serialized.changes]];
  });
  return splitIntoPortions(rows, (portion) => [
    { text, parameters: [...shared, JSON.stringify(portion)] },
  ]);
}

/** Returns the columns of changed fields; null if no field differs, which needs no audit entry. */
function serializeFields(changed: readonly ChangedField[] | undefined) {
  if (changed === undefined) return { fields: null, changes: null };
  if (changed.length === 0) return null;
  const changes = changed.filter((one) => typeof one !== "string");
  return {
    fields: JSON.stringify(changed.map((one) => (typeof one === "string" ? one : one.field))),
    changes: changes.length === 0 ? null : JSON.stringify(changes),
  };
}

/** Creates the events of a change to several subjects. */
export const buildEvents = (
  { organizationId }: Pick<Author, "organizationId">,
  { action, subjectIds }: AuditedChanges,
  at: string,
): Prepared[] =>
  splitIntoPortions(subjectIds, (portion) => [
    { text: eventEachSql, parameters: [organizationId, at, action, JSON.stringify(portion)] },
  ]);

const eventEachSql = `insert into events (organization_id, at, type, subject_id)
  select ?, ?, ?, value from json_each(?)`;

/** Creates the audit row and event of a change, for a write with several changes. */
export const buildAuditAndEvent = (
  author: Author,
  change: AuditedChange,
  at: string,
): Statement[] => [...buildAuditEntry(author, change, at), buildEvent(author, change, at)];

function buildAuditEntry(author: Author, change: AuditedChange, at: string): Statement[] {
  const { action, subjectId, fields } = change;
  if (hasStoredName(action))
    return buildAuditRows(
      author,
      { action, subjectIds: [subjectId], ...(fields && { fields }) },
      at,
    );
  const { organizationId, actor, requestId, tool = null } = author;
  const columns = serializeFields(fields);
  if (columns === null) return [];
  return [
    insertAuditEntry({
      organizationId,
      at,
      actorType: actor.type,
      actorId: actor.id,
      actorName: actor.name,
      action,
      subjectId,
      ...columns,
      requestId,
      tool,
    }),
  ];
}

const buildEvent = (
  { organizationId }: Author,
  { action, subjectId, data }: AuditedChange,
  at: string,
): Statement => appendEvent({ organizationId, at, type: action, subjectId, data } as Event);

/**
 * Guards against concurrent changes to a record. If it has changed since it was read, the write fails with StaleRead,
 * and `retryOnStaleRead` repeats it. If the client's If-Match names another version (RFC 9110 §13.1.1), the write fails with
 * PRECONDITION_FAILED.
 */
export function guardCurrent(
  scope: Scope,
  table: VersionedTable,
  record: { id: string; version: number },
): Prepared[] {
  const current = guardVersion(table, scope.organizationId, record);
  const isNamed = matchesIfMatch(
    scope,
    (tag) => /^"(\d+)-[^"]*"$/.exec(tag)?.[1] === String(record.version),
  );
  return isNamed ? [current] : [failingGuard, current];
}

/** Rejects an If-Match for a resource without versions. */
export const guardUnconditional = (scope: Scope): Prepared[] =>
  matchesIfMatch(scope, () => false) ? [] : [failingGuard];

/** Whether a tag in If-Match satisfies `isIt`. True without If-Match. */
export const matchesIfMatch = ({ ifMatch }: Scope, isIt: (tag: string) => boolean): boolean =>
  ifMatch === null || ifMatch.trim() === "*" || ifMatch.split(",").some((tag) => isIt(tag.trim()));

export const changedSinceError = () =>
  new AppError(
    "PRECONDITION_FAILED",
    "The record was changed since it was read. Read it again and decide again.",
  );

const failingGuard: Prepared = guardCondition("false", [], changedSinceError);
