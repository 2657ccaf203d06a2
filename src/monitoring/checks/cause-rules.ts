/** Decides which causes a failed check can share with failed checks of other monitors. */
import type { Cause } from "../../core/causes.ts";
import type { OutgoingContext } from "../../core/outgoing/context.ts";
import {
  BlockedTarget,
  CertificateFailure,
  ConnectFailure,
  ResolverFailure,
} from "../../core/outgoing/failures.ts";

/** Progress of a check before it failed. */
export type Attempt = {
  type: string;
  step: OutgoingContext["step"];
  isTimeout: boolean;
  /** The last resolved host, and its addresses; null if none was resolved, or a proxy connected to it. */
  destination: { host: string; addresses: readonly string[] } | null;
};

/** System errors of a host that can't be reached, or does not accept the connection. */
const connectCodes = new Set(["ECONNREFUSED", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"]);
/** Maximum addresses of one host. */
const maxAddresses = 4;

/**
 * Returns the possible causes of a failure, the most specific first. A host and its addresses count only if no
 * connection was possible, a certificate only if it is not trusted, a name server only if it does not respond. A wrong
 * response says nothing about other monitors, even at the same address.
 */
export function listCauses(error: unknown, attempt: Attempt): Cause[] {
  const { type, destination } = attempt;
  if (error instanceof BlockedTarget) return [];
  if (error instanceof CertificateFailure)
    return [{ kind: "certificate", value: error.fingerprint }];
  if (destination === null) return [];
  const { host, addresses } = destination;
  if (isOfResolver(error, attempt)) return [{ kind: "resolver", value: host.toLowerCase() }];
  if (!isUnreachable(error, attempt)) return [];
  const name = host.toLowerCase().replace(/\.$/, "");
  const ownAddresses = addresses.slice(0, maxAddresses);
  return [
    ...(type === "docker" ? [{ kind: "container-host" as const, value: name }] : []),
    ...(ownAddresses.includes(name) ? [] : [{ kind: "host" as const, value: name }]),
    ...ownAddresses.map((value) => ({ kind: "address" as const, value })),
  ];
}

function isOfResolver(error: unknown, { type, step, isTimeout }: Attempt): boolean {
  if (error instanceof ResolverFailure) return true;
  return type === "dns" && isTimeout && step === "waiting for the response";
}

/** Whether the name is unknown, or no connection was possible. A ping has no other failures. */
function isUnreachable(error: unknown, { type, step, isTimeout, destination }: Attempt): boolean {
  if (error instanceof ConnectFailure || type === "ping") return true;
  if (isTimeout) return step === "connecting";
  if (step === "resolving the name" && destination?.addresses.length === 0) return true;
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && connectCodes.has(code);
}
