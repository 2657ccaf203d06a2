import { AppError } from "../core/errors.ts";
import type { OwnHosts } from "../core/own-hosts.ts";

/**
 * Guards what a browser uses with a cookie against DNS rebinding: a name that somebody else can point
 * at this machine must not open it. Throws MISDIRECTED_REQUEST.
 */
export function hostGuard(hosts: OwnHosts) {
  return ({ headers }: Request) => {
    if (hosts.answers(headers.get("host") ?? "")) return;
    throw new AppError(
      "MISDIRECTED_REQUEST",
      "This page does not answer under this host name. Start Signalbox with --allowed-host NAME to allow it.",
    );
  };
}
