/** Reads and writes status pages with their sections, monitors and host names. */
import { desc, sql, getTableColumns } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { buildFirstId } from "../core/ids.ts";
import type { Limits } from "../core/limits.ts";
import { buildIdTable, guardLimit, unknownReferenceError } from "../database/references.ts";
import { matchValues, replaceLinks, type Tenant } from "../database/rows.ts";
import { guard, type Prepared, type Statement, type Store } from "../database/store.ts";
import { identityProviderOrganizations } from "../database/tables/accounts.ts";
import {
  statusPageHosts,
  statusPageMonitors,
  statusPages,
  statusPageSections,
} from "../database/tables/status-pages.ts";
import { type Audience, audiences } from "./access-rules.ts";
import {
  assembleSections,
  buildFileUrl,
  type FileName,
  filePaths,
  hashFile,
  selectSections,
} from "./rules.ts";
import { fontType } from "./rules.ts";
import { defaultLook, type Look } from "./look-schema.ts";
import type { StatusPageSection } from "./schema.ts";

type PageRow = Omit<typeof statusPages.$inferSelect, "look"> & { look: Look };

/** Adds the defaults of fields that the stored look does not have. */
const completeLook = (stored: object): Look => ({ ...defaultLook, ...stored });

/** A page with its sections and hosts from other tables. */
export type StoredPage = PageRow & { sections: StatusPageSection[]; hosts: string[] };

/** Files of a new page. */
export const noFiles = {
  logoType: null,
  logoData: null,
  fontData: null,
  faviconType: null,
  faviconData: null,
  stylesheet: null,
} satisfies Partial<PageRow>;

/** A page without its files, which have up to half a megabyte. */
export type PlainPage = Omit<StoredPage, keyof typeof noFiles>;

/** A page of any organization with the sections of one audience, as the public site reads it. */
export type PublicPage = PlainPage & {
  logoUrl: string | null;
  files: PageFiles;
  audience: Audience;
  /** Sections that this audience does not see. */
  concealed: StatusPageSection[];
};

/** The fields of a page that decide who may read it. */
export type PageHead = Pick<
  PageRow,
  | "organizationId"
  | "id"
  | "slug"
  | "title"
  | "visibility"
  | "passwordHash"
  | "allowedRoles"
  | "visitorProviders"
  | "allowedAddresses"
  | "language"
  | "languages"
  | "chatSubscriptions"
> & {
  /** Whether sections of the page are only for signed-in people. */
  hasConcealed: boolean;
};

/** Reads an organization's pages, the default page first, then newest first; with `id`, only that page. */
export async function findPages(tenant: Tenant, id?: string) {
  const { store, organizationId } = tenant;
  const pages = await store.db
    .select()
    .from(statusPages)
    .where(matchValues(statusPages, { organizationId, id }))
    .orderBy(desc(statusPages.isDefault), desc(statusPages.id));
  return addParts(tenant, pages, id);
}

/** Reads a page without its files; null if it does not exist. */
export async function findPlainPage(tenant: Tenant, id: string): Promise<PlainPage | null> {
  const { store, organizationId } = tenant;
  const pages = await store.db
    .select(omitFiles(getTableColumns(statusPages)))
    .from(statusPages)
    .where(matchValues(statusPages, { organizationId, id }));
  const [page] = await addParts(tenant, pages, id);
  return page ?? null;
}

/** Adds the sections and hosts of all pages, or of the page with `id`. */
async function addParts<P extends Pick<PageRow, "id"> & { look: object }>(
  { store, organizationId }: Tenant,
  pages: readonly P[],
  id?: string,
) {
  if (pages.length === 0) return [];
  const pageIds = { organizationId, pageId: id };
  const [sections, monitors, hosts] = await Promise.all([
    store.db
      .select()
      .from(statusPageSections)
      .where(matchValues(statusPageSections, pageIds))
      .orderBy(statusPageSections.position),
    store.db
      .select()
      .from(statusPageMonitors)
      .where(matchValues(statusPageMonitors, pageIds))
      .orderBy(statusPageMonitors.section, statusPageMonitors.position),
    store.db
      .select()
      .from(statusPageHosts)
      .where(matchValues(statusPageHosts, pageIds))
      .orderBy(statusPageHosts.position),
  ]);
  const [sectionsBy, monitorsBy, hostsBy] = [
    groupByPage(sections),
    groupByPage(monitors),
    groupByPage(hosts),
  ];
  return pages.map((page) => ({
    ...page,
    look: completeLook(page.look),
    sections: assembleSections(sectionsBy.get(page.id) ?? [], monitorsBy.get(page.id) ?? []),
    hosts: (hostsBy.get(page.id) ?? []).map(({ host }) => host),
  }));
}

