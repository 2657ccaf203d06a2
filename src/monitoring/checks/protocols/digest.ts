import { createHash } from "node:crypto";

/** Computes the digest of the concatenated parts. */
export function computeDigest(
  algorithm: "md5" | "sha1" | "sha256",
  ...parts: readonly (string | Uint8Array)[]
): Buffer {
  const hash = createHash(algorithm);
  for (const part of parts) hash.update(part);
  return hash.digest();
}
