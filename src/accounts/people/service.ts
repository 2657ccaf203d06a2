/** Adds, changes and removes the members of an organization. */
import type { Membership } from "../../http/access/session.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { buildNewOrganization } from "../organizations/service.ts";
import { commit, buildAuditsAndEvents } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { deletedBody } from "../../core/paging.ts";
import { hashPassword } from "../../core/security/passwords.ts";
import type { HashingClient } from "../../core/security/hashing-queue.ts";
import { isAtLeast, Role } from "../../core/roles.ts";
import { canSeeGroup } from "../../database/group-limit.ts";
import { assertFound, matchValues } from "../../database/rows.ts";
import { invitations } from "../../database/tables/accounts.ts";
import { findScheduleUses, guardNoScheduleUse } from "../../database/schedule-uses.ts";
import { findTargetUses, guardNoTarget } from "../../database/escalation-uses.ts";
import { inUseError } from "../../database/uses.ts";
import { retryOnStaleRead, StaleRead, type Statement, type Store } from "../../database/store.ts";
import { buildKeyRevocations } from "../api-keys/service.ts";
import { removeSessions } from "../sessions/store.ts";
import { buildAuditRows } from "../sessions/service.ts";
import {
  addMembership,
  createAlreadyMemberError,
  changePerson,
  changeRights,
  findContactMethodIds,
  findMemberByEmail,
  findMembership,
  findPeopleByEmail,
  listMembers,
  type MembershipRow,
  guardHasOwner,
  guardAdministratorsBelong,
  guardMembershipUnchanged,
  guardSignInAddress,
  buildNewPerson,
  type NewPerson,
  noWrongCodes,
  findOrganizationSlugs,
  findOrganizationIds,
  type PersonRow,
  removeIfAlone,
  removeMembership,
  removePasskeys,
} from "./store.ts";
import { emailKeyOf, canManage } from "./rules.ts";
import { chooseLimit, guardGroups } from "../group-limit/service.ts";
import type { Member, MemberPatch } from "./schema.ts";

/** Reads a member. Throws NOT_FOUND. */
export async function getMember(scope: Scope, personId: string): Promise<Member> {
  const [member] = await listVisibleMembers(scope, personId);
  return assertFound(member, "person");
}

/** Lists the members by name. Limited callers don't see to which other groups people are limited. */
export async function listVisibleMembers(scope: Scope, personId?: string): Promise<Member[]> {
  const members = await listMembers(scope, personId);
  return members.map((member) => ({
    ...member,
    groupIds: member.groupIds?.filter((id) => canSeeGroup(scope, id)) ?? null,
  }));
}

async function getMembership(scope: Scope, personId: string) {
  const membership = await findMembership(scope, personId);
  if (membership !== null) return membership;
  throw new AppError("NOT_FOUND", "There is no person with this id in this organization.");
}

/**
 * Returns guards that the actor can still manage these roles at the time of the write. The command
 * line can manage all roles. Throws FORBIDDEN if the actor can't.
 */
export async function guardManaging(scope: Scope, roles: readonly Role[]): Promise<Statement[]> {
  const { actor } = scope;
  if (actor.type !== "person" || actor.id === null) return [];
  const ownMembership = await findMembership(scope, actor.id);
  if (ownMembership === null || !roles.every((role) => canManage(ownMembership.role, role)))
    throw new AppError("FORBIDDEN", "Only an owner can add, change or remove an owner.");
  return [guardMembershipUnchanged(ownMembership)];
}

/**
 * Returns statements to append when a member's role becomes `left`, or null for none. They revoke
 * invitations and API keys that the new role could not create, and guard the last owner. Sessions
 * stay valid, for the remaining rights.
 */
async function buildRevocations(
  scope: Scope,
  { personId, role }: MembershipRow,
  remainingRole: Role | null,
) {
  const ended = Role.options.filter(
    (one) => remainingRole === null || !canManage(remainingRole, one),
  );
  const mayMakeKeys = remainingRole !== null && isAtLeast(remainingRole, "admin");
  return [
    ...(role === "owner" ? [guardHasOwner(scope.organizationId)] : []),
    ...(await revokeInvitations(scope, personId, ended)),
    ...(mayMakeKeys ? [] : await buildKeyRevocations(scope, personId)),
  ];
}

