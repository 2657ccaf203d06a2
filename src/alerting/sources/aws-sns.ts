/** Verifies messages of Amazon SNS, and confirms its subscriptions. It connects only to hosts of Amazon. */
import { createLookup } from "../../core/collections/objects.ts";
import { createVerify, X509Certificate } from "node:crypto";
import { setRecent } from "../../core/collections/recent-set.ts";
import { AppError } from "../../core/errors.ts";
import type { Exchange } from "../../core/outgoing/http/exchange.ts";
import { findFailureReason, TargetFailure } from "../../core/outgoing/failures.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { toJsonObject, toText, type Json } from "./report-rules.ts";

/** Hosts of Amazon SNS, also in China and in the European Sovereign Cloud. A bucket of someone else has another name. */
const hostPattern = /^sns\.[a-z0-9-]{3,30}\.amazonaws\.(com|com\.cn|eu)$/;
const timeoutMs = 10_000;
const maxCertificates = 20;

const confirmationFields = [
  "Message",
  "MessageId",
  "SubscribeURL",
  "Timestamp",
  "Token",
  "TopicArn",
  "Type",
];

/** Fields that are signed, in their order. Absent ones are left out. */
const signedFields: Readonly<Record<string, readonly string[]>> = createLookup({
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: confirmationFields,
  UnsubscribeConfirmation: confirmationFields,
});

/** Algorithms by the version of a signature. */
const algorithms: Readonly<Record<string, string>> = createLookup({
  "1": "RSA-SHA1",
  "2": "RSA-SHA256",
});

type SnsServices = { targets: TargetGuard; exchange: Exchange };
export type SnsVerifier = ReturnType<typeof createSnsVerifier>;

/** Creates the verifier, which caches the certificates of Amazon. */
export function createSnsVerifier({ targets, exchange }: SnsServices) {
  const certificates = new Map<string, string>();

  async function fetchText(url: URL): Promise<string> {
    await targets.refresh();
    const { status, body } = await exchange(
      { url, method: "GET", headers: {}, body: null, verifyTls: true },
      { targets, timeoutMs, signal: new AbortController().signal },
    );
    if (status !== 200) throw new TargetFailure(`Amazon responded with HTTP ${status}.`);
    return body;
  }

  async function findCertificate(url: URL): Promise<string> {
    const known = certificates.get(url.href);
    if (known !== undefined) return known;
    const pem = await fetchText(url);
    setRecent(certificates, url.href, pem, maxCertificates);
    return pem;
  }

  /**
   * Verifies a message. Confirms a subscription and returns a sentence about it; null for a notification. Throws
   * VALIDATION_ERROR for a wrong signature or a foreign host, and UNAVAILABLE if Amazon can't be reached.
   */
  return async function verify(body: unknown): Promise<string | null> {
    const message = toJsonObject(body);
    const type = toText(message["Type"]);
    const fields = signedFields[type];
    if (fields === undefined)
      throw invalidFieldError("Type", "is missing: turn off raw message delivery in SNS");
    try {
      assertSigned(message, fields, await findCertificate(parseCertificateAddress(message)));
      if (type !== "SubscriptionConfirmation")
        return type === "Notification" ? null : "Unsubscribed.";
      await fetchText(parseAddress(message["SubscribeURL"], "SubscribeURL"));
      return `Confirmed the subscription to ${toText(message["TopicArn"]).slice(0, 200)}.`;
    } catch (error) {
      if (error instanceof AppError) throw error;
      const reason = findFailureReason(error);
      if (reason === null) throw error;
      throw new AppError("UNAVAILABLE", `Amazon can't be reached: ${reason}`, {
        headers: { "Retry-After": "60" },
      });
    }
  };
}

function parseAddress(value: unknown, field: string): URL {
  const url = URL.parse(toText(value));
  if (url?.protocol !== "https:" || url.port !== "" || !hostPattern.test(url.hostname))
    throw invalidFieldError(field, "must be an https address of Amazon SNS");
  return url;
}

/** The API at the same host can return text of other customers. Only certificates are files. */
function parseCertificateAddress(message: Json): URL {
  const url = parseAddress(message["SigningCertURL"], "SigningCertURL");
  if (!url.pathname.endsWith(".pem") || url.search !== "")
    throw invalidFieldError("SigningCertURL", "must be the address of a .pem file");
  return url;
}

function assertSigned(message: Json, fields: readonly string[], certificate: string) {
  const algorithm = algorithms[toText(message["SignatureVersion"])];
  if (algorithm === undefined) throw invalidFieldError("SignatureVersion", "must be 1 or 2");
  const text = fields
    .filter((name) => typeof message[name] === "string")
    .map((name) => `${name}\n${message[name] as string}\n`)
    .join("");
  const isValid = verifySignature(algorithm, text, certificate, toText(message["Signature"]));
  if (!isValid) throw invalidFieldError("Signature", "is not a valid signature of Amazon SNS");
}

function verifySignature(algorithm: string, text: string, pem: string, signature: string): boolean {
  try {
    const { publicKey } = new X509Certificate(pem);
    return createVerify(algorithm).update(text, "utf8").verify(publicKey, signature, "base64");
  } catch {
    return false;
  }
}
