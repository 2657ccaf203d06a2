/** Finds the session of a cookie, and caches it until the next write. */
import { and, eq } from "drizzle-orm";
import { isAtLeast } from "../../core/roles.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { isLaterThan } from "../../database/rows.ts";
import type { Store } from "../../database/store.ts";
import { type people, sessions } from "../../database/tables/accounts.ts";
import {
  directWay,
  type Membership,
  type Session,
  type Sessions,
  type SignInWay,
} from "../../http/access/session.ts";
import { isExpired } from "./rules.ts";
import type { SessionRow } from "./store.ts";

/** Cache lifetime without writes. A store without a write counter reads the session for each request. */
const trustedMs = 500;
const maxTrustedSessions = 10_000;

const columns = `SELECT s.id, s.stage, s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt",
  s.by_password AS "byPassword", s.header_user AS "headerUser", s.provider_id AS "providerId",
  p.id AS "personId", p.name, p.email, (p.totp_secret IS NOT NULL OR p.passkey_factor) AS "twoFactor", p.administrator,
  p.time_zone AS "timeZone", p.hour_cycle AS "hourCycle", p.language,
  p.wrong_codes AS "wrongCodes", p.wrong_code_at AS "wrongCodeAt",
  p.wrong_code_since AS "wrongCodeSince", p.wrong_code_from AS "wrongCodeFrom"
  FROM sessions s JOIN people p ON p.id = s.person_id`;
const byHash = `${columns} WHERE s.token_hash = ?`;
const byId = `${columns} WHERE s.id = ?`;

type PersonRow = typeof people.$inferSelect;
type StoredSession = Pick<
  SessionRow,
  "id" | "stage" | "personId" | "providerId" | "headerUser" | "createdAt" | "lastSeenAt"
> &
  Pick<
    PersonRow,
    | "name"
    | "email"
    | "timeZone"
    | "hourCycle"
    | "language"
    | `wrongCode${"s" | "At" | "Since" | "From"}`
  > &
  Record<"byPassword" | "twoFactor" | "administrator", number>;

/**
 * SQL condition: the organization of membership `m` does not accept passwords. It does without a usable sign-in
 * provider, so that no one is locked out.
 */
const passwordsOffSql = `EXISTS (SELECT 1 FROM organization_settings closed
    JOIN identity_provider_organizations opened ON opened.organization_id = closed.organization_id
    JOIN identity_providers usable ON usable.id = opened.provider_id AND usable.enabled
    WHERE closed.organization_id = m.organization_id AND NOT closed.password_sign_in)`;

const membershipsSql = `SELECT o.id, o.slug, o.name, t.time_zone AS "timeZone", m.role,
    m.group_ids AS "groupIds" FROM memberships m
  JOIN organizations o ON o.id = m.organization_id
  JOIN organization_settings t ON t.organization_id = m.organization_id
  WHERE m.person_id = ?1 AND (?2 IS NULL OR EXISTS (SELECT 1 FROM identity_provider_organizations
    WHERE provider_id = ?2 AND organization_id = m.organization_id))
  AND (?3 = 0 OR NOT ${passwordsOffSql})
  ORDER BY m.created_at, o.id`;

const headerPersonSql = `SELECT i.person_id AS "personId" FROM identities i
  JOIN identity_providers p ON p.id = i.provider_id
  WHERE i.subject = ? AND p.enabled AND p.settings ->> '$.preset' = 'proxy'`;

type StoredMembership = Omit<Membership, "groupIds"> & { groupIds: string | null };

type TrustedSession = { session: Session; revision: string | null; until: number };

