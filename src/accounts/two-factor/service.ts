/** Sets up and removes two-factor authentication, and checks its codes. */
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createToken, sha256 } from "../../core/ids.ts";
import { createRecentSet } from "../../core/collections/recent-set.ts";
import type { Vault } from "../../core/security/secrets.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { matchValues } from "../../database/rows.ts";
import { guard, retryOnStaleRead, type Statement, type Store } from "../../database/store.ts";
import { tryWithLimits } from "../../http/access/attempt-limits.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { findPasskeys, guardHasPasskey } from "../passkeys/store.ts";
import { getOwnRow, reauthenticate } from "../people/profile.ts";
import { hasTwoFactor } from "../people/rules.ts";
import { changePerson, type PersonRow } from "../people/store.ts";
import { buildPersonAudit, buildRenewedSession } from "../sessions/service.ts";
import {
  describeClockIssue,
  getLatestStep,
  createTotpSecret,
  normalizeRecoveryCode,
  findStepByWrongClock,
  findAcceptedStep,
  buildTotpUri,
} from "./totp.ts";
import { and, eq, gt, lt, or, sql } from "drizzle-orm";
import { people, recoveryCodes, sessions } from "../../database/tables/accounts.ts";

const recoveryCodeCount = 10;

const buildTotpPath = ({ id }: Pick<PersonRow, "id">) => `person/${id}/totp`;

/** Returns statements that use this code, guarded against concurrent use; null for a wrong or used code. */
export async function buildCodeUse(
  { store, vault }: { store: Store; vault: Vault },
  person: PersonRow,
  code: string,
  now: number,
  otherwise: () => AppError,
): Promise<Statement[] | null> {
  if (!hasTwoFactor(person)) return null;
  const totpStep =
    person.totpSecret === null
      ? null
      : await findAcceptedStep(
          vault.open(person.totpSecret, buildTotpPath(person)),
          stripSpaces(code),
          now,
          person.totpStep,
        );
  if (totpStep !== null) {
    if (namedSteps.has(`${person.id} ${totpStep}`)) return null;
    const isUnused = or(lt(people.totpStep, totpStep), gt(people.totpStep, getLatestStep(now)));
    const unused = and(eq(people.id, person.id), isUnused);
    return [
      guard(sql`exists (select 1 from ${people} where ${unused})`, otherwise),
      store.db.update(people).set({ totpStep }).where(unused),
    ];
  }
  const hash = sha256(normalizeRecoveryCode(code));
  const matchesCode = matchValues(recoveryCodes, { personId: person.id, hash });
  if ((await store.db.$count(recoveryCodes, matchesCode)) === 0) return null;
  return [
    guard(sql`exists (select 1 from ${recoveryCodes} where ${matchesCode})`, otherwise),
    store.db.delete(recoveryCodes).where(matchesCode),
  ];
}

/**
 * Codes that `findClockIssue` reported as valid at another time. They are rejected even then, because
 * the code can be a guess.
 */
const namedSteps = createRecentSet(10_000);

/** Returns a message for a code that would be correct with a wrong clock; null for other wrong codes. */
export async function findClockIssue(
  { vault }: { vault: Vault },
  person: PersonRow,
  code: string,
  now: number,
): Promise<string | null> {
  if (person.totpSecret === null) return null;
  const secret = vault.open(person.totpSecret, buildTotpPath(person));
  const step = await findStepByWrongClock(secret, stripSpaces(code), now);
  const isUsed = step !== null && step <= person.totpStep && person.totpStep <= getLatestStep(now);
  if (step === null || isUsed || namedSteps.has(`${person.id} ${step}`)) return null;
  namedSteps.add(`${person.id} ${step}`);
  return describeClockIssue(step, now);
}

const stripSpaces = (code: string) => code.replaceAll(" ", "");

/** Creates a secret, which its first code confirms. Throws VALIDATION_ERROR for a wrong password, RATE_LIMITED, and CONFLICT if two-factor is on. */
export function beginTwoFactor(context: SignedInContext, password: string) {
  const { store, vault } = context;
  return retryOnStaleRead(async () => {
    const person = await reauthenticate(context, password);
    if (person.totpSecret !== null)
      throw new AppError(
        "CONFLICT",
        "An authenticator app is set up. Turn two-factor off before you set it up again.",
      );
    const secret = await createTotpSecret();
    const totpPending = vault.seal(secret, buildTotpPath(person));
    await store.atomic([
      ...changePerson(store, person, { totpPending }),
      ...buildPersonAudit(context, "person.two-factor-begun"),
    ]);
    return { secret, uri: await buildTotpUri(secret, person.email) };
  });
}

/** Turns two-factor on, ends all other sessions, and replaces this session's cookie. Throws VALIDATION_ERROR for a wrong code, RATE_LIMITED, and CONFLICT without a new secret. */
export async function confirmTwoFactor(context: SignedInContext, code: string) {
  const { vault, clock } = context;
  const { codes, handOver } = await retryOnStaleRead(async () => {
    const person = await getOwnRow(context);
    if (person.totpPending === null)
      throw new AppError("CONFLICT", "Two-factor was not started, or is already on.");
    const secret = vault.open(person.totpPending, buildTotpPath(person));
    const codeDigits = stripSpaces(code);
    const now = clock();
    const step = await tryWithLimits(context, async () =>
      findAcceptedStep(secret, codeDigits, now, 0),
    );
    if (step === null) {
      const other = await findStepByWrongClock(secret, codeDigits, now);
      const issue = other === null ? null : describeClockIssue(other, now);
      throw invalidFieldError("code", issue ?? "is not the code that this secret gives now");
    }
    return turnOn(context, person, [], {
      totpSecret: person.totpPending,
      totpPending: null,
      totpStep: step,
    });
  });
  handOver();
  return { recoveryCodes: codes };
}

