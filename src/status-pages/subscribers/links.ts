import type { Vault } from "../../core/security/secrets.ts";
import { pendingMs } from "./rules.ts";

type SubscriberKey = { organizationId: string; id: string };

/** Action of a link in an e-mail. */
const verbs = ["confirm", "unsubscribe", "manage"] as const;
export type Verb = (typeof verbs)[number];

export const isVerb = (text: string | undefined): text is Verb =>
  (verbs as readonly (string | undefined)[]).includes(text);

const sealLocationOf = (verb: Verb) => `subscriber/${verb}`;

/** Creates the token of a link, sealed so that it needs no storage. Confirmation tokens expire after a week. */
export function sealToken(
  vault: Vault,
  verb: Verb,
  { organizationId, id }: SubscriberKey,
  now: number,
): string {
  const until = verb === "confirm" ? now + pendingMs : null;
  return vault.seal(JSON.stringify([organizationId, id, until]), sealLocationOf(verb));
}

/** Returns the subscriber of a token; null if it is forged, expired or for another action. */
export function openToken(vault: Vault, verb: Verb, token: string, now: number) {
  try {
    const [organizationId, id, until] = JSON.parse(vault.open(token, sealLocationOf(verb))) as [
      string,
      string,
      number | null,
    ];
    return until !== null && until < now ? null : { organizationId, id };
  } catch {
    return null;
  }
}