const groupByPage = <T extends { pageId: string }>(rows: readonly T[]) =>
  Map.groupBy(rows, ({ pageId }) => pageId);

/**
 * Reads the page with this id and the sections of the audience; null if it is hidden or missing. By default it is the
 * audience of everyone who can open the page.
 */
export async function findPublicPageById(
  tenant: Tenant,
  id: string,
  audience?: Audience,
): Promise<PublicPage | null> {
  const [page] = await findPages(tenant, id);
  if (page === undefined || page.visibility === "hidden") return null;
  const open = omitFiles(page);
  const shownTo = audience ?? (page.visibility === "signed-in" ? "signed-in" : "everyone");
  const { slug, logoData } = page;
  const logoUrl = buildFileUrl(slug, filePaths.logo, logoData);
  return { ...open, ...selectSections(page.sections, shownTo), logoUrl, files: listFiles(page) };
}

/** Paths of the files of a page in addition to its logo; null for those it does not have. */
export type PageFiles = {
  favicon: string | null;
  fontStyle: string | null;
  stylesheet: string | null;
};

export const listFiles = ({ slug, faviconData, fontData, stylesheet }: StoredPage): PageFiles => ({
  favicon: buildFileUrl(slug, filePaths.favicon, faviconData),
  fontStyle: buildFileUrl(slug, "font.css", fontData),
  stylesheet: buildFileUrl(slug, "style.css", stylesheet),
});

const omitFiles = <T extends object>(page: T) =>
  Object.fromEntries(
    Object.entries(page).filter(([name]) => !Object.hasOwn(noFiles, name)),
  ) as Omit<T, keyof typeof noFiles>;

const headColumns = `p.organization_id as organizationId, p.id, p.slug, p.title, p.visibility,
  p.password_hash as passwordHash, p.allowed_roles as allowedRoles,
  p.visitor_providers as visitorProviders, p.language, p.languages,
  p.allowed_addresses as allowedAddresses, p.chat_subscriptions as chatSubscriptions, exists (select 1 from status_page_sections s
    where s.organization_id = p.organization_id and s.page_id = p.id
      and s.audience = 'signed-in') as hasConcealed`;

type ListColumn = "allowedRoles" | "allowedAddresses" | "visitorProviders" | "languages";
type HeadFlag = "hasConcealed" | "chatSubscriptions";
type HeadRow = Omit<PageHead, ListColumn | HeadFlag> &
  Record<ListColumn, string> &
  Record<HeadFlag, number>;

const toHead = (row: HeadRow): PageHead => ({
  ...row,
  allowedRoles: JSON.parse(row.allowedRoles) as PageHead["allowedRoles"],
  allowedAddresses: JSON.parse(row.allowedAddresses) as string[],
  visitorProviders: JSON.parse(row.visitorProviders) as PageHead["visitorProviders"],
  languages: JSON.parse(row.languages) as PageHead["languages"],
  hasConcealed: row.hasConcealed === 1,
  chatSubscriptions: row.chatSubscriptions === 1,
});

async function queryHead(store: Store, condition: string, parameter: string) {
  const [row] = await store.query<HeadRow>(
    `select ${headColumns} from status_pages p where p.visibility <> 'hidden' and ${condition}`,
    [parameter],
  );
  return row === undefined ? null : toHead(row);
}

/** Finds the page with this slug in any organization; null if it is hidden or missing. */
export const findHead = (store: Store, slug: string) => queryHead(store, "p.slug = ?", slug);

/** Finds the page with this host name in any organization. The name must be in lower case and without port. */
export const findHeadByHost = (store: Store, host: string) =>
  queryHead(
    store,
    `(p.organization_id, p.id) in (
       select organization_id, page_id from status_page_hosts where host = ?)`,
    host,
  );

/** Finds the page by its id in any organization; null if it is hidden or missing. */
export const findHeadById = (store: Store, id: string) => queryHead(store, "p.id = ?", id);

/** Returns the slug of a page of this organization; null if it is missing. */
export async function findSlug(
  { store, organizationId }: Tenant,
  id: string,
): Promise<string | null> {
  const [row] = await store.query<{ slug: string }>(
    "select slug from status_pages where organization_id = ? and id = ?",
    [organizationId, id],
  );
  return row?.slug ?? null;
}

