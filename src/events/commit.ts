import { timestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { mustBeUnchanged, type Versioned } from "../database/references.ts";
import { isRemoval, nameOfRemoved } from "../database/subject-names.ts";
import {
  inPortions,
  insertInto,
  mustText,
  type Prepared,
  type Statement,
} from "../database/store.ts";
import { auditEntries } from "../database/tables/events.ts";
import type { AuditAction, DataOf, Event } from "./catalogue.ts";
import { appendEvent } from "./log.ts";
import type { Scope } from "./scope.ts";

const insertAuditEntry = insertInto(auditEntries);

/** What somebody did, for the audit log and for everyone who follows the events. */
export type AuditedChange<A extends AuditAction = AuditAction> = {
  [K in A]: {
    action: K;
    subjectId: string;
    /** Names of the fields that were changed; their values stay out of the audit log. */
    fields?: readonly string[];
  } & DataOf<K>;
}[A];

/** The same for many subjects alike. */
type AuditedChanges = {
  action: PlainAction;
  subjectIds: readonly string[];
  fields?: readonly string[];
};

/** Actions whose events say nothing beyond their subject. */
type PlainAction = {
  [A in AuditAction]: DataOf<A> extends { data: object } ? never : A;
}[AuditAction];

type Author = Pick<Scope, "organizationId" | "actor" | "requestId">;

/**
 * The one way to write: the change, its audit row, its event and – when the caller sent an
 * Idempotency-Key – its answer, all or none of them.
 */
export function commit<T extends object>(
  scope: Scope,
  statements: readonly Statement[],
  change: AuditedChange,
  answer: T,
): Promise<T> {
  const at = timestamp(scope.clock());
  const entry = auditEntry(scope, change, at);
  return write(scope, [...entry, ...statements, eventOf(scope, change, at)], answer);
}

/** The same for a change that many records take alike: each has its audit row and its event. */
export function commitEach<T extends object>(
  scope: Scope,
  statements: readonly Statement[],
  changes: AuditedChanges,
  answer: T,
): Promise<T> {
  const at = timestamp(scope.clock());
  const entries = auditEach(scope, changes, at);
  return write(scope, [...entries, ...statements, ...eventEach(scope, changes, at)], answer);
}

/** For what is as it is to be already: nothing is told, and what the caller saw must hold all the same. */
export const commitUnchanged = <T extends object>(
  scope: Scope,
  conditions: readonly Statement[],
  answer: T,
): Promise<T> => write(scope, conditions, answer);

async function write<T extends object>(scope: Scope, statements: readonly Statement[], answer: T) {
  // First, so that of two who repeat one request the second hears of the first, not of its own If-Match.
  const remembered = scope.remember?.(answer) ?? [];
  await scope.store.atomic([mustBeThere(scope.organizationId), ...remembered, ...statements]);
  return answer;
}

const organizationText = mustText(
  "exists (select 1 from organizations where id = ? and deleted_at is null)",
);

/** Holds while the organization was not deleted by somebody else. */
function mustBeThere(organizationId: string): Prepared {
  return {
    ...organizationText,
    parameters: [organizationId],
    otherwise: () => new AppError("NOT_FOUND", "This organization was deleted."),
  };
}

/** The audit rows and events of a change to many subjects, for a write that holds more than that. */
export const auditAndEventEach = (author: Author, changes: AuditedChanges, at: string) => [
  ...auditEach(author, changes, at),
  ...eventEach(author, changes, at),
];

/** Belongs before what removes the subjects: it keeps what they were called. */
export function auditEach(
  { organizationId, actor, requestId }: Author,
  { action, subjectIds, fields }: { action: AuditAction } & Omit<AuditedChanges, "action">,
  at: string,
): Prepared[] {
  const changed = fields === undefined ? null : JSON.stringify(fields);
  const shared = [organizationId, at, actor.type, actor.id, actor.name, action, changed, requestId];
  const text = `insert into audit_entries (organization_id, at, actor_type, actor_id, actor_name,
      action, fields, request_id, subject_id, subject_name)
    select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, value, ${nameOfRemoved(action, "?1", "value")}
    from json_each(?9)`;
  return inPortions(subjectIds, (some) => [
    { text, parameters: [...shared, JSON.stringify(some)] },
  ]);
}

/** The events of a change to many subjects. */
export const eventEach = (
  { organizationId }: Pick<Author, "organizationId">,
  { action, subjectIds }: AuditedChanges,
  at: string,
): Prepared[] =>
  inPortions(subjectIds, (some) => [
    { text: eventEachText, parameters: [organizationId, at, action, JSON.stringify(some)] },
  ]);

const eventEachText = `insert into events (organization_id, at, type, subject_id)
  select ?, ?, ?, value from json_each(?)`;

/** The audit row and the event of a change, for a write that holds more than one. */
export const auditAndEvent = (author: Author, change: AuditedChange, at: string): Statement[] => [
  ...auditEntry(author, change, at),
  eventOf(author, change, at),
];

function auditEntry(author: Author, change: AuditedChange, at: string): Statement[] {
  const { action, subjectId, fields } = change;
  if (isRemoval(action))
    return auditEach(author, { action, subjectIds: [subjectId], ...(fields && { fields }) }, at);
  const { organizationId, actor, requestId } = author;
  return [
    insertAuditEntry({
      organizationId,
      at,
      actorType: actor.type,
      actorId: actor.id,
      actorName: actor.name,
      action,
      subjectId,
      fields: fields === undefined ? null : JSON.stringify(fields),
      requestId,
    }),
  ];
}

const eventOf = (
  { organizationId }: Author,
  { action, subjectId, data }: AuditedChange,
  at: string,
): Statement => appendEvent({ organizationId, at, type: action, subjectId, data } as Event);

/**
 * Holds while the record is what this use case read – else `retrying` reads it again – and what the
 * caller's If-Match names (RFC 9110 §13.1.1) – else the write fails as PRECONDITION_FAILED.
 */
export function mustBeCurrent(
  scope: Scope,
  table: Versioned,
  record: { id: string; version: number },
): Prepared[] {
  const current = mustBeUnchanged(table, scope.organizationId, record);
  const isNamed = ifMatchNames(
    scope,
    (tag) => /^"(\d+)-[^"]*"$/.exec(tag)?.[1] === String(record.version),
  );
  return isNamed ? [current] : [refuse, current];
}

/** Holds unless the caller's If-Match names a state of what has no versions. */
export const mustBeUnconditional = (scope: Scope): Prepared[] =>
  ifMatchNames(scope, () => false) ? [] : [refuse];

/** Whether one of the tags of the caller's If-Match is it; true where there are none. */
export const ifMatchNames = ({ ifMatch }: Scope, isIt: (tag: string) => boolean): boolean =>
  ifMatch === null || ifMatch.trim() === "*" || ifMatch.split(",").some((tag) => isIt(tag.trim()));

export const changedSince = () =>
  new AppError(
    "PRECONDITION_FAILED",
    "The record was changed since it was read. Read it again and decide again.",
  );

const refuse: Prepared = { ...mustText("false"), parameters: [], otherwise: changedSince };
