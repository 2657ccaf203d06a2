import { and, eq, lt, sql } from "drizzle-orm";
import type { AppError } from "../../core/errors.ts";
import { must, type Statement, type Store } from "../../database/store.ts";
import { people, recoveryCodes, sessions } from "../../database/tables/accounts.ts";

/** Takes a step for used, if none as late was taken meanwhile. */
export function consumeTotpStep(
  store: Store,
  personId: string,
  step: number,
  otherwise: () => AppError,
): Statement[] {
  const unused = and(eq(people.id, personId), lt(people.totpStep, step));
  return [
    must(sql`exists (select 1 from ${people} where ${unused})`, otherwise),
    store.db.update(people).set({ totpStep: step }).where(unused),
  ];
}

export async function hasRecoveryCode(store: Store, personId: string, hash: string) {
  const code = and(eq(recoveryCodes.personId, personId), eq(recoveryCodes.hash, hash));
  return (await store.db.$count(recoveryCodes, code)) > 0;
}

/** Takes a recovery code away, if nobody did meanwhile. */
export function consumeRecoveryCode(
  store: Store,
  personId: string,
  hash: string,
  otherwise: () => AppError,
): Statement[] {
  const code = and(eq(recoveryCodes.personId, personId), eq(recoveryCodes.hash, hash));
  return [
    must(sql`exists (select 1 from ${recoveryCodes} where ${code})`, otherwise),
    store.db.delete(recoveryCodes).where(code),
  ];
}

/** These codes in place of whatever codes there were. */
export function setRecoveryCodes(store: Store, personId: string, hashes: readonly string[]) {
  return [
    store.db.delete(recoveryCodes).where(eq(recoveryCodes.personId, personId)),
    ...hashes.map((hash) => store.db.insert(recoveryCodes).values({ personId, hash })),
  ];
}

/** Counts a wrong code for the person to be told of. */
export function countWrongCodeOf(store: Store, personId: string, at: string, address: string) {
  return store.db
    .update(people)
    .set({
      wrongCodes: sql`${people.wrongCodes} + 1`,
      wrongCodeAt: at,
      wrongCodeSince: sql`case when ${people.wrongCodes} = 0 then ${at}
        else coalesce(${people.wrongCodeSince}, ${people.wrongCodeAt}) end`,
      wrongCodeFrom: address,
    })
    .where(eq(people.id, personId));
}

/** Whoever gets in gave the wrong codes of this sign-in themselves: of them they need not be told. */
export function forgiveWrongCodes(personId: string, sessionId: string): Statement {
  const own = sql`(select wrong_codes from ${sessions} where id = ${sessionId})`;
  return sql`update ${people} set wrong_codes = max(0, wrong_codes - ${own}),
    wrong_code_at = case when wrong_codes > ${own} then wrong_code_at end,
    wrong_code_since = case when wrong_codes > ${own} then wrong_code_since end,
    wrong_code_from = case when ${own} = 0 then wrong_code_from end where id = ${personId}`;
}
