/** Queries and statements of sessions. */
import { and, desc, eq, gte, ne, sql } from "drizzle-orm";
import type { AppError } from "../../core/errors.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { type SweepContext, sweepRows } from "../../database/backup/sweeping.ts";
import { guard, type Prepared, type Statement, type Store } from "../../database/store.ts";
import { sessions } from "../../database/tables/accounts.ts";
import { maxIdleMs, maxSessionAgeMs, waitingSessionMs } from "./rules.ts";

export type SessionRow = typeof sessions.$inferSelect;

export const endAllSessions: Statement = { text: "delete from sessions", parameters: [] };

export function findSessions(store: Store, personId: string): Promise<SessionRow[]> {
  return store.db
    .select()
    .from(sessions)
    .where(and(eq(sessions.personId, personId), eq(sessions.stage, "signed-in")))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
}

/** Returns the client addresses of sessions, most recent last. */
export async function findRecentAddresses({ db }: Store): Promise<string[]> {
  const rows = await db
    .select({ address: sessions.address })
    .from(sessions)
    .where(eq(sessions.stage, "signed-in"))
    .orderBy(desc(sessions.lastSeenAt))
    .limit(1_000);
  return rows.map(({ address }) => address).reverse();
}

export function addSession(store: Store, row: typeof sessions.$inferInsert): Statement {
  return store.db.insert(sessions).values(row);
}

/** Copies a session with a new ID and cookie. `from` is the ID of the old session. */
export function copySession(
  from: string,
  { id, tokenHash, lastSeenAt }: Pick<SessionRow, "id" | "tokenHash" | "lastSeenAt">,
): Statement {
  return sql`insert into ${sessions}
      (id, person_id, token_hash, stage, by_password, header_user, wrong_codes, address, user_agent,
      provider_id, created_at, last_seen_at)
    select ${id}, person_id, ${tokenHash}, stage, by_password, header_user, wrong_codes, address,
      user_agent, provider_id, created_at, ${lastSeenAt} from ${sessions} where id = ${from}`;
}

export function removeSession(store: Store, id: string): Statement {
  return store.db.delete(sessions).where(eq(sessions.id, id));
}

/** Ends all sessions of the person except `currentToken`. */
export function removeSessions(store: Store, personId: string, currentToken?: string): Statement {
  const theirs = eq(sessions.personId, personId);
  const ended = currentToken === undefined ? theirs : and(theirs, ne(sessions.id, currentToken));
  return store.db.delete(sessions).where(ended);
}

/** Removes expired sessions. */
export function sweepSessions(context: SweepContext): Promise<void> {
  const [oldest, idle, waiting] = [maxSessionAgeMs, maxIdleMs, waitingSessionMs].map((ms) =>
    formatTimestamp(context.now - ms),
  ) as [string, string, string];
  return sweepRows(
    context,
    "sessions",
    "created_at < ? or last_seen_at < ? or (stage = 'two-factor' and created_at < ?)",
    [oldest, idle, waiting],
  );
}

/** Guards that the sign-in that waits for a second factor was not ended meanwhile. */
export const guardWaiting = (id: string, otherwise: () => AppError): Prepared =>
  guard(
    sql`exists (select 1 from ${sessions} where id = ${id} and stage = 'two-factor')`,
    otherwise,
  );

/** Counts a wrong code. After the last allowed one, the sign-in starts again. */
export function countWrongCode(store: Store, id: string, max: number): Statement[] {
  const waiting = and(eq(sessions.id, id), eq(sessions.stage, "two-factor"));
  return [
    store.db
      .update(sessions)
      .set({ wrongCodes: sql`${sessions.wrongCodes} + 1` })
      .where(waiting),
    store.db.delete(sessions).where(and(waiting, gte(sessions.wrongCodes, max))),
  ];
}
