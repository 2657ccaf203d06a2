/** Creates, reads and renames organizations, and knows whether several share the appliance. */
import { and, asc, eq, isNull, like, sql } from "drizzle-orm";
import { buildAuditAndEvent, commit, guardCurrent } from "../../events/commit.ts";
import { type Actor, commandLine, type Scope } from "../../events/scope.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createId } from "../../core/ids.ts";
import { reservedSlugs } from "../../core/fields.ts";
import { parse } from "../../core/validation.ts";
import {
  guard,
  retryOnStaleRead,
  StaleRead,
  type Statement,
  type Store,
} from "../../database/store.ts";
import { organizations } from "../../database/tables/organizations.ts";
import { organizationSettings } from "../../database/tables/accounts.ts";
import { statusPages } from "../../database/tables/status-pages.ts";
import { pickFreeSlug, deriveSlug } from "./rules.ts";
import { OrganizationName, type OrganizationPatch } from "./schema.ts";
import { buildFirstVersion } from "../../database/rows.ts";

export type Organization = { id: string; slug: string; name: string; createdAt: string };

const columns = {
  id: organizations.id,
  slug: organizations.slug,
  name: organizations.name,
  createdAt: organizations.createdAt,
};

export function listOrganizations(store: Store): Promise<Organization[]> {
  return store.db
    .select(columns)
    .from(organizations)
    .where(isNull(organizations.deletedAt))
    .orderBy(asc(organizations.slug));
}

/** Finds an organization by slug. Throws NOT_FOUND. */
export async function getOrganization(store: Store, slug: string): Promise<Organization> {
  const [organization] = await store.db
    .select(columns)
    .from(organizations)
    .where(and(eq(organizations.slug, slug), isNull(organizations.deletedAt)));
  if (organization === undefined)
    throw new AppError("NOT_FOUND", `There is no organization with the slug ${slug}.`);
  return organization;
}

/**
 * Creates an organization with a free slug and its default status page. Throws VALIDATION_ERROR for
 * a blank or overlong name.
 */
export function createOrganization(store: Store, clock: Clock, name: string) {
  parse(OrganizationName, name, "name");
  return retryOnStaleRead(async () => {
    const { organization, statements } = await buildNewOrganization({ store, clock }, name, {
      actor: commandLine,
      requestId: null,
    });
    await store.atomic(statements);
    return organization;
  });
}

/**
 * Returns a new organization with a free slug, and the statements that create it. After a race for
 * the slug, `retryOnStaleRead` chooses another.
 */
export async function buildNewOrganization(
  { store, clock }: { store: Store; clock: Clock },
  name: string,
  { timeZone = "UTC", ...by }: { actor: Actor; requestId: string | null; timeZone?: string },
): Promise<{ organization: Organization; statements: Statement[] }> {
  const now = clock();
  const at = formatTimestamp(now);
  const wish = deriveSlug(name);
  const [similar, pages] = await Promise.all(
    [organizations, statusPages].map((table) =>
      store.db
        .select({ slug: table.slug })
        .from(table)
        .where(like(table.slug, `${wish}%`)),
    ),
  );
  const takenSlugs = [...(similar ?? []), ...(pages ?? [])].map((row) => row.slug);
  const slug = pickFreeSlug(wish, new Set([...takenSlugs, ...reservedSlugs]));
  const organization = { id: createId(now), slug, name, createdAt: at };
  const organizationId = organization.id;
  const statements = [
    guard(
      sql`not exists (select 1 from ${organizations} where slug = ${slug}) and
        not exists (select 1 from ${statusPages} where slug = ${slug})`,
      () => new StaleRead(),
    ),
    store.db.insert(organizations).values(organization),
    store.db.insert(organizationSettings).values({
      organizationId,
      id: organizationId,
      secrets: "{}",
      timeZone,
      version: 1,
      updatedAt: at,
    }),
    store.db.insert(statusPages).values({
      organizationId,
      id: createId(now),
      slug,
      isDefault: true,
      title: name,
      description: "",
      theme: "auto",
      visibility: "public",
      showLatency: false,
      showPaused: true,
      historyDays: 90,
      timeZone,
      ...buildFirstVersion(at),
    }),
    ...buildAuditAndEvent(
      { organizationId, ...by },
      { action: "organization.created", subjectId: organizationId },
      at,
    ),
  ];
  return { organization, statements };
}

/** Reads the organization of the request. */
export async function getOwnOrganization({ store, organizationId }: Scope) {
  const [row] = await store.db
    .select({
      ...columns,
      timeZone: organizationSettings.timeZone,
      slaTarget: organizationSettings.slaTarget,
      version: organizationSettings.version,
    })
    .from(organizations)
    .innerJoin(organizationSettings, eq(organizationSettings.organizationId, organizations.id))
    .where(eq(organizations.id, organizationId));
  if (row === undefined) throw new Error("The organization of the request does not exist.");
  return row;
}

/**
 * Updates an organization. Its slug never changes, because URLs of status pages contain it. Throws
 * PRECONDITION_FAILED.
 */
export function updateOrganization(scope: Scope, patch: OrganizationPatch) {
  const { store, organizationId } = scope;
  return retryOnStaleRead(async () => {
    const before = await getOwnOrganization(scope);
    const { name = before.name, timeZone = before.timeZone, slaTarget = before.slaTarget } = patch;
    const version = before.version + 1;
    const updatedAt = formatTimestamp(scope.clock());
    const after = { ...before, name, timeZone, slaTarget, version };
    return commit(
      scope,
      [
        ...guardCurrent(scope, organizationSettings, before),
        store.db.update(organizations).set({ name }).where(eq(organizations.id, organizationId)),
        store.db
          .update(organizationSettings)
          .set({ timeZone, slaTarget, version, updatedAt })
          .where(eq(organizationSettings.organizationId, organizationId)),
      ],
      {
        action: "organization.updated",
        subjectId: organizationId,
        fields: listChangedFields(before, after, Object.keys(patch)),
      },
      after,
    );
  });
}

/** Maximum staleness of another process's writes, in milliseconds. */
const trustedMs = 100;

/** Whether several organizations share this appliance, as of the last refresh. */
export function createSharing(store: Store, monotonic: Clock = () => performance.now()) {
  let revision: string | null = null;
  let isShared = false;
  let commits = 0;
  let known = { commits: -1, until: 0 };
  store.onCommit(() => void commits++);
  return {
    isShared: () => isShared,
    /** Updates `isShared`. Each check calls this, so it is cheap without recent writes by this process. */
    async refresh() {
      if (known.commits === commits && monotonic() < known.until) return;
      const nextState = { commits, until: monotonic() + trustedMs };
      const now = store.revision();
      if (now === null || now !== revision) {
        const portion = "select 1 from organizations where deleted_at is null limit 2";
        isShared = (await store.query(portion, [])).length > 1;
        revision = now;
      }
      known = nextState;
    },
  };
}