/** Reads a file of a page as it was uploaded; null if there is none. */
export async function findFile(
  store: Store,
  { organizationId, id }: { organizationId: string; id: string },
  name: FileName,
): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer>; version: string } | null> {
  const { logoType, logoData, faviconType, faviconData, fontData } = statusPages;
  const columns = {
    logo: { type: logoType, data: logoData },
    favicon: { type: faviconType, data: faviconData },
    font: { type: sql<string>`${fontType}`, data: fontData },
  };
  const [row] = await store.db
    .select(columns[name])
    .from(statusPages)
    .where(matchValues(statusPages, { organizationId, id }));
  if (row === undefined || row.type === null || row.data === null) return null;
  const { type, data } = row;
  return { type, bytes: Uint8Array.fromBase64(data), version: hashFile(data) };
}

/** Reads the checked CSS of a page, in the form of a file; null without any. */
export async function findStylesheet(
  store: Store,
  { organizationId, id }: { organizationId: string; id: string },
): Promise<{ type: string; bytes: string; version: string } | null> {
  const [row] = await store.db
    .select({ css: statusPages.stylesheet })
    .from(statusPages)
    .where(matchValues(statusPages, { organizationId, id }));
  const css = row?.css ?? null;
  return css === null
    ? null
    : { type: "text/css; charset=utf-8", bytes: css, version: hashFile(css) };
}

/** Appearance of a page: the fields that its short pages use. `logo` is the source of an image. */
export type PageBranding = Pick<PageRow, "title" | "theme" | "accentColor" | "look"> & {
  logo: string | null;
};

/** Reads the appearance of a page. The logo is a data URL, because visitors of a locked page cannot load it. */
export async function findBranding(
  store: Store,
  { organizationId, id, title }: PageHead,
): Promise<PageBranding> {
  const { theme, accentColor, look, logoType, logoData } = statusPages;
  const [row] = await store.db
    .select({ theme, accentColor, look, logoType, logoData })
    .from(statusPages)
    .where(matchValues(statusPages, { organizationId, id }));
  const hasLogo = row !== undefined && row.logoType !== null && row.logoData !== null;
  return {
    title,
    theme: row?.theme ?? "auto",
    accentColor: row?.accentColor ?? null,
    look: completeLook(row?.look ?? {}),
    logo: hasLogo ? `data:${row.logoType};base64,${row.logoData}` : null,
  };
}

/** Guards that no other page, in any organization, has the slug; else CONFLICT. */
export function guardFreeSlug(organizationId: string, id: string, slug: string): Prepared {
  return guard(
    sql`not exists (select 1 from ${statusPages}
      where slug = ${slug} and (organization_id, id) <> (${organizationId}, ${id}))`,
    () => createTakenError("slug", "Another status page uses this slug."),
  );
}

/** Guards that no other page, in any organization, has one of the host names; else CONFLICT. */
export function guardFreeHosts(organizationId: string, id: string, hosts: readonly string[]) {
  return guard(
    sql`not exists (select 1 from ${statusPageHosts}
      where host in (select value from ${buildIdTable(hosts)})
        and (organization_id, page_id) <> (${organizationId}, ${id}))`,
    () => createTakenError("hosts", "One of the hosts belongs to another status page."),
  );
}

/** Guards that these sign-in providers open the organization; else NOT_FOUND. */
function guardProviders(
  organizationId: string,
  providers: readonly { providerId: string }[],
): Prepared[] {
  return providers.map(({ providerId }) =>
    guard(
      sql`exists (select 1 from ${identityProviderOrganizations}
        where provider_id = ${providerId} and organization_id = ${organizationId})`,
      () => unknownReferenceError("visitorProviders", "sign-in provider"),
    ),
  );
}

/** Reads the enabled providers of a page that still open its organization, in the order of the page. */
export async function findVisitorProviders(
  store: Store,
  { organizationId, visitorProviders }: Pick<PageHead, "organizationId" | "visitorProviders">,
): Promise<{ id: string; name: string; domains: readonly string[] }[]> {
  if (visitorProviders.length === 0) return [];
  const rows = await store.query<{ id: string; name: string }>(
    `select p.id, p.name from identity_providers p
       join identity_provider_organizations o on o.provider_id = p.id and o.organization_id = ?
     where p.enabled and p.id in (select value from json_each(?))`,
    [organizationId, JSON.stringify(visitorProviders.map(({ providerId }) => providerId))],
  );
  return visitorProviders.flatMap(({ providerId, domains }) => {
    const found = rows.find(({ id }) => id === providerId);
    return found === undefined ? [] : [{ ...found, domains }];
  });
}

