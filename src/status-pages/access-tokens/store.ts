/** Reads the access tokens of status pages. */
import { asc } from "drizzle-orm";
import { matchValues, type Tenant } from "../../database/rows.ts";
import type { Store } from "../../database/store.ts";
import { statusPageTokens } from "../../database/tables/status-pages.ts";

/** Reads the tokens of a page without their hashes, oldest first. */
export function findTokens({ store, organizationId }: Tenant, pageId: string) {
  const { id, name, createdAt } = statusPageTokens;
  return store.db
    .select({ id, name, createdAt })
    .from(statusPageTokens)
    .where(matchValues(statusPageTokens, { organizationId, pageId }))
    .orderBy(asc(id));
}

/** Whether the token with this SHA-256 belongs to the page. */
export async function isTokenOfPage(
  store: Store,
  { organizationId, id }: { organizationId: string; id: string },
  hash: string,
): Promise<boolean> {
  const rows = await store.query(
    "select 1 from status_page_tokens where hash = ? and organization_id = ? and page_id = ?",
    [hash, organizationId, id],
  );
  return rows.length > 0;
}
