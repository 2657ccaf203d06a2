import { dial } from "../../core/outgoing/connection.ts";
import { mustBeTrusted, type Wire, wireOf, type WireTls } from "../../core/outgoing/wire.ts";
import { type CheckContext, expiryOf, type Finding, since } from "./check.ts";

/** What the types have in common that speak to a host. */
type Target = {
  host: string;
  port: number;
  tls?: boolean;
  serverName?: string | null;
  verifyTls?: boolean;
  certificateExpiryDays?: number | null;
};

type Manner = {
  /** Whether the protocol begins TLS by itself, where that is wanted; otherwise the connection begins with it. */
  startsTls?: boolean;
  maxBytes?: number;
};

/** What came of a conversation: `Answered PING`, which its time follows, or a whole finding. */
type Said = string | Pick<Finding, "status" | "message" | "said">;

/** What TLS with the target is begun with. */
export const tlsOf = ({ host, serverName = null, verifyTls = true }: Target): WireTls => ({
  name: serverName ?? host,
  verify: verifyTls,
});

/**
 * Connects to the host, lets the type talk, and is over: no address that was not judged, no byte beyond the
 * bound, and a certificate that ends soon is degraded. Throws TargetFailure, OwnTrouble.
 */
export async function converse(
  target: Target,
  context: CheckContext,
  talk: (wire: Wire) => Promise<Said>,
  { startsTls = false, maxBytes }: Manner = {},
): Promise<Finding> {
  const startedAt = performance.now();
  const { host, port, tls = false, certificateExpiryDays = null } = target;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const { verify, ...secured } = tlsOf(target);
  const connection = await dial(addresses, port, context, tls && !startsTls ? secured : null);
  mustBeTrusted(connection.secured, verify);
  context.step = "waiting for the answer";
  const wire = wireOf(connection, context, maxBytes);
  const said = await talk(wire);
  wire.close();
  const latencyMs = since(startedAt);
  const certificateExpiresAt = wire.certificateExpiresAt();
  const found: Finding = {
    ...(typeof said === "string" ? { status: "up", message: `${said} in ${latencyMs} ms.` } : said),
    latencyMs,
    ...(certificateExpiresAt !== null && { certificateExpiresAt }),
  };
  const expiry = expiryOf(found.certificateExpiresAt, certificateExpiryDays, context.now());
  return expiry === null || found.status !== "up"
    ? found
    : { ...found, status: "degraded", message: expiry };
}
