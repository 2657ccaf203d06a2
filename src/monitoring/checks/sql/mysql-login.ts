/** Sign-in methods of MySQL and MariaDB: proofs of the password, and encryption of the password for some servers. */
import { constants, createPublicKey, type KeyObject, publicEncrypt } from "node:crypto";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { computeDigest } from "../protocols/digest.ts";
import { unsupportedSignInError } from "./session.ts";

const xor = (bytes: Uint8Array, mask: Uint8Array) =>
  Buffer.from(bytes.map((byte, index) => byte ^ (mask[index % mask.length] ?? 0)));

type Proof = (password: string, nonce: Buffer) => Buffer;

/** Methods that prove the password without sending it, by the name of their plugin. */
const proofByPlugin = new Map<string, Proof>([
  ["mysql_native_password", computeNativeProof],
  ["caching_sha2_password", computeCachingSha2Proof],
]);

/** Proof of mysql_native_password: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_authentication_methods_native_password_authentication.html */
function computeNativeProof(password: string, nonce: Buffer): Buffer {
  const stage = computeDigest("sha1", password);
  return xor(stage, computeDigest("sha1", nonce, computeDigest("sha1", stage)));
}

/** Proof of caching_sha2_password: https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html */
function computeCachingSha2Proof(password: string, nonce: Buffer): Buffer {
  const stage = computeDigest("sha256", password);
  return xor(stage, computeDigest("sha256", computeDigest("sha256", stage), nonce));
}

/** Known plugins that are not supported: they send the password itself, or need keys that the appliance lacks. */
const unsupportedPlugins = new Set([
  "auth_gssapi_client",
  "authentication_ldap_sasl_client",
  "client_ed25519",
  "dialog",
  "mysql_clear_password",
  "mysql_old_password",
  "parsec",
  "sha256_password",
]);

export const canProve = (plugin: string) => proofByPlugin.has(plugin);

/** Computes the proof of the password for a plugin. Throws TargetFailure for an unsupported plugin. */
export function computeProof(plugin: string, password: string, nonce: Buffer): Buffer {
  const proof = proofByPlugin.get(plugin);
  if (proof === undefined)
    throw unsupportedSignInError(unsupportedPlugins.has(plugin) ? plugin : undefined);
  return password === "" ? Buffer.alloc(0) : proof(password, nonce.subarray(0, nonceBytes));
}

/** Length of the nonce. Servers can append a NUL. */
const nonceBytes = 20;
/** Accepted RSA key sizes. Shorter keys can be broken. Longer keys are unusual and would cost much processor time. */
const keyBits = { min: 2_048, max: 8_192 };
const maxPem = 4_096;

/** Encrypts the password with the server's RSA key. Throws TargetFailure for any other key. */
export function encryptPassword(pem: Buffer, password: string, nonce: Buffer): Buffer {
  const key = parsePublicKey(pem);
  const masked = xor(Buffer.from(`${password}\0`), nonce.subarray(0, nonceBytes));
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha1" };
  try {
    return publicEncrypt({ key, ...padding }, masked);
  } catch {
    throw new TargetFailure("The server's RSA key can't encrypt the password: turn on TLS.");
  }
}

function parsePublicKey(pem: Buffer): KeyObject {
  let key: KeyObject | null = null;
  try {
    if (pem.length <= maxPem) key = createPublicKey(pem);
  } catch {
    // Rejected below.
  }
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key?.asymmetricKeyType !== "rsa" || bits < keyBits.min || bits > keyBits.max)
    throw new TargetFailure(
      "The server sent no RSA key to encrypt the password with: turn on TLS.",
    );
  return key;
}
