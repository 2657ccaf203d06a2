/** Creates, revokes and accepts invitations to an organization. */
import { and, desc, eq, gt, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { buildAuditAndEvent, commit } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { formatTimestamp, dayMs } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createId, createToken, sha256 } from "../../core/ids.ts";
import { deletedBody } from "../../core/paging.ts";
import { hashPassword } from "../../core/security/passwords.ts";
import { Role } from "../../core/roles.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { buildIdTable, overLimitError } from "../../database/references.ts";
import { guard, retryOnStaleRead, type Statement, type Store } from "../../database/store.ts";
import { invitations, memberships } from "../../database/tables/accounts.ts";
import {
  countAttempt,
  buildHashingClient,
  tryWithLimits,
} from "../../http/access/attempt-limits.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import {
  addMembership,
  createAlreadyMemberError,
  findMemberByEmail,
  findPeopleByEmail,
  assertStrongPassword,
  buildNewPerson,
  type PersonRow,
} from "../people/store.ts";
import { chooseLimit, guardGroups, listLimit } from "../group-limit/service.ts";
import { listProviderButtons } from "../identity-providers/service.ts";
import { findSettings } from "../settings/service.ts";
import { emailKeyOf, canManage } from "../people/rules.ts";
import { guardManaging } from "../people/service.ts";
import type { Stage } from "../sign-in/schema.ts";
import { admitPerson, startSession, findPersonByPassword } from "../sign-in/service.ts";
import {
  type Acceptance,
  type Invitation,
  type InvitationMail,
  NewAccount,
  type NewInvitation,
  type SentInvitation,
} from "./schema.ts";
import { matchValues, type Tenant } from "../../database/rows.ts";
import { organizations } from "../../database/tables/organizations.ts";

const invitationLifetimeMs = 7 * dayMs;

export function listInvitations(scope: Scope): Promise<Invitation[]> {
  return openInvitations(scope, scope.clock());
}

/** Sends an invitation by mail. Returns null without a mail server. Never throws. */
export type MailInvitation = (
  scope: Scope,
  invitation: SentInvitation,
) => Promise<InvitationMail | null>;

/**
 * Invites an e-mail address for seven days, replaces its earlier invitation, and mails the link.
 * `origin` is the public URL of this appliance. Throws CONFLICT for a member, and FORBIDDEN if the
 * actor can't grant the role.
 */
export async function inviteMember(
  scope: Scope,
  invited: NewInvitation,
  { origin, mailInvitation }: { origin: string; mailInvitation: MailInvitation },
): Promise<SentInvitation> {
  const invitation = await storeInvitation(scope, invited, origin);
  return { ...invitation, mail: await mailInvitation(scope, invitation) };
}

async function storeInvitation(
  scope: Scope,
  { email, role, groupIds: given }: NewInvitation,
  origin: string,
) {
  const { store, organizationId, actor } = scope;
  const groupIds = chooseLimit(role, given, null);
  const now = scope.clock();
  const token = createToken(43);
  return retryOnStaleRead(async () => {
    const allowed = await guardManaging(scope, [role]);
    const emailKey = emailKeyOf(email);
    if ((await findMemberByEmail(scope, emailKey)) !== null) throw createAlreadyMemberError();
    const row: InvitationRow = {
      organizationId,
      id: createId(now),
      email,
      emailKey,
      role,
      groupIds,
      tokenHash: sha256(token),
      invitedBy: actor.name,
      invitedById: actor.id,
      createdAt: formatTimestamp(now),
      expiresAt: formatTimestamp(now + invitationLifetimeMs),
    };
    return commit(
      scope,
      [
        ...allowed,
        ...guardGroups(scope, groupIds),
        // A new invitation replaces an earlier one to the same address.
        store.db.delete(invitations).where(matchValues(invitations, { organizationId, emailKey })),
        store.db.insert(invitations).values(row),
        guardMemberLimit(scope),
      ],
      { action: "invitation.created", subjectId: row.id, ...listLimit(groupIds) },
      { ...row, link: `${origin}/invitation#${token}`, mail: null },
    );
  });
}