/** Revokes the invitations that a person sent to these roles. */
async function revokeInvitations(scope: Scope, invitedById: string, role: readonly Role[]) {
  const { store, organizationId } = scope;
  const where = matchValues(invitations, { organizationId, invitedById, role });
  const ownInvitations = await store.db
    .select({ id: invitations.id })
    .from(invitations)
    .where(where);
  const subjectIds = ownInvitations.map(({ id }) => id);
  const at = formatTimestamp(scope.clock());
  return [
    ...buildAuditsAndEvents(scope, { action: "invitation.revoked", subjectIds }, at),
    store.db.delete(invitations).where(where),
  ];
}

/**
 * Changes a member's role or limit to monitor groups, and revokes invitations and API keys that the new role can't
 * create. Throws NOT_FOUND, FORBIDDEN, VALIDATION_ERROR for a limited admin, and CONFLICT for the last owner.
 */
export function changeMember(scope: Scope, personId: string, patch: MemberPatch): Promise<Member> {
  return retryOnStaleRead(async () => {
    const before = await getMembership(scope, personId);
    const { role = before.role } = patch;
    const groupIds = chooseLimit(role, patch.groupIds, before.groupIds);
    const allowed = await guardManaging(scope, [before.role, role]);
    const [member] = await listMembers(scope, personId);
    const after = { ...(member as Member), role, groupIds };
    const fields = listChangedFields(before, after, ["role", "groupIds"]);
    if (fields.length === 0) return after;
    return commit(
      scope,
      [
        ...allowed,
        guardMembershipUnchanged(before),
        ...guardGroups(scope, groupIds, before.groupIds),
        changeRights(scope, personId, { role, groupIds }),
        ...(before.role === role ? [] : await buildRevocations(scope, before, role)),
      ],
      {
        action: before.role === role ? "person.groups-changed" : "person.role-changed",
        subjectId: personId,
        fields,
      },
      after,
    );
  });
}

/**
 * Removes a member with their invitations and API keys. A person without another organization is
 * deleted. Throws NOT_FOUND, FORBIDDEN, and CONFLICT for the last owner, for an administrator
 * without another organization, and for a person whom an on-call schedule or an escalation policy
 * needs.
 */
export function removeMember(scope: Scope, personId: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const before = await getMembership(scope, personId);
    const allowed = await guardManaging(scope, [before.role]);
    const now = formatTimestamp(scope.clock());
    const uses = [
      ...(await findTargetUses(scope, "person", [personId])),
      ...(await findScheduleUses(scope, personId, now)),
    ];
    if (uses.length > 0) throw inUseError("person", uses);
    const methods = await findContactMethodIds(scope, personId);
    return commit(
      scope,
      [
        ...allowed,
        guardMembershipUnchanged(before),
        guardNoScheduleUse(scope.organizationId, personId, now),
        guardNoTarget(scope, "person", [personId], uses),
        ...buildAuditsAndEvents(
          scope,
          { action: "contact-method.deleted", subjectIds: methods },
          now,
        ),
        ...removeMembership(scope, personId),
        ...(await buildRevocations(scope, before, null)),
        guardAdministratorsBelong(
          () =>
            new AppError(
              "CONFLICT",
              "They are an administrator of this appliance and belong to no other organization. Another administrator has to remove them as administrator first.",
            ),
        ),
        removeIfAlone(scope.store, personId),
      ],
      { action: "person.removed", subjectId: personId },
      deletedBody,
    );
  });
}

const commandLine: HashingClient = { lane: "sign-in", client: "command-line" };

/**
 * Finds the only person with this address, in the given organization if any. Throws NOT_FOUND, and
 * CONFLICT if there are several.
 */
export async function getOnlyPerson(store: Store, email: string, organizationId?: string) {
  const emailKey = emailKeyOf(email);
  const found =
    organizationId === undefined
      ? await findPeopleByEmail(store, emailKey)
      : [await findMemberByEmail({ store, organizationId }, emailKey)];
  const [person, ...others] = found;
  if (others.length > 0)
    throw new AppError(
      "CONFLICT",
      "Several people sign in with this e-mail address; say --org with one of their organizations.",
    );
  if (person == null)
    throw new AppError(
      "NOT_FOUND",
      "No person signs in with this e-mail address; see `users list`.",
    );
  return person;
}

/** A person as shown on the command line. The organizations distinguish people who share an address. */
export type PersonSummary = { id: string; name: string; email: string; organizations: string[] };

