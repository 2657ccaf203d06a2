/** Starts, renews, lists and ends sessions, and audits the actions of a person. */
import type { AuditAction } from "../../events/catalogue.ts";
import { auditAndEvent, type AuditedChange } from "../../events/commit.ts";
import type { Actor } from "../../events/scope.ts";
import { timestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { deleted } from "../../core/paging.ts";
import type { Statement } from "../../database/store.ts";
import { newId, randomToken, sha256 } from "../../core/ids.ts";
import type { SignedInContext, VisitorContext } from "../../http/visitor-context.ts";
import { oldestMs } from "./rules.ts";
import {
  addSession,
  copySession,
  endSessionsOf,
  sessionsOf,
  removeSession,
  type SessionRow,
} from "./store.ts";

/**
 * The statements that begin a session in the visitor's browser, in place of the one it has, and what
 * hands over its cookie once they are written. A session never changes its stage: it gets a new cookie.
 */
export function newSession(context: VisitorContext, personId: string, stage: SessionRow["stage"]) {
  const { store, session, address, userAgent } = context;
  const now = context.clock();
  const token = randomToken(43);
  const row: SessionRow = {
    id: newId(now),
    personId,
    tokenHash: sha256(token),
    stage,
    wrongCodes: 0,
    address,
    userAgent,
    createdAt: timestamp(now),
    lastSeenAt: timestamp(now),
  };
  return {
    statements: [
      ...(session === null ? [] : [removeSession(store, session.id)]),
      addSession(store, row),
    ],
    handOver: () => {
      context.setSessionCookie(token, oldestMs / 1000);
      if (stage === "signed-in") context.knownNetworks.add(address);
    },
  };
}

/**
 * The statements that put a new session, as old as this one, in the place of all that the person has,
 * and what hands over its cookie once they are written: a copy of the old cookie opens nothing.
 */
export function renewedSession(context: SignedInContext) {
  const { store, session } = context;
  const now = context.clock();
  const [id, token] = [newId(now), randomToken(43)];
  return {
    statements: [
      copySession(session.id, { id, tokenHash: sha256(token), lastSeenAt: timestamp(now) }),
      endSessionsOf(store, session.person.id, id),
    ],
    handOver: () => context.setSessionCookie(token, oldestMs / 1000),
  };
}

/** The person's sessions, newest first. */
export async function listSessions({ store, clock, session }: SignedInContext) {
  const rows = await sessionsOf(store, session.person.id);
  return rows.map(({ id, createdAt, lastSeenAt, address, userAgent }) => {
    const current = id === session.id;
    const seen = current ? timestamp(clock()) : lastSeenAt;
    return { id, current, createdAt, lastSeenAt: seen, address, userAgent };
  });
}

/** Ends one of the person's own sessions. Throws NOT_FOUND. */
export async function endSession(context: SignedInContext, id: string): Promise<typeof deleted> {
  const { store, session } = context;
  const own = await sessionsOf(store, session.person.id);
  if (!own.some((row) => row.id === id))
    throw new AppError("NOT_FOUND", "You have no session with this id.");
  await store.atomic([removeSession(store, id), ...auditOfPerson(context, "person.session-ended")]);
  if (id === session.id) context.clearSessionCookie();
  return deleted;
}

/** Ends all other sessions of the person. */
export async function endOtherSessions(context: SignedInContext): Promise<void> {
  const { store, session } = context;
  await store.atomic([
    endSessionsOf(store, session.person.id, session.id),
    ...auditOfPerson(context, "person.other-sessions-ended"),
  ]);
}

/** Audit rows and events of actions outside of an organization: written to each of these organizations. */
export function auditIn(
  organizationIds: readonly string[],
  { clock, requestId }: Pick<VisitorContext, "clock"> & { requestId: string | null },
  actor: Actor,
  change: AuditedChange,
): Statement[] {
  const at = timestamp(clock());
  return organizationIds.flatMap((organizationId) =>
    auditAndEvent({ organizationId, actor, requestId }, change, at),
  );
}

/** Audit rows and events for the session's person. */
export function auditOfPerson(
  context: SignedInContext,
  action: AuditAction & `${"person" | "backup"}.${string}`,
  fields?: readonly string[],
): Statement[] {
  const { person, organizations } = context.session;
  return auditIn(
    organizations.map(({ id }) => id),
    context,
    { type: "person", id: person.id, name: person.name },
    { action, subjectId: person.id, ...(fields && { fields }) },
  );
}