/** Guards the limit of members. Invitations count too, so accepting one never exceeds the limit. */
function guardMemberLimit({ organizationId, limits }: Scope): Statement {
  const countOf = (table: SQLiteTable) =>
    sql`(select count(*) from ${table} where organization_id = ${organizationId})`;
  return guard(sql`${countOf(memberships)} + ${countOf(invitations)} <= ${limits.people}`, () =>
    overLimitError(limits, "people"),
  );
}

/** Returns `origin`, or `elsewhere` if `origin` is a loopback address that other people can't open. */
export function pickReachableOrigin(origin: string, elsewhere: string): string {
  const isLocal = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/.test(origin);
  return isLocal ? elsewhere : origin;
}

/** Revokes an invitation. Throws NOT_FOUND. */
export async function revokeInvitation(scope: Scope, id: string): Promise<typeof deletedBody> {
  const { store, organizationId } = scope;
  const createNotFoundError = () =>
    new AppError("NOT_FOUND", "There is no open invitation with this id.");
  const open = await listInvitations(scope);
  if (!open.some((one) => one.id === id)) throw createNotFoundError();
  return commit(
    scope,
    buildInvitationRemoval(store, { organizationId, id }, createNotFoundError),
    { action: "invitation.revoked", subjectId: id },
    deletedBody,
  );
}

/** Allowed combinations of inviting and invited role, such as `admin member`. */
const allowedRolePairs = Role.options.flatMap((role) =>
  Role.options.filter((by) => canManage(by, role)).map((by) => `${by} ${role}`),
);

/** Whether the inviting person still has a role that can grant the invited role. */
const isEntitled = sql`exists (select 1 from ${memberships} m
  where m.organization_id = ${invitations.organizationId}
    and m.person_id = ${invitations.invitedById}
    and m.role || ' ' || ${invitations.role} in (select value from ${buildIdTable(allowedRolePairs)}))`;

const createExpiredError = () =>
  new AppError(
    "NOT_FOUND",
    "This invitation was used or withdrawn, or it has expired. Ask for a new one.",
  );

/** Finds the open invitation of a token. Its sender must still be allowed to send it. */
export async function findOpenInvitation(context: VisitorContext, token: string) {
  const { store, clock } = context;
  const tokenMatch = matchValues(invitations, { tokenHash: sha256(token) });
  const isOpen = gt(invitations.expiresAt, formatTimestamp(clock()));
  const found = await tryWithLimits(context, async () => {
    const [row] = await store.db
      .select({ invitation: invitations, organizationName: organizations.name })
      .from(invitations)
      .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
      .where(and(tokenMatch, isOpen, isEntitled));
    return row ?? null;
  });
  if (found === null) throw createExpiredError();
  return found;
}

/**
 * Returns the invitation to show to the holder of the link. Throws NOT_FOUND for a wrong, used or
 * expired token, RATE_LIMITED.
 */
export async function viewInvitation(context: VisitorContext, token: string) {
  const { invitation, organizationName } = await findOpenInvitation(context, token);
  const { organizationId, email, role } = invitation;
  const { store, sessions } = context;
  const providers = await listProviderButtons(store, organizationId);
  const { passwordSignIn } = await findSettings(store, organizationId);
  return {
    organization: { name: organizationName },
    email,
    role,
    providers,
    passwordSignIn: passwordSignIn || sessions.passwordsEverywhere || providers.length === 0,
  };
}

/**
 * Accepts an invitation. A visitor who is signed in with the address joins immediately. With a
 * name, a new person is created; without one, an existing person signs in with their password.
 * Several people can share an address, so the response never reveals existing accounts. Throws
 * NOT_FOUND for the token, UNAUTHORIZED for the password, VALIDATION_ERROR, RATE_LIMITED, and
 * CONFLICT for a member.
 */
