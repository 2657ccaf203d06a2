import { type Connection, dial } from "../../core/outgoing/connection.ts";
import type { Details } from "../monitors/details-rules.ts";
import { mustBeTrusted, type Wire, wireOf, type WireTls } from "../../core/outgoing/wire.ts";
import { type CheckContext, expiryOf, type Finding, since } from "./check.ts";

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

type Manner = {
  /** Whether the protocol begins TLS by itself, where that is wanted; otherwise the connection begins with it. */
  startsTls?: boolean;
  /** What it says to speak when TLS begins (RFC 7301), and what it proves itself with. */
  hello?: Pick<WireTls, "protocol" | "certificate" | "key">;
  maxBytes?: number;
};

/** What came of a conversation: `Answered PING`, which its time follows, perhaps with details, or a whole finding. */
type Said<D extends Details> =
  | string
  | { words: string; details: D }
  | Pick<Finding<D>, "status" | "message" | "said" | "details">;

/** What TLS with the target is begun with. */
export const tlsOf = ({ host, serverName = null, verifyTls = true }: Target): WireTls => ({
  name: serverName ?? host,
  verify: verifyTls,
});

/** A connection to the host, secured and judged where that is wanted. Throws TargetFailure, OwnTrouble. */
export async function connected(
  target: Target,
  context: CheckContext,
  { startsTls = false, hello }: Manner = {},
): Promise<Connection> {
  const { host, port, tls = false } = target;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const { verify, ...secured } = tlsOf(target);
  const begins = (tls === true || tls === "tls") && !startsTls ? { ...secured, ...hello } : null;
  const connection = await dial(addresses, port, context, begins);
  mustBeTrusted(connection.secured, verify);
  context.step = "waiting for the answer";
  return connection;
}

/** What was found over a connection, whose certificate may end soon. */
export function foundOver<D extends Details>(
  { secured }: Connection,
  { certificateExpiryDays = null }: Pick<Target, "certificateExpiryDays">,
  context: CheckContext,
  finding: Finding<D>,
): Finding<D> {
  const certificateExpiresAt = secured?.certificateExpiresAt ?? undefined;
  if (certificateExpiresAt === undefined) return finding;
  const expiry = expiryOf(certificateExpiresAt, certificateExpiryDays, context.now());
  const found = { ...finding, certificateExpiresAt };
  return expiry === null || found.status !== "up"
    ? found
    : { ...found, status: "degraded", message: expiry };
}

/**
 * Connects to the host, lets the type talk, and is over: no address that was not judged, no byte beyond the
 * bound, and a certificate that ends soon is degraded. Throws TargetFailure, OwnTrouble.
 */
export async function converse<D extends Details = Details>(
  target: Target,
  context: CheckContext,
  talk: (wire: Wire) => Promise<Said<D>>,
  manner: Manner = {},
): Promise<Finding<D>> {
  const startedAt = performance.now();
  const connection = await connected(target, context, manner);
  const wire = wireOf(connection, context, manner.maxBytes);
  const said = await talk(wire);
  connection.close();
  const latencyMs = since(startedAt);
  const { words, ...found } = typeof said === "string" ? { words: said } : { words: null, ...said };
  const finding =
    words === null ? found : { status: "up", message: `${words} in ${latencyMs} ms.`, ...found };
  return foundOver(connection, target, context, { ...finding, latencyMs } as Finding<D>);
}
