import type { Vault } from "../../core/security/secrets.ts";
import type { LinkVerb } from "../site/public-paths.ts";
import { pendingMs } from "./rules.ts";

type SubscriberKey = { organizationId: string; id: string };

const buildSealLocation = (verb: LinkVerb) => `subscriber/${verb}`;

/** Creates the token of a link, sealed so that it needs no storage. Confirmation tokens expire after a week. */
export function sealToken(
  vault: Vault,
  verb: LinkVerb,
  { organizationId, id }: SubscriberKey,
  now: number,
): string {
  const until = verb === "confirm" ? now + pendingMs : null;
  return vault.seal(JSON.stringify([organizationId, id, until]), buildSealLocation(verb));
}

/** Returns the subscriber of a token; null if it is forged, expired or for another action. */
export function openToken(vault: Vault, verb: LinkVerb, token: string, now: number) {
  try {
    const [organizationId, id, until] = JSON.parse(vault.open(token, buildSealLocation(verb))) as [
      string,
      string,
      number | null,
    ];
    return until !== null && until < now ? null : { organizationId, id };
  } catch {
    return null;
  }
}
