import { networkOf } from "../../core/security/client-network.ts";
import { type Clock, dayMs, hourMs } from "../../core/time/clock.ts";
import { signUpBounds } from "../../core/limits.ts";
import { createRateLimit } from "../../http/access/rate-limit.ts";
import { mailboxOf } from "./rules.ts";

/** Limits the e-mails that strangers can trigger. A restart resets the counts. */
export function createSignUpBudget(clock: Clock) {
  const createHourlyLimit = (count: number) => createRateLimit(count, clock, { windowMs: hourMs });
  const networks = createHourlyLimit(signUpBounds.perHour.value);
  const first = createHourlyLimit(signUpBounds.perPage.value);
  const newNetworks = createHourlyLimit(signUpBounds.perPageFromNewNetworks.value);
  const sites = createHourlyLimit(1);
  const mailboxes = createRateLimit(signUpBounds.confirmationMails.value, clock, {
    windowMs: dayMs,
  });
  return {
    /** Counts a sign-up and returns the seconds to wait, 0 if it is accepted. */
    take(address: string, pageId: string): { wait: number; by: "network" | "page" } {
      const network = networkOf(address);
      const wait = networks.take(network);
      if (wait > 0) return { wait, by: "network" };
      const known = sites.take(`${pageId} ${siteOf(network)}`);
      if (first.take(pageId) === 0) return { wait: 0, by: "page" };
      return { wait: known > 0 ? known : newNetworks.take(pageId), by: "page" };
    },
    /** Counts a confirmation mail to a mailbox. Returns false if the mailbox has reached its limit. */
    canAsk: (email: string) => mailboxes.take(mailboxOf(email)) === 0,
  };
}

/** Returns the site of a network, because an IPv6 site can have a /48 with 65,536 networks (RFC 6177). */
function siteOf(network: string): string {
  return network.includes(":") ? network.split(":").slice(0, 3).join(":") : network;
}
