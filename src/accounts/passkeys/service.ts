/** Adds, lists and removes passkeys, and verifies the responses of authenticators. */
import type {
  VerifiedAuthenticationResponse,
  VerifiedRegistrationResponse,
} from "@simplewebauthn/server";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createId } from "../../core/ids.ts";
import type { Vault } from "../../core/security/secrets.ts";
import { deletedBody } from "../../core/paging.ts";
import { invalidFieldError } from "../../core/validation.ts";
import type { SignedInContext, VisitorContext } from "../../http/visitor-context.ts";
import { confirmSignInChange } from "../people/profile.ts";
import { findPerson, guardCanSignIn } from "../people/store.ts";
import { buildPersonAudit } from "../sessions/service.ts";
import { challengeMs, findRpId, getRpId, isFreshChallenge, listBrowserOrigins } from "./rules.ts";
import type { NewPasskey, Passkey, PasskeyProof } from "./schema.ts";
import {
  addPasskey,
  findPasskeyByCredential,
  findPasskeys,
  type PasskeyRow,
  removePasskey,
  renamePasskey,
} from "./store.ts";

// Loaded lazily, because its 330 kB are needed only to verify responses of authenticators.
const loadLibrary = () => import("@simplewebauthn/server");

/** COSE algorithms that all browsers and authenticators can choose from: Ed25519, ES256, RS256. */
const algorithms = [-8, -7, -257];

/** A challenge is valid for one purpose: adding a passkey, a sign-in, or the second step of a sign-in. */
type Purpose = "sign-in" | `add ${string}` | `second-factor ${string}`;

const buildChallengePath = (purpose: Purpose) => `passkey-challenge/${purpose}`;

/** Creates a challenge with its time. It is sealed, so that nothing must be stored for visitors. */
export const createChallenge = (
  { vault, clock }: Pick<VisitorContext, "vault" | "clock">,
  to: Purpose,
) => Buffer.from(vault.seal(String(clock()), buildChallengePath(to))).toString("base64url");

/** Returns the time of a challenge; null if it was not created for this purpose. */
function openChallenge(vault: Vault, challenge: string, purpose: Purpose): number | null {
  try {
    const sealed = Buffer.from(challenge, "base64url").toString();
    return Number(vault.open(sealed, buildChallengePath(purpose)));
  } catch {
    return null;
  }
}

const describePasskey = (
  { id, name, rpId, createdAt, lastUsedAt }: PasskeyRow,
  here: string | null,
): Passkey => ({ id, name, host: rpId, here: rpId === here, createdAt, lastUsedAt });

/** Lists the passkeys of the signed-in person, oldest first. */
export async function listPasskeys({ store, session, origin }: SignedInContext) {
  const rows = await findPasskeys(store, session.person.id);
  return rows.map((row) => describePasskey(row, findRpId(origin)));
}

/**
 * Returns the options with which a browser creates a passkey. Throws CONFLICT under an IP address, and
 * the errors of `confirmSignInChange`.
 */
export async function startPasskey(context: SignedInContext, password: string | undefined) {
  const { store, origin } = context;
  const rpId = getRpId(origin);
  const { id, name, email } = await confirmSignInChange(context, password);
  const existingPasskeys = await findPasskeys(store, id);
  return {
    challenge: createChallenge(context, `add ${id}`),
    rp: { id: rpId, name: "Signalbox" },
    user: { id: Buffer.from(id).toString("base64url"), name: email, displayName: name },
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key" as const, alg })),
    excludeCredentials: existingPasskeys
      .filter((row) => row.rpId === rpId)
      .map(({ credentialId }) => ({ type: "public-key" as const, id: credentialId })),
    authenticatorSelection: {
      residentKey: "required" as const,
      userVerification: "preferred" as const,
    },
    timeout: challengeMs,
  };
}

/** Adds a created passkey. Throws VALIDATION_ERROR for a wrong response, and CONFLICT for a known passkey and too many. */
export async function createPasskey(context: SignedInContext, input: NewPasskey): Promise<Passkey> {
  const { store, session, clock, origin } = context;
  const rpId = getRpId(origin);
  const personId = session.person.id;
  const { challengedAt, credential } = await verifyRegistration(context, rpId, input);
  const now = clock();
  const row: PasskeyRow = {
    id: createId(now),
    personId,
    name: input.name,
    rpId,
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    signCount: credential.counter,
    transports: JSON.stringify(input.transports),
    challengedAt,
    createdAt: formatTimestamp(now),
    lastUsedAt: null,
  };
  await store.atomic([
    ...addPasskey(store, row),
    ...buildPersonAudit(context, "person.passkey-added"),
  ]);
  return describePasskey(row, rpId);
}

