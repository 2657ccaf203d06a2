import { commit } from "../audit/commit.ts";
import type { Scope } from "../audit/scope.ts";
import { timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { hashPassword } from "../base/passwords.ts";
import type { HashingClient } from "../base/hashing-queue.ts";
import type { Role } from "../base/roles.ts";
import { retrying, type Statement } from "../database/store.ts";
import { endSessionsOf } from "../sessions/store.ts";
import { traceIn } from "../sessions/trace.ts";
import { newPerson, type NewPerson } from "./new-person.ts";
import { emailKeyOf, mayManage } from "./rules.ts";
import type { Member } from "./schema.ts";
import {
  addMembership,
  alreadyMember,
  changePerson,
  changeRole,
  findMembership,
  findPersonByEmail,
  membersOf,
  type MembershipRow,
  mustHaveOwner,
  mustStillBe,
  organizationsOf,
  removeIfAlone,
  removeMembership,
} from "./store.ts";

export { foundOrganization } from "./founding.ts";
export { changePassword, updateProfile } from "./profile.ts";

export function listMembers({ store, organizationId }: Scope): Promise<Member[]> {
  return membersOf(store, organizationId);
}

async function getMembership({ store, organizationId }: Scope, personId: string) {
  const membership = await findMembership(store, organizationId, personId);
  if (membership !== null) return membership;
  throw new AppError("NOT_FOUND", "There is nobody with this id in this organization.");
}

/**
 * Who acts, and that they still may at the moment of the write. Whoever sits at the command line may
 * do anything. Throws FORBIDDEN for somebody who may not make, change or remove one of these roles.
 */
export async function mustManage(scope: Scope, roles: readonly Role[]): Promise<Statement[]> {
  const { actor, organizationId } = scope;
  if (actor.type !== "person" || actor.id === null) return [];
  const own = await findMembership(scope.store, organizationId, actor.id);
  if (own === null || !roles.every((role) => mayManage(own.role, role)))
    throw new AppError("FORBIDDEN", "Only an owner may make, change or remove an owner.");
  return [mustStillBe(own)];
}

/** What a write that takes this from somebody has to end with. */
function whenNoLonger(scope: Scope, { personId, role }: MembershipRow): Statement[] {
  return [
    ...(role === "owner" ? [mustHaveOwner(scope.organizationId)] : []),
    endSessionsOf(scope.store, personId),
  ];
}

/** Gives somebody another role and ends their sessions. Throws NOT_FOUND, FORBIDDEN, and CONFLICT for the last owner. */
export function changeMember(scope: Scope, personId: string, role: Role): Promise<Member> {
  const { store, organizationId } = scope;
  return retrying(async () => {
    const before = await getMembership(scope, personId);
    const allowed = await mustManage(scope, [before.role, role]);
    const [member] = await membersOf(store, organizationId, personId);
    const after = { ...(member as Member), role };
    if (before.role === role) return after;
    return commit(
      scope,
      [
        ...allowed,
        mustStillBe(before),
        changeRole(store, organizationId, personId, role),
        ...whenNoLonger(scope, before),
      ],
      { action: "person.role-changed", subjectId: personId, fields: ["role"] },
      after,
    );
  });
}

/** Ends somebody's membership and their sessions; who belongs nowhere any more is forgotten. Throws NOT_FOUND, FORBIDDEN, and CONFLICT for the last owner. */
export function removeMember(scope: Scope, personId: string): Promise<void> {
  const { store, organizationId } = scope;
  return retrying(async () => {
    const before = await getMembership(scope, personId);
    const allowed = await mustManage(scope, [before.role]);
    await commit(
      scope,
      [
        ...allowed,
        mustStillBe(before),
        removeMembership(store, organizationId, personId),
        ...whenNoLonger(scope, before),
        removeIfAlone(store, personId),
      ],
      { action: "person.removed", subjectId: personId },
      {},
    );
  });
}

const commandLine: HashingClient = { lane: "sign-in", client: "command-line" };

/** Adds somebody to the organization; an address that signs in already keeps its name and its password. Throws CONFLICT for a member, VALIDATION_ERROR for the password. */
export async function addMember(
  scope: Scope,
  input: NewPerson & { role: Role },
): Promise<{ id: string; isNew: boolean }> {
  const { store, organizationId } = scope;
  const passwordHash = await hashPassword(input.password, commandLine);
  return retrying(async () => {
    const known = await findPersonByEmail(store, emailKeyOf(input.email));
    const { id, statements } =
      known === null
        ? newPerson(scope, input, passwordHash)
        : { id: known.id, statements: [] as Statement[] };
    if (known !== null && (await findMembership(store, organizationId, id)) !== null)
      throw alreadyMember();
    const createdAt = timestamp(scope.clock());
    const membership = { organizationId, personId: id, role: input.role, createdAt };
    return commit(
      scope,
      [...statements, ...addMembership(store, membership)],
      { action: "person.added", subjectId: id },
      { id, isNew: known === null },
    );
  });
}

/** Gives somebody a new password, takes away their two-factor where that is lost, too, and ends their sessions. Throws NOT_FOUND. */
export async function resetPassword(
  scope: Omit<Scope, "organizationId">,
  email: string,
  input: { password: string; withoutTwoFactor: boolean },
): Promise<void> {
  const { store } = scope;
  const passwordHash = await hashPassword(input.password, commandLine);
  await retrying(async () => {
    const person = await findPersonByEmail(store, emailKeyOf(email));
    if (person === null)
      throw new AppError(
        "NOT_FOUND",
        "Nobody signs in with this e-mail address; see `users list`.",
      );
    const none = { totpSecret: null, totpPending: null };
    await store.atomic([
      ...changePerson(store, person, {
        passwordHash,
        updatedAt: timestamp(scope.clock()),
        ...(input.withoutTwoFactor && none),
      }),
      endSessionsOf(store, person.id),
      ...traceIn(await organizationsOf(store, person.id), scope, scope.actor, {
        action: "person.password-reset",
        subjectId: person.id,
      }),
    ]);
  });
}
