/** Gives people the roles of their groups, and adds people at their first sign-in. */
import { AppError } from "../../core/errors.ts";
import { createToken } from "../../core/ids.ts";
import { hashPassword } from "../../core/security/passwords.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { Role } from "../../core/roles.ts";
import { guardLimit } from "../../database/references.ts";
import type { Statement } from "../../database/store.ts";
import { memberships } from "../../database/tables/accounts.ts";
import { buildAuditAndEvent, commit } from "../../events/commit.ts";
import { buildScope, type Scope } from "../../events/scope.ts";
import { buildHashingClient } from "../../http/access/attempt-limits.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import type { OpenedProvider } from "../identity-providers/service.ts";
import { changeMember, removeMember } from "../people/service.ts";
import {
  addMembership,
  buildNewPerson,
  findMembership,
  findPeopleByEmail,
} from "../people/store.ts";
import { emailKeyOf } from "../people/rules.ts";
import { findFirstGrant, grantAfter, type VerifiedClaims } from "./rules.ts";

/** Creates the scope of changes that follow from the groups of a provider. */
function createProviderScope(context: VisitorContext, { name }: OpenedProvider, id: string): Scope {
  const actor = { type: "system" as const, id: null, name };
  return { ...buildScope(context, id, actor), requestId: context.requestId };
}

/**
 * Applies the groups of a sign-in to a person's roles in the organizations of the provider. Each
 * change is one write, and the next sign-in repeats what a failure left out. Returns the
 * organizations whose role comes from a group now.
 */
export async function applyGroups(
  context: VisitorContext,
  provider: OpenedProvider,
  personId: string,
  groups: readonly string[],
  granted: readonly string[],
): Promise<string[]> {
  const after: string[] = [];
  for (const opened of provider.organizations) {
    const { organizationId } = opened;
    const scope = createProviderScope(context, provider, organizationId);
    const role = (await findMembership(scope, personId))?.role ?? null;
    const grant = grantAfter(opened, groups, { role, isGranted: granted.includes(organizationId) });
    if (grant.role !== role) await setRole(context, scope, personId, role, grant.role);
    if (grant.isGranted) after.push(organizationId);
  }
  return after;
}

async function setRole(
  context: VisitorContext,
  scope: Scope,
  personId: string,
  before: Role | null,
  after: Role | null,
) {
  try {
    if (after === null) await removeOrDemote(scope, personId);
    else if (before === null) await addMember(scope, personId, after);
    else await changeMember(scope, personId, { role: after });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "CONFLICT") throw error;
    // The last owner stays, and so does an organization that is full or has the address already.
    context.log.warn("a role of a sign-in provider can't be applied", {
      personId,
      organizationId: scope.organizationId,
      reason: error.message,
    });
  }
}

/** Removes a member. Someone whom an on-call schedule needs becomes a viewer instead. */
async function removeOrDemote(scope: Scope, personId: string) {
  try {
    await removeMember(scope, personId);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "CONFLICT") throw error;
    await changeMember(scope, personId, { role: "viewer" });
  }
}

const addMember = (scope: Scope, personId: string, role: Role) =>
  commit(
    scope,
    buildMembership(scope, personId, role),
    { action: "person.added", subjectId: personId },
    {},
  );

function buildMembership(scope: Scope, personId: string, role: Role): Statement[] {
  const { store, organizationId, clock } = scope;
  return [
    ...addMembership(store, {
      organizationId,
      personId,
      role,
      groupIds: null,
      createdAt: formatTimestamp(clock()),
    }),
    guardLimit(scope, "people", memberships),
  ];
}

/** Returns a new person whose password nobody knows, and the statements that add them. */
export async function buildPersonWithoutPassword(
  context: VisitorContext,
  name: string | null,
  email: string,
) {
  const [known] = await findPeopleByEmail(context.store, emailKeyOf(email));
  const hash = await hashPassword(
    createToken(43),
    buildHashingClient(context),
    known?.passwordHash,
  );
  return buildNewPerson(context, { name: name ?? email.slice(0, 100), email }, hash, false);
}

/**
 * Returns a new person without a password, with the statements that add them to the organizations
 * of the provider; null if it adds nobody with these groups. The address must be verified.
 */
export async function buildProvisioning(
  context: VisitorContext,
  provider: OpenedProvider,
  { name, groups }: Pick<VerifiedClaims, "name" | "groups">,
  email: string,
) {
  const grants = provider.organizations.flatMap((opened) => {
    const { role, isGranted } = findFirstGrant(opened, groups);
    return role === null ? [] : [{ organizationId: opened.organizationId, role, isGranted }];
  });
  if (grants.length === 0) return null;
  const { row, statements } = await buildPersonWithoutPassword(context, name, email);
  const at = formatTimestamp(context.clock());
  const joined = grants.flatMap(({ organizationId, role }) => {
    const scope = createProviderScope(context, provider, organizationId);
    return [
      ...buildMembership(scope, row.id, role),
      ...buildAuditAndEvent(scope, { action: "person.added", subjectId: row.id }, at),
    ];
  });
  return {
    row,
    statements: [...statements, ...joined],
    granted: grants.filter(({ isGranted }) => isGranted).map((one) => one.organizationId),
  };
}
