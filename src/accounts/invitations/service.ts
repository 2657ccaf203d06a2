/** Creates, revokes and accepts invitations to an organization. */
import { and, desc, eq, gt, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { auditAndEvent, commit } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { timestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId, randomToken, sha256 } from "../../core/ids.ts";
import { deleted } from "../../core/paging.ts";
import { hashPassword } from "../../core/security/passwords.ts";
import { Role } from "../../core/roles.ts";
import { invalid, parse } from "../../core/validation.ts";
import { listed, overLimit } from "../../database/references.ts";
import { must, retrying, type Statement, type Store } from "../../database/store.ts";
import { invitations, memberships } from "../../database/tables/accounts.ts";
import { countAttempt, hashingFor, withAttemptLimits } from "../../http/access/attempt-limits.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import {
  addMembership,
  alreadyMember,
  findMemberByEmail,
  findPeopleByEmail,
  mustBeStrongPassword,
  newPerson,
  type PersonRow,
} from "../people/store.ts";
import { emailKeyOf, mayManage } from "../people/rules.ts";
import { mustManage } from "../people/service.ts";
import type { Stage } from "../sign-in/schema.ts";
import { admit, begin, personOf } from "../sign-in/service.ts";
import { type Acceptance, type Invitation, NewAccount, type NewInvitation } from "./schema.ts";
import { matching, type Tenant } from "../../database/rows.ts";
import { type Sweeping, sweepRows } from "../../database/backup/portions.ts";
import { organizations } from "../../database/tables/organizations.ts";

const validMs = 7 * 86_400_000;

export function listInvitations(scope: Scope): Promise<Invitation[]> {
  return openInvitations(scope, scope.clock());
}

/**
 * Invites an e-mail address for seven days, and replaces its earlier invitation. `origin` is the
 * public URL of this appliance. Throws CONFLICT for a member, and FORBIDDEN if the actor can't
 * grant the role.
 */
export async function invite(scope: Scope, { email, role }: NewInvitation, origin: string) {
  const { store, organizationId, actor } = scope;
  const now = scope.clock();
  const token = randomToken(43);
  return retrying(async () => {
    const allowed = await mustManage(scope, [role]);
    const emailKey = emailKeyOf(email);
    if ((await findMemberByEmail(scope, emailKey)) !== null) throw alreadyMember();
    const row: InvitationRow = {
      organizationId,
      id: newId(now),
      email,
      emailKey,
      role,
      tokenHash: sha256(token),
      invitedBy: actor.name,
      invitedById: actor.id,
      createdAt: timestamp(now),
      expiresAt: timestamp(now + validMs),
    };
    return commit(
      scope,
      [
        ...allowed,
        // A new invitation replaces an earlier one to the same address.
        store.db.delete(invitations).where(matching(invitations, { organizationId, emailKey })),
        store.db.insert(invitations).values(row),
        mustBeFew(scope),
      ],
      { action: "invitation.created", subjectId: row.id },
      { ...row, link: `${origin}/invitation#${token}` },
    );
  });
}

/** Guards the limit of members. Invitations count too, so accepting one never exceeds the limit. */
function mustBeFew({ organizationId, limits }: Scope): Statement {
  const countOf = (table: SQLiteTable) =>
    sql`(select count(*) from ${table} where organization_id = ${organizationId})`;
  return must(sql`${countOf(memberships)} + ${countOf(invitations)} <= ${limits.people}`, () =>
    overLimit(limits, "people"),
  );
}

/** Returns `origin`, or `elsewhere` if `origin` is a loopback address that other people can't open. */
export function reachedFrom(origin: string, elsewhere: string): string {
  const isLocal = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/.test(origin);
  return isLocal ? elsewhere : origin;
}

/** Revokes an invitation. Throws NOT_FOUND. */
export async function revokeInvitation(scope: Scope, id: string): Promise<typeof deleted> {
  const { store, organizationId } = scope;
  const none = () => new AppError("NOT_FOUND", "There is no open invitation with this id.");
  const open = await listInvitations(scope);
  if (!open.some((one) => one.id === id)) throw none();
  return commit(
    scope,
    takeInvitation(store, { organizationId, id }, none),
    { action: "invitation.revoked", subjectId: id },
    deleted,
  );
}

/** Allowed combinations of inviting and invited role, such as `admin member`. */
const entitled = Role.options.flatMap((role) =>
  Role.options.filter((by) => mayManage(by, role)).map((by) => `${by} ${role}`),
);

/** Whether the inviting person still has a role that can grant the invited role. */
const isEntitled = sql`exists (select 1 from ${memberships} m
  where m.organization_id = ${invitations.organizationId}
    and m.person_id = ${invitations.invitedById}
    and m.role || ' ' || ${invitations.role} in (select value from ${listed(entitled)}))`;

const over = () =>
  new AppError("NOT_FOUND", "This invitation is no longer valid. Ask for a new one.");

