import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

const unreadable = "can't be read: it is not a certificate";

/** The blocks of a PEM, one by one. */
export const certificatesIn = (pem: string): string[] =>
  pem.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];

/** Subject (common name if present) and expiry in Unix milliseconds of each certificate. */
export const subjectsIn = (pem: string): { name: string; endsAt: number }[] =>
  certificatesIn(pem).map((block) => {
    const { subject, validTo } = new X509Certificate(block);
    // RFC 2253 puts a backslash before a comma and the like.
    const lines = subject.split("\n").map((line) => line.replaceAll(/\\(.)/g, "$1"));
    const common = lines.find((line) => line.startsWith("CN="))?.slice(3);
    return { name: common ?? lines.join(", "), endsAt: Date.parse(validTo) };
  });

/** Why certificates in PEM are invalid, as the end of a sentence; null if they are valid. */
export function certificateIssue(pem: string): string | null {
  const blocks = certificatesIn(pem);
  const wrong = blocks.findIndex((block) => !isCertificate(block));
  if (wrong === -1) return null;
  return blocks.length === 1 ? unreadable : `has a block, number ${wrong + 1}, that ${unreadable}`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

/** Why a private key in PEM is invalid or does not match the certificate; null if it is valid. */
export function keyIssue(key: string, certificate: string): string | null {
  try {
    createPrivateKey(key);
  } catch {
    return "can't be read: it must be a private key without a passphrase";
  }
  try {
    createSecureContext({ cert: certificate, key });
    return null;
  } catch {
    return "is not the key of the certificate";
  }
}
