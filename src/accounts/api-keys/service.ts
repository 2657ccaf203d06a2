/** Creates, lists and revokes API keys, and authenticates requests with them. */
import { and, asc, eq, getTableColumns, isNull, or, sql } from "drizzle-orm";
import { listChangedFields } from "../../core/field-changes.ts";
import { buildAuditsAndEvents, commit } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { type Clock, dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createId, createToken, sha256 } from "../../core/ids.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { type SweepContext, sweepRows } from "../../database/backup/sweeping.ts";
import { buildIdTable, guardLimit } from "../../database/references.ts";
import { isLaterThan, matchValues } from "../../database/rows.ts";
import { guard, type Store } from "../../database/store.ts";
import { apiKeys, memberships } from "../../database/tables/accounts.ts";
import type { Principal } from "../../http/access/session.ts";
import type { KeyLookup } from "../../http/services.ts";
import { isAtLeast, Role } from "../../core/roles.ts";
import { guardGroups, listLimit } from "../group-limit/service.ts";
import { type ApiKey, KeyName } from "./schema.ts";

/** Roles that can create API keys. */
const keyCreatorRoles = Role.options.filter((role) => isAtLeast(role, "admin"));

/**
 * Creates a key and returns it with its secret, which can't be read again. `expiresInMs` null means
 * never. Throws VALIDATION_ERROR.
 */
export async function createApiKey(
  scope: Scope,
  input: {
    name: string;
    scope: ApiKey["scope"];
    mcp?: boolean;
    groupIds?: string[] | null;
    expiresInMs: number | null;
  },
): Promise<ApiKey & { key: string }> {
  parse(KeyName, input.name, "name");
  if (input.scope === "ping" && input.mcp === true)
    throw invalidFieldError("mcp", "needs a key that can read");
  if (input.scope === "ping" && (input.groupIds ?? null) !== null)
    throw invalidFieldError("groupIds", "does not apply to a key that can only ping");
  const { store, organizationId, actor } = scope;
  const now = scope.clock();
  const id = createId(now);
  const createdById = actor.type === "person" ? actor.id : null;
  const key = `sbx_${createToken(43)}`;
  const newKey: ApiKey = {
    id,
    name: input.name,
    scope: input.scope,
    mcp: input.mcp ?? false,
    groupIds: input.groupIds ?? null,
    createdById,
    createdAt: formatTimestamp(now),
    expiresAt: input.expiresInMs === null ? null : formatTimestamp(now + input.expiresInMs),
    revokedAt: null,
    lastUsedAt: null,
  };
  const row = { ...newKey, organizationId, hash: sha256(key) };
  return commit(
    scope,
    [
      ...(createdById === null ? [] : [guardKeyCreator(organizationId, createdById)]),
      ...guardGroups(scope, newKey.groupIds),
      store.db.insert(apiKeys).values(row),
      guardLimit(scope, "api-keys", apiKeys, "revoked_at is null"),
    ],
    { action: "api-key.created", subjectId: id, ...listLimit(newKey.groupIds) },
    { ...newKey, key },
  );
}

/** Guards that the person can still create keys, because a key outlives the request. */
function guardKeyCreator(organizationId: string, personId: string) {
  return guard(
    sql`exists (select 1 from ${memberships} where organization_id = ${organizationId}
      and person_id = ${personId} and role in (select value from ${buildIdTable(keyCreatorRoles)}))`,
    () => new AppError("FORBIDDEN", "You are no longer allowed to create API keys here."),
  );
}

/** Revokes the valid keys that a person created, because the person can have copied them. */
export async function buildKeyRevocations(scope: Scope, createdById: string) {
  const { store, organizationId } = scope;
  const where = buildUnrevokedCondition({ organizationId, createdById });
  const createdKeys = await store.db.select({ id: apiKeys.id }).from(apiKeys).where(where);
  const subjectIds = createdKeys.map(({ id }) => id);
  const revokedAt = formatTimestamp(scope.clock());
  return [
    ...buildAuditsAndEvents(scope, { action: "api-key.revoked", subjectIds }, revokedAt),
    store.db.update(apiKeys).set({ revokedAt }).where(where),
  ];
}

function buildUnrevokedCondition(values: {
  organizationId: string;
  id?: string;
  createdById?: string;
}) {
  return and(matchValues(apiKeys, values), isNull(apiKeys.revokedAt));
}

export function listApiKeys({ store, organizationId }: Scope): Promise<ApiKey[]> {
  const { organizationId: _organization, hash: _hash, ...shown } = getTableColumns(apiKeys);
  return store.db
    .select(shown)
    .from(apiKeys)
    .where(matchValues(apiKeys, { organizationId }))
    .orderBy(asc(apiKeys.id));
}

/** Returns a key. Throws NOT_FOUND, and CONFLICT if it is revoked. */
async function getUnrevokedKey(scope: Scope, id: string): Promise<ApiKey> {
  const key = (await listApiKeys(scope)).find((candidate) => candidate.id === id);
  if (key === undefined) throw new AppError("NOT_FOUND", "There is no API key with this id.");
  if (key.revokedAt !== null) throw createAlreadyRevokedError();
  return key;
}

const guardKeyUnrevoked = (condition: ReturnType<typeof buildUnrevokedCondition>) =>
  guard(sql`exists (select 1 from ${apiKeys} where ${condition})`, createAlreadyRevokedError);