/** Finds the open invitation of a token. Its sender must still be allowed to send it. */
async function openedBy(context: VisitorContext, token: string) {
  const { store, clock } = context;
  const ofToken = matching(invitations, { tokenHash: sha256(token) });
  const isOpen = gt(invitations.expiresAt, timestamp(clock()));
  const found = await withAttemptLimits(context, async () => {
    const [row] = await store.db
      .select({ invitation: invitations, organizationName: organizations.name })
      .from(invitations)
      .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
      .where(and(ofToken, isOpen, isEntitled));
    return row ?? null;
  });
  if (found === null) throw over();
  return found;
}

/**
 * Returns the invitation to show to the holder of the link. Throws NOT_FOUND for a wrong, used or
 * expired token, RATE_LIMITED.
 */
export async function lookAtInvitation(context: VisitorContext, token: string) {
  const { invitation, organizationName } = await openedBy(context, token);
  const { email, role } = invitation;
  return { organization: { name: organizationName }, email, role };
}

/**
 * Accepts an invitation. A visitor who is signed in with the address joins immediately. With a
 * name, a new person is created; without one, an existing person signs in with their password.
 * Several people can share an address, so the response never reveals existing accounts. Throws
 * NOT_FOUND for the token, UNAUTHORIZED for the password, VALIDATION_ERROR, RATE_LIMITED, and
 * CONFLICT for a member.
 */
export async function acceptInvitation(context: VisitorContext, input: Acceptance): Promise<Stage> {
  const { store, session } = context;
  const { invitation, organizationName } = await openedBy(context, input.token);
  const { email, emailKey } = invitation;
  if (session?.stage === "signed-in" && emailKeyOf(session.person.email) === emailKey) {
    await store.atomic(joins(context, invitation, session.person));
    return "signed-in";
  }
  if (input.name !== undefined) return joinAsNew(context, input, invitation, organizationName);
  const { password } = input;
  if (password === undefined) throw invalid("password", "is required");
  const known = await withAttemptLimits(context, () => personOf(context, email, password));
  if (known === null)
    throw new AppError("UNAUTHORIZED", "The e-mail address or the password is wrong.");
  return admit(context, known, joins(context, invitation, known));
}

async function joinAsNew(
  context: VisitorContext,
  input: Acceptance,
  invitation: InvitationRow,
  organization: string,
): Promise<Stage> {
  const { email, emailKey } = invitation;
  const { name, password } = parse(NewAccount, { name: input.name, password: input.password });
  mustBeStrongPassword(password, [email, name, organization]);
  const known = await findPeopleByEmail(context.store, emailKey);
  // If the password belongs to an existing account, this signs in, so it counts as an attempt.
  countAttempt(context);
  const hash = await hashPassword(password, hashingFor(context), known[0]?.passwordHash);
  const own = known.find(({ passwordHash }) => passwordHash === hash);
  if (own !== undefined) return admit(context, own, joins(context, invitation, own));
  const { row, statements } = newPerson(context, { name, email }, hash);
  return begin(context, row, "signed-in", [...statements, ...joins(context, invitation, row)]);
}

/** Returns statements that add the person and use up the invitation. */
function joins(
  context: VisitorContext,
  invitation: InvitationRow,
  person: Pick<PersonRow, "id" | "name">,
): Statement[] {
  const { store, clock, requestId } = context;
  const { organizationId, role } = invitation;
  const actor = { type: "person" as const, id: person.id, name: person.name };
  const at = timestamp(clock());
  return [
    ...takeInvitation(store, invitation, over, isEntitled),
    ...addMembership(store, { organizationId, personId: person.id, role, createdAt: at }),
    ...auditAndEvent(
      { organizationId, actor, requestId },
      { action: "invitation.accepted", subjectId: person.id },
      at,
    ),
  ];
}

type InvitationRow = typeof invitations.$inferSelect;

/** Returns open invitations, newest first. */
function openInvitations({ store, organizationId }: Tenant, now: number) {
  const isOpen = gt(invitations.expiresAt, timestamp(now));
  return store.db
    .select()
    .from(invitations)
    .where(and(matching(invitations, { organizationId }), isOpen))
    .orderBy(desc(invitations.id));
}

/** Returns statements that remove an invitation, guarded by `condition` and against a concurrent removal. */
function takeInvitation(
  store: Store,
  { organizationId, id }: Pick<InvitationRow, "organizationId" | "id">,
  otherwise: () => AppError,
  condition?: SQL,
): Statement[] {
  const named = matching(invitations, { organizationId, id });
  return [
    must(sql`exists (select 1 from ${invitations} where ${and(named, condition)})`, otherwise),
    store.db.delete(invitations).where(named),
  ];
}

/** Removes expired invitations. */
export function sweepInvitations(sweeping: Sweeping): Promise<void> {
  return sweepRows(sweeping, "invitations", "expires_at < ?", [timestamp(sweeping.now)]);
}
