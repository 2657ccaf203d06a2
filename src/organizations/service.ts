import { asc, eq, like } from "drizzle-orm";
import { sql } from "drizzle-orm";
import { type Clock, timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { line } from "../base/fields.ts";
import { newId } from "../base/ids.ts";
import { reservedSlugs } from "../base/slug.ts";
import { parse } from "../base/validation.ts";
import { must, retrying, StaleRead, type Store } from "../database/store.ts";
import {
  auditEntries,
  organizations,
  organizationSettings,
  statusPages,
} from "../database/tables.ts";
import { appendEvent } from "../events/log.ts";
import { freeSlug, slugOf } from "./rules.ts";

export type Organization = { id: string; slug: string; name: string; createdAt: string };

export function listOrganizations(store: Store): Promise<Organization[]> {
  return store.db.select().from(organizations).orderBy(asc(organizations.slug));
}

/** Throws NOT_FOUND. */
export async function getOrganization(store: Store, slug: string): Promise<Organization> {
  const [organization] = await store.db
    .select()
    .from(organizations)
    .where(eq(organizations.slug, slug));
  if (organization === undefined)
    throw new AppError("NOT_FOUND", `There is no organization with the slug ${slug}.`);
  return organization;
}

/** Makes an organization with a free slug, and its default status page under that slug. Throws VALIDATION_ERROR for a blank or overlong name. */
export function createOrganization(
  store: Store,
  clock: Clock,
  name: string,
): Promise<Organization> {
  parse(line(255), name, "name");
  return retrying(async () => {
    const now = clock();
    const at = timestamp(now);
    const wish = slugOf(name);
    const [similar, pages] = await Promise.all(
      [organizations, statusPages].map((table) =>
        store.db
          .select({ slug: table.slug })
          .from(table)
          .where(like(table.slug, `${wish}%`)),
      ),
    );
    const taken = [...(similar ?? []), ...(pages ?? [])].map((row) => row.slug);
    const slug = freeSlug(wish, new Set([...taken, ...reservedSlugs]));
    const organization = { id: newId(now), slug, name, createdAt: at };
    const organizationId = organization.id;
    await store.atomic([
      must(
        sql`not exists (select 1 from ${organizations} where slug = ${slug}) and
          not exists (select 1 from ${statusPages} where slug = ${slug})`,
        () => new StaleRead(),
      ),
      store.db.insert(organizations).values(organization),
      store.db.insert(organizationSettings).values({
        organizationId,
        id: organizationId,
        secrets: "{}",
        timeZone: "UTC",
        version: 1,
        updatedAt: at,
      }),
      store.db.insert(statusPages).values({
        organizationId,
        id: newId(now),
        slug,
        isDefault: true,
        title: name,
        description: "",
        theme: "auto",
        visibility: "public",
        showLatency: false,
        historyDays: 90,
        timeZone: "UTC",
        version: 1,
        createdAt: at,
        updatedAt: at,
      }),
      store.db.insert(auditEntries).values({
        organizationId,
        at,
        actorType: "command-line",
        actorName: "command line",
        action: "organization.created",
        subjectId: organizationId,
      }),
      appendEvent({
        organizationId,
        at,
        type: "organization.created",
        subjectId: organizationId,
      }),
    ]);
    return organization;
  });
}
