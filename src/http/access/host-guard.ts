import { AppError } from "../../core/errors.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";

const hostPattern = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?)(:\d{0,5})?$/i;

/** Whether the text is a single host, optionally with a port. */
export function isHost(text: string): boolean {
  return hostPattern.test(text);
}

/** The last valid host: nearly all requests name the same one, and matching takes longer than comparing. */
let validHost = "";

/**
 * Throws BAD_REQUEST unless the request has exactly one host (RFC 9112 §3.2). Two headers arrive joined by a comma.
 */
export function assertOneHost({ headers }: Request) {
  const host = headers.get("host") ?? "";
  if (host === validHost && host !== "") return;
  if (!isHost(host))
    throw new AppError("BAD_REQUEST", "The request must have exactly one valid Host header.");
  validHost = host;
}

/** Whether the request is for a host name of this appliance. */
export const isOurs = ({ headers }: Request, hosts: OwnHosts) =>
  hosts.includes(headers.get("host") ?? "");

/**
 * Protects pages and cookies against DNS rebinding, in which a foreign domain name resolves to this machine. Throws
 * MISDIRECTED_REQUEST.
 */
export function createHostGuard(hosts: OwnHosts) {
  return (request: Request) => {
    if (isOurs(request, hosts)) return;
    throw new AppError(
      "MISDIRECTED_REQUEST",
      "This page is not served under this host name. Start Signalbox with --allowed-host NAME to allow it.",
    );
  };
}
