import { and, desc, eq, gt, sql } from "drizzle-orm";
import { timestamp } from "../../core/clock.ts";
import type { AppError } from "../../core/errors.ts";
import { listed } from "../../database/references.ts";
import { type Sweeping, sweepRows } from "../../database/portions.ts";
import { must, type Statement, type Store } from "../../database/store.ts";
import { invitations, memberships } from "../../database/tables/accounts.ts";
import { organizations } from "../../database/tables/organizations.ts";

export type InvitationRow = typeof invitations.$inferSelect;

/** Those that still can be accepted, newest first. */
export function openInvitations(store: Store, organizationId: string, now: number) {
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

/** The invitation of this token, while whoever made it may still make it. */
export async function findByToken(
  store: Store,
  tokenHash: string,
  entitled: Entitled,
  now: number,
) {
  const [found] = await store.db
    .select({ invitation: invitations, organizationName: organizations.name })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
    .where(
      and(
        eq(invitations.tokenHash, tokenHash),
        gt(invitations.expiresAt, timestamp(now)),
        isEntitled(entitled),
      ),
    );
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

type Named = Pick<InvitationRow, "organizationId" | "id">;

const placeOf = ({ organizationId, id }: Named) =>
  and(eq(invitations.organizationId, organizationId), eq(invitations.id, id));

/** Takes an invitation away, if nobody did meanwhile. */
export function takeInvitation(store: Store, named: Named, otherwise: () => AppError): Statement[] {
  return [
    must(sql`exists (select 1 from ${invitations} where ${placeOf(named)})`, otherwise),
    store.db.delete(invitations).where(placeOf(named)),
  ];
}

/** Takes an invitation that somebody accepts, while whoever made it may still make it. */
export function consumeInvitation(
  store: Store,
  named: Named,
  entitled: Entitled,
  otherwise: () => AppError,
): Statement[] {
  return [
    must(
      sql`exists (select 1 from ${invitations} where ${placeOf(named)} and ${isEntitled(entitled)})`,
      otherwise,
    ),
    store.db.delete(invitations).where(placeOf(named)),
  ];
}

/** Who may invite whom: pairs of roles such as `admin member`. */
type Entitled = readonly string[];

/** Whether whoever invites belongs to the organization in a role that may give this one. */
function isEntitled(entitled: Entitled) {
  return sql`exists (select 1 from ${memberships} m
    where m.organization_id = ${invitations.organizationId}
      and m.person_id = ${invitations.invitedById}
      and m.role || ' ' || ${invitations.role} in (select value from ${listed(entitled)}))`;
}

/** Removes invitations that nobody accepted in time. */
export function sweepInvitations(sweeping: Sweeping): Promise<void> {
  return sweepRows(sweeping, "invitations", "expires_at < ?", [timestamp(sweeping.now)]);
}
