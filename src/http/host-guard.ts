import { hostname } from "node:os";
import { AppError } from "../base/errors.ts";

const address = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;

/**
 * Guards what a browser uses with a cookie against DNS rebinding: a name that somebody else can point
 * at this machine must not open it. Addresses, localhost, this machine's own name and `allowed` names
 * are fine. Throws MISDIRECTED_REQUEST.
 */
export function hostGuard(allowed: readonly string[]) {
  const own = hostname().toLowerCase();
  const names = new Set(["localhost", own, `${own.replace(/\.local$/, "")}.local`]);
  for (const name of allowed) names.add(name.toLowerCase());
  return (request: Request) => {
    const host = (request.headers.get("host") ?? "").replace(/:\d*$/, "").toLowerCase();
    if (address.test(host) || names.has(host.replace(/\.$/, ""))) return;
    throw new AppError(
      "MISDIRECTED_REQUEST",
      "This page does not answer under this host name. Start Signalbox with --allowed-host NAME to allow it.",
    );
  };
}
