/** The browser's part of passkeys (WebAuthn). Loaded only where a person can use one. */
import { minuteMs } from "../../src/core/time/clock.ts";
import type {
  CreationOptions,
  NewPasskey,
  PasskeyProof,
  RequestOptions,
} from "../../src/accounts/passkeys/schema.ts";
import { dashboard, unwrapData } from "./client.ts";

type CreatedCredential = Omit<NewPasskey, "name">;

/** Why this browser can't use passkeys here. */
export type PasskeyObstacle = "insecure" | "address" | "unsupported";

/** Returns why this browser can't use passkeys on this page; null if it can. */
export function findPasskeyObstacle(): PasskeyObstacle | null {
  // Browsers treat no IP address as a relying party, not even with a certificate.
  if (/^\[|^[\d.]+$/.test(location.hostname)) return "address";
  if (!isSecureContext) return "insecure";
  const isKnown =
    "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential;
  return isKnown ? null : "unsupported";
}

/** Asks the browser to create a passkey. */
export async function createCredential(options: CreationOptions): Promise<CreatedCredential> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const created = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
  const { id, response } = created.toJSON() as RegistrationResponseJSON;
  return {
    credentialId: id,
    clientData: response.clientDataJSON,
    attestation: response.attestationObject,
    transports: response.transports ?? [],
  };
}

/** Asks the browser for a response of a passkey. With `conditional`, it offers passkeys while the person fills the form. */
async function proveCredential(
  options: RequestOptions,
  more: Pick<CredentialRequestOptions, "mediation" | "signal">,
): Promise<PasskeyProof> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const found = (await navigator.credentials.get({ publicKey, ...more })) as PublicKeyCredential;
  const { id, response } = found.toJSON() as AuthenticationResponseJSON;
  return {
    credentialId: id,
    clientData: response.clientDataJSON,
    authenticatorData: response.authenticatorData,
    signature: response.signature,
    userHandle: response.userHandle ?? null,
  };
}

/** The waiting request of a page. Browsers allow one at a time. */
let waitingRequest: AbortController | null = null;

/** Signs in with a passkey: with any, or with those of the options. Returns false if the person cancels. */
export async function signInWithPasskey(given?: RequestOptions): Promise<boolean> {
  return (await requestPasskey("optional", given)) !== "cancelled";
}

/**
 * Offers passkeys in the list of the e-mail field until `stop` is called. `onDone` follows a sign-in,
 * and `onError` an error of the server.
 */
export function offerPasskeys(onDone: () => void, onError: (error: unknown) => void): () => void {
  const stop = () => waitingRequest?.abort();
  // A challenge is valid for ten minutes.
  const renewal = setInterval(() => void offer(), 9 * minuteMs);
  async function offer() {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    try {
      if ((await requestPasskey("conditional")) === "done") onDone();
    } catch (error) {
      onError(error);
      void offer();
    }
  }
  void offer();
  return () => {
    clearInterval(renewal);
    stop();
  };
}

async function requestPasskey(
  mediation: CredentialMediationRequirement,
  given?: RequestOptions,
): Promise<"done" | "cancelled"> {
  const options = given ?? (await unwrapData(dashboard["sign-in"].passkey.options.post()));
  waitingRequest?.abort();
  const ownController = new AbortController();
  waitingRequest = ownController;
  let proof: PasskeyProof;
  try {
    proof = await proveCredential(options, { mediation, signal: ownController.signal });
  } catch (error) {
    if (isCancelled(error)) return "cancelled";
    throw error;
  }
  await unwrapData(dashboard["sign-in"].passkey.post(proof));
  return "done";
}

/** Whether the person has closed the browser's dialog, or another request has replaced it. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof DOMException && ["NotAllowedError", "AbortError"].includes(error.name);
