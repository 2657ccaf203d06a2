import { timestamp } from "../base/clock.ts";
import { hashPassword, isPassword } from "../base/passwords.ts";
import { invalid } from "../base/validation.ts";
import { retrying } from "../database/store.ts";
import { guessed, hashingFor } from "../http/guessing.ts";
import { signInFirst } from "../http/session.ts";
import type { PersonVisit } from "../http/visit.ts";
import { endSessionsOf } from "../sessions/store.ts";
import { traceOfPerson } from "../sessions/trace.ts";
import { mustBeGood } from "./new-person.ts";
import { emailKeyOf } from "./rules.ts";
import type { PasswordChange, Profile, ProfilePatch } from "./schema.ts";
import { changePerson, findPerson, mustBeFree, type PersonRow } from "./store.ts";

/** The row of whoever asks. Throws UNAUTHORIZED where they were removed this very moment. */
export async function ownRow({ store, session }: PersonVisit): Promise<PersonRow> {
  const row = await findPerson(store, session.person.id);
  if (row === null) throw signInFirst();
  return row;
}

/** Asks for the password once more before something that a borrowed browser must not do. Throws VALIDATION_ERROR naming `field`, RATE_LIMITED. */
export async function mustKnowPassword(visit: PersonVisit, password: string, field = "password") {
  const { passwordHash } = await ownRow(visit);
  const known = await guessed(visit, async () =>
    (await isPassword(password, passwordHash, hashingFor(visit))) ? true : null,
  );
  if (known === null) throw invalid(field, "is not your password");
}

/** Throws CONFLICT for an address that somebody else signs in with. */
export function updateProfile(visit: PersonVisit, patch: ProfilePatch): Promise<Profile> {
  const { store, clock, session } = visit;
  return retrying(async () => {
    const before = await ownRow(visit);
    const { name = before.name, email = before.email } = patch;
    const emailKey = emailKeyOf(email);
    const change = { name, email, emailKey, updatedAt: timestamp(clock()) };
    await store.atomic([
      mustBeFree(emailKey, before.id),
      ...changePerson(store, before, change),
      ...traceOfPerson(visit, "person.updated", Object.keys(patch)),
    ]);
    return { ...session.person, name, email };
  });
}

/** Takes a new password for the current one, and ends all other sessions. Throws VALIDATION_ERROR, RATE_LIMITED. */
export async function changePassword(visit: PersonVisit, change: PasswordChange): Promise<void> {
  const { store, clock, session } = visit;
  const { name, email } = session.person;
  mustBeGood(change.password, [name, email, ...session.organizations.map((one) => one.name)]);
  await mustKnowPassword(visit, change.current, "current");
  const passwordHash = await hashPassword(change.password, hashingFor(visit));
  await retrying(async () =>
    store.atomic([
      ...changePerson(store, await ownRow(visit), {
        passwordHash,
        updatedAt: timestamp(clock()),
      }),
      endSessionsOf(store, session.person.id, session.id),
      ...traceOfPerson(visit, "person.password-changed", ["password"]),
    ]),
  );
}
