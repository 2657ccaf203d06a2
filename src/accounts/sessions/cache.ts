import { type Clock, timestamp } from "../../core/clock.ts";
import type { Store } from "../../database/store.ts";
import type { Membership, Session, Sessions } from "../../http/session.ts";
import { isOver } from "./rules.ts";
import { findByHash, findById, type StoredSession, touchSession } from "./store.ts";

/** How long a session is trusted without asking the database where it can't be told whether anything was written. */
const trustedMs = 500;
const maxTrusted = 10_000;

const membershipsOf = `SELECT o.id, o.slug, o.name, t.time_zone AS "timeZone", m.role FROM memberships m
  JOIN organizations o ON o.id = m.organization_id
  JOIN organization_settings t ON t.organization_id = m.organization_id
  WHERE m.person_id = ? ORDER BY m.created_at, o.id`;

type Trusted = { session: Session; revision: string | null; until: number };

/** Knows whose session a cookie is. What is written, by whichever process, ends its trust at once. */
export function sessionCache(store: Store, clock: Clock): Sessions {
  const trusted = new Map<string, Trusted>();
  let seenAt = new Map<string, number>();

  const lastSeenOf = ({ id, lastSeenAt }: StoredSession) =>
    Math.max(Date.parse(lastSeenAt), seenAt.get(id) ?? 0);

  async function opened(row: StoredSession | null): Promise<Session | null> {
    if (row === null) return null;
    const { id, stage, personId, name, email, createdAt } = row;
    const times = { createdAtMs: Date.parse(createdAt), lastSeenAtMs: lastSeenOf(row) };
    if (isOver({ stage, ...times }, clock())) return null;
    return {
      id,
      stage,
      person: {
        id: personId,
        name,
        email,
        twoFactor: row.twoFactor === 1,
        administrator: row.administrator === 1,
        wrongCodes:
          row.wrongCodeAt === null
            ? null
            : {
                count: row.wrongCodes,
                since: row.wrongCodeSince ?? row.wrongCodeAt,
                lastAt: row.wrongCodeAt,
                lastFrom: row.wrongCodeFrom,
              },
      },
      organizations: await store.query<Membership>(membershipsOf, [personId]),
    };
  }

  return {
    async find(hash) {
      const now = clock();
      const revision = store.revision();
      const known = trusted.get(hash);
      const isTrusted =
        known !== undefined &&
        known.revision === revision &&
        known.until > now &&
        known.until <= now + trustedMs;
      if (!isTrusted) trusted.delete(hash);
      const session = isTrusted ? known.session : await opened(await findByHash(store, hash));
      if (session === null) return null;
      seenAt.set(session.id, now);
      if (isTrusted) return session;
      if (trusted.size >= maxTrusted) trusted.clear();
      trusted.set(hash, { session, revision, until: now + trustedMs });
      return session;
    },
    async isStillOpen(sessionId, may) {
      const session = await opened(await findById(store, sessionId));
      return session?.stage === "signed-in" && may(session);
    },
    seen() {
      const last = seenAt;
      seenAt = new Map();
      return [...last].map(([id, at]) => touchSession(store, id, timestamp(at)));
    },
  };
}