/** Creates queries for the memberships that a session gives access to, and for the person of a trusted header. */
function createMembershipReader(store: Store, passwordsEverywhere: boolean) {
  async function listMemberships(personId: string, way: SignInWay = directWay) {
    const isFiltered = way.byPassword && !passwordsEverywhere;
    const parameters = [personId, way.providerId, Number(isFiltered)];
    return (await store.query<StoredMembership>(membershipsSql, parameters)).map(toMembership);
  }

  /** Returns the organizations of a session; null if all of them have turned password sign-in off. */
  async function listOpenMemberships(personId: string, way: SignInWay) {
    const open = await listMemberships(personId, way);
    if (open.length > 0 || !way.byPassword) return open;
    return (await listMemberships(personId)).length === 0 ? open : null;
  }

  async function findHeaderPerson(user: string) {
    const [row] = await store.query<{ personId: string }>(headerPersonSql, [user]);
    return row?.personId ?? null;
  }

  return { listMemberships, listOpenMemberships, findHeaderPerson };
}

/** Caches the session of each cookie. Every write, of any process, invalidates it. */
export function createSessionCache(
  store: Store,
  clock: Clock,
  { passwordsEverywhere }: { passwordsEverywhere: boolean },
): Sessions {
  const trusted = new Map<string, TrustedSession>();
  let seenAt = new Map<string, number>();

  const lastSeenOf = ({ id, lastSeenAt }: StoredSession) =>
    Math.max(Date.parse(lastSeenAt), seenAt.get(id) ?? 0);

  const reader = createMembershipReader(store, passwordsEverywhere);

  async function open(text: string, key: string): Promise<Session | null> {
    const [row] = await store.query<StoredSession>(text, [key]);
    if (row === undefined) return null;
    const times = { createdAtMs: Date.parse(row.createdAt), lastSeenAtMs: lastSeenOf(row) };
    if (isExpired({ stage: row.stage, ...times }, clock())) return null;
    const list = row.stage === "signed-in" ? reader.listOpenMemberships : reader.listMemberships;
    const memberships = await list(row.personId, toSignInWay(row));
    return memberships === null ? null : toSession(row, memberships);
  }

  return {
    ...reader,
    passwordsEverywhere,
    async find(hash) {
      const now = clock();
      const revision = store.revision();
      const known = trusted.get(hash);
      const isTrusted =
        known !== undefined &&
        revision !== null &&
        known.revision === revision &&
        known.until > now &&
        known.until <= now + trustedMs;
      if (!isTrusted) trusted.delete(hash);
      const session = isTrusted ? known.session : await open(byHash, hash);
      if (session === null) return null;
      seenAt.set(session.id, now);
      if (isTrusted) return session;
      if (trusted.size >= maxTrustedSessions) trusted.clear();
      trusted.set(hash, { session, revision, until: now + trustedMs });
      return session;
    },
    async isStillOpen(sessionId, may) {
      const session = await open(byId, sessionId);
      return session?.stage === "signed-in" && may(session);
    },
    collectLastSeen() {
      const last = seenAt;
      seenAt = new Map();
      return [...last].map(([id, at]) =>
        store.db
          .update(sessions)
          .set({ lastSeenAt: formatTimestamp(at) })
          .where(and(eq(sessions.id, id), isLaterThan(sessions.lastSeenAt, at))),
      );
    },
  };
}

/** Owners and admins are never limited, even if another process changed the role. */
const toMembership = ({ groupIds, ...row }: StoredMembership): Membership => ({
  ...row,
  groupIds:
    groupIds === null || isAtLeast(row.role, "admin") ? null : (JSON.parse(groupIds) as string[]),
});

const toSignInWay = ({ byPassword, providerId, headerUser }: StoredSession): SignInWay => ({
  byPassword: byPassword === 1,
  providerId,
  headerUser,
});

function toSession(row: StoredSession, organizations: Membership[]): Session {
  const { wrongCodes: count, wrongCodeAt: lastAt, wrongCodeFrom: lastFrom } = row;
  return {
    id: row.id,
    stage: row.stage,
    startedAt: row.createdAt,
    way: toSignInWay(row),
    person: {
      id: row.personId,
      name: row.name,
      email: row.email,
      twoFactor: row.twoFactor === 1,
      timeZone: row.timeZone,
      hourCycle: row.hourCycle,
      language: row.language,
      administrator: row.administrator === 1,
      wrongCodes:
        lastAt === null ? null : { count, since: row.wrongCodeSince ?? lastAt, lastAt, lastFrom },
    },
    organizations,
  };
}
