import { type Clock, timestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { invalid } from "../../core/validation.ts";
import type { Statement, Store } from "../../database/store.ts";
import { emailKeyOf, validatePassword } from "./rules.ts";
import { addPerson, mustBeDistinct, type NewPersonRow } from "./store.ts";

export type NewPerson = { name: string; email: string; password: string };

/** The row of somebody new, and the statements that add it. Its password was judged before it was hashed. */
export function newPerson(
  { store, clock }: { store: Store; clock: Clock },
  { name, email }: Omit<NewPerson, "password">,
  passwordHash: string,
): { id: string; row: NewPersonRow; statements: Statement[] } {
  const now = clock();
  const at = timestamp(now);
  const row: NewPersonRow = {
    id: newId(now),
    name,
    email,
    emailKey: emailKeyOf(email),
    passwordHash,
    totpSecret: null,
    totpPending: null,
    totpStep: 0,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  return { id: row.id, row, statements: [mustBeDistinct(row), addPerson(store, row)] };
}

/** Throws VALIDATION_ERROR for a password that anybody would try on somebody of these names. */
export function mustBeStrongPassword(password: string, known: readonly string[]) {
  const issue = validatePassword(password, known);
  if (issue !== null) throw invalid("password", issue);
}