async function verifyRegistration(
  { vault, session, clock, origin, log, requestId }: SignedInContext,
  rpId: string,
  { credentialId: id, clientData, attestation }: NewPasskey,
) {
  const { verifyRegistrationResponse } = await loadLibrary();
  let challengedAt = 0;
  const response = {
    id,
    rawId: id,
    type: "public-key" as const,
    clientExtensionResults: {},
    response: { clientDataJSON: clientData, attestationObject: attestation },
  };
  let result: VerifiedRegistrationResponse | null = null;
  try {
    result = await verifyRegistrationResponse({
      response,
      expectedChallenge(challenge) {
        challengedAt = openChallenge(vault, challenge, `add ${session.person.id}`) ?? 0;
        return isFreshChallenge(challengedAt, 0, clock());
      },
      expectedOrigin: listBrowserOrigins(origin),
      expectedRPID: rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    });
  } catch (error) {
    log.warn("passkey not added", { requestId, cause: String(error) });
  }
  const credential = result?.verified === true ? result.registrationInfo.credential : null;
  if (credential?.id === id) return { challengedAt, credential };
  throw invalidFieldError("attestation", "is not a valid response to these options: try again");
}

async function getOwnPasskey({ store, session }: SignedInContext, id: string): Promise<PasskeyRow> {
  const ownPasskeys = await findPasskeys(store, session.person.id);
  const row = ownPasskeys.find((one) => one.id === id);
  if (row !== undefined) return row;
  throw new AppError("NOT_FOUND", "You have no passkey with this id.");
}

/** Renames one of the signed-in person's passkeys. Throws NOT_FOUND. */
export async function changePasskey(
  context: SignedInContext,
  id: string,
  name: string,
): Promise<Passkey> {
  const row = await getOwnPasskey(context, id);
  await context.store.atomic([
    renamePasskey(context.store, id, name),
    ...buildPersonAudit(context, "person.passkey-renamed"),
  ]);
  return describePasskey({ ...row, name }, findRpId(context.origin));
}

/** Removes one of the signed-in person's passkeys. Throws NOT_FOUND, and CONFLICT for the last second factor. */
export async function deletePasskey(
  context: SignedInContext,
  id: string,
): Promise<typeof deletedBody> {
  const row = await getOwnPasskey(context, id);
  await context.store.atomic([
    ...removePasskey(context.store, row),
    guardCanSignIn(row.personId),
    ...buildPersonAudit(context, "person.passkey-removed"),
  ]);
  return deletedBody;
}

/** Verifies the response of an authenticator; null if it does not sign in here. */
export async function verifyPasskey(context: VisitorContext, proof: PasskeyProof) {
  const { store, session, vault, origin, clock, log, address, requestId } = context;
  const passkey = await findPasskeyByCredential(store, proof.credentialId);
  const person = passkey === null ? null : await findPerson(store, passkey.personId);
  const refuse = (cause: string) => {
    log.warn("passkey refused", { address, requestId, cause });
    return null;
  };
  if (passkey === null || person === null) return refuse("unknown credential");
  if (passkey.rpId !== findRpId(origin)) return refuse(`passkey of ${passkey.rpId}`);
  const handle = Buffer.from(person.id).toString("base64url");
  if ((proof.userHandle ?? handle) !== handle) return refuse("user handle of another person");
  const isWaiting = session?.stage === "two-factor" && session.person.id === person.id;
  let challengedAt = 0;
  let isAlone = true;
  const { verifyAuthenticationResponse } = await loadLibrary();
  let result: VerifiedAuthenticationResponse | null = null;
  try {
    result = await verifyAuthenticationResponse({
      response: toLibraryResponse(proof),
      expectedChallenge(challenge) {
        const second = isWaiting
          ? openChallenge(vault, challenge, `second-factor ${session.id}`)
          : null;
        isAlone = second === null;
        challengedAt = second ?? openChallenge(vault, challenge, "sign-in") ?? 0;
        return isFreshChallenge(challengedAt, passkey.challengedAt, clock());
      },
      expectedOrigin: listBrowserOrigins(origin),
      expectedRPID: passkey.rpId,
      // The stored counter is compared later, because a lower one has other consequences.
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
        counter: 0,
      },
      requireUserVerification: false,
    });
  } catch (error) {
    return refuse(String(error));
  }
  if (!result.verified) return refuse("wrong signature");
  const { newCounter: signCount, userVerified } = result.authenticationInfo;
  if (isAlone && !userVerified) return refuse("the authenticator did not verify the person");
  return { passkey, person, challengedAt, signCount, isAlone };
}

const toLibraryResponse = (proof: PasskeyProof) => ({
  id: proof.credentialId,
  rawId: proof.credentialId,
  type: "public-key" as const,
  clientExtensionResults: {},
  response: {
    clientDataJSON: proof.clientData,
    authenticatorData: proof.authenticatorData,
    signature: proof.signature,
    ...(proof.userHandle !== null && { userHandle: proof.userHandle }),
  },
});
