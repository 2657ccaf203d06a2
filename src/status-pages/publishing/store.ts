/** Reads and writes the publication of status pages. */
import { sql } from "drizzle-orm";
import { matchValues, type Tenant } from "../../database/rows.ts";
import { guard, StaleRead, type Statement, type Store } from "../../database/store.ts";
import { statusPagePublishing } from "../../database/tables/status-pages.ts";

export type PublishingRow = typeof statusPagePublishing.$inferSelect;
type Key = Pick<PublishingRow, "organizationId" | "pageId">;

/** Reads the publication of a page; null if it was never set up. */
export async function findPublishing(
  { store, organizationId }: Tenant,
  pageId: string,
): Promise<PublishingRow | null> {
  const [row] = await store.db
    .select()
    .from(statusPagePublishing)
    .where(matchValues(statusPagePublishing, { organizationId, pageId }));
  return row ?? null;
}

/** Whether a page of any organization has this slug. */
export async function isSlugUsed(store: Store, slug: string): Promise<boolean> {
  return (await store.query("select 1 from status_pages where slug = ?", [slug])).length > 0;
}

/** Lists the pages of all organizations that are set up to be published. */
export const listPublishedPages = (store: Store) =>
  store.query<Key>(
    `select organization_id as organizationId, page_id as pageId from status_page_publishing
     where settings ->> 'enabled'`,
    [],
  );

/** Returns statements that replace the settings that were read. They throw StaleRead after another write. */
export function putPublishing(store: Store, row: PublishingRow): Statement[] {
  const { organizationId, pageId, settings, secrets, version, updatedAt } = row;
  return [
    guard(
      sql`coalesce((select version from ${statusPagePublishing}
        where organization_id = ${organizationId} and page_id = ${pageId}), 0) = ${version - 1}`,
      () => new StaleRead(),
    ),
    store.db
      .insert(statusPagePublishing)
      .values(row)
      .onConflictDoUpdate({
        target: [statusPagePublishing.organizationId, statusPagePublishing.pageId],
        set: { settings, secrets, version, updatedAt },
      }),
  ];
}

/** Returns a statement that stores the result of a publication, without changing the settings. */
export const recordPublication = (
  store: Store,
  { organizationId, pageId }: Key,
  result: Partial<
    Pick<PublishingRow, "place" | "files" | "publishedAt" | "failingSince" | "lastError">
  >,
): Statement =>
  store.db
    .update(statusPagePublishing)
    .set(result)
    .where(matchValues(statusPagePublishing, { organizationId, pageId }));

export type FailingPublication = {
  organizationId: string;
  organization: string;
  pageId: string;
  title: string;
  since: string;
  reason: string;
};

/** Lists publications of all organizations that have failed since before a time. */
export const listFailingPublications = (store: Store, before: string) =>
  store.query<FailingPublication>(
    `select o.id as organizationId, o.name as organization, p.id as pageId, p.title,
       f.failing_since as since, f.last_error as reason
     from status_page_publishing f
       join organizations o on o.id = f.organization_id and o.deleted_at is null
       join status_pages p on p.organization_id = f.organization_id and p.id = f.page_id
     where f.failing_since <= ? and f.settings ->> 'enabled' order by o.name, o.id, p.title, p.id`,
    [before],
  );
