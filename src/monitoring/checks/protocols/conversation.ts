/** Connects to a host, secures the connection, and runs the protocol of a check over it. */
import { type Connection, dial } from "../../../core/outgoing/connection.ts";
import type { OutgoingContext } from "../../../core/outgoing/context.ts";
import type { FoundDetails } from "../../monitors/details-rules.ts";
import {
  assertTrusted,
  type Wire,
  createWire,
  type WireTls,
} from "../../../core/outgoing/http/wire.ts";
import {
  type CheckContext,
  type MeasuredValue,
  describeExpiry,
  type CheckResult,
  measureElapsedMs,
} from "../check.ts";

/** Connection settings that these monitor types share. */
type Target = {
  host: string;
  port: number;
  /** With `starttls`, the protocol starts TLS itself. */
  tls?: boolean | "none" | "starttls" | "tls";
  serverName?: string | null;
  verifyTls?: boolean;
  certificateExpiryDays?: number | null;
};

type ConversationOptions<D> = {
  /** Whether the protocol starts TLS itself. Otherwise, an encrypted connection starts with TLS. */
  startsTls?: boolean;
  /** Application protocol (ALPN, RFC 7301) and client certificate for the TLS handshake. */
  hello?: Pick<WireTls, "protocol" | "certificate" | "key">;
  maxBytes?: number;
  /** Queries details after the check. A failure of this query does not affect the result. */
  details?: (wire: Wire) => Promise<D>;
};

/** Outcome of a protocol: words such as `Answered PING`, to which the latency is added, or a complete result. */
type Finding<D> =
  | string
  | { words: string; details?: D; measured?: MeasuredValue }
  | {
      status: CheckResult["status"];
      message: string;
      serverText?: string;
      details?: D;
      measured?: MeasuredValue;
    };

/** Returns the TLS settings for a target. */
export const buildTls = ({ host, serverName = null, verifyTls = true }: Target): WireTls => ({
  name: serverName ?? host,
  verify: verifyTls,
});

/** Connects to the host, with TLS and certificate verification if set. Throws TargetFailure, LocalFailure. */
export async function connectToTarget(
  target: Target,
  context: OutgoingContext,
  { startsTls = false, hello }: ConversationOptions<unknown> = {},
): Promise<Connection> {
  const { host, port, tls = false } = target;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const { verify, ...secured } = buildTls(target);
  const initialTls =
    (tls === true || tls === "tls") && !startsTls ? { ...secured, ...hello } : null;
  const connection = await dial(addresses, port, context, initialTls);
  assertTrusted(connection.secured, verify);
  context.step = "waiting for the response";
  return connection;
}

type SecuredDetails = { tlsVersion?: string; issuer?: string | null };

/** Returns the TLS version and certificate issuer of a connection as details. */
export const buildSecuredDetails = (secured: Connection["secured"]): SecuredDetails =>
  secured === null ? {} : { tlsVersion: secured.version, issuer: secured.issuer };

/** Maximum time of the query for details. */
const detailsTimeoutMs = 1_000;

/** Queries details for at most 1 s and half of the remaining time of the check. Null after a failure or timeout. */
async function queryExtra<D>(
  converse: () => Promise<D>,
  startedAt: number,
  { timeoutMs }: Pick<CheckContext, "timeoutMs">,
): Promise<D | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const leftMs = Math.max(0, timeoutMs - (performance.now() - startedAt));
  const timer = setTimeout(() => resolve(null), Math.min(detailsTimeoutMs, leftMs / 2));
  const found = await Promise.race([converse().catch(() => null), promise]);
  clearTimeout(timer);
  return found;
}

/** Adds the certificate of the connection to a result, which is degraded if the certificate expires soon. */
export function addConnectionFindings<D extends FoundDetails>(
  { secured }: Connection,
  { certificateExpiryDays = null }: Pick<Target, "certificateExpiryDays">,
  context: CheckContext,
  finding: CheckResult<D>,
): CheckResult<D & SecuredDetails> {
  const certificateExpiresAt = secured?.certificateExpiresAt ?? undefined;
  const details = { ...buildSecuredDetails(secured), ...finding.details } as D & SecuredDetails;
  if (certificateExpiresAt === undefined) return { ...finding, details };
  const expiry = describeExpiry(
    certificateExpiresAt,
    certificateExpiryDays,
    context.now(),
    secured?.expires,
  );
  const found = { ...finding, certificateExpiresAt, details };
  return expiry === null || found.status !== "up"
    ? found
    : { ...found, status: "degraded", message: expiry };
}

/**
 * Connects to the host and runs `talk` over the connection. Connects only to allowed addresses and reads at most
 * `maxBytes`. A certificate that expires soon makes the result degraded. Throws TargetFailure, LocalFailure.
 */
export async function converse<D extends FoundDetails = FoundDetails>(
  target: Target,
  context: CheckContext,
  talk: (wire: Wire) => Promise<Finding<D>>,
  options: ConversationOptions<D> = {},
): Promise<CheckResult<D & SecuredDetails>> {
  const startedAt = performance.now();
  const connection = await connectToTarget(target, context, options);
  const wire = createWire(connection, context, options.maxBytes);
  const serverText = await talk(wire);
  const latencyMs = measureElapsedMs(startedAt);
  const { details: ask } = options;
  const beside = ask && (await queryExtra(() => ask(wire), startedAt, context));
  connection.close();
  const { words, ...found } =
    typeof serverText === "string" ? { words: serverText } : { words: null, ...serverText };
  const finding: Partial<CheckResult<D>> =
    words === null ? found : { status: "up", message: `${words} in ${latencyMs} ms.`, ...found };
  return addConnectionFindings(connection, target, context, {
    ...finding,
    latencyMs: finding.status === "down" ? null : latencyMs,
    ...(beside && { details: beside }),
  } as CheckResult<D>);
}
