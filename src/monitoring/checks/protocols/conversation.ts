import { type Connection, dial } from "../../../core/outgoing/connection.ts";
import type { FoundDetails } from "../../monitors/details-rules.ts";
import {
  assertTrusted,
  type Wire,
  wireOf,
  type WireTls,
} from "../../../core/outgoing/http/wire.ts";
import { type CheckContext, expiryOf, type CheckResult, since } from "../check.ts";

/** What the types have in common that speak to a host. */
type Target = {
  host: string;
  port: number;
  /** `starttls` is begun by the protocol itself. */
  tls?: boolean | "none" | "starttls" | "tls";
  serverName?: string | null;
  verifyTls?: boolean;
  certificateExpiryDays?: number | null;
};

type Manner<D> = {
  /** Whether the protocol begins TLS by itself, where that is wanted; otherwise the connection begins with it. */
  startsTls?: boolean;
  /** What it says to speak when TLS begins (RFC 7301), and what it proves itself with. */
  hello?: Pick<WireTls, "protocol" | "certificate" | "key">;
  maxBytes?: number;
  /** Asks for what is worth seeing once the target has answered; what comes of it changes nothing else. */
  details?: (wire: Wire) => Promise<D>;
};

/** What came of a conversation: `Answered PING`, which its time follows, perhaps with details, or a whole finding. */
type Said<D> =
  | string
  | { words: string; details: D }
  | { status: CheckResult["status"]; message: string; said?: string; details?: D };

/** What TLS with the target is begun with. */
export const tlsOf = ({ host, serverName = null, verifyTls = true }: Target): WireTls => ({
  name: serverName ?? host,
  verify: verifyTls,
});

/** A connection to the host, secured and judged where that is wanted. Throws TargetFailure, OwnTrouble. */
export async function connected(
  target: Target,
  context: CheckContext,
  { startsTls = false, hello }: Manner<unknown> = {},
): Promise<Connection> {
  const { host, port, tls = false } = target;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const { verify, ...secured } = tlsOf(target);
  const begins = (tls === true || tls === "tls") && !startsTls ? { ...secured, ...hello } : null;
  const connection = await dial(addresses, port, context, begins);
  assertTrusted(connection.secured, verify);
  context.step = "waiting for the answer";
  return connection;
}

type SecuredDetails = { tlsVersion?: string; issuer?: string | null };

/** What is worth seeing of how a connection was secured. */
export const securedDetails = (secured: Connection["secured"]): SecuredDetails =>
  secured === null ? {} : { tlsVersion: secured.version, issuer: secured.issuer };

/** What is asked for beside a result takes no longer, … */
const besideMs = 1_000;

/** … nor more than half of the time that the check has left; nothing where it fails. */
async function askedBeside<D>(
  ask: () => Promise<D>,
  startedAt: number,
  { timeoutMs }: Pick<CheckContext, "timeoutMs">,
): Promise<D | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const leftMs = timeoutMs - (performance.now() - startedAt);
  const timer = setTimeout(() => resolve(null), Math.min(besideMs, leftMs / 2));
  const found = await Promise.race([ask().catch(() => null), promise]);
  clearTimeout(timer);
  return found;
}

/** What was found over a connection, whose certificate may end soon. */
export function foundOver<D extends FoundDetails>(
  { secured }: Connection,
  { certificateExpiryDays = null }: Pick<Target, "certificateExpiryDays">,
  context: CheckContext,
  finding: CheckResult<D>,
): CheckResult<D & SecuredDetails> {
  const certificateExpiresAt = secured?.certificateExpiresAt ?? undefined;
  const details = { ...securedDetails(secured), ...finding.details } as D & SecuredDetails;
  if (certificateExpiresAt === undefined) return { ...finding, details };
  const expiry = expiryOf(
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
 * Connects to the host, lets the type talk, and is over: no address that was not judged, no byte beyond the
 * bound, and a certificate that ends soon is degraded. Throws TargetFailure, OwnTrouble.
 */
export async function converse<D extends FoundDetails = FoundDetails>(
  target: Target,
  context: CheckContext,
  talk: (wire: Wire) => Promise<Said<D>>,
  manner: Manner<D> = {},
): Promise<CheckResult<D & SecuredDetails>> {
  const startedAt = performance.now();
  const connection = await connected(target, context, manner);
  const wire = wireOf(connection, context, manner.maxBytes);
  const said = await talk(wire);
  const latencyMs = since(startedAt);
  const { details: ask } = manner;
  const beside = ask && (await askedBeside(() => ask(wire), startedAt, context));
  connection.close();
  const { words, ...found } = typeof said === "string" ? { words: said } : { words: null, ...said };
  const finding: Partial<CheckResult<D>> =
    words === null ? found : { status: "up", message: `${words} in ${latencyMs} ms.`, ...found };
  return foundOver(connection, target, context, {
    ...finding,
    latencyMs: finding.status === "down" ? null : latencyMs,
    ...(beside && { details: beside }),
  } as CheckResult<D>);
}
