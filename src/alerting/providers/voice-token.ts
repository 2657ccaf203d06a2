import { createPrivateKey, sign } from "node:crypto";

/** Validity of a token, in seconds. */
const validSeconds = 300;

/**
 * Signs a JSON Web Token (RS256) for an application at Vonage. Throws if the private key can't be read. The key is a
 * PEM without line breaks. https://developer.vonage.com/en/getting-started/concepts/authentication#json-web-tokens
 */
export function signToken(privateKey: string, applicationId: string, now: number): string {
  const der = Buffer.from(privateKey.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  // Older versions of OpenSSL write keys in PKCS #1.
  const type = privateKey.includes("BEGIN RSA") ? "pkcs1" : "pkcs8";
  const key = createPrivateKey({ key: der, format: "der", type });
  const iat = Math.floor(now / 1_000);
  const claims = {
    application_id: applicationId,
    iat,
    exp: iat + validSeconds,
    jti: crypto.randomUUID(),
  };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const content = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claims)}`;
  return `${content}.${sign("sha256", Buffer.from(content), key).toString("base64url")}`;
}
