import { sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { commit, traceOf } from "../audit/commit.ts";
import type { Scope } from "../audit/scope.ts";
import { timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { newId, randomToken, sha256 } from "../base/ids.ts";
import { hashPassword } from "../base/passwords.ts";
import { invalid, parse } from "../base/validation.ts";
import { overLimit } from "../database/references.ts";
import { must, retrying, type Statement } from "../database/store.ts";
import { invitations, memberships } from "../database/tables.ts";
import { guessed, hashingFor } from "../http/guessing.ts";
import type { Visit } from "../http/visit.ts";
import { mustBeGood, newPerson } from "../people/new-person.ts";
import { emailKeyOf } from "../people/rules.ts";
import { mustManage } from "../people/service.ts";
import {
  addMembership,
  alreadyMember,
  findMembership,
  findPersonByEmail,
  type PersonRow,
} from "../people/store.ts";
import type { Stage } from "../sign-in/schema.ts";
import { awaitCode, begin, personOf } from "../sign-in/service.ts";
import {
  type Acceptance,
  type Invitation,
  type InvitationLook,
  type NewInvitation,
  Newcomer,
  type SentInvitation,
} from "./schema.ts";
import {
  findByToken,
  type InvitationRow,
  openInvitations,
  replaceInvitation,
  takeInvitation,
} from "./store.ts";

const validMs = 7 * 86_400_000;

export function listInvitations({ store, clock, organizationId }: Scope): Promise<Invitation[]> {
  return openInvitations(store, organizationId, clock());
}

/**
 * Invites an address for seven days, in place of an earlier invitation of it. `origin` is where the
 * invited one finds this appliance. Throws CONFLICT for a member, FORBIDDEN for an owner-to-be whom no owner invites.
 */
export async function invite(
  scope: Scope,
  { email, role }: NewInvitation,
  origin: string,
): Promise<SentInvitation> {
  const { store, organizationId, actor } = scope;
  const now = scope.clock();
  const token = randomToken(43);
  return retrying(async () => {
    const allowed = await mustManage(scope, [role]);
    const emailKey = emailKeyOf(email);
    const known = await findPersonByEmail(store, emailKey);
    if (known !== null && (await findMembership(store, organizationId, known.id)) !== null)
      throw alreadyMember();
    const row: InvitationRow = {
      organizationId,
      id: newId(now),
      email,
      emailKey,
      role,
      tokenHash: sha256(token),
      invitedBy: actor.name,
      createdAt: timestamp(now),
      expiresAt: timestamp(now + validMs),
    };
    return commit(
      scope,
      [...allowed, ...replaceInvitation(store, row), mustBeFew(scope)],
      { action: "invitation.created", subjectId: row.id },
      { ...row, link: `${origin}/invitation#${token}` },
    );
  });
}

/** Whoever is invited has a place already: nobody is turned away who accepts. */
function mustBeFew({ organizationId, limits }: Scope): Statement {
  const countOf = (table: SQLiteTable) =>
    sql`(select count(*) from ${table} where organization_id = ${organizationId})`;
  return must(sql`${countOf(memberships)} + ${countOf(invitations)} <= ${limits.people}`, () =>
    overLimit(limits, "people"),
  );
}

/** Where others reach this appliance: not under the address of this machine for itself. */
export function reachedFrom(origin: string, elsewhere: string): string {
  const isLocal = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/.test(origin);
  return isLocal ? elsewhere : origin;
}

/** Takes an invitation back. Throws NOT_FOUND. */
export async function revokeInvitation(scope: Scope, id: string): Promise<void> {
  const { store, organizationId } = scope;
  const none = () => new AppError("NOT_FOUND", "There is no open invitation with this id.");
  const open = await listInvitations(scope);
  if (!open.some((one) => one.id === id)) throw none();
  await commit(
    scope,
    takeInvitation(store, { organizationId, id }, none),
    { action: "invitation.revoked", subjectId: id },
    {},
  );
}

const over = () =>
  new AppError("NOT_FOUND", "This invitation is not valid any more. Ask for a new one.");

async function openedBy(visit: Visit, token: string) {
  const { store, clock } = visit;
  const found = await guessed(visit, () => findByToken(store, sha256(token), clock()));
  if (found === null) throw over();
  return found;
}

/** What the holder of the link is invited to. Throws NOT_FOUND for a wrong, used or old token, RATE_LIMITED. */
export async function lookAtInvitation(visit: Visit, token: string): Promise<InvitationLook> {
  const { invitation, organizationName } = await openedBy(visit, token);
  const { email, emailKey, role } = invitation;
  const known = await findPersonByEmail(visit.store, emailKey);
  return { organization: { name: organizationName }, email, role, hasAccount: known !== null };
}

/**
 * Joins the organization: as somebody new with a name and a password; as somebody known by their session
 * or their password. Throws NOT_FOUND for the token, UNAUTHORIZED for the password, VALIDATION_ERROR,
 * RATE_LIMITED, and CONFLICT for a member.
 */
export async function acceptInvitation(visit: Visit, input: Acceptance): Promise<Stage> {
  const { store, session } = visit;
  const { invitation, organizationName } = await openedBy(visit, input.token);
  const known = await findPersonByEmail(store, invitation.emailKey);
  if (known === null) {
    const person = await newcomer(visit, input, invitation.email, organizationName);
    const joining = joins(visit, invitation, person.row);
    return begin(visit, person.row, [...person.statements, ...joining]);
  }
  if (session?.stage === "signed-in" && session.person.id === known.id) {
    await store.atomic(joins(visit, invitation, known));
    return "signed-in";
  }
  if (input.password === undefined) throw invalid("password", "is required");
  const proven = await guessed(visit, () => personOf(visit, known.email, input.password ?? ""));
  if (proven === null) throw new AppError("UNAUTHORIZED", "The password is wrong.");
  const joining = joins(visit, invitation, proven);
  return proven.totpSecret === null
    ? begin(visit, proven, joining)
    : awaitCode(visit, proven, joining);
}

async function newcomer(visit: Visit, input: Acceptance, email: string, organization: string) {
  const { name, password } = parse(Newcomer, { name: input.name, password: input.password });
  mustBeGood(password, [email, name, organization]);
  const hash = await hashPassword(password, hashingFor(visit));
  return newPerson(visit, { name, email }, hash);
}

/** The statements by which somebody joins: an invitation is used once. */
function joins(visit: Visit, invitation: InvitationRow, person: PersonRow): Statement[] {
  const { store, clock, requestId } = visit;
  const { organizationId, role } = invitation;
  const actor = { type: "person" as const, id: person.id, name: person.name };
  const at = timestamp(clock());
  return [
    ...takeInvitation(store, invitation, over),
    ...addMembership(store, { organizationId, personId: person.id, role, createdAt: at }),
    ...traceOf(
      { organizationId, actor, requestId },
      { action: "invitation.accepted", subjectId: person.id },
      at,
    ),
  ];
}
