import type { Vault } from "../../core/security/secrets.ts";
import { pendingMs } from "./rules.ts";

type SubscriberKey = { organizationId: string; id: string };

/** What the links in e-mails do. */
export type Verb = "confirm" | "unsubscribe";

const placeOf = (verb: Verb) => `subscriber/${verb}`;

/** The token of a link: sealed, so that nothing has to be stored for it. One that confirms ends after a week. */
export function tokenOf(
  vault: Vault,
  verb: Verb,
  { organizationId, id }: SubscriberKey,
  now: number,
): string {
  const until = verb === "confirm" ? now + pendingMs : null;
  return vault.seal(JSON.stringify([organizationId, id, until]), placeOf(verb));
}

/** Whose token it is; null for one that we did not make, or not for this, and for one that has ended. */
export function ownerOf(vault: Vault, verb: Verb, token: string, now: number) {
  try {
    const [organizationId, id, until] = JSON.parse(vault.open(token, placeOf(verb))) as [
      string,
      string,
      number | null,
    ];
    return until !== null && until < now ? null : { organizationId, id };
  } catch {
    return null;
  }
}
