/** Changes the signed-in person's profile and password. */
import { listChangedFields } from "../../core/field-changes.ts";
import { AppError } from "../../core/errors.ts";
import { formatTimestamp, minuteMs } from "../../core/time/clock.ts";
import { hashPassword, isPassword } from "../../core/security/passwords.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { retryOnStaleRead } from "../../database/store.ts";
import {
  countAttempt,
  buildHashingClient,
  tryWithLimits,
} from "../../http/access/attempt-limits.ts";
import { signInRequiredError } from "../../http/access/session.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { buildPersonAudit, buildRenewedSession } from "../sessions/service.ts";
import {
  changePerson,
  findPeopleByEmail,
  findPerson,
  guardDistinctPassword,
  guardFreeEmail,
  assertStrongPassword,
  noWrongCodes,
  type PersonRow,
} from "./store.ts";
import { storeLanguage } from "./page-language.ts";
import { emailKeyOf } from "./rules.ts";
import type { PasswordChange, Profile, ProfilePatch } from "./schema.ts";

/** Reads the row of the signed-in person. Throws UNAUTHORIZED if the person was removed in the meantime. */
export async function getOwnRow({ store, session }: SignedInContext): Promise<PersonRow> {
  const row = await findPerson(store, session.person.id);
  if (row === null) throw signInRequiredError();
  return row;
}

/**
 * Confirms the signed-in person's password before a sensitive change, in case someone else uses the
 * browser. Throws VALIDATION_ERROR that names `field`, RATE_LIMITED.
 */
export async function reauthenticate(
  context: SignedInContext,
  password: string,
  field = "password",
): Promise<PersonRow> {
  const row = await getOwnRow(context);
  const known = await tryWithLimits(
    context,
    async () =>
      (await isPassword(password, row.passwordHash, buildHashingClient(context))) ? true : null,
    `session ${context.session.id}`,
  );
  if (known === null) throw invalidFieldError(field, "is not your password");
  return row;
}

/** Age of a sign-in that confirms a change by a person without a password. */
const recentSignInMs = 10 * minuteMs;

/**
 * Confirms a new way to sign in: by the password, or by a recent sign-in of a person without one.
 * Throws VALIDATION_ERROR for the password, FORBIDDEN for an old sign-in, RATE_LIMITED.
 */
export async function confirmSignInChange(
  context: SignedInContext,
  password: string | undefined,
): Promise<PersonRow> {
  const row = await getOwnRow(context);
  if (row.hasPassword && password === undefined)
    throw invalidFieldError("password", "is required: your current one");
  if (password !== undefined) return reauthenticate(context, password);
  if (Math.abs(context.clock() - Date.parse(context.session.startedAt)) < recentSignInMs)
    return row;
  throw new AppError(
    "FORBIDDEN",
    "You have no password, so this needs a recent sign-in. Sign out and in again, then do this within 10 minutes.",
  );
}

/**
 * Updates the signed-in person's profile. A new e-mail address requires the password. The response
 * does not reveal whether people of other organizations have the same address. Throws CONFLICT if a
 * member of a shared organization has it, VALIDATION_ERROR for the password, RATE_LIMITED.
 */
export function updateProfile(context: SignedInContext, patch: ProfilePatch): Promise<Profile> {
  const { store, clock, session } = context;
  const { password, ...fields } = patch;
  return retryOnStaleRead(async () => {
    const ownRow = await getOwnRow(context);
    const {
      name = ownRow.name,
      email = ownRow.email,
      timeZone = ownRow.timeZone,
      hourCycle = ownRow.hourCycle,
      language = ownRow.language,
    } = patch;
    const emailColumns =
      email === ownRow.email ? ownRow : await hashForEmail(context, email, password);
    const { passwordHash } = emailColumns;
    const emailKey = emailKeyOf(email);
    await store.atomic([
      guardFreeEmail(ownRow.id, emailKey),
      guardDistinctPassword({ id: ownRow.id, emailKey, passwordHash }),
      ...changePerson(store, emailColumns, {
        name,
        email,
        emailKey,
        passwordHash,
        timeZone,
        hourCycle,
        language,
        updatedAt: formatTimestamp(clock()),
      }),
      ...buildPersonAudit(
        context,
        "person.updated",
        listChangedFields(
          ownRow,
          { name, email, timeZone, hourCycle, language },
          Object.keys(fields),
        ),
      ),
    ]);
    storeLanguage(context, language);
    return { ...session.person, name, email, timeZone, hourCycle, language };
  });
}

/**
 * Hashes the password for a new address. People who share an address share a salt, so that a
 * sign-in takes equally long for one and for several.
 */
async function hashForEmail(context: SignedInContext, email: string, password: string | undefined) {
  if (password === undefined)
    throw invalidFieldError("password", "is required for another e-mail address: your current one");
  const row = await reauthenticate(context, password);
  // The password of another person with this address is rejected. That can reveal it, so it counts
  // as an attempt.
  countAttempt(context);
  const others = await findPeopleByEmail(context.store, emailKeyOf(email));
  const like = others.find(({ id }) => id !== row.id) ?? row;
  const passwordHash = await hashPassword(password, buildHashingClient(context), like.passwordHash);
  return { ...row, passwordHash };
}

/**
 * Changes the password, ends all other sessions, and renews this session's cookie. Throws
 * VALIDATION_ERROR, RATE_LIMITED.
 */
export async function changePassword(context: SignedInContext, change: PasswordChange) {
  const { store, clock, session } = context;
  const { name, email } = session.person;
  const organizations = session.organizations.map((one) => one.name);
  assertStrongPassword(change.password, [name, email, ...organizations]);
  const handOver = await retryOnStaleRead(async () => {
    const row = await reauthenticate(context, change.current, "current");
    // The password of another person with this address is rejected. That can reveal it, so it
    // counts as an attempt.
    countAttempt(context);
    const passwordHash = await hashPassword(
      change.password,
      buildHashingClient(context),
      row.passwordHash,
    );
    const renewed = buildRenewedSession(context);
    await store.atomic([
      guardDistinctPassword({ ...row, passwordHash }),
      ...changePerson(store, row, {
        passwordHash,
        ...noWrongCodes,
        updatedAt: formatTimestamp(clock()),
      }),
      ...renewed.statements,
      ...buildPersonAudit(context, "person.password-changed", ["password"]),
    ]);
    return renewed.handOver;
  });
  handOver();
}

/** Dismisses the report of wrong two-factor codes. */
export function acknowledgeWrongCodes(context: SignedInContext): Promise<void> {
  return retryOnStaleRead(async () =>
    context.store.atomic(changePerson(context.store, await getOwnRow(context), noWrongCodes)),
  );
}