/** Changes the groups to which a key is limited. Throws NOT_FOUND, CONFLICT if it is revoked, VALIDATION_ERROR. */
export async function changeApiKeyGroups(
  scope: Scope,
  id: string,
  groupIds: string[] | null,
): Promise<ApiKey> {
  const { store, organizationId, actor } = scope;
  const before = await getUnrevokedKey(scope, id);
  if (before.scope === "ping" && groupIds !== null)
    throw invalidFieldError("groupIds", "does not apply to a key that can only ping");
  const after = { ...before, groupIds };
  const fields = listChangedFields(before, after, ["groupIds"]);
  if (fields.length === 0) return after;
  const unrevoked = buildUnrevokedCondition({ organizationId, id });
  return commit(
    scope,
    [
      ...(actor.type === "person" && actor.id !== null
        ? [guardKeyCreator(organizationId, actor.id)]
        : []),
      guardKeyUnrevoked(unrevoked),
      ...guardGroups(scope, groupIds, before.groupIds),
      store.db.update(apiKeys).set({ groupIds }).where(unrevoked),
    ],
    { action: "api-key.groups-changed", subjectId: id, fields },
    after,
  );
}

/** Revokes a key. Throws NOT_FOUND, and CONFLICT if the key is already revoked. */
export async function revokeApiKey(scope: Scope, id: string): Promise<ApiKey> {
  const { store, organizationId } = scope;
  const key = await getUnrevokedKey(scope, id);
  const unrevoked = buildUnrevokedCondition({ organizationId, id });
  const revokedAt = formatTimestamp(scope.clock());
  return commit(
    scope,
    [guardKeyUnrevoked(unrevoked), store.db.update(apiKeys).set({ revokedAt }).where(unrevoked)],
    { action: "api-key.revoked", subjectId: id },
    { ...key, revokedAt },
  );
}

function createAlreadyRevokedError() {
  return new AppError("CONFLICT", "This API key was already revoked.");
}

/**
 * Cache lifetime of a key without writes by this process. The command line or another node can
 * revoke the key in the meantime.
 */
const trustedMs = 500;
const maxTrustedKeys = 10_000;

type Row = Pick<
  typeof apiKeys.$inferSelect,
  "organizationId" | "id" | "name" | "scope" | "expiresAt"
> & { mcp: 0 | 1; groupIds: string | null };

const unrevokedSql = `SELECT organization_id AS "organizationId", id, name, scope, mcp,
  group_ids AS "groupIds", expires_at AS "expiresAt" FROM api_keys WHERE revoked_at IS NULL`;
const byHash = `${unrevokedSql} AND hash = ?`;
const byId = `${unrevokedSql} AND organization_id = ? AND id = ?`;

/** Reads the principal of a key, and when the key expires, in Unix milliseconds; null if the key is not valid. */
async function readHolder(store: Store, text: string, parameters: string[], now: number) {
  const [row] = await store.query<Row>(text, parameters);
  if (row === undefined) return null;
  const { organizationId, id, name, scope, mcp, expiresAt } = row;
  const groupIds = row.groupIds === null ? null : (JSON.parse(row.groupIds) as string[]);
  const mayPing = scope === "ping";
  const expiresAtMs = expiresAt === null ? Infinity : Date.parse(expiresAt);
  if (expiresAtMs <= now) return null;
  const actor = { type: "api-key" as const, id, name };
  const principal: Principal = {
    organizationId,
    actor,
    scope: mayPing ? "read" : scope,
    mcp: mcp === 1,
    role: null,
    groupIds,
  };
  return { principal, mayPing, expiresAtMs };
}

/** Caches the principal of each API key. */
export function createApiKeyCache(store: Store, clock: Clock): KeyLookup {
  const trusted = new Map<string, { principal: Principal; mayPing: boolean; until: number }>();
  let usedAt = new Map<string, number>();
  let commits = 0;
  store.onCommit(() => {
    commits++;
    trusted.clear();
  });

  async function findHolder(keyHash: string, now: number) {
    const known = trusted.get(keyHash);
    if (known !== undefined && known.until > now && known.until <= now + trustedMs) return known;
    trusted.delete(keyHash);
    const commitsBefore = commits;
    const holder = await readHolder(store, byHash, [keyHash], now);
    if (holder === null) return null;
    const { principal, mayPing, expiresAtMs } = holder;
    if (trusted.size >= maxTrustedKeys) trusted.clear();
    if (commitsBefore === commits)
      trusted.set(keyHash, { principal, mayPing, until: Math.min(now + trustedMs, expiresAtMs) });
    return holder;
  }

  /** Finds the principal of a key that can ping, or of one that can do everything else. Counts as a use. */
  async function findPrincipal(keyHash: string, mayPing: boolean): Promise<Principal | null> {
    const now = clock();
    const holder = await findHolder(keyHash, now);
    if (holder === null || holder.mayPing !== mayPing) return null;
    usedAt.set(holder.principal.actor.id, now);
    return holder.principal;
  }

  return {
    find: (keyHash) => findPrincipal(keyHash, false),
    findPing: (keyHash) => findPrincipal(keyHash, true),
    async findById(organizationId, id) {
      const holder = await readHolder(store, byId, [organizationId, id], clock());
      return holder === null || holder.mayPing ? null : holder.principal;
    },
    collectLastUses() {
      const last = usedAt;
      usedAt = new Map();
      return [...last].map(([id, at]) =>
        store.db
          .update(apiKeys)
          .set({ lastUsedAt: formatTimestamp(at) })
          .where(
            and(
              eq(apiKeys.id, id),
              or(isNull(apiKeys.lastUsedAt), isLaterThan(apiKeys.lastUsedAt, at)),
            ),
          ),
      );
    },
  };
}

/** Removes keys that were revoked more than `days` days ago. */
export function sweepApiKeys(context: SweepContext, days: number): Promise<void> {
  return sweepRows(context, "api_keys", "revoked_at < ?", [
    formatTimestamp(context.now - days * dayMs),
  ]);
}
