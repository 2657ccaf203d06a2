import { and, desc, eq, gt, lt, sql } from "drizzle-orm";
import { timestamp } from "../base/clock.ts";
import type { AppError } from "../base/errors.ts";
import { must, type Statement, type Store } from "../database/store.ts";
import { invitations, organizations } from "../database/tables.ts";

export type InvitationRow = typeof invitations.$inferSelect;

/** Those that still can be accepted, newest first. */
export function openInvitations(
  store: Store,
  organizationId: string,
  now: number,
): Promise<InvitationRow[]> {
  return store.db
    .select()
    .from(invitations)
    .where(
      and(
        eq(invitations.organizationId, organizationId),
        gt(invitations.expiresAt, timestamp(now)),
      ),
    )
    .orderBy(desc(invitations.id));
}

export async function findByToken(store: Store, tokenHash: string, now: number) {
  const [found] = await store.db
    .select({ invitation: invitations, organizationName: organizations.name })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
    .where(and(eq(invitations.tokenHash, tokenHash), gt(invitations.expiresAt, timestamp(now))));
  return found ?? null;
}

/** An address has one invitation to an organization: the newest. */
export function replaceInvitation(store: Store, row: InvitationRow): Statement[] {
  return [
    store.db
      .delete(invitations)
      .where(
        and(
          eq(invitations.organizationId, row.organizationId),
          eq(invitations.emailKey, row.emailKey),
        ),
      ),
    store.db.insert(invitations).values(row),
  ];
}

/** Takes an invitation away, if nobody did meanwhile. */
export function takeInvitation(
  store: Store,
  { organizationId, id }: Pick<InvitationRow, "organizationId" | "id">,
  otherwise: () => AppError,
): Statement[] {
  const place = and(eq(invitations.organizationId, organizationId), eq(invitations.id, id));
  return [
    must(sql`exists (select 1 from ${invitations} where ${place})`, otherwise),
    store.db.delete(invitations).where(place),
  ];
}

/** The statement that removes invitations that nobody accepted in time. */
export function forgetOldInvitations(now: number): Statement {
  return sql`delete from ${invitations} where ${lt(invitations.expiresAt, timestamp(now))}`;
}
