/** Stores sign-in attempts in cookies of the browser, encrypted, one per attempt. */
import { minuteMs } from "../../core/time/clock.ts";
import { parseJsonOrNull } from "../../core/collections/objects.ts";
import { createToken, sha256 } from "../../core/ids.ts";
import { singleSignOnBounds } from "../../core/limits.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { callbackPath } from "../identity-providers/preset-rules.ts";

/** Purpose of a sign-in at a provider. */
export type Purpose =
  | { type: "sign-in" }
  /** Accepts the invitation of this link. */
  | { type: "invitation"; token: string }
  /** Links the account to the person who is signed in with this session. */
  | { type: "link"; personId: string; sessionId: string }
  /** Identifies a visitor of a status page, without making them a person. */
  | { type: "visitor"; pageId: string };

export type Attempt = {
  providerId: string;
  purpose: Purpose;
  /** Path to open afterwards. */
  returnTo: string;
  redirectUri: string;
  state: string;
  nonce: string;
  codeVerifier: string;
  /** Session of the browser at the start; null for none. Its cookie does not come back from another site. */
  sessionId: string | null;
  /** Start in Unix milliseconds. */
  startedAt: number;
};

const prefix = "signalbox_attempt_";
const lifetimeMs = singleSignOnBounds.attemptMinutes.value * minuteMs;
const buildSealLocation = (state: string) => `sign-in-attempt/${state}`;

/** Names start with the time, so that the oldest attempt can be forgotten without decrypting any. */
const buildCookieName = ({ startedAt, state }: Attempt) =>
  `${prefix}${String(startedAt).padStart(14, "0")}_${sha256(state).slice(0, 16)}`;

/** Stores a new attempt. Authelia rejects a state or nonce that is too short; these have 256 bits. */
export function rememberAttempt(
  { vault, clock, cookies, origin, session }: VisitorContext,
  { providerId, purpose, returnTo }: Pick<Attempt, "providerId" | "purpose" | "returnTo">,
): Attempt {
  const attempt: Attempt = {
    providerId,
    purpose,
    returnTo,
    redirectUri: `${origin}${callbackPath}`,
    state: createToken(43),
    nonce: createToken(43),
    codeVerifier: createToken(43),
    sessionId: session?.id ?? null,
    startedAt: clock(),
  };
  const known = cookies.list(prefix).toSorted();
  for (const name of known.slice(
    0,
    Math.max(0, known.length + 1 - singleSignOnBounds.attempts.value),
  ))
    cookies.set({ name, value: "", maxAgeSeconds: 0, sameSite: "Lax" });
  cookies.set({
    name: buildCookieName(attempt),
    value: vault.seal(JSON.stringify(attempt), buildSealLocation(attempt.state)),
    maxAgeSeconds: lifetimeMs / 1000,
    sameSite: "Lax",
  });
  return attempt;
}

/** Returns the attempt with this state and forgets it; null if this browser started none in the last minutes. */
export function takeAttempt(
  { vault, clock, cookies }: VisitorContext,
  state: string,
): Attempt | null {
  const suffix = `_${sha256(state).slice(0, 16)}`;
  const name = cookies.list(prefix).find((one) => one.endsWith(suffix));
  if (name === undefined) return null;
  cookies.set({ name, value: "", maxAgeSeconds: 0, sameSite: "Lax" });
  try {
    const opened = vault.open(cookies.read(name) ?? "", buildSealLocation(state));
    const attempt = parseJsonOrNull(opened) as Attempt | null;
    return attempt !== null && Math.abs(clock() - attempt.startedAt) < lifetimeMs ? attempt : null;
  } catch {
    // A forged or damaged cookie.
    return null;
  }
}
