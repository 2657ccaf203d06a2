/** Reads and writes the publication of status pages. */
import { sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { statusPageBounds } from "../../core/limits.ts";
import { matchValues, type Tenant } from "../../database/rows.ts";
import { guard, StaleRead, type Statement, type Store } from "../../database/store.ts";
import { publishedPlaces, statusPagePublishing } from "../../database/tables/status-pages.ts";
import { locatePlace, ownFolders, type Place } from "./rules.ts";

export type PublishingRow = typeof statusPagePublishing.$inferSelect;
export type PlaceRow = typeof publishedPlaces.$inferSelect;
type Key = Pick<PublishingRow, "organizationId" | "pageId">;
type PlaceKey = Key & Place;
type NewPlace = PlaceKey & Pick<PlaceRow, "bucket" | "secrets">;

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

/** Lists the pages of all organizations that are published, with their places. */
export async function listPublishedPages(store: Store): Promise<(Key & { place: Place })[]> {
  const rows = await store.query<Key & { slug: string; settings: string }>(
    `select f.organization_id as organizationId, f.page_id as pageId, p.slug, f.settings
     from status_page_publishing f
       join status_pages p on p.organization_id = f.organization_id and p.id = f.page_id
     where f.settings ->> 'enabled'`,
    [],
  );
  return rows.flatMap(({ slug, settings, ...key }) => {
    const place = locatePlace(JSON.parse(settings) as Parameters<typeof locatePlace>[0], slug);
    return place === null ? [] : [{ ...key, place }];
  });
}

/** Whether another page, of any organization, has the name of this folder now. */
export async function isFolderTaken(store: Store, { root, prefix, pageId }: PlaceRow) {
  const text = "select 1 from status_pages where ? = 'folder' and slug || '/' = ? and id <> ?";
  return (await store.query(text, [root, prefix, pageId])).length > 0;
}

/** Lists the places with files of a page, or of all pages, also of deleted ones. */
export function listPlaces(store: Store, of?: Key): Promise<PlaceRow[]> {
  return store.db
    .select()
    .from(publishedPlaces)
    .where(
      of && matchValues(publishedPlaces, { organizationId: of.organizationId, pageId: of.pageId }),
    )
    .orderBy(publishedPlaces.root, publishedPlaces.prefix);
}

/**
 * Returns statements that reserve a place for a page. They throw CONFLICT if another page of the appliance has files
 * there. A page takes over the files of another page of its organization that are being removed.
 */
export function claimPlace(
  store: Store,
  { root, prefix, organizationId, pageId, bucket, secrets }: NewPlace,
): Statement[] {
  const shorter = sql`case when length(prefix) < length(${prefix}) then prefix else ${prefix} end`;
  const longer = sql`case when length(prefix) < length(${prefix}) then ${prefix} else prefix end`;
  const restSql = sql`substr(${longer}, length(${shorter}) + 1)`;
  const isNested = sql`substr(${longer}, 1, length(${shorter})) = ${shorter}`;
  const folder = sql`substr(${restSql}, 1, instr(${restSql} || '/', '/') - 1)`;
  return [
    guard(
      sql`not exists (select 1 from ${publishedPlaces}
        where root = ${root} and ${isNested} and (organization_id <> ${organizationId}
          or case when prefix = ${prefix} then page_id <> ${pageId} and removing_since is null
            else ${folder} in (select value from json_each(${JSON.stringify(ownFolders)})) end))`,
      () => createOccupiedError(bucket === null ? "to" : "s3.prefix"),
    ),
    guard(
      sql`(select count(*) from ${publishedPlaces}
        where organization_id = ${organizationId} and page_id = ${pageId}
          and (root, prefix) <> (${root}, ${prefix})) < ${statusPageBounds.publishedPlaces.value}`,
      () =>
        new AppError(
          "CONFLICT",
          "The files of this page are still being removed from too many places. Try again later.",
        ),
    ),
    store.db
      .insert(publishedPlaces)
      .values({ root, prefix, organizationId, pageId, bucket, secrets })
      .onConflictDoUpdate({
        target: [publishedPlaces.root, publishedPlaces.prefix],
        set: {
          organizationId,
          pageId,
          bucket,
          secrets,
          removingSince: null,
          failingSince: null,
          lastError: null,
        },
      }),
  ];
}

function createOccupiedError(path: string) {
  const details = [{ path, message: "must name a place without files of another page" }];
  const message =
    "A status page has files in this place, or had them until now. Choose another one, or try again in a minute.";
  return new AppError("CONFLICT", message, { details });
}

/** Returns a statement that updates a place of a page. */
export const changePlace = (
  store: Store,
  { root, prefix, organizationId, pageId }: PlaceKey,
  change: Partial<Omit<PlaceRow, keyof PlaceKey>>,
): Statement =>
  store.db
    .update(publishedPlaces)
    .set(change)
    .where(matchValues(publishedPlaces, { root, prefix, organizationId, pageId }));

/** Returns a statement that forgets a place whose files were removed, unless a page uses it again. */
export const forgetPlace = (store: Store, { root, prefix }: Place): Statement =>
  sql`delete from ${publishedPlaces}
    where root = ${root} and prefix = ${prefix} and removing_since is not null`;

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
  result: Partial<Pick<PublishingRow, "publishedAt" | "failingSince" | "lastError">>,
): Statement =>
  store.db
    .update(statusPagePublishing)
    .set(result)
    .where(matchValues(statusPagePublishing, { organizationId, pageId }));

/** Files of a page that can't be published, or not be removed. */
type FailingPublication = {
  /** Null for files of a deleted organization. */
  organizationId: string | null;
  organization: string | null;
  pageId: string;
  /** Null for a page that can no longer be restored. */
  title: string | null;
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

/** Lists places whose files could not be removed since before a time. */
export const listFailingRemovals = (store: Store, before: string) =>
  store.query<FailingPublication & Place>(
    `select o.id as organizationId, o.name as organization, l.page_id as pageId,
       coalesce(p.title, d.name) as title, l.failing_since as since, l.last_error as reason,
       l.root, l.prefix
     from published_places l
       left join organizations o on o.id = l.organization_id and o.deleted_at is null
       left join status_pages p on p.organization_id = o.id and p.id = l.page_id
       left join deleted_records d on d.organization_id = o.id and d.id = l.page_id
     where l.removing_since is not null and l.failing_since <= ?
     order by o.name, o.id, l.root, l.prefix`,
    [before],
  );
