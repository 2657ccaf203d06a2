/** Reads the credentials of visitors from a request: an access token in the query, and the pass of a signed-in person. */
import { sha256 } from "../../core/ids.ts";
import type { Vault } from "../../core/security/secrets.ts";
import { readCookie } from "../../http/cookies.ts";

const tokenParameter = "accessToken=";
const passPrefix = "signalbox_pass_";

/** Whether the query has an access token. */
export const hasAccessToken = ({ url }: Request): boolean => url.includes(tokenParameter);

/** Returns the SHA-256 of the access token in the query; null without one. */
export function hashAccessToken({ url }: Request): string | null {
  const query = new URLSearchParams(url.split("?", 2)[1]);
  const token = query.get(tokenParameter.slice(0, -1));
  return token === null ? null : sha256(token);
}

/** Whether the request has the pass of any page. Cheaper than to open it. */
export function hasPass({ headers }: Request): boolean {
  return headers.get("cookie")?.includes(passPrefix) === true;
}

type Page = { id: string };

export const buildPassCookieName = ({ id }: Page) => passPrefix + id;

/** An account of a sign-in provider. The address is verified; null for none. */
export type VisitorAccount = { providerId: string; email: string | null };

/**
 * A permission to see a page as a signed-in person, in a cookie of the page's host. A member's pass is valid as long as
 * the session, a visitor account's pass until its expiry.
 */
export type Pass = { sessionId: string } | (VisitorAccount & { until: number });

const buildPassLocation = ({ id }: Page) => `status-page/${id}/pass`;

export const sealPass = (vault: Vault, page: Page, pass: Pass): string =>
  vault.seal(JSON.stringify(pass), buildPassLocation(page));

/** Returns the pass of the request for this page; null for a missing or forged one. */
export function openPass(vault: Vault, request: Request, page: Page): Pass | null {
  const sealed = readCookie(request, buildPassCookieName(page));
  return sealed === null ? null : openSealed<Pass>(vault, sealed, buildPassLocation(page));
}

/** Decrypts JSON; null if it was not encrypted for this location. */
export function openSealed<T>(vault: Vault, sealed: string, location: string): T | null {
  try {
    return JSON.parse(vault.open(sealed, location)) as T;
  } catch {
    return null;
  }
}
