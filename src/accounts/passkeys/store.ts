/** Queries and statements of passkeys. */
import { and, asc, eq, ne, sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { accountBounds } from "../../core/limits.ts";
import { matchValues } from "../../database/rows.ts";
import { guard, StaleRead, type Statement, type Store } from "../../database/store.ts";
import { passkeys, people } from "../../database/tables/accounts.ts";

export type PasskeyRow = typeof passkeys.$inferSelect;

/** Returns the passkeys of a person, oldest first. */
export function findPasskeys(store: Store, personId: string): Promise<PasskeyRow[]> {
  return store.db
    .select()
    .from(passkeys)
    .where(eq(passkeys.personId, personId))
    .orderBy(asc(passkeys.createdAt), asc(passkeys.id));
}

export async function findPasskeyByCredential(
  store: Store,
  credentialId: string,
): Promise<PasskeyRow | null> {
  const [row] = await store.db
    .select()
    .from(passkeys)
    .where(eq(passkeys.credentialId, credentialId));
  return row ?? null;
}

/** Whether a person can sign in with a passkey on this host. */
export async function hasPasskeys(store: Store, rpId: string): Promise<boolean> {
  const rows = await store.query("SELECT 1 FROM passkeys WHERE rp_id = ? LIMIT 1", [rpId]);
  return rows.length > 0;
}

/** Returns statements that add a passkey, guarded by the limit per person. */
export function addPasskey(store: Store, row: PasskeyRow): Statement[] {
  return [
    guard(
      sql`not exists (select 1 from ${passkeys} where credential_id = ${row.credentialId})`,
      () => new AppError("CONFLICT", "This passkey was already added."),
    ),
    store.db.insert(passkeys).values(row),
    guard(
      sql`(select count(*) from ${passkeys} where person_id = ${row.personId})
        <= ${accountBounds.passkeys.value}`,
      () =>
        new AppError(
          "CONFLICT",
          `A person can have at most ${accountBounds.passkeys.value} passkeys.`,
        ),
    ),
  ];
}

export function renamePasskey(store: Store, id: string, name: string): Statement {
  return store.db.update(passkeys).set({ name }).where(eq(passkeys.id, id));
}

/** Returns statements that record a use, guarded against a concurrent one. */
export function buildPasskeyUse(
  store: Store,
  { id, challengedAt, signCount }: PasskeyRow,
  used: Pick<PasskeyRow, "challengedAt" | "signCount" | "lastUsedAt">,
): Statement[] {
  const unchanged = matchValues(passkeys, { id, challengedAt, signCount });
  return [
    guard(sql`exists (select 1 from ${passkeys} where ${unchanged})`, () => new StaleRead()),
    store.db.update(passkeys).set(used).where(eq(passkeys.id, id)),
  ];
}

/** Returns statements that remove a passkey, unless it is the last second factor of the person. */
export function removePasskey(store: Store, { id, personId }: PasskeyRow): Statement[] {
  const others = sql`select 1 from ${passkeys} where ${and(eq(passkeys.personId, personId), ne(passkeys.id, id))}`;
  return [
    guard(
      sql`exists (${others}) or not exists (select 1 from ${people}
        where id = ${personId} and passkey_factor and totp_secret is null)`,
      () =>
        new AppError(
          "CONFLICT",
          "This is your last second factor. Add another passkey or an authenticator app, or turn two-factor off first.",
        ),
    ),
    store.db.delete(passkeys).where(eq(passkeys.id, id)),
  ];
}

/** Guards that the person has a passkey. */
export function guardHasPasskey(personId: string, otherwise: () => AppError): Statement {
  return guard(sql`exists (select 1 from ${passkeys} where person_id = ${personId})`, otherwise);
}
