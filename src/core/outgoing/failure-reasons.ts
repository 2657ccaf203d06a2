/** Translates errors of connections, TLS and HTTP into sentences. */
import { createLookup } from "../collections/objects.ts";
import { TargetFailure, LocalFailure } from "./failures.ts";

/** Messages by error code. The original messages can contain addresses and secrets. */
const reasons = new Map(
  Object.entries({
    ECONNREFUSED: "The connection was refused.",
    ECONNRESET: "The connection was closed before the response was complete.",
    EPIPE: "The connection was closed before the request was complete.",
    ETIMEDOUT: "No connection could be established.",
    EHOSTUNREACH: "The host can't be reached.",
    ENETUNREACH: "There is no route to the host.",
    EACCES: "This machine does not allow connections there.",
    EPERM: "This machine does not allow connections there.",
    CERT_HAS_EXPIRED: "The certificate has expired.",
    CERT_NOT_YET_VALID: "The certificate is not valid yet.",
    CERT_REVOKED: "The certificate was revoked.",
    DEPTH_ZERO_SELF_SIGNED_CERT: "The certificate is self-signed, so it is not trusted.",
    SELF_SIGNED_CERT_IN_CHAIN: "The certificate was issued by an authority that is not trusted.",
    UNABLE_TO_GET_ISSUER_CERT: "The certificate was issued by an authority that is not trusted.",
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
      "The certificate was issued by an authority that is not trusted.",
    UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      "The certificate's chain is incomplete, or its authority is not trusted.",
    INVALID_PURPOSE: "The certificate, or one that issued it, may not be used for this purpose.",
    PATH_LENGTH_EXCEEDED: "The certificate's chain is longer than one of its authorities permits.",
    CERT_SIGNATURE_FAILURE:
      "A signature in the certificate's chain is wrong, or its algorithm is not supported.",
    ERR_TLS_CERT_ALTNAME_INVALID: "The certificate is for another name.",
    HOSTNAME_MISMATCH: "The certificate is for another name.",
    ERR_SSL_WRONG_VERSION_NUMBER: "The port does not speak TLS.",
    ERR_OSSL_X509_KEY_VALUES_MISMATCH: "The client certificate is not the one of its key.",
    HPE_HEADER_OVERFLOW: "The response headers are too long.",
  }),
);

/** Failures of this machine, regardless of the target, such as a lack of file handles, memory or ports. */
const ownReasons = new Map(
  Object.entries({
    EAGAIN: "this machine can start no more processes",
    EMFILE: "this process has no file handles left",
    ENFILE: "this machine has no file handles left",
    ENOMEM: "this machine has no memory left",
    ENOBUFS: "this machine has no network buffers left",
    EADDRNOTAVAIL: "this machine has no free ports left, or no address of this family",
    EAFNOSUPPORT: "this machine has no IPv6",
  }),
);

const certificateRequiredReason = "The server requires a client certificate.";
const oldTlsVersionReason =
  "The server speaks only versions of TLS that are not supported: it needs 1.2 or 1.3.";
const unknownName = "The server does not know this name.";
const otherProtocol =
  "The server does not speak the protocol of this check over TLS (ALPN): it may speak only HTTP/2.";
const noSharedCipherReason =
  "The server broke off the TLS handshake: it shares no cipher suite, curve or kind of certificate with this appliance, which has no DHE and no RC4.";
const refusedCertificate = "The server rejected the client certificate";

/** Messages by BoringSSL's names of TLS alerts (RFC 8446 §6.2): without and with a client certificate. */
const alerts: Readonly<Record<string, readonly [without: string, withOne: string]>> = createLookup({
  CERTIFICATE_REQUIRED: [certificateRequiredReason, certificateRequiredReason],
  NO_CERTIFICATE: [certificateRequiredReason, certificateRequiredReason],
  BAD_CERTIFICATE: [certificateRequiredReason, `${refusedCertificate}.`],
  UNSUPPORTED_CERTIFICATE: [
    certificateRequiredReason,
    `${refusedCertificate}: its kind is not supported.`,
  ],
  CERTIFICATE_REVOKED: [certificateRequiredReason, `${refusedCertificate}: it was revoked.`],
  CERTIFICATE_EXPIRED: [certificateRequiredReason, `${refusedCertificate}: it has expired.`],
  CERTIFICATE_UNKNOWN: [certificateRequiredReason, `${refusedCertificate}.`],
  UNKNOWN_CA: [
    certificateRequiredReason,
    `${refusedCertificate}: it does not trust its authority.`,
  ],
  PROTOCOL_VERSION: [oldTlsVersionReason, oldTlsVersionReason],
  UNSUPPORTED_PROTOCOL: [oldTlsVersionReason, oldTlsVersionReason],
  UNRECOGNIZED_NAME: [unknownName, unknownName],
  NO_APPLICATION_PROTOCOL: [otherProtocol, otherProtocol],
  INSUFFICIENT_SECURITY: [noSharedCipherReason, noSharedCipherReason],
  ACCESS_DENIED: [certificateRequiredReason, `${refusedCertificate}.`],
  HANDSHAKE_FAILURE: [
    "The server broke off the TLS handshake; it may require a client certificate.",
    "The server broke off the TLS handshake.",
  ],
});

/**
 * Returns the message for the TLS alert in an error; null for other errors. `hasShownOwn`: the server has sent its
 * certificate. Before that, it can't have requested a client certificate (RFC 8446 §4.3.2).
 */
export function explainTlsAlert(
  message: string,
  hasCertificate: boolean,
  hasShownOwn: boolean,
): string | null {
  const name = /(?:(?:SSLV3|TLSV1)_(?:ALERT_)?|:)([A-Z_]+)$/.exec(message)?.[1] ?? "";
  if (name === "HANDSHAKE_FAILURE" && !hasShownOwn) return noSharedCipherReason;
  return alerts[name]?.[hasCertificate ? 1 : 0] ?? null;
}

/** Classifies an error: TargetFailure for the target's fault, LocalFailure for ours, null for a bug. */
export function classifyFailure(error: unknown): TargetFailure | LocalFailure | null {
  if (error instanceof TargetFailure || error instanceof LocalFailure) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const ownReason = ownReasons.get(code);
  if (ownReason !== undefined) return new LocalFailure(ownReason, true);
  const known = explainErrorCode(code);
  return known === null ? null : new TargetFailure(known);
}

/** Returns the message for an error code; null for codes that connections don't produce. */
export function explainErrorCode(code: string): string | null {
  const known = reasons.get(code);
  if (known !== undefined) return known;
  if (code.startsWith("HPE_")) return "The response is not valid HTTP.";
  if (/^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)) return "No TLS connection could be established.";
  if (/^ERR_(OSSL|BORINGSSL)/.test(code)) return "The client certificate or its key can't be used.";
  if (/^(CERT|UNABLE_TO)_/.test(code)) return "The certificate is not valid.";
  return /^E[A-Z]+$/.test(code) ? `The connection failed (${code}).` : null;
}
