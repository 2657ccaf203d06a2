/** Judges a server's certificate: whether it is trusted for the name, and when it expires. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { DetailedPeerCertificate } from "node:tls";
import { toAsciiName } from "../../security/destinations.ts";
import { setRecent } from "../../collections/recent-set.ts";
import { type CertificatePath, findLongestPath } from "./path.ts";
import { explainErrorCode } from "../failure-reasons.ts";

export type JudgedCertificate = {
  /** Earliest expiry on the path to a trusted authority, RFC 3339. */
  certificateExpiresAt: string;
  /** Position on that path of the certificate that expires first. */
  expires: CertificatePath["first"];
  /** Reason not to trust the certificate for the name, as a sentence; null if it is trusted. */
  issue: string | null;
  /** Name of the issuer, from the certificate. */
  issuer: string | null;
  /** SHA-256 of the server's certificate. */
  fingerprint: string;
};

type Judgment = Omit<JudgedCertificate, "issue" | "fingerprint"> & { pathIssue: string | null };

/** Code for violated name constraints, and for those of IP addresses, which the TLS library can't evaluate. */
const unspecified = "UNSPECIFIED";
/** Errors of the TLS library that disappear if another path is valid. */
const pathCodes = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  unspecified,
]);
const otherName = "ERR_TLS_CERT_ALTNAME_INVALID";

/** How long judgments are cached. Reading a chain takes 0.3 ms; reading only the leaf takes 0.01 ms. */
const cachedMs = 60_000;
const maxCachedCertificates = 5_000;
const cache = new Map<string, { until: number; judgment: Judgment }>();

/**
 * Judges the certificate of a connection; null if the server sent none. `code` is the TLS library's error for the
 * chain.
 */
export function judgeCertificate(
  socket: Bun.Socket<undefined>,
  target: string,
  code: string,
  name: string,
  authorities: string | null,
): JudgedCertificate | null {
  // Bun 1.4.5 returns undefined without a certificate, contrary to its types.
  const leaf = socket.getPeerX509Certificate() as X509Certificate | undefined;
  if (leaf === undefined) return null;
  const { pathIssue, ...judged } = getJudgment(socket, leaf, target, code, authorities);
  const issue = pathIssue ?? findNameIssue(leaf, name);
  return { ...judged, issue, fingerprint: leaf.fingerprint256 };
}

function getJudgment(
  socket: Bun.Socket<undefined>,
  leaf: X509Certificate,
  scope: string,
  code: string,
  authorities: string | null,
): Judgment {
  const now = Date.now();
  const key = `${scope} ${leaf.fingerprint256} ${code} ${Bun.hash(authorities ?? "").toString()}`;
  const known = cache.get(key);
  if (known !== undefined && now < known.until) return known.judgment;
  const judgment = judgeChain(readSentCertificates(socket), leaf, code, authorities, now);
  // Failures are not cached, so that the next check notices a renewed certificate.
  if (judgment.pathIssue === null)
    setRecent(cache, key, { until: now + cachedMs, judgment }, maxCachedCertificates);
  return judgment;
}

/** Returns all certificates that the server sent, in its order. The first is the server's certificate. */
function readSentCertificates(socket: Bun.Socket<undefined>): Buffer[] {
  // In Bun, `true` requests only the server's certificate.
  const chained = socket as unknown as {
    getPeerCertificate(isShort: boolean): DetailedPeerCertificate;
  };
  const sent: Buffer[] = [];
  let next: DetailedPeerCertificate | undefined = chained.getPeerCertificate(false);
  while (next?.raw !== undefined && sent.length < maxRead) {
    sent.push(next.raw);
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
  }
  return sent;
}
const maxRead = 20;

function judgeChain(
  sent: readonly Buffer[],
  leaf: X509Certificate,
  code: string,
  authorities: string | null,
  now: number,
): Judgment {
  const isVerified = code === "" || code === otherName;
  const issuer = issuerOf(leaf);
  const leafEnd = { certificateExpiresAt: leaf.validToDate.toISOString(), issuer };
  const path =
    isVerified || pathCodes.has(code) ? findLongestPath(sent, authorities, now, isVerified) : null;
  if (path !== null) {
    const certificateExpiresAt = new Date(path.endsAt).toISOString();
    return { certificateExpiresAt, issuer, expires: path.first, pathIssue: null };
  }
  const pathIssue = isVerified ? null : explainPathIssue(code, leaf, now);
  return { ...leafEnd, expires: "certificate", pathIssue };
}

/**
 * Explains a path error. The library reports CERT_HAS_EXPIRED for any certificate on the path, so this distinguishes
 * the leaf.
 */
function explainPathIssue(
  code: string,
  { validFromDate, validToDate }: X509Certificate,
  now: number,
) {
  const isLeaf = now < validFromDate.getTime() || now > validToDate.getTime();
  if (code === "CERT_HAS_EXPIRED" && !isLeaf)
    return "A certificate between this one and its authority, or the authority's own, has expired.";
  if (code === unspecified)
    return "The certificate is not valid: an authority does not permit its names, or a critical extension is not supported.";
  return explainErrorCode(code) ?? "The certificate is not valid.";
}

/** Returns the common name of the issuer, or else its organization. */
function issuerOf({ issuer }: X509Certificate): string | null {
  const lines = issuer.split("\n");
  const find = (type: string) =>
    lines.find((line) => line.startsWith(`${type}=`))?.slice(type.length + 1);
  // RFC 2253 escapes characters such as commas with a backslash.
  return (find("CN") ?? find("O"))?.replaceAll(/\\(.)/g, "$1") ?? null;
}

/**
 * Checks the name of a certificate. Only subject alternative names count, and `*` replaces a whole label (RFC 9525
 * §6).
 */
function findNameIssue(certificate: X509Certificate, name: string): string | null {
  const asciiName = toAsciiName(name);
  const options = { subject: "never", partialWildcards: false } as const;
  const isFor = (subject: "never" | "always") =>
    isIP(asciiName) === 0
      ? certificate.checkHost(asciiName, { ...options, subject }) !== undefined ||
        certificate.checkHost(replaceUnderscores(asciiName), options)?.startsWith("*.") === true
      : certificate.checkIP(asciiName.replace(/%.*/, "")) !== undefined;
  if (isFor("never")) return null;
  return isFor("always")
    ? "The certificate has this name only as its common name, which no longer counts: it must be a subject alternative name."
    : "The certificate is for another name.";
}

/** Replaces `_`, because the library matches `*` only with letters, digits and hyphens. Browsers also accept `_`. */
const replaceUnderscores = (name: string) =>
  name.replace(/^[^.]*/, (label) => label.replaceAll("_", "a"));

/** Returns an error if the certificate is for another name, like Node's `checkServerIdentity`. */
export function checkServerIdentity(name: string, { raw }: { raw: Buffer }): Error | undefined {
  const issue = findNameIssue(new X509Certificate(raw), name);
  return issue === null ? undefined : Object.assign(new Error(issue), { code: otherName });
}
