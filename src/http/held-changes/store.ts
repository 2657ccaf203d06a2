/** Reads and writes held changes. */
import { and, eq, sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { requestBounds } from "../../core/limits.ts";
import { formatTimestamp, dayMs } from "../../core/time/clock.ts";
import { type SweepContext, sweepRows } from "../../database/backup/sweeping.ts";
import { matchValues, selectPage, type Tenant } from "../../database/rows.ts";
import { createInsert, guardCondition, type Prepared, type Store } from "../../database/store.ts";
import { heldChanges } from "../../database/tables/events.ts";
import type { Actor } from "../../events/scope.ts";
import type { HeldChangeQuery } from "./schema.ts";

export type HeldRow = typeof heldChanges.$inferSelect;

/** How long outcomes are stored. */
const storedMs = dayMs;
/** Maximum waiting changes that are read at once. */
const waitingPerQuery = 200;

export const insertHeldChange = createInsert(heldChanges);

/** Guards the limit of waiting changes. Must follow the insert. */
export const guardRoomForHeldChange = (organizationId: string): Prepared =>
  guardCondition(
    "(select count(*) from held_changes where organization_id = ? and state = 'waiting') <= ?",
    [organizationId, requestBounds.heldChanges.value],
    () =>
      new AppError(
        "RATE_LIMITED",
        `An organization can hold at most ${requestBounds.heldChanges.value} changes at once.`,
        { headers: { "Retry-After": "10" } },
      ),
  );

/** Guards that a change is in one of these states. */
export const guardHeldChangeState = (
  { organizationId, id }: Pick<HeldRow, "organizationId" | "id">,
  otherwise: () => AppError,
  states: readonly HeldRow["state"][] = ["waiting"],
): Prepared =>
  guardCondition(
    "exists (select 1 from held_changes where organization_id = ? and id = ? and state in (select value from json_each(?)))",
    [organizationId, id, JSON.stringify(states)],
    otherwise,
  );

/** Callers limited to monitor groups see only their own changes. */
type Reading = Tenant & { actor: Actor };

export async function listHeldChangePage(
  { store, organizationId, groupIds, actor }: Reading,
  { state, ...page }: HeldChangeQuery,
): Promise<{ rows: HeldRow[]; total: number }> {
  const actorId = groupIds == null ? undefined : (actor.id ?? "");
  const matches = matchValues(heldChanges, { organizationId, state, actorId });
  return selectPage(store, heldChanges, heldChanges.id, matches, page);
}

export async function findHeldChange(
  { store, organizationId }: Tenant,
  id: string,
): Promise<HeldRow | null> {
  const matches = and(eq(heldChanges.organizationId, organizationId), eq(heldChanges.id, id));
  const [row] = await store.db.select().from(heldChanges).where(matches);
  return row ?? null;
}

/** Parameters, If-Match header and MCP tool of a held request. */
export function parseHeldRequest({ params }: HeldRow) {
  const parsed = JSON.parse(params) as { "If-Match"?: string | null; "MCP-Tool"?: string | null };
  const { "If-Match": ifMatch = null, "MCP-Tool": tool = null, ...rest } = parsed;
  return { params: rest as object, ifMatch, tool };
}

/**
 * Makes later held changes to the same record expect the version that this one creates. Their authors saw the waiting
 * change.
 */
export function expectVersion(
  { organizationId, id, subjectId }: HeldRow,
  ifMatch: string | null,
  version: number | undefined,
): Prepared[] {
  const [known] = /^"\d+-/.exec(ifMatch ?? "") ?? [];
  if (known === undefined || version === undefined) return [];
  return [
    {
      text: `update held_changes set params = json_set(params, '$."If-Match"', ?)
        where organization_id = ? and subject_id = ? and id > ? and state = 'waiting'
          and substr(params ->> '$."If-Match"', 1, ?) = ?`,
      parameters: [`"${version}-"`, organizationId, subjectId, id, known.length, known],
    },
  ];
}

/**
 * Reads the changes of all organizations whose hold is not over, the first due first. Organizations take turns, so that
 * none delays another.
 */
export function listWaitingChanges(store: Store): Promise<HeldRow[]> {
  return store.db
    .select()
    .from(heldChanges)
    .where(sql`state = 'waiting'`)
    .orderBy(
      sql`row_number() over (partition by organization_id order by due_at, id)`,
      heldChanges.dueAt,
      heldChanges.id,
    )
    .limit(waitingPerQuery);
}

/** Ends the hold of a change now. */
export const endHold = ({ organizationId, id }: HeldRow, at: string): Prepared => ({
  text: "update held_changes set due_at = ? where organization_id = ? and id = ?",
  parameters: [at, organizationId, id],
});

export const removeHeldChange = ({ organizationId, id }: HeldRow): Prepared => ({
  text: "delete from held_changes where organization_id = ? and id = ?",
  parameters: [organizationId, id],
});

/** Stores the outcome of a change. */
export const settleHeldChange = (
  { organizationId, id }: HeldRow,
  { subjectId, at, error }: { subjectId: string | null; at: string; error: string | null },
): Prepared => ({
  text: `update held_changes set state = ?, subject_id = coalesce(subject_id, ?), sent_at = ?, error = ?
    where organization_id = ? and id = ?`,
  parameters: [
    error === null ? "sent" : "failed",
    subjectId,
    error === null ? at : null,
    error,
    organizationId,
    id,
  ],
});

/** Removes the held changes of a restored backup: people who restore it don't expect it to send anything. */
export const removeWaitingChanges: Prepared = {
  text: "delete from held_changes where state = 'waiting'",
  parameters: [],
};

/** Removes old outcomes. */
export function sweepHeldChanges(context: SweepContext): Promise<void> {
  const before = formatTimestamp(context.now - storedMs);
  return sweepRows(context, "held_changes", "created_at < ? and state <> 'waiting'", [before]);
}
