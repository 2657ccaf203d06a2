/**
 * Recognizes members on a status page at any host. The page sends the browser to the admin page, whose session cookie
 * no other host gets. The admin page sends it back with a code, and the page exchanges the code for a cookie.
 */
import { createToken, sha256 } from "../../core/ids.ts";
import { AppError } from "../../core/errors.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import type { Vault } from "../../core/security/secrets.ts";
import { type Clock, minuteMs } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { oldestMs } from "../../accounts/sessions/rules.ts";
import { buildSetCookie, readCookie } from "../../http/cookies.ts";
import { isOurs } from "../../http/access/host-guard.ts";
import { originOf } from "../../http/request.ts";
import { respondSmallPage } from "../../http/responses/small-page.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { isAllowedMember } from "../access-rules.ts";
import { selectEffectiveHosts } from "../rules.ts";
import { findHeadById, findPages, type PageHead } from "../store.ts";
import { openSealed, passCookieOf, sealPass } from "./credentials.ts";
import { isWithin } from "./lock.ts";

/** Time to sign in. */
const startedMs = 10 * minuteMs;
/** Time for the browser to bring the code back. */
const codeMs = minuteMs;

/** A started sign-in. `origin` and `base` are the address of the page in the browser. */
type Start = {
  organizationId: string;
  pageId: string;
  origin: string;
  base: string;
  /** SHA-256 of the secret in the browser's cookie, so that a code works only in this browser. */
  secretHash: string;
  until: number;
};
type Code = { sessionId: string; secretHash: string; until: number };

const startLocation = "status-page/sign-in";
const codeLocationOf = ({ id }: { id: string }) => `status-page/${id}/sign-in-code`;
const cookieNameOf = ({ id }: { id: string }) => `signalbox_sign-in_${id}`;

export type PageSignInDependencies = {
  store: Store;
  vault: Vault;
  clock: Clock;
  ownHosts: OwnHosts;
  /** Public address of this appliance, without a trailing slash. */
  origin: () => string;
};

type Target = { head: PageHead; base: string; isAtOwnHost: boolean; hasAdminPage: boolean };

/** Starts a sign-in that returns to `to`, or completes it with the code of the admin page. */
export function signInVisitor(
  on: PageSignInDependencies,
  request: Request,
  target: Target,
  { code, to }: { code: string | null; to: string | null },
): Response {
  const home = target.base || "/";
  const back = to !== null && isWithin(home, to) ? to : home;
  return code === null
    ? startSignIn(on, request, target, back)
    : completeSignIn(on, request, target, code);
}

function startSignIn(
  { vault, clock, ownHosts, origin }: PageSignInDependencies,
  request: Request,
  { head, base, isAtOwnHost, hasAdminPage }: Target,
  back: string,
): Response {
  const isAtAdminHost = hasAdminPage && isOurs(request, ownHosts);
  // The admin page returns only to its own host and to the page's own ones.
  if (!isAtOwnHost && !isAtAdminHost)
    return redirect(302, `${origin()}/status/${head.slug}/sign-in`, []);
  const secret = createToken(43);
  const { organizationId, id: pageId } = head;
  const start: Start = {
    organizationId,
    pageId,
    origin: originOf(request),
    base,
    secretHash: sha256(secret),
    until: clock() + startedMs,
  };
  const sealed = vault.seal(JSON.stringify(start), startLocation);
  const cookie = buildSetCookie(request, {
    name: cookieNameOf(head),
    value: `${secret}~${back}`,
    maxAgeSeconds: startedMs / 1000,
    sameSite: "Lax",
  });
  return redirect(302, `${isAtAdminHost ? "" : origin()}/status-pages?visit=${sealed}`, [cookie]);
}

function completeSignIn(
  { vault, clock }: PageSignInDependencies,
  request: Request,
  { head, base }: Target,
  sealed: string,
): Response {
  const code = openSealed<Code>(vault, sealed, codeLocationOf(head));
  const [secret = "", to = ""] = (readCookie(request, cookieNameOf(head)) ?? "").split("~", 2);
  const home = base || "/";
  if (code === null || code.until < clock() || code.secretHash !== sha256(secret))
    return respondSmallPage(
      "Sign in again",
      `<div class="lock"><h1>This link has expired</h1><p><a class="go" href="${base}/sign-in">Sign in again</a></p></div>`,
      403,
    );
  const pass = buildSetCookie(request, {
    name: passCookieOf(head),
    value: sealPass(vault, head, { sessionId: code.sessionId }),
    maxAgeSeconds: oldestMs / 1000,
    sameSite: "Lax",
  });
  const used = buildSetCookie(request, {
    name: cookieNameOf(head),
    value: "",
    maxAgeSeconds: 0,
    sameSite: "Lax",
  });
  return redirect(303, isWithin(home, to) ? to : home, [pass, used]);
}

function redirect(status: 302 | 303, location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ Location: location, "Cache-Control": "no-store" });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status, headers });
}

/**
 * Returns the address that completes a sign-in started by a status page. Throws FORBIDDEN if the person can't see the
 * page as a member, and NOT_FOUND for an expired or foreign start.
 */
export async function approveVisit(
  { store, vault, clock, ownHosts, origin, session }: SignedInContext,
  sealed: string,
): Promise<{ url: string }> {
  const start = openSealed<Start>(vault, sealed, startLocation);
  if (start === null || start.until < clock())
    throw new AppError("NOT_FOUND", "This link has expired. Open the status page again.");
  const { organizationId, pageId } = start;
  const head = await findHeadById(store, pageId);
  const member = session.organizations.find(({ id }) => id === organizationId);
  if (member === undefined || head === null || !isAllowedMember(head.allowedRoles, member))
    throw new AppError("FORBIDDEN", "Your account is not allowed to see this status page.");
  const [page] = await findPages({ store, organizationId }, pageId);
  // Only these hosts, because a forged Host header could otherwise lead the code elsewhere.
  const hosts = page === undefined ? [] : selectEffectiveHosts(page, ownHosts);
  const { hostname } = new URL(start.origin);
  if (hostname !== new URL(origin).hostname && !hosts.includes(hostname))
    throw new AppError("NOT_FOUND", "This link has expired. Open the status page again.");
  const code: Code = {
    sessionId: session.id,
    secretHash: start.secretHash,
    until: clock() + codeMs,
  };
  const value = vault.seal(JSON.stringify(code), codeLocationOf(head));
  return { url: `${start.origin}${start.base}/sign-in?code=${value}` };
}
