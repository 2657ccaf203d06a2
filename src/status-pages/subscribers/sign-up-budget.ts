import { networkOf } from "../../core/security/client-network.ts";
import type { Clock } from "../../core/time/clock.ts";
import { signUpBounds } from "../../core/limits.ts";
import { rateLimit } from "../../http/access/rate-limit.ts";
import { mailboxOf } from "./rules.ts";

const hourMs = 3_600_000;

/** How much strangers can make the appliance mail; what is counted is forgotten when it restarts. */
export function signUpBudget(clock: Clock) {
  const hourly = (count: number) => rateLimit(count, clock, { windowMs: hourMs });
  const networks = hourly(signUpBounds.perHour.value);
  const first = hourly(signUpBounds.perPage.value);
  const further = hourly(signUpBounds.perPageFromNewNetworks.value);
  const sites = hourly(1);
  const mailboxes = rateLimit(signUpBounds.confirmationMails.value, clock, {
    windowMs: 24 * hourMs,
  });
  return {
    /** Counts a sign-up, whoever it is for, and says how many seconds to wait: 0 where it may be. */
    take(address: string, pageId: string): { wait: number; by: "network" | "page" } {
      const network = networkOf(address);
      const wait = networks.take(network);
      if (wait > 0) return { wait, by: "network" };
      const known = sites.take(`${pageId} ${siteOf(network)}`);
      if (first.take(pageId) === 0) return { wait: 0, by: "page" };
      return { wait: known > 0 ? known : further.take(pageId), by: "page" };
    },
    /** Counts a question to a mailbox; false where it has had enough of them. */
    mayAsk: (email: string) => mailboxes.take(mailboxOf(email)) === 0,
  };
}

/** A site may have a /48 and with it 65,536 networks (RFC 6177). */
function siteOf(network: string): string {
  return network.includes(":") ? network.split(":").slice(0, 3).join(":") : network;
}