function createTakenError(path: string, message: string) {
  const details = [{ path, message: "must not be in use by another status page" }];
  return new AppError("CONFLICT", message, { details });
}

/** Replaces all sections of the page. */
function replaceSections(
  organizationId: string,
  pageId: string,
  sections: readonly StatusPageSection[],
): Statement[] {
  const monitors = sections.flatMap((section, index) =>
    section.monitors.map((monitor, position) => ({ ...monitor, section: index, position })),
  );
  const rows = sections.map(({ monitors: _monitors, ...row }) => row);
  const pageMatch = sql`organization_id = ${organizationId} and page_id = ${pageId}`;
  return [
    sql`delete from ${statusPageMonitors} where ${pageMatch}`,
    sql`delete from ${statusPageSections} where ${pageMatch}`,
    sql`insert into ${statusPageSections}
        (organization_id, page_id, position, name, group_id, nested, folding, audience)
      select ${organizationId}, ${pageId}, key, value ->> 'name', value ->> 'groupId',
        value ->> 'nested', value ->> 'folding', value ->> 'audience'
      from json_each(${JSON.stringify(rows)})`,
    sql`insert into ${statusPageMonitors}
        (organization_id, page_id, section, position, monitor_id, public_name, show_description,
         link)
      select ${organizationId}, ${pageId}, value ->> 'section', value ->> 'position',
        value ->> 'id', value ->> 'name', value ->> 'showDescription',
        value ->> 'link'
      from json_each(${JSON.stringify(monitors)})`,
  ];
}

/** Replaces all host names of the page. */
function replaceHosts(owner: PageOwner, pageId: string, hosts: readonly string[]): Statement[] {
  const { store, organizationId } = owner;
  return [
    ...replaceLinks(store, statusPageHosts, { organizationId, pageId }, "host", hosts),
    guardLimit(owner, "status-page-hosts", statusPageHosts),
  ];
}

type PageOwner = Tenant & { limits: Limits };

/** Inserts a page. A slug or host of another page is a CONFLICT. */
export function insertPage(owner: PageOwner, page: StoredPage): Statement[] {
  const { organizationId, id, slug, hosts, sections } = page;
  return [
    guardFreeSlug(organizationId, id, slug),
    guardFreeHosts(organizationId, id, hosts),
    ...guardProviders(organizationId, page.visitorProviders),
    owner.store.db.insert(statusPages).values(page),
    ...replaceSections(organizationId, id, sections),
    ...replaceHosts(owner, id, hosts),
  ];
}

/** Updates these fields of the page. A slug or host of another page is a CONFLICT. */
export function changePage(
  owner: PageOwner,
  before: Pick<StoredPage, "organizationId" | "id" | "slug" | "visitorProviders">,
  { sections, hosts, ...columns }: Partial<StoredPage>,
): Statement[] {
  const { organizationId, id } = before;
  const { slug = before.slug, visitorProviders = [] } = columns;
  // A page can still name a provider that was removed from the organization.
  const known = new Set(before.visitorProviders.map(({ providerId }) => providerId));
  return [
    guardFreeSlug(organizationId, id, slug),
    guardFreeHosts(organizationId, id, hosts ?? []),
    ...guardProviders(
      organizationId,
      visitorProviders.filter(({ providerId }) => !known.has(providerId)),
    ),
    owner.store.db
      .update(statusPages)
      .set(columns)
      .where(matchValues(statusPages, { organizationId, id })),
    ...(sections ? replaceSections(organizationId, id, sections) : []),
    ...(hosts ? replaceHosts(owner, id, hosts) : []),
  ];
}

/** Frees the slugs and hosts of pages, so that other pages can get them in the same write. Requires `changePage`. */
export const releaseAddresses = (
  { store, organizationId }: Tenant,
  pageIds: readonly string[],
): Statement[] =>
  pageIds.flatMap((id) => [
    store.db
      .update(statusPages)
      .set({ slug: id })
      .where(matchValues(statusPages, { organizationId, id })),
    store.db
      .delete(statusPageHosts)
      .where(matchValues(statusPageHosts, { organizationId, pageId: id })),
  ]);

