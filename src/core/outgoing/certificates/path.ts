/**
 * Finds the path from a server's certificate to a trusted authority that expires last (RFC 4158). The TLS library
 * tries only one path, so it rejects some servers that have a valid one.
 */
import { X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";
import { splitCertificates } from "../../security/certificates.ts";
import { monitorBounds } from "../../limits.ts";
import { setRecent } from "../../collections/recent-set.ts";
import type { Element } from "./der.ts";
import { parseCertificateRules } from "./extensions.ts";
import { permitsNames } from "./name-constraints.ts";

/** Number of certificates that are read from a server. Real servers send up to five. */
const maxSent = monitorBounds.sentCertificates.value;
/** Maximum number of certificates between the server's certificate and a trusted one. */
const maxDepth = 6;
/** Maximum number of verified signatures. With the longest keys, 16 block the event loop for 20 ms. */
const maxVerifications = monitorBounds.sentCertificates.value;
const maxKeyBits = 8_192;
/** Maximum number of cached sets of parsed authorities. Each organization with additional authorities needs one. */
const maxParsed = 100;

export type CertificatePath = {
  /** Time of the first expiry on the path, in Unix milliseconds. */
  endsAt: number;
  /** Position of the certificate that expires first. */
  first: "certificate" | "intermediate" | "authority";
};

/** Trusted certificates by their subject. */
type Anchors = ReadonlyMap<string, readonly X509Certificate[]>;

const groupBySubject = (certificates: readonly X509Certificate[]): Anchors =>
  Map.groupBy(certificates, ({ subject }) => subject);

let defaultAnchors: Anchors | null = null;
const parsedAnchors = new Map<string, Anchors>();

function getDefaultAnchors(): Anchors {
  defaultAnchors ??= groupBySubject(
    getCACertificates("default").map((pem) => new X509Certificate(pem)),
  );
  return defaultAnchors;
}

function listAnchors(authorities: string | null): Anchors[] {
  if (authorities === null) return [getDefaultAnchors()];
  const ownAnchors =
    parsedAnchors.get(authorities) ??
    groupBySubject(splitCertificates(authorities).flatMap((pem) => tryParseCertificate(pem) ?? []));
  setRecent(parsedAnchors, authorities, ownAnchors, maxParsed);
  return [ownAnchors, getDefaultAnchors()];
}

/**
 * Returns the valid path that expires last; null for none. With `isVerified`, the TLS library has accepted a path, so
 * signatures and extensions are not checked again.
 */
export function findLongestPath(
  sent: readonly Uint8Array[],
  authorities: string | null,
  now: number,
  isVerified: boolean,
): CertificatePath | null {
  const [leaf, ...others] = sent.slice(0, maxSent).map((der) => new X509Certificate(der));
  if (leaf === undefined || !isValidAt(leaf, now)) return null;
  const { isForServers, hasUnknownRule, names } = parseCertificateRules(leaf.raw);
  if (!isVerified && (!isForServers || hasUnknownRule)) return null;
  const search = new PathSearch(others, listAnchors(authorities), now, names, isVerified);
  return search.searchFrom(leaf, [leaf]);
}

/** Parses a certificate; null if it is invalid. Earlier versions stored certificates without validation. */
function tryParseCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

const isValidAt = ({ validFromDate, validToDate }: X509Certificate, now: number) =>
  validFromDate.getTime() <= now && now <= validToDate.getTime();

class PathSearch {
  private verifications = 0;
  private readonly verified = new Map<string, boolean>();
  private readonly others: readonly X509Certificate[];
  private readonly anchors: readonly Anchors[];
  private readonly now: number;
  private readonly names: readonly Element[];
  private readonly isVerified: boolean;

  constructor(
    others: readonly X509Certificate[],
    anchors: readonly Anchors[],
    now: number,
    names: readonly Element[],
    isVerified: boolean,
  ) {
    this.others = others;
    this.anchors = anchors;
    this.now = now;
    this.names = names;
    this.isVerified = isVerified;
  }

  /** Returns the best completion of a path that currently ends at `last`; null if there is none. */
  searchFrom(last: X509Certificate, path: readonly X509Certificate[]): CertificatePath | null {
    const candidates: CertificatePath[] = [];
    for (const anchors of this.anchors)
      for (const anchor of anchors.get(last.issuer) ?? [])
        if (this.canFollow(last, anchor, path)) candidates.push(computePathEnd([...path, anchor]));
    if (path.length <= maxDepth)
      for (const other of this.others) {
        if (other.subject !== last.issuer || path.includes(other)) continue;
        const found = this.canFollow(last, other, path)
          ? this.searchFrom(other, [...path, other])
          : null;
        if (found !== null) candidates.push(found);
      }
    return candidates.reduce<CertificatePath | null>(
      (best, one) => (best === null || one.endsAt > best.endsAt ? one : best),
      null,
    );
  }

  private canFollow(
    last: X509Certificate,
    issuer: X509Certificate,
    path: readonly X509Certificate[],
  ): boolean {
    if (!isValidAt(issuer, this.now) || !last.checkIssued(issuer)) return false;
    if (this.isVerified) return true;
    const { isAuthority, maxPathLength, isForServers, nameConstraints, hasUnknownRule } =
      parseCertificateRules(issuer.raw);
    const authoritiesBelow = path.length - 1;
    if (!isAuthority || !isForServers || hasUnknownRule) return false;
    if (maxPathLength !== null && authoritiesBelow > maxPathLength) return false;
    if (nameConstraints !== null && !permitsNames(nameConstraints, this.names)) return false;
    return this.hasSigned(issuer, last);
  }

  private hasSigned(issuer: X509Certificate, last: X509Certificate): boolean {
    const pair = `${issuer.fingerprint256} ${last.fingerprint256}`;
    const known = this.verified.get(pair);
    if (known !== undefined) return known;
    if (++this.verifications > maxVerifications) return false;
    const { modulusLength = 0 } = issuer.publicKey.asymmetricKeyDetails ?? {};
    const isSigned = modulusLength <= maxKeyBits && last.verify(issuer.publicKey);
    this.verified.set(pair, isSigned);
    return isSigned;
  }
}

function computePathEnd(path: readonly X509Certificate[]): CertificatePath {
  const expiryTimes = path.map(({ validToDate }) => validToDate.getTime());
  const endsAt = Math.min(...expiryTimes);
  const index = expiryTimes.indexOf(endsAt);
  const isAnchor = index === path.length - 1;
  return { endsAt, first: index === 0 ? "certificate" : isAnchor ? "authority" : "intermediate" };
}
