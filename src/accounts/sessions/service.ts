/** Starts, renews, lists and ends sessions, and writes the audit log of personal actions. */
import type { AuditAction } from "../../events/catalog.ts";
import { buildAuditAndEvent, type AuditedChange } from "../../events/commit.ts";
import type { Actor } from "../../events/scope.ts";
import type { ChangedField } from "../../core/field-changes.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { deletedBody } from "../../core/paging.ts";
import type { Statement } from "../../database/store.ts";
import { createId, createToken, sha256 } from "../../core/ids.ts";
import type { SignedInContext, VisitorContext } from "../../http/visitor-context.ts";
import { passwordWay, type SignInWay } from "../../http/access/session.ts";
import { maxSessionAgeMs } from "./rules.ts";
import {
  addSession,
  copySession,
  removeSessions,
  findSessions,
  removeSession,
  type SessionRow,
} from "./store.ts";

/**
 * Returns statements that start a session and end the visitor's current one. `handOver` sets the
 * cookie after the write. A new stage gets a new cookie, so that an earlier copy of the cookie
 * stays without rights. A session of a sign-in provider opens only the organizations of the provider.
 */
export function buildNewSession(
  context: VisitorContext,
  personId: string,
  stage: SessionRow["stage"],
  way: SignInWay = passwordWay,
) {
  const { store, session, replacedSessionId, address, userAgent } = context;
  const endedIds = [session?.id, replacedSessionId].filter((id) => typeof id === "string");
  const now = context.clock();
  const token = createToken(43);
  const row: SessionRow = {
    id: createId(now),
    personId,
    tokenHash: sha256(token),
    stage,
    wrongCodes: 0,
    address,
    userAgent,
    ...way,
    createdAt: formatTimestamp(now),
    lastSeenAt: formatTimestamp(now),
  };
  return {
    statements: [...endedIds.map((id) => removeSession(store, id)), addSession(store, row)],
    handOver: () => {
      context.setSessionCookie(token, maxSessionAgeMs / 1000);
      if (stage === "signed-in") context.knownNetworks.add(address);
    },
  };
}

/**
 * Returns statements that replace all sessions of the person by one with the same start. `handOver`
 * sets the new cookie after the write. Copies of the old cookie become invalid.
 */
export function buildRenewedSession(context: SignedInContext) {
  const { store, session } = context;
  const now = context.clock();
  const [id, token] = [createId(now), createToken(43)];
  return {
    statements: [
      copySession(session.id, { id, tokenHash: sha256(token), lastSeenAt: formatTimestamp(now) }),
      removeSessions(store, session.person.id, id),
    ],
    handOver: () => context.setSessionCookie(token, maxSessionAgeMs / 1000),
  };
}

/** Lists the signed-in person's sessions, newest first. */
export async function listSessions({ store, clock, session }: SignedInContext) {
  const rows = await findSessions(store, session.person.id);
  return rows.map(({ id, createdAt, lastSeenAt, address, userAgent }) => {
    const current = id === session.id;
    const lastSeen = current ? formatTimestamp(clock()) : lastSeenAt;
    return { id, current, createdAt, lastSeenAt: lastSeen, address, userAgent };
  });
}

/** Ends one of the signed-in person's sessions. Throws NOT_FOUND. */
export async function endSession(
  context: SignedInContext,
  id: string,
): Promise<typeof deletedBody> {
  const { store, session } = context;
  const ownSessions = await findSessions(store, session.person.id);
  if (!ownSessions.some((row) => row.id === id))
    throw new AppError("NOT_FOUND", "You have no session with this id.");
  await store.atomic([
    removeSession(store, id),
    ...buildPersonAudit(context, "person.session-ended"),
  ]);
  if (id === session.id) context.clearSessionCookie();
  return deletedBody;
}

/** Ends all other sessions of the signed-in person. */
export async function endOtherSessions(context: SignedInContext): Promise<void> {
  const { store, session } = context;
  await store.atomic([
    removeSessions(store, session.person.id, session.id),
    ...buildPersonAudit(context, "person.other-sessions-ended"),
  ]);
}

/** Returns the audit rows and events of an action outside of an organization, one for each of these organizations. */
export function buildAuditRows(
  organizationIds: readonly string[],
  { clock, requestId }: Pick<VisitorContext, "clock"> & { requestId: string | null },
  actor: Actor,
  change: AuditedChange,
): Statement[] {
  const at = formatTimestamp(clock());
  return organizationIds.flatMap((organizationId) =>
    buildAuditAndEvent({ organizationId, actor, requestId }, change, at),
  );
}

/** Returns the audit rows and events of an action by the signed-in person, for all their organizations. */
export function buildPersonAudit(
  context: SignedInContext,
  action: AuditAction & `${"person" | "backup"}.${string}`,
  fields?: readonly ChangedField[],
): Statement[] {
  const { person, organizations } = context.session;
  // A cast, because TypeScript distributes at most 25 actions over the union.
  const change = { action, subjectId: person.id, ...(fields && { fields }) } as AuditedChange;
  return buildAuditRows(
    organizations.map(({ id }) => id),
    context,
    { type: "person", id: person.id, name: person.name },
    change,
  );
}
