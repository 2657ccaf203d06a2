/** Adds, changes and removes the members of an organization. */
import type { Membership } from "../../http/access/session.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { newOrganization } from "../organizations/service.ts";
import { commit, auditAndEventEach } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { timestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { deleted } from "../../core/paging.ts";
import { hashPassword } from "../../core/security/passwords.ts";
import type { HashingClient } from "../../core/security/hashing-queue.ts";
import { isAtLeast, Role } from "../../core/roles.ts";
import { matching } from "../../database/rows.ts";
import { invitations } from "../../database/tables/accounts.ts";
import { retrying, StaleRead, type Statement, type Store } from "../../database/store.ts";
import { revokeKeysBy } from "../api-keys/service.ts";
import { endSessionsOf } from "../sessions/store.ts";
import { auditIn } from "../sessions/service.ts";
import {
  addMembership,
  alreadyMember,
  changePerson,
  changeRole,
  findMemberByEmail,
  findMembership,
  findPeopleByEmail,
  listMembers,
  type MembershipRow,
  mustHaveOwner,
  mustKeepAdministrators,
  mustStillBe,
  mustStillSignIn,
  newPerson,
  type NewPerson,
  noWrongCodes,
  organizationSlugsOf,
  organizationsOf,
  type PersonRow,
  removeIfAlone,
  removeMembership,
} from "./store.ts";
import { emailKeyOf, mayManage } from "./rules.ts";
import type { Member } from "./schema.ts";

async function getMembership(scope: Scope, personId: string) {
  const membership = await findMembership(scope, personId);
  if (membership !== null) return membership;
  throw new AppError("NOT_FOUND", "There is no person with this id in this organization.");
}

/**
 * Returns guards that the actor can still manage these roles at the time of the write. The command
 * line can manage all roles. Throws FORBIDDEN if the actor can't.
 */
export async function mustManage(scope: Scope, roles: readonly Role[]): Promise<Statement[]> {
  const { actor } = scope;
  if (actor.type !== "person" || actor.id === null) return [];
  const own = await findMembership(scope, actor.id);
  if (own === null || !roles.every((role) => mayManage(own.role, role)))
    throw new AppError("FORBIDDEN", "Only an owner can add, change or remove an owner.");
  return [mustStillBe(own)];
}

/**
 * Returns statements to append when a member's role becomes `left`, or null for none. They revoke
 * invitations and API keys that the new role could not create, and guard the last owner. Sessions
 * stay valid, for the remaining rights.
 */
async function whenNoLonger(scope: Scope, { personId, role }: MembershipRow, left: Role | null) {
  const ended = Role.options.filter((one) => left === null || !mayManage(left, one));
  const mayMakeKeys = left !== null && isAtLeast(left, "admin");
  return [
    ...(role === "owner" ? [mustHaveOwner(scope.organizationId)] : []),
    ...(await revokeInvitationsBy(scope, personId, ended)),
    ...(mayMakeKeys ? [] : await revokeKeysBy(scope, personId)),
  ];
}

/** Revokes the invitations that a person sent to these roles. */
async function revokeInvitationsBy(scope: Scope, invitedById: string, role: readonly Role[]) {
  const { store, organizationId } = scope;
  const where = matching(invitations, { organizationId, invitedById, role });
  const made = await store.db.select({ id: invitations.id }).from(invitations).where(where);
  const subjectIds = made.map(({ id }) => id);
  const at = timestamp(scope.clock());
  return [
    ...auditAndEventEach(scope, { action: "invitation.revoked", subjectIds }, at),
    store.db.delete(invitations).where(where),
  ];
}

/**
 * Changes a member's role, and revokes invitations and API keys that the new role can't create.
 * Throws NOT_FOUND, FORBIDDEN, and CONFLICT for the last owner.
 */
export function changeMember(scope: Scope, personId: string, role: Role): Promise<Member> {
  return retrying(async () => {
    const before = await getMembership(scope, personId);
    const allowed = await mustManage(scope, [before.role, role]);
    const [member] = await listMembers(scope, personId);
    const after = { ...(member as Member), role };
    if (before.role === role) return after;
    return commit(
      scope,
      [
        ...allowed,
        mustStillBe(before),
        changeRole(scope, personId, role),
        ...(await whenNoLonger(scope, before, role)),
      ],
      { action: "person.role-changed", subjectId: personId, fields: ["role"] },
      after,
    );
  });
}

/**
 * Removes a member with their invitations and API keys. A person without another organization is
 * deleted. Throws NOT_FOUND, FORBIDDEN, and CONFLICT for the last owner or for an administrator
 * without another organization.
 */
export function removeMember(scope: Scope, personId: string): Promise<typeof deleted> {
  return retrying(async () => {
    const before = await getMembership(scope, personId);
    const allowed = await mustManage(scope, [before.role]);
    return commit(
      scope,
      [
        ...allowed,
        mustStillBe(before),
        removeMembership(scope, personId),
        ...(await whenNoLonger(scope, before, null)),
        mustKeepAdministrators(
          () =>
            new AppError(
              "CONFLICT",
              "They are an administrator of this appliance and belong to no other organization. Another administrator has to remove them as administrator first.",
            ),
        ),
        removeIfAlone(scope.store, personId),
      ],
      { action: "person.removed", subjectId: personId },
      deleted,
    );
  });
}

const commandLine: HashingClient = { lane: "sign-in", client: "command-line" };

/**
 * Finds the only person with this address, in the given organization if any. Throws NOT_FOUND, and
 * CONFLICT if there are several.
 */
export async function onlyPersonOf(store: Store, email: string, organizationId?: string) {
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
    throw new AppError("NOT_FOUND", "Nobody signs in with this e-mail address; see `users list`.");
  return person;
}

/** A person as shown on the command line. The organizations distinguish people who share an address. */
export type PersonSummary = { id: string; name: string; email: string; organizations: string[] };

/** Adds the slugs of a person's organizations. */
export async function summaryOf(
  store: Store,
  { id, name, email }: Pick<PersonRow, "id" | "name" | "email">,
): Promise<PersonSummary> {
  return { id, name, email, organizations: await organizationSlugsOf(store, id) };
}

/** Returns statements that add a person to the organization now. */
function adding(scope: Scope, personId: string, role: Role): Statement[] {
  const { store, organizationId } = scope;
  const createdAt = timestamp(scope.clock());
  return addMembership(store, { organizationId, personId, role, createdAt });
}

/**
 * Adds a new person to the organization. People of other organizations can have the same address,
 * because addresses are not verified. Throws CONFLICT if a member has the address, and
 * VALIDATION_ERROR if another person has both address and password.
 */
export function addMember(scope: Scope, input: NewPerson & { role: Role }) {
  const emailKey = emailKeyOf(input.email);
  return retrying(async () => {
    if ((await findMemberByEmail(scope, emailKey)) !== null) throw alreadyMember();
    const [known] = await findPeopleByEmail(scope.store, emailKey);
    const hash = await hashPassword(input.password, commandLine, known?.passwordHash);
    const { id, statements } = newPerson(scope, input, hash);
    return commit(
      scope,
      [...statements, ...adding(scope, id, input.role)],
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
  return retrying(async () => {
    const person = await onlyPersonOf(store, input.email, input.memberOf);
    const membership = await findMembership({ store, organizationId: input.memberOf }, person.id);
    if (membership === null) throw new StaleRead();
    await commit(
      scope,
      [mustStillBe(membership), mustStillSignIn(person), ...adding(scope, person.id, input.role)],
      { action: "person.added", subjectId: person.id },
      {},
    );
    return summaryOf(store, person);
  });
}

/**
 * Sets a new password, optionally turns two-factor off, and ends the person's sessions. Throws the
 * errors of `onlyPersonOf`.
 */
export async function resetPassword(
  scope: Omit<Scope, "organizationId">,
  email: string,
  input: { password: string; withoutTwoFactor: boolean; organizationId?: string | undefined },
): Promise<PersonSummary> {
  const { store } = scope;
  return retrying(async () => {
    const person = await onlyPersonOf(store, email, input.organizationId);
    const passwordHash = await hashPassword(input.password, commandLine, person.passwordHash);
    const none = { totpSecret: null, totpPending: null };
    await store.atomic([
      ...changePerson(store, person, {
        passwordHash,
        ...noWrongCodes,
        updatedAt: timestamp(scope.clock()),
        ...(input.withoutTwoFactor && none),
      }),
      endSessionsOf(store, person.id),
      ...auditIn(await organizationsOf(store, person.id), scope, scope.actor, {
        action: "person.password-reset",
        subjectId: person.id,
      }),
    ]);
    return summaryOf(store, person);
  });
}

/** Returns a new organization with this person as its owner, and the statements that create it. */
export async function founded(
  context: VisitorContext,
  name: string,
  owner: { id: string; name: string },
  timeZone = "UTC",
): Promise<{ organization: Membership; statements: Statement[] }> {
  const { organization, statements } = await newOrganization(context, name, {
    actor: { type: "person", id: owner.id, name: owner.name },
    requestId: context.requestId,
    timeZone,
  });
  const { id, slug } = organization;
  const createdAt = timestamp(context.clock());
  const role = "owner" as const;
  return {
    organization: { id, slug, name, timeZone, role },
    statements: [
      ...statements,
      ...addMembership(context.store, { organizationId: id, personId: owner.id, role, createdAt }),
    ],
  };
}
