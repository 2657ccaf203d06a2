import { timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Statement } from "../database/store.ts";
import { auditEntries } from "../database/tables.ts";
import { appendEvent } from "../events/log.ts";
import type { Scope } from "./scope.ts";

/** What a write did, for the audit log and for everyone who follows the events. */
export type Happening = {
  action: string;
  subjectId: string;
  /** Names of the fields that were changed; their values stay out of the audit log. */
  fields?: readonly string[];
  /** What followers of the event need beyond the subject's id. */
  data?: Record<string, unknown>;
};

/**
 * The one way to write: the change, its audit row, its event and – when the caller sent an
 * Idempotency-Key – its answer, all or none of them.
 */
export async function commit<T extends object>(
  scope: Scope,
  statements: readonly Statement[],
  happening: Happening,
  answer: T,
): Promise<T> {
  const { store, organizationId, actor } = scope;
  const at = timestamp(scope.clock());
  const { action, subjectId, fields, data } = happening;
  await store.atomic([
    ...statements,
    store.db.insert(auditEntries).values({
      organizationId,
      at,
      actorType: actor.type,
      actorId: actor.id,
      actorName: actor.name,
      action,
      subjectId,
      fields: fields === undefined ? null : JSON.stringify(fields),
      requestId: scope.requestId,
    }),
    appendEvent(store, { organizationId, at, type: action, subjectId, ...(data && { data }) }),
    ...(scope.remember?.(answer) ?? []),
  ]);
  return answer;
}

/** Throws PRECONDITION_FAILED when the caller's If-Match (RFC 9110 §13.1.1) names another version of the record. */
export function mustMatch(scope: Scope, record: { version: number }) {
  if (scope.ifMatch === null || scope.ifMatch.trim() === "*") return;
  const versions = scope.ifMatch.split(",").map((tag) => /^"(\d+)-[^"]*"$/.exec(tag.trim())?.[1]);
  if (!versions.includes(String(record.version)))
    throw new AppError(
      "PRECONDITION_FAILED",
      "The record was changed since it was read. Read it again and decide again.",
    );
}
