/** Remembers an account at a provider until its owner proves the password of the person with the same address. */
import { minuteMs } from "../../core/time/clock.ts";
import { singleSignOnBounds } from "../../core/limits.ts";
import { parseJsonOrNull } from "../../core/collections/objects.ts";
import type { Statement } from "../../database/store.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { findProvider, guardProviderUnchanged } from "../identity-providers/store.ts";
import { emailKeyOf } from "../people/rules.ts";
import type { PersonRow } from "../people/store.ts";
import { type Account, addIdentity, findIdentity } from "./store.ts";

const cookieName = "signalbox_link";
const sealLocation = "pending-link";
const lifetimeMs = singleSignOnBounds.attemptMinutes.value * minuteMs;

type PendingLink = Account & { emailKey: string; until: number };

/** Remembers the account in this browser. Only a sign-in as the person with this address links it. */
export function rememberPendingLink(
  { vault, clock, cookies }: VisitorContext,
  account: Account & { email: string },
) {
  const link: PendingLink = {
    ...account,
    emailKey: emailKeyOf(account.email),
    until: clock() + lifetimeMs,
  };
  const value = vault.seal(JSON.stringify(link), sealLocation);
  cookies.set({ name: cookieName, value, maxAgeSeconds: lifetimeMs / 1000, sameSite: "Strict" });
}

function readPendingLink({ vault, clock, cookies }: VisitorContext): PendingLink | null {
  const sealed = cookies.read(cookieName);
  if (sealed === null) return null;
  try {
    const link = parseJsonOrNull(vault.open(sealed, sealLocation)) as PendingLink | null;
    const isOpen = link !== null && link.until > clock() && link.until <= clock() + lifetimeMs;
    return isOpen ? link : null;
  } catch {
    // A forged or damaged cookie.
    return null;
  }
}

/** Returns the provider of the account that waits for this person in this browser; null for none. */
export function findPendingProvider(
  context: VisitorContext,
  { emailKey }: Pick<PersonRow, "emailKey">,
): string | null {
  const link = readPendingLink(context);
  return link?.emailKey === emailKey ? link.providerId : null;
}

/**
 * Returns statements that link the remembered account to the person who has just signed in; none
 * if the browser remembers no account of this address.
 */
export async function buildPendingLink(
  context: VisitorContext,
  { id, emailKey }: Pick<PersonRow, "id" | "emailKey">,
): Promise<Statement[]> {
  const link = readPendingLink(context);
  if (link === null || link.emailKey !== emailKey) return [];
  context.cookies.set({ name: cookieName, value: "", maxAgeSeconds: 0, sameSite: "Strict" });
  const { store } = context;
  const provider = await findProvider(store, link.providerId);
  const isFree = provider?.enabled === true && (await findIdentity(store, link)) === null;
  return isFree ? [guardProviderUnchanged(provider), ...addIdentity(context, id, link)] : [];
}
