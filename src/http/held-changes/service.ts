/**
 * Holds changes, undoes them, or sends them early. A held change is a stored request that runs when its hold is over.
 */
import { AppError } from "../../core/errors.ts";
import { createId } from "../../core/ids.ts";
import { buildPage, deletedBody } from "../../core/paging.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { assertFound, notFoundError } from "../../database/rows.ts";
import { RehearsalPassed } from "../../database/store.ts";
import { commitUnaudited, guardUnconditional } from "../../events/commit.ts";
import { appendEvent } from "../../events/log.ts";
import type { Scope } from "../../events/scope.ts";
import { computeWaitMs } from "./rules.ts";
import type { HeldChange, HeldChangeQuery } from "./schema.ts";
import {
  findHeldChange,
  guardRoomForHeldChange,
  guardHeldChangeState,
  type HeldRow,
  endHold,
  insertHeldChange,
  listHeldChangePage,
  removeHeldChange,
} from "./store.ts";

/** Runs a use case with a scope that is a rehearsal, and returns its response. Throws the errors of the use case. */
export async function rehearseUseCase(useCase: () => Promise<unknown>): Promise<object> {
  try {
    await useCase();
  } catch (error) {
    if (error instanceof RehearsalPassed) return error.response;
    throw error;
  }
  throw new Error("A use case that can be held must write with `commit`.");
}

type Operation = { name: string; params: object; change: unknown };

/** Stores a rehearsed request for `seconds`. Throws RATE_LIMITED if too many changes are held. */
export function holdChange(
  scope: Scope,
  { name, params, change }: Operation,
  rehearsed: { title?: unknown; origin?: HeldRow["origin"] },
  seconds: number,
): Promise<HeldChange> {
  const { organizationId, actor, requestId, ifMatch, tool } = scope;
  const now = scope.clock();
  // A nested record, such as a note of an incident, is the second parameter.
  const { id: parentId, ...nested } = params as Record<string, string>;
  const [nestedId] = Object.values(nested);
  const row: HeldRow = {
    organizationId,
    id: createId(now),
    operation: name,
    params: JSON.stringify({ ...params, "If-Match": ifMatch, "MCP-Tool": tool }),
    change: JSON.stringify(change),
    subjectId: nestedId ?? parentId ?? null,
    title: typeof rehearsed.title === "string" ? rehearsed.title : null,
    origin: rehearsed.origin ?? null,
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    requestId,
    state: "waiting",
    createdAt: formatTimestamp(now),
    dueAt: formatTimestamp(now + seconds * 1000),
    sentAt: null,
    error: null,
  };
  return commitUnaudited(
    scope,
    [
      insertHeldChange(row),
      guardRoomForHeldChange(organizationId),
      buildHeldChangeEvent(row, "held", now),
    ],
    toHeldChange(row, now),
  );
}

/** Lists waiting changes, and outcomes of the last 24 hours, newest first. */
export async function listHeldChanges(scope: Scope, query: HeldChangeQuery) {
  const { rows, total } = await listHeldChangePage(scope, query);
  const now = scope.clock();
  return buildPage(
    query,
    rows.map((row) => toHeldChange(row, now)),
    total,
  );
}

/** Throws NOT_FOUND. */
export async function getHeldChange(scope: Scope, id: string): Promise<HeldChange> {
  return toHeldChange(await getRow(scope, id), scope.clock());
}

/** Removes a change that was not sent, without a trace. Throws NOT_FOUND, and CONFLICT if it was sent. */
export async function undoHeldChange(scope: Scope, id: string): Promise<typeof deletedBody> {
  const row = await getRow(scope, id);
  return commitUnaudited(
    scope,
    [
      guardHeldChangeState(row, createSentError, ["waiting", "failed"]),
      ...guardUnconditional(scope),
      removeHeldChange(row),
      buildHeldChangeEvent(row, "undone", scope.clock()),
    ],
    deletedBody,
  );
}

/** Ends the hold of a change. It is sent at once, after this response. Throws NOT_FOUND, and CONFLICT if it does not wait. */
export async function sendHeldChange(scope: Scope, id: string): Promise<HeldChange> {
  const row = await getRow(scope, id);
  const now = scope.clock();
  const at = formatTimestamp(now);
  return commitUnaudited(
    scope,
    [
      guardHeldChangeState(row, createSentError),
      endHold(row, at),
      buildHeldChangeEvent(row, "hurried", now),
    ],
    { ...toHeldChange(row, now), dueAt: at, secondsLeft: 0 },
  );
}

async function getRow(scope: Scope, id: string): Promise<HeldRow> {
  const row = assertFound(await findHeldChange(scope, id), "held change");
  // Callers limited to monitor groups see only their own changes.
  if (scope.groupIds !== null && row.actorId !== scope.actor.id) throw notFoundError("held change");
  return row;
}

const createSentError = () => new AppError("CONFLICT", "This change was already sent.");

/** Returns the event that wakes the sender and updates open pages. */
export const buildHeldChangeEvent = (
  { organizationId, id }: HeldRow,
  verb: "held" | "hurried" | "undone" | "sent" | "failed",
  now: number,
) =>
  appendEvent({
    organizationId,
    at: formatTimestamp(now),
    type: `held-change.${verb}`,
    subjectId: id,
  });

const toHeldChange = (row: HeldRow, now: number): HeldChange => ({
  id: row.id,
  operation: row.operation,
  subjectId: row.subjectId,
  title: row.title,
  origin: row.origin,
  change: JSON.parse(row.change) as Record<string, unknown>,
  author: { type: row.actorType, id: row.actorId, name: row.actorName },
  state: row.state,
  secondsLeft: row.state === "waiting" ? Math.ceil(computeWaitMs(row, now) / 1000) : 0,
  createdAt: row.createdAt,
  dueAt: row.dueAt,
  sentAt: row.sentAt,
  error: row.error,
});
