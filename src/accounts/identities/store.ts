/** Queries and statements of people's accounts at sign-in providers. */
import { and, asc, eq, sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { createId } from "../../core/ids.ts";
import { singleSignOnBounds } from "../../core/limits.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { guard, StaleRead, type Statement, type Store } from "../../database/store.ts";
import { identities, identityProviders } from "../../database/tables/accounts.ts";
import { presetOf } from "../identity-providers/store.ts";
import type { Identity } from "./schema.ts";

export type IdentityRow = typeof identities.$inferSelect;

/** An account at a provider: its permanent ID there, and the address to show. */
export type Account = Pick<IdentityRow, "providerId" | "subject" | "email">;

/** Finds the account by provider and subject, the only key of an account (OpenID Connect Core §5.7). */
export async function findIdentity(
  { db }: Store,
  { providerId, subject }: Pick<IdentityRow, "providerId" | "subject">,
): Promise<IdentityRow | null> {
  const [row] = await db
    .select()
    .from(identities)
    .where(and(eq(identities.providerId, providerId), eq(identities.subject, subject)));
  return row ?? null;
}

/** Lists a person's accounts at providers, oldest first. */
export async function listIdentities({ db }: Store, personId: string): Promise<Identity[]> {
  const rows = await db
    .select({ identity: identities, provider: identityProviders })
    .from(identities)
    .innerJoin(identityProviders, eq(identityProviders.id, identities.providerId))
    .where(eq(identities.personId, personId))
    .orderBy(asc(identities.createdAt), asc(identities.id));
  return rows.map(({ identity, provider }) => {
    const { id, email, createdAt, lastUsedAt } = identity;
    return {
      id,
      provider: { id: provider.id, name: provider.name, preset: presetOf(provider) },
      email,
      createdAt,
      lastUsedAt,
    };
  });
}

/**
 * Returns statements that link an account to a person. If the account was linked meanwhile or the
 * provider deleted, the write fails with StaleRead. Beyond the limit it fails with CONFLICT.
 */
export function addIdentity(
  { store, clock }: { store: Store; clock: Clock },
  personId: string,
  { providerId, subject, email }: Account,
  grantedOrganizations: readonly string[] = [],
): Statement[] {
  const now = clock();
  const at = formatTimestamp(now);
  const { value: maxIdentities } = singleSignOnBounds.identities;
  return [
    guard(
      sql`exists (select 1 from ${identityProviders} where id = ${providerId})
        and not exists (select 1 from ${identities}
          where provider_id = ${providerId} and subject = ${subject})`,
      () => new StaleRead(),
    ),
    store.db.insert(identities).values({
      id: createId(now),
      personId,
      providerId,
      subject,
      email,
      grantedOrganizations: JSON.stringify(grantedOrganizations),
      createdAt: at,
      lastUsedAt: at,
    }),
    guard(
      sql`(select count(*) from ${identities} where person_id = ${personId}) <= ${maxIdentities}`,
      () =>
        new AppError(
          "CONFLICT",
          `A person can have ${maxIdentities} accounts at sign-in providers.`,
        ),
    ),
  ];
}

/** Records a sign-in with the account. */
export function recordIdentityUse(
  { store, clock }: { store: Store; clock: Clock },
  { id }: IdentityRow,
  email: string | null,
  grantedOrganizations: readonly string[],
): Statement[] {
  return [
    guard(sql`exists (select 1 from ${identities} where id = ${id})`, () => new StaleRead()),
    store.db
      .update(identities)
      .set({
        email,
        grantedOrganizations: JSON.stringify(grantedOrganizations),
        lastUsedAt: formatTimestamp(clock()),
      })
      .where(eq(identities.id, id)),
  ];
}

/** Removes an account and the sessions of the person that the provider started. */
export function removeIdentity(
  store: Store,
  { id, personId, providerId }: Pick<IdentityRow, "id" | "personId" | "providerId">,
  exceptSession: string,
): Statement[] {
  return [
    store.db.delete(identities).where(eq(identities.id, id)),
    sql`delete from sessions where person_id = ${personId} and provider_id = ${providerId}
      and id <> ${exceptSession}`,
  ];
}
