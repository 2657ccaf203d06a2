/** Encrypts and decrypts secret fields. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { sha256 } from "../ids.ts";

export type Vault = ReturnType<typeof createVault>;

const format = "v1";

/**
 * Creates a vault, which encrypts with AES-256-GCM. `location` (organization, record, field) is authenticated, so that a
 * value can't be decrypted in another location.
 */
export function createVault(key: Uint8Array) {
  const numberKey = new Uint8Array(hkdfSync("sha256", key, "", "sealed numbers", 32));
  const signingKey = new Uint8Array(hkdfSync("sha256", key, "", "signed links", 32));
  // One AES block is a permutation. Half of it contains the number, and the other half identifies the location.
  const buildNumberBlock = (number: number, location: string) => {
    const block = Buffer.alloc(16);
    block.writeBigUInt64BE(BigInt(number));
    block.write(sha256(location), 8, 8, "hex");
    return block;
  };

  return {
    /**
     * Encrypts a whole number as 22 characters. They are deterministic, and reveal neither the number nor its
     * distance to others.
     */
    sealNumber(number: number, location: string): string {
      const cipher = createCipheriv("aes-256-ecb", numberKey, null).setAutoPadding(false);
      return Buffer.concat([
        cipher.update(buildNumberBlock(number, location)),
        cipher.final(),
      ]).toString("base64url");
    },
    /** Decrypts a number; null if it was not encrypted with this key for this location. */
    openNumber(sealed: string, location: string): number | null {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length !== 16) return null;
      const decipher = createDecipheriv("aes-256-ecb", numberKey, null).setAutoPadding(false);
      const block = Buffer.concat([decipher.update(bytes), decipher.final()]);
      const number = Number(block.readBigUInt64BE());
      return buildNumberBlock(number, location).equals(block) ? number : null;
    },
    /** Derives secret bytes for a purpose (HKDF, RFC 5869): the same after a restore, and on all nodes of a cluster. */
    derive(purpose: string, length: number): Buffer {
      return Buffer.from(hkdfSync("sha256", key, "", purpose, length));
    },
    /** Signs a text with HMAC-SHA256. Only this appliance can verify the signature. */
    sign(text: string): Buffer {
      return createHmac("sha256", signingKey).update(text).digest();
    },
    seal(plain: string, location: string): string {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(location));
      const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return [format, iv, cipher.getAuthTag(), sealed]
        .map((part) => (typeof part === "string" ? part : part.toString("base64url")))
        .join(".");
    },
    open(sealed: string, location: string): string {
      const [version, iv, tag, text] = sealed.split(".");
      if (version !== format || iv === undefined || tag === undefined || text === undefined)
        throw new Error("A sealed value has an unknown format.");
      const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(iv, "base64url"))
        .setAAD(Buffer.from(location))
        .setAuthTag(Buffer.from(tag, "base64url"));
      return decipher.update(text, "base64url", "utf8") + decipher.final("utf8");
    },
  };
}

/** Encrypts secrets by field path, as JSON for a row. Each is bound to its path in the record. */
export function sealAll(vault: Vault, record: string, secrets: Readonly<Record<string, string>>) {
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(secrets).map(([path, plain]) => [
        path,
        vault.seal(plain, `${record}/${path}`),
      ]),
    ),
  );
}

/** Reverses `sealAll`. */
export function openAll(vault: Vault, record: string, sealed: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(JSON.parse(sealed) as Record<string, string>).map(([path, text]) => [
      path,
      vault.open(text, `${record}/${path}`),
    ]),
  );
}