export const acceptInvitation = (context: VisitorContext, input: Acceptance): Promise<Stage> =>
  retryOnStaleRead(() => joinOrganization(context, input));

async function joinOrganization(context: VisitorContext, input: Acceptance): Promise<Stage> {
  const { store, session } = context;
  const { invitation, organizationName } = await findOpenInvitation(context, input.token);
  const { email, emailKey } = invitation;
  if (session?.stage === "signed-in" && emailKeyOf(session.person.email) === emailKey) {
    await store.atomic(buildJoinStatements(context, invitation, session.person));
    return "signed-in";
  }
  if (input.name !== undefined) return joinAsNew(context, input, invitation, organizationName);
  const { password } = input;
  if (password === undefined) throw invalidFieldError("password", "is required");
  const known = await tryWithLimits(context, () => findPersonByPassword(context, email, password));
  if (known === null)
    throw new AppError("UNAUTHORIZED", "The e-mail address or the password is wrong.");
  return admitPerson(context, known, buildJoinStatements(context, invitation, known));
}

async function joinAsNew(
  context: VisitorContext,
  input: Acceptance,
  invitation: InvitationRow,
  organization: string,
): Promise<Stage> {
  const { email, emailKey } = invitation;
  const { name, password } = parse(NewAccount, { name: input.name, password: input.password });
  assertStrongPassword(password, [email, name, organization]);
  const known = await findPeopleByEmail(context.store, emailKey);
  // If the password belongs to an existing account, this signs in, so it counts as an attempt.
  countAttempt(context);
  const hash = await hashPassword(password, buildHashingClient(context), known[0]?.passwordHash);
  const matchingPerson = known.find(({ passwordHash }) => passwordHash === hash);
  if (matchingPerson !== undefined)
    return admitPerson(
      context,
      matchingPerson,
      buildJoinStatements(context, invitation, matchingPerson),
    );
  const { row, statements } = buildNewPerson(context, { name, email }, hash);
  return startSession(context, row, "signed-in", [
    ...statements,
    ...buildJoinStatements(context, invitation, row),
  ]);
}

/** Returns statements that add the person and use up the invitation. */
export function buildJoinStatements(
  context: VisitorContext,
  invitation: InvitationRow,
  person: Pick<PersonRow, "id" | "name">,
): Statement[] {
  const { store, clock, requestId } = context;
  const { organizationId, role, groupIds } = invitation;
  const actor = { type: "person" as const, id: person.id, name: person.name };
  const at = formatTimestamp(clock());
  return [
    ...buildInvitationRemoval(store, invitation, createExpiredError, isEntitled),
    ...addMembership(store, {
      organizationId,
      personId: person.id,
      role,
      groupIds,
      createdAt: at,
    }),
    ...buildAuditAndEvent(
      { organizationId, actor, requestId },
      { action: "invitation.accepted", subjectId: invitation.id },
      at,
    ),
  ];
}

type InvitationRow = typeof invitations.$inferSelect;

/** Returns open invitations, newest first. */
function openInvitations({ store, organizationId }: Tenant, now: number) {
  const isOpen = gt(invitations.expiresAt, formatTimestamp(now));
  return store.db
    .select()
    .from(invitations)
    .where(and(matchValues(invitations, { organizationId }), isOpen))
    .orderBy(desc(invitations.id));
}

/** Returns statements that remove an invitation, guarded by `condition` and against a concurrent removal. */
function buildInvitationRemoval(
  store: Store,
  { organizationId, id }: Pick<InvitationRow, "organizationId" | "id">,
  otherwise: () => AppError,
  condition?: SQL,
): Statement[] {
  const invitationFilter = matchValues(invitations, { organizationId, id });
  return [
    guard(
      sql`exists (select 1 from ${invitations} where ${and(invitationFilter, condition)})`,
      otherwise,
    ),
    store.db.delete(invitations).where(invitationFilter),
  ];
}