/** Turns two-factor on with new recovery codes, and replaces all sessions of the person by one. */
async function turnOn(
  context: SignedInContext,
  person: PersonRow,
  guards: readonly Statement[],
  change: Partial<PersonRow>,
) {
  const { store, clock } = context;
  const { codes, statements } = createRecoveryCodes(store, person.id);
  const renewed = buildRenewedSession(context);
  await store.atomic([
    ...guards,
    ...changePerson(store, person, { ...change, updatedAt: formatTimestamp(clock()) }),
    ...statements,
    ...renewed.statements,
    ...buildPersonAudit(context, "person.two-factor-on"),
  ]);
  return { codes, handOver: renewed.handOver };
}

function createRecoveryCodes(store: Store, personId: string) {
  const codes = Array.from({ length: recoveryCodeCount }, () =>
    (createToken(16).toLowerCase().match(/.{4}/g) ?? []).join("-"),
  );
  const hashes = codes.map((code) => sha256(normalizeRecoveryCode(code)));
  return { codes, statements: setRecoveryCodes(store, personId, hashes) };
}

/** Returns the second factors of the signed-in person. */
export async function describeTwoFactor(context: SignedInContext) {
  const person = await getOwnRow(context);
  const personMatch = eq(recoveryCodes.personId, person.id);
  return {
    password: person.hasPassword,
    authenticatorApp: person.totpSecret !== null,
    passkeys: hasTwoFactor(person) && (await findPasskeys(context.store, person.id)).length > 0,
    recoveryCodesLeft: await context.store.db.$count(recoveryCodes, personMatch),
  };
}

/**
 * Turns two-factor on with the person's passkeys, ends all other sessions, and replaces this
 * session's cookie. Throws VALIDATION_ERROR for a wrong password, RATE_LIMITED, and CONFLICT without
 * a passkey or if two-factor is on.
 */
export async function usePasskeysAsFactor(context: SignedInContext, password: string) {
  const { codes, handOver } = await retryOnStaleRead(async () => {
    const person = await reauthenticate(context, password);
    if (hasTwoFactor(person))
      throw new AppError("CONFLICT", "Two-factor is on, and accepts your passkeys already.");
    const guard = guardHasPasskey(
      person.id,
      () => new AppError("CONFLICT", "Add a passkey first. Then it can be your second factor."),
    );
    return turnOn(context, person, [guard], { passkeyFactor: true });
  });
  handOver();
  return { recoveryCodes: codes };
}

/** Turns two-factor off, or cancels its set-up. Passkeys can still sign in alone. Throws VALIDATION_ERROR for a wrong password, RATE_LIMITED. */
export async function disableTwoFactor(context: SignedInContext, password: string): Promise<void> {
  const { store, clock } = context;
  await retryOnStaleRead(async () => {
    const person = await reauthenticate(context, password);
    await store.atomic([
      ...changePerson(store, person, {
        totpSecret: null,
        totpPending: null,
        passkeyFactor: false,
        updatedAt: formatTimestamp(clock()),
      }),
      ...setRecoveryCodes(store, person.id, []),
      ...buildPersonAudit(context, "person.two-factor-off"),
    ]);
  });
}

/** Replaces the recovery codes. Throws VALIDATION_ERROR for a wrong password, RATE_LIMITED, and CONFLICT if two-factor is off. */
export async function renewRecoveryCodes(context: SignedInContext, password: string) {
  const { store } = context;
  return retryOnStaleRead(async () => {
    const person = await reauthenticate(context, password);
    if (!hasTwoFactor(person)) throw new AppError("CONFLICT", "Two-factor is off.");
    const { codes, statements } = createRecoveryCodes(store, person.id);
    await store.atomic([
      ...changePerson(store, person, {}),
      ...statements,
      ...buildPersonAudit(context, "person.recovery-codes-renewed"),
    ]);
    return { recoveryCodes: codes };
  });
}

/** Replaces the recovery codes. */
function setRecoveryCodes(store: Store, personId: string, hashes: readonly string[]) {
  return [
    store.db.delete(recoveryCodes).where(eq(recoveryCodes.personId, personId)),
    ...hashes.map((hash) => store.db.insert(recoveryCodes).values({ personId, hash })),
  ];
}

/** Returns a statement that counts a wrong code for the report to the person. */
export function recordWrongCode(store: Store, personId: string, at: string, address: string) {
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

/**
 * Returns a statement that subtracts the wrong codes of a successful sign-in from the report,
 * because the person entered them.
 */
export function clearWrongCodes(personId: string, sessionId: string): Statement {
  const wrongCodesSql = sql`(select wrong_codes from ${sessions} where id = ${sessionId})`;
  return sql`update ${people} set wrong_codes = max(0, wrong_codes - ${wrongCodesSql}),
    wrong_code_at = case when wrong_codes > ${wrongCodesSql} then wrong_code_at end,
    wrong_code_since = case when wrong_codes > ${wrongCodesSql} then wrong_code_since end,
    wrong_code_from = case when ${wrongCodesSql} = 0 then wrong_code_from end where id = ${personId}`;
}
