/** Signs people in with passkeys, alone or after the password. */
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { retryOnStaleRead } from "../../database/store.ts";
import { tryWithLimits } from "../../http/access/attempt-limits.ts";
import { directWay, signInRequiredError } from "../../http/access/session.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { challengeMs, findRpId, getRpId, isNextCount } from "../passkeys/rules.ts";
import type { PasskeyProof, RequestOptions } from "../passkeys/schema.ts";
import { createChallenge, verifyPasskey } from "../passkeys/service.ts";
import { buildPasskeyUse, findPasskeys } from "../passkeys/store.ts";
import { findOrganizationIds, findPerson, type PersonRow } from "../people/store.ts";
import { buildAuditRows } from "../sessions/service.ts";
import { guardWaiting } from "../sessions/store.ts";
import { clearWrongCodes } from "../two-factor/service.ts";
import type { Stage } from "./schema.ts";
import { startSession } from "./service.ts";

/** Returns the options of a sign-in with any passkey for this host. Throws CONFLICT under an IP address. */
export function createSignInOptions(context: VisitorContext): RequestOptions {
  return {
    challenge: createChallenge(context, "sign-in"),
    rpId: getRpId(context.origin),
    allowCredentials: [],
    // Without a password, the authenticator must also check a PIN, a finger or a face.
    userVerification: "required",
    timeout: challengeMs,
  };
}

/** Returns the second factors of the sign-in in progress. Throws UNAUTHORIZED if there is none. */
export async function describeSecondFactors(context: VisitorContext) {
  const { store, session, origin } = context;
  const person = await getWaitingPerson(context);
  const rpId = findRpId(origin);
  const ownPasskeys = await findPasskeys(store, person.id);
  const usable = ownPasskeys.filter((row) => row.rpId === rpId);
  const others = ownPasskeys.filter((row) => row.rpId !== rpId).map((row) => row.rpId);
  const passkey: RequestOptions | null =
    rpId === null || session === null || usable.length === 0
      ? null
      : {
          challenge: createChallenge(context, `second-factor ${session.id}`),
          rpId,
          allowCredentials: usable.map(({ credentialId, transports }) => ({
            type: "public-key",
            id: credentialId,
            transports: JSON.parse(transports) as string[],
          })),
          userVerification: "discouraged",
          timeout: challengeMs,
        };
  return {
    passkey,
    elsewhere: [...new Set(others)],
    authenticatorApp: person.totpSecret !== null,
  };
}

async function getWaitingPerson({ store, session }: VisitorContext): Promise<PersonRow> {
  const person =
    session?.stage === "two-factor" ? await findPerson(store, session.person.id) : null;
  if (person === null) throw signInRequiredError();
  return person;
}

const createRefusedError = () =>
  new AppError(
    "UNAUTHORIZED",
    "This passkey does not sign in here. It may have been removed, or the attempt has expired: try again.",
  );

/**
 * Signs in with a passkey: alone, or after the password of the same person. Throws UNAUTHORIZED for
 * an unknown or wrong passkey, RATE_LIMITED.
 */
export function signInWithPasskey(context: VisitorContext, proof: PasskeyProof): Promise<Stage> {
  return retryOnStaleRead(async () => {
    const { store, session, clock } = context;
    const used = await tryWithLimits(context, () => verifyPasskey(context, proof));
    if (used === null) throw createRefusedError();
    const { passkey, person, challengedAt, signCount, isAlone } = used;
    if (!isNextCount(passkey.signCount, signCount)) await rejectCopy(context, person);
    const lastUsedAt = formatTimestamp(clock());
    const statements = buildPasskeyUse(store, passkey, { challengedAt, signCount, lastUsedAt });
    if (isAlone || session === null)
      return startSession(context, person, "signed-in", statements, directWay);
    const further = [
      guardWaiting(session.id, signInRequiredError),
      ...statements,
      clearWrongCodes(person.id, session.id),
    ];
    return startSession(context, person, "signed-in", further, session.way);
  });
}

/** Records the use of a copied passkey. Throws UNAUTHORIZED. */
async function rejectCopy(context: VisitorContext, person: PersonRow): Promise<never> {
  const { store, address } = context;
  const visitor = { type: "visitor" as const, id: null, name: `a person at ${address}` };
  await store.atomic(
    buildAuditRows(await findOrganizationIds(store, person.id), context, visitor, {
      action: "person.passkey-refused",
      subjectId: person.id,
    }),
  );
  throw new AppError(
    "UNAUTHORIZED",
    "The sign counter of this passkey went back, so it can be a copy. Sign in another way, remove it, and add a new one.",
  );
}