/** Reads the host names of the pages of all organizations, with the slugs of their pages. */
export function findHosts(store: Store): Promise<{ host: string; slug: string }[]> {
  return store.query(
    `select h.host, p.slug from status_page_hosts h
       join status_pages p on p.organization_id = h.organization_id and p.id = h.page_id`,
    [],
  );
}

/** SQL condition that a section of page `p` for one of these audiences shows monitor `m`, directly or by its group. */
export const buildShownSql = (...shownTo: Audience[]) =>
  `exists (select 1 from status_page_sections s
  where s.organization_id = p.organization_id and s.page_id = p.id
    and s.audience in (${shownTo.map((one) => `'${one}'`).join(", ")})
    and (s.group_id = m.group_id or (s.group_id is null and exists (
      select 1 from status_page_monitors l where l.organization_id = p.organization_id
        and l.page_id = p.id and l.section = s.position and l.monitor_id = m.id))))`;

/** SQL for a monitor of incident `i` that page `p` shows to one of these audiences. */
const buildAffectedSql = (...shownTo: readonly Audience[]) =>
  `exists (select 1 from incident_monitors linked
      join monitors m on m.organization_id = linked.organization_id and m.id = linked.monitor_id
    where linked.organization_id = i.organization_id and linked.incident_id = i.id
      and ${buildShownSql(...shownTo)})`;

const shownIncidentTexts: Record<Audience, string> = {
  everyone: `${buildAffectedSql("everyone")} or (i.origin = 'manual' and (i.monitor_id is null
    or (p.is_default and not ${buildAffectedSql("signed-in")})))`,
  "signed-in": `${buildAffectedSql(...audiences)}
    or (i.origin = 'manual' and (i.monitor_id is null or p.is_default))`,
};

/** Whether the page can show this incident to the audience. Checked before the page itself is loaded. */
export async function canShowIncident(
  store: Store,
  { organizationId, id }: PageHead,
  incidentId: string,
  audience: Audience,
): Promise<boolean> {
  const rows = await store.query(
    `select 1 from incidents i
       join status_pages p on p.organization_id = i.organization_id and p.id = ?
     where i.organization_id = ? and i.id = ? and i.public and (${shownIncidentTexts[audience]})`,
    [id, organizationId, incidentId],
  );
  return rows.length > 0;
}

/** Whether the organization has a public incident from before this time, in Unix milliseconds. */
export async function hasIncidentsBefore(store: Store, organizationId: string, at: number) {
  const rows = await store.query(
    "select 1 from incidents where organization_id = ? and public and id < ? limit 1",
    [organizationId, buildFirstId(at)],
  );
  return rows.length > 0;
}

/** A page, with the audience that a document needs to be part of it. */
export type PageCandidate = { head: PageHead; neededAudience: Audience };

/** Finds the pages that show this monitor, directly or through its group: first public ones, then default pages. */
export async function findPagesShowingMonitor(
  store: Store,
  monitorId: string,
): Promise<PageCandidate[]> {
  const rows = await store.query<HeadRow & { isForEveryone: number }>(
    `select ${headColumns}, ${buildShownSql("everyone")} as isForEveryone from monitors m
       join status_pages p on p.organization_id = m.organization_id and p.visibility <> 'hidden'
     where m.id = ? and ${buildShownSql(...audiences)}
     order by isForEveryone and p.visibility = 'public' desc, p.is_default desc, p.id limit 20`,
    [monitorId],
  );
  return rows.map(({ isForEveryone, ...row }) => ({
    head: toHead(row),
    neededAudience: isForEveryone === 1 ? "everyone" : "signed-in",
  }));
}

/** Reads the slugs of up to two visible default pages. Callers only need to know whether there is exactly one. */
export async function findDefaultSlugs(store: Store): Promise<string[]> {
  const rows = await store.query<{ slug: string }>(
    "select slug from status_pages where is_default and visibility <> 'hidden' limit 2",
    [],
  );
  return rows.map(({ slug }) => slug);
}

/** Returns a mark per organization with unjudged monitors: their number and the latest start. */
export async function findUnjudgedByOrganization(store: Store): Promise<Map<string, string>> {
  const rows = await store.query<{ id: string; mark: string }>(
    `select organization_id as id, count(*) || ' ' || max(not_judged_since) as mark
     from monitor_states where not_judged_since is not null group by organization_id`,
    [],
  );
  return new Map(rows.map(({ id, mark }) => [id, mark]));
}
