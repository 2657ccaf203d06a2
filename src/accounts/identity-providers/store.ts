/** Queries and statements of sign-in providers and of the organizations that they open. */
import { and, asc, count, eq, sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { singleSignOnBounds } from "../../core/limits.ts";
import {
  guard,
  type Prepared,
  StaleRead,
  type Statement,
  type Store,
} from "../../database/store.ts";
import {
  identities,
  identityProviderOrganizations,
  identityProviders,
  sessions,
} from "../../database/tables/accounts.ts";
import { organizations } from "../../database/tables/organizations.ts";
import type { GroupRole, ProviderOrganization, ProviderSettings } from "./schema.ts";

export type ProviderRow = typeof identityProviders.$inferSelect;

export function findProviders({ db }: Store): Promise<ProviderRow[]> {
  return db
    .select()
    .from(identityProviders)
    .orderBy(asc(identityProviders.createdAt), asc(identityProviders.id));
}

export async function findProvider({ db }: Store, id: string): Promise<ProviderRow | null> {
  const [row] = await db.select().from(identityProviders).where(eq(identityProviders.id, id));
  return row ?? null;
}

/** Returns the preset of a provider. */
export const presetOf = ({ settings }: Pick<ProviderRow, "settings">) =>
  (JSON.parse(settings) as ProviderSettings).preset;

/** Returns the organizations of all providers or of one, by provider. Deleted organizations are omitted. */
export async function findProviderOrganizations({ db }: Store, providerId?: string) {
  const rows = await db
    .select({ row: identityProviderOrganizations })
    .from(identityProviderOrganizations)
    .innerJoin(organizations, eq(organizations.id, identityProviderOrganizations.organizationId))
    .where(
      and(
        sql`${organizations.deletedAt} is null`,
        providerId === undefined
          ? undefined
          : eq(identityProviderOrganizations.providerId, providerId),
      ),
    )
    .orderBy(asc(organizations.name), asc(organizations.id));
  const byProvider = new Map<string, ProviderOrganization[]>();
  for (const { row } of rows) {
    const { organizationId, defaultRole } = row;
    const groupRoles = JSON.parse(row.groupRoles) as GroupRole[];
    const list = byProvider.get(row.providerId) ?? [];
    byProvider.set(row.providerId, [...list, { organizationId, defaultRole, groupRoles }]);
  }
  return byProvider;
}

/** Returns the number of accounts by provider. */
export async function countIdentities({ db }: Store): Promise<Map<string, number>> {
  const rows = await db
    .select({ id: identities.providerId, people: count() })
    .from(identities)
    .groupBy(identities.providerId);
  return new Map(rows.map(({ id, people }) => [id, people]));
}

/** Adds a provider, guarded by the limit of the appliance. */
export function addProvider(store: Store, row: ProviderRow): Statement[] {
  const { value } = singleSignOnBounds.providers;
  return [
    store.db.insert(identityProviders).values(row),
    guard(
      sql`(select count(*) from ${identityProviders}) <= ${value}`,
      () => new AppError("CONFLICT", `The appliance can have ${value} sign-in providers.`),
    ),
  ];
}

/** Guards that the provider is as it was read. */
export const guardProviderUnchanged = ({ id, version }: Pick<ProviderRow, "id" | "version">) =>
  guard(
    sql`exists (select 1 from ${identityProviders} where id = ${id} and version = ${version})`,
    () => new StaleRead(),
  );

/** Changes a provider, guarded by the version that was read. If it is turned off, the sessions that it started end. */
export function changeProvider(store: Store, before: ProviderRow, after: ProviderRow): Statement[] {
  return [
    guardProviderUnchanged(before),
    store.db.update(identityProviders).set(after).where(eq(identityProviders.id, before.id)),
    ...(after.enabled ? [] : [store.db.delete(sessions).where(eq(sessions.providerId, after.id))]),
  ];
}

/** Deletes a provider with the accounts of people there, and ends the sessions that it started. */
export function removeProvider(store: Store, id: string): Statement {
  return store.db.delete(identityProviders).where(eq(identityProviders.id, id));
}

/** Replaces the organizations of a provider. Fails with NOT_FOUND for an unknown organization. */
export function replaceProviderOrganizations(
  store: Store,
  providerId: string,
  replacements: readonly ProviderOrganization[],
): Statement[] {
  const providerMatch = eq(identityProviderOrganizations.providerId, providerId);
  return [
    ...replacements.map(({ organizationId }, index) => guardOrganization(organizationId, index)),
    store.db.delete(identityProviderOrganizations).where(providerMatch),
    ...replacements.map(({ groupRoles, ...one }) =>
      store.db
        .insert(identityProviderOrganizations)
        .values({ ...one, providerId, groupRoles: JSON.stringify(groupRoles) }),
    ),
  ];
}

const guardOrganization = (id: string, index: number): Prepared =>
  guard(
    sql`exists (select 1 from ${organizations} where id = ${id} and deleted_at is null)`,
    () => {
      const path = `organizations[${index}].organizationId`;
      return new AppError("NOT_FOUND", `${path} names no organization of this appliance.`, {
        details: [{ path, message: "must name an existing organization" }],
      });
    },
  );
