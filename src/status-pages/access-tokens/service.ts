/** Lists, creates and revokes the access tokens of a status page. */
import { sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createId, createToken, sha256 } from "../../core/ids.ts";
import { statusPageBounds } from "../../core/limits.ts";
import { deletedBody } from "../../core/paging.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { removeRow } from "../../database/rows.ts";
import { guard } from "../../database/store.ts";
import { statusPages, statusPageTokens } from "../../database/tables/status-pages.ts";
import { commit, guardUnconditional } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { getStored } from "../service.ts";
import type { AccessToken, CreatedAccessToken, NewAccessToken } from "./schema.ts";
import { findTokens } from "./store.ts";

const maxTokens = statusPageBounds.accessTokens.value;

/** Throws NOT_FOUND. */
export async function listAccessTokens(scope: Scope, pageId: string): Promise<AccessToken[]> {
  await getStored(scope, pageId);
  return findTokens(scope, pageId);
}

/** Creates a token, which can't be read again. Throws NOT_FOUND, and CONFLICT for too many. */
export async function createAccessToken(
  scope: Scope,
  pageId: string,
  { name }: NewAccessToken,
): Promise<CreatedAccessToken> {
  const { store, organizationId } = scope;
  await getStored(scope, pageId);
  const now = scope.clock();
  const token = `sbp_${createToken(43)}`;
  const row = { id: createId(now), name, createdAt: formatTimestamp(now) };
  const pageMatch = sql`organization_id = ${organizationId} and page_id = ${pageId}`;
  return commit(
    scope,
    [
      guard(
        sql`exists (select 1 from ${statusPages}
          where organization_id = ${organizationId} and id = ${pageId})`,
        () => new AppError("NOT_FOUND", "There is no such status page."),
      ),
      guard(
        sql`(select count(*) from ${statusPageTokens} where ${pageMatch}) < ${maxTokens}`,
        () => new AppError("CONFLICT", `A status page has at most ${maxTokens} access tokens.`),
      ),
      store.db
        .insert(statusPageTokens)
        .values({ ...row, organizationId, pageId, hash: sha256(token) }),
    ],
    {
      action: "status-page.token-created",
      subjectId: pageId,
      fields: listChangedFields({ token: null }, { token: name }, ["token"]),
    },
    { ...row, token },
  );
}

/** Revokes a token. Throws NOT_FOUND, also for a token of another page. */
export async function revokeAccessToken(
  scope: Scope,
  pageId: string,
  id: string,
): Promise<typeof deletedBody> {
  const { organizationId } = scope;
  const createMissingError = () =>
    new AppError("NOT_FOUND", "This status page has no such access token.");
  const token = (await listAccessTokens(scope, pageId)).find((one) => one.id === id);
  if (token === undefined) throw createMissingError();
  return commit(
    scope,
    [
      guard(
        sql`exists (select 1 from ${statusPageTokens}
          where organization_id = ${organizationId} and id = ${id})`,
        createMissingError,
      ),
      ...guardUnconditional(scope),
      removeRow(scope, statusPageTokens, id),
    ],
    {
      action: "status-page.token-revoked",
      subjectId: pageId,
      fields: listChangedFields({ token: token.name }, { token: null }, ["token"]),
    },
    deletedBody,
  );
}
