/** Adds, changes and removes the people of an organization. */
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
 * Who acts, and that they still may at the moment of the write. Whoever sits at the command line may
 * do anything. Throws FORBIDDEN for somebody who may not make, change or remove one of these roles.
 */
export async function mustManage(scope: Scope, roles: readonly Role[]): Promise<Statement[]> {
  const { actor } = scope;
  if (actor.type !== "person" || actor.id === null) return [];
  const own = await findMembership(scope, actor.id);
  if (own === null || !roles.every((role) => mayManage(own.role, role)))
    throw new AppError("FORBIDDEN", "Only an owner may add, change or remove an owner.");
  return [mustStillBe(own)];
}

/**
 * What a write that leaves somebody with this role, or none, has to end with: what they could do by
 * the one they had is over, also where it was done already and waits to be used. Their sessions go
 * on, for what else they may.
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

/** Takes back what somebody may not invite to any more. */
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

/** Gives somebody another role, and ends what the one they had gave them. Throws NOT_FOUND, FORBIDDEN, and CONFLICT for the last owner. */
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
 * Ends somebody's membership and what it gave them; who belongs nowhere any more is forgotten. Throws
 * NOT_FOUND, FORBIDDEN, and CONFLICT for the last owner and for an administrator of the appliance who belongs nowhere else.
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

/** The only person who signs in with this address, in the organization where one is named. Throws NOT_FOUND, and CONFLICT where there are several. */
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

/** Somebody as the command line names them: an address alone is whatever its holder set. */
export type PersonSummary = { id: string; name: string; email: string; organizations: string[] };

/** Of somebody: their name, and the slugs of their organizations. */
export async function summaryOf(
  store: Store,
  { id, name, email }: Pick<PersonRow, "id" | "name" | "email">,
): Promise<PersonSummary> {
  return { id, name, email, organizations: await organizationSlugsOf(store, id) };
}

/** The statements that make somebody a member from now on. */
function adding(scope: Scope, personId: string, role: Role): Statement[] {
  const { store, organizationId } = scope;
  const createdAt = timestamp(scope.clock());
  return addMembership(store, { organizationId, personId, role, createdAt });
}

/**
 * Adds somebody new to the organization, whoever else signs in with the address: nobody has proved that
 * it is theirs. Throws CONFLICT where a member has it, and VALIDATION_ERROR for the password of another.
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
 * Adds who signs in with this address in another organization; they keep their name and their password.
 * Throws NOT_FOUND for nobody of the address there, and CONFLICT for a member.
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

/** Gives somebody a new password, takes away their two-factor where that is lost, too, and ends their sessions. Throws as `onlyPersonOf` does. */
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

/** A new organization with this person as its owner, and the statements that make it so. */
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