/** Adds the slugs of a person's organizations. */
export async function summarizePerson(
  store: Store,
  { id, name, email }: Pick<PersonRow, "id" | "name" | "email">,
): Promise<PersonSummary> {
  return { id, name, email, organizations: await findOrganizationSlugs(store, id) };
}

/** Returns statements that add a person to the organization now. */
function buildMembership(scope: Scope, personId: string, role: Role): Statement[] {
  const { store, organizationId } = scope;
  const createdAt = formatTimestamp(scope.clock());
  return addMembership(store, { organizationId, personId, role, groupIds: null, createdAt });
}

/**
 * Adds a new person to the organization. People of other organizations can have the same address,
 * because addresses are not verified. Throws CONFLICT if a member has the address, and
 * VALIDATION_ERROR if another person has both address and password.
 */
export function addMember(scope: Scope, input: NewPerson & { role: Role }) {
  const emailKey = emailKeyOf(input.email);
  return retryOnStaleRead(async () => {
    if ((await findMemberByEmail(scope, emailKey)) !== null) throw createAlreadyMemberError();
    const [known] = await findPeopleByEmail(scope.store, emailKey);
    const hash = await hashPassword(input.password, commandLine, known?.passwordHash);
    const { id, statements } = buildNewPerson(scope, input, hash);
    return commit(
      scope,
      [...statements, ...buildMembership(scope, id, input.role)],
      { action: "person.added", subjectId: id },
      { id, isShared: known !== undefined },
    );
  });
}

/**
 * Adds a person of another organization, found by address. Name and password stay the same. Throws
 * NOT_FOUND if that organization has no such person, and CONFLICT for a member.
 */
export function addExisting(scope: Scope, input: { email: string; role: Role; memberOf: string }) {
  const { store } = scope;
  return retryOnStaleRead(async () => {
    const person = await getOnlyPerson(store, input.email, input.memberOf);
    const membership = await findMembership({ store, organizationId: input.memberOf }, person.id);
    if (membership === null) throw new StaleRead();
    await commit(
      scope,
      [
        guardMembershipUnchanged(membership),
        guardSignInAddress(person),
        ...buildMembership(scope, person.id, input.role),
      ],
      { action: "person.added", subjectId: person.id },
      {},
    );
    return summarizePerson(store, person);
  });
}

/**
 * Sets a new password, and ends the person's sessions. Optionally turns two-factor off and removes the
 * passkeys, which could be on a lost device. Throws the errors of `getOnlyPerson`.
 */
export async function resetPassword(
  scope: Omit<Scope, "organizationId">,
  email: string,
  input: { password: string; withoutTwoFactor: boolean; organizationId?: string | undefined },
): Promise<PersonSummary> {
  const { store } = scope;
  return retryOnStaleRead(async () => {
    const person = await getOnlyPerson(store, email, input.organizationId);
    const passwordHash = await hashPassword(input.password, commandLine, person.passwordHash);
    const noFactors = { totpSecret: null, totpPending: null, passkeyFactor: false };
    await store.atomic([
      ...changePerson(store, person, {
        passwordHash,
        hasPassword: true,
        ...noWrongCodes,
        updatedAt: formatTimestamp(scope.clock()),
        ...(input.withoutTwoFactor && noFactors),
      }),
      ...(input.withoutTwoFactor ? [removePasskeys(store, person.id)] : []),
      removeSessions(store, person.id),
      ...buildAuditRows(await findOrganizationIds(store, person.id), scope, scope.actor, {
        action: "person.password-reset",
        subjectId: person.id,
      }),
    ]);
    return summarizePerson(store, person);
  });
}

/** Returns a new organization with this person as its owner, and the statements that create it. */
export async function buildFoundation(
  context: VisitorContext,
  name: string,
  owner: { id: string; name: string },
  timeZone = "UTC",
): Promise<{ organization: Membership; statements: Statement[] }> {
  const { organization, statements } = await buildNewOrganization(context, name, {
    actor: { type: "person", id: owner.id, name: owner.name },
    requestId: context.requestId,
    timeZone,
  });
  const { id, slug } = organization;
  const createdAt = formatTimestamp(context.clock());
  const rights = { role: "owner" as const, groupIds: null };
  return {
    organization: { id, slug, name, timeZone, ...rights },
    statements: [
      ...statements,
      ...addMembership(context.store, {
        organizationId: id,
        personId: owner.id,
        ...rights,
        createdAt,
      }),
    ],
  };
}
