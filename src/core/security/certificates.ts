import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

const unreadableIssue = "can't be read: it is not a certificate";

/** Splits a PEM text into its blocks. */
export const splitCertificates = (pem: string): string[] =>
  pem.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];

/**
 * Returns each certificate with its subject and expiry, in Unix milliseconds. The subject is the common name, if there
 * is one.
 */
export const parseSubjects = (pem: string): { name: string; endsAt: number; pem: string }[] =>
  splitCertificates(pem).map((block) => {
    const { subject, validTo } = new X509Certificate(block);
    // RFC 2253 escapes characters such as commas with a backslash.
    const lines = subject.split("\n").map((line) => line.replaceAll(/\\(.)/g, "$1"));
    const common = lines.find((line) => line.startsWith("CN="))?.slice(3);
    return { name: common ?? lines.join(", "), endsAt: Date.parse(validTo), pem: block };
  });

/** Returns the error of PEM certificates as the end of a sentence; null if they are valid. */
export function findCertificateIssue(pem: string): string | null {
  const blocks = splitCertificates(pem);
  const wrong = blocks.findIndex((block) => !isCertificate(block));
  if (wrong === -1) return null;
  return blocks.length === 1
    ? unreadableIssue
    : `has a block, number ${wrong + 1}, that ${unreadableIssue}`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

/** Returns the error of a private key in PEM; null if it is valid and matches the certificate. */
export function findKeyIssue(key: string, certificate: string): string | null {
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
