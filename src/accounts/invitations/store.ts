import { and, desc, eq, gt, sql } from "drizzle-orm";
import { timestamp } from "../../core/clock.ts";
import type { AppError } from "../../core/errors.ts";
import { listed } from "../../database/references.ts";
import { matching, type Tenant } from "../../database/rows.ts";
import { type Sweeping, sweepRows } from "../../database/portions.ts";
import { must, type Statement, type Store } from "../../database/store.ts";
import { invitations, memberships } from "../../database/tables/accounts.ts";
import { organizations } from "../../database/tables/organizations.ts";

export type InvitationRow = typeof invitations.$inferSelect;

/** Those that still can be accepted, newest first. */
export function openInvitations({ store, organizationId }: Tenant, now: number) {
  const isOpen = gt(invitations.expiresAt, timestamp(now));
  return store.db
    .select()
    .from(invitations)
    .where(and(matching(invitations, { organizationId }), isOpen))
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
  const { organizationId, emailKey } = row;
  return [
    store.db.delete(invitations).where(matching(invitations, { organizationId, emailKey })),
    store.db.insert(invitations).values(row),
  ];
}

/** Takes an invitation away, if nobody did meanwhile; one that somebody accepts, while whoever made it may still make it. */
export function takeInvitation(
  store: Store,
  { organizationId, id }: Pick<InvitationRow, "organizationId" | "id">,
  otherwise: () => AppError,
  entitled?: Entitled,
): Statement[] {
  const named = matching(invitations, { organizationId, id });
  const takeable = and(named, entitled && isEntitled(entitled));
  return [
    must(sql`exists (select 1 from ${invitations} where ${takeable})`, otherwise),
    store.db.delete(invitations).where(named),
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
