/** Rules of passkeys: their host, the age of challenges, and sign counters. */
import { minuteMs } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";

/** Time for the browser's dialog. */
export const challengeMs = 10 * minuteMs;

/**
 * Returns the host of an origin as RP ID (WebAuthn §5.4.2); null for an IP address, because browsers
 * support passkeys only for host names.
 */
export function findRpId(origin: string): string | null {
  const { hostname } = new URL(origin);
  return /^\[|^[\d.]+$/.test(hostname) ? null : hostname;
}

/** Like `findRpId`, but throws CONFLICT for an IP address. */
export function getRpId(origin: string): string {
  const rpId = findRpId(origin);
  if (rpId !== null) return rpId;
  throw new AppError(
    "CONFLICT",
    "Passkeys need a host name. Open Signalbox under a name instead of an IP address; a proxy must forward the Host header.",
  );
}

/**
 * Returns the origins that browsers can have on this host. Behind a proxy that is not trusted, the
 * appliance sees `http` while the browser uses `https`.
 */
export const listBrowserOrigins = (origin: string): string[] => [
  ...new Set([origin, origin.replace(/^http:/, "https:")]),
];

/**
 * Whether a challenge is recent, and newer than the last one that the passkey has used. A used time
 * in the future was stored while the clock was ahead.
 */
export function isFreshChallenge(createdAtMs: number, lastUsedMs: number, now: number): boolean {
  const isRecent = createdAtMs <= now && now - createdAtMs < challengeMs;
  return isRecent && (createdAtMs > lastUsedMs || lastUsedMs > now);
}

/**
 * Whether a sign counter can follow the stored one (WebAuthn §6.1.1). A lower one can be of a copied
 * authenticator. Synchronized passkeys have no counter and always send 0.
 */
export const isNextCount = (stored: number, received: number): boolean =>
  received > stored || (received === 0 && stored === 0);
