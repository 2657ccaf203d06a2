/** SCRAM login (RFC 5802, RFC 7677), which proves the password without sending it. */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { monitorBounds } from "../../../core/limits.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";

/**
 * Accepted numbers of iterations. With fewer, an impostor of the server could guess the password. 100,000 take 50 ms of a thread
 * that other checks need.
 */
const iterations = { min: 4_096, max: monitorBounds.signInIterations.value };

/** Preparation of a password. Kafka uses the UTF-8 text unchanged; other servers apply SASLprep (RFC 4013). */
type PasswordForm = "saslprep" | "raw";

/** Prepares a password. If SASLprep prohibits a character, the password stays unchanged, as on servers. */
async function preparePassword(password: string, form: PasswordForm): Promise<string> {
  if (form === "raw" || /^[\x20-\x7e]*$/.test(password)) return password;
  const { saslprep } = await import("@mongodb-js/saslprep");
  try {
    return saslprep(password);
  } catch {
    return password;
  }
}

export const refusedLoginError = () =>
  new TargetFailure("The server rejected the user name or the password.");

/** Creates one login. It proves the password to the server, and verifies that the server knows it, too. */
export function createScram(
  hash: "sha256" | "sha512",
  username: string,
  password: string,
  form: PasswordForm,
) {
  const nonce = randomBytes(18).toString("base64");
  const bare = `n=${username.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${nonce}`;
  let serverSignature: Buffer = Buffer.alloc(0);
  const computeHmac = (key: Uint8Array, text: string) =>
    createHmac(hash, key).update(text).digest();
  const computeHash = (bytes: Uint8Array) => createHash(hash).update(bytes).digest();
  return {
    first: `n,,${bare}`,
    /** Returns the message with the proof of the password, for the server's first message. Throws TargetFailure. */
    async final(serverFirst: string): Promise<string> {
      const { r = "", s = "", i = "" } = parseAttributes(serverFirst);
      const count = Number(i);
      if (!r.startsWith(nonce) || !/^\d+$/.test(i) || count < iterations.min)
        throw new TargetFailure("The server offers no safe way to sign in.");
      if (count > iterations.max)
        throw new TargetFailure(
          `Signing in needs more iterations than are supported: at most ${iterations.max}.`,
        );
      const bytes = hash === "sha256" ? 32 : 64;
      const salted = await promisify(pbkdf2)(
        await preparePassword(password, form),
        Buffer.from(s, "base64"),
        count,
        bytes,
        hash,
      );
      const key = computeHmac(salted, "Client Key");
      const last = `c=biws,r=${r}`;
      const message = `${bare},${serverFirst},${last}`;
      const mask = computeHmac(computeHash(key), message);
      const proof = Buffer.from(key.map((byte, index) => byte ^ (mask[index] ?? 0)));
      serverSignature = computeHmac(computeHmac(salted, "Server Key"), message);
      return `${last},p=${proof.toString("base64")}`;
    },
    /** Throws TargetFailure if the server does not know the password itself. */
    assertServerKnows(serverFinal: string) {
      const receivedSignature = Buffer.from(parseAttributes(serverFinal)["v"] ?? "", "base64");
      if (
        receivedSignature.length !== serverSignature.length ||
        !timingSafeEqual(receivedSignature, serverSignature)
      )
        throw refusedLoginError();
    },
  };
}

const parseAttributes = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(",").map((part) => [part.slice(0, 1), part.slice(2)]));
