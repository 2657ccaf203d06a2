import { createECDH } from "node:crypto";
import type { Vault } from "../core/security/secrets.ts";

/** Identifies this appliance to push services (RFC 8292). Both keys are Base64url. */
export type VapidKeys = { publicKey: string; privateKey: string };

/** Order of the curve P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Derives the key pair from the appliance's secret key (FIPS 186-5 A.2.1). Subscriptions are bound to it. */
export function deriveVapidKeys(vault: Vault): VapidKeys {
  const seed = BigInt(`0x${vault.derive("web push", 48).toString("hex")}`);
  const secret = ((seed % (order - 1n)) + 1n).toString(16).padStart(64, "0");
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(secret, "hex");
  return {
    publicKey: pair.getPublicKey("base64url"),
    privateKey: Buffer.from(secret, "hex").toString("base64url"),
  };
}
