/**
 * Recognizes signed-in people on a status page at any host. The page sends the browser to the admin page, whose session
 * cookie no other host gets, or on to a sign-in provider. The browser returns with a code, which the page exchanges for a
 * cookie of its own.
 */
import { maxIdleMs, maxSessionAgeMs } from "../../accounts/sessions/rules.ts";
import { ProviderFailure, startAgain } from "../../accounts/single-sign-on/failures.ts";
import {
  type IdentifiedVisitor,
  type SingleSignOnDependencies,
  startAttempt,
} from "../../accounts/single-sign-on/service.ts";
import { AppError } from "../../core/errors.ts";
import { createToken, sha256 } from "../../core/ids.ts";
import type { PageLanguage } from "../../core/languages.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import type { Vault } from "../../core/security/secrets.ts";
import { type Clock, minuteMs } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { isOurs } from "../../http/access/host-guard.ts";
import { buildSetCookie, readCookie } from "../../http/cookies.ts";
import { originOf } from "../../http/request.ts";
import { respondWithSmallPage, respondWithStatement } from "../../http/responses/small-page.ts";
import type { SignedInContext, VisitorContext } from "../../http/visitor-context.ts";
import { isAllowedMember, isAllowedVisitor } from "../access-rules.ts";
import type { Language } from "../languages/language.ts";
import { getLanguage } from "../languages/catalog.ts";
import { selectEffectiveHosts } from "../rules.ts";
import {
  findBranding,
  findHeadById,
  findPlainPage,
  findVisitorProviders,
  type PageHead,
} from "../store.ts";
import { respondChoice } from "./access.ts";
import {
  openSealed,
  type Pass,
  buildPassCookieName,
  sealPass,
  type VisitorAccount,
} from "./credentials.ts";
import { isWithin } from "./return-path.ts";

/** Time to sign in. */
const startedMs = 10 * minuteMs;
/** Time for the browser to bring the code back. */
const codeMs = minuteMs;
/** Access time of a visitor without an account here. Then the provider must confirm the visitor again. */
const visitMs = maxIdleMs;

/** A started sign-in. `origin` and `base` are the address of the page in the browser. */
type StartedSignIn = {
  organizationId: string;
  pageId: string;
  origin: string;
  base: string;
  language: PageLanguage;
  /** SHA-256 of the secret in the browser's cookie, so that a code works only in this browser. */
  secretHash: string;
  until: number;
};
type Code = { who: { sessionId: string } | VisitorAccount; secretHash: string; until: number };

const startLocation = "status-page/sign-in";
const buildCodeLocation = (pageId: string) => `status-page/${pageId}/sign-in-code`;
const buildAccountLocation = (pageId: string) => `status-page/${pageId}/account`;
const buildCookieName = (pageId: string) => `signalbox_sign-in_${pageId}`;

export type PageSignInDependencies = {
  store: Store;
  vault: Vault;
  clock: Clock;
  ownHosts: OwnHosts;
  /** Public address of this appliance, without a trailing slash. */
  origin: () => string;
};

type Target = {
  head: PageHead;
  base: string;
  languageName: PageLanguage;
  isAtOwnHost: boolean;
  hasAdminPage: boolean;
};

/**
 * Starts a sign-in that returns to `to`, or completes it with the code of the admin page. On a page with sign-in
 * providers, visitors first choose one, or their account here.
 */
export async function signInVisitor(
  on: PageSignInDependencies,
  request: Request,
  target: Target,
  query: URLSearchParams,
): Promise<Response> {
  const { head, base, languageName } = target;
  const home = base || "/";
  const language = getLanguage(languageName);
  const [code, providerId] = [query.get("code"), query.get("provider")];
  if (code !== null) return completeSignIn(on, request, target, code);
  // After a failed sign-in, the cookie still has the address.
  const to = query.get("to") ?? readStarted(request, head).to;
  const returnPath = isWithin(home, to) ? to : home;
  const providers = await findVisitorProviders(on.store, head);
  const isChosen = query.has("account") || providers.some(({ id }) => id === providerId);
  return providers.length > 0 && !isChosen
    ? respondChoice(await findBranding(on.store, head), { home, language }, returnPath, providers)
    : startSignIn(on, request, target, returnPath, query.has("account") ? null : providerId);
}

/** Reads the browser's cookie of a started sign-in. */
function readStarted(request: Request, { id }: PageHead): { secret: string; to: string } {
  const [secret = "", to = ""] = (readCookie(request, buildCookieName(id)) ?? "").split("~", 2);
  return { secret, to };
}

function startSignIn(
  { vault, clock, ownHosts, origin }: PageSignInDependencies,
  request: Request,
  { head, base, languageName: language, isAtOwnHost, hasAdminPage }: Target,
  back: string,
  providerId: string | null,
): Response {
  const isAtAdminHost = hasAdminPage && isOurs(request, ownHosts);
  const way = providerId === null ? "account" : `provider=${providerId}`;
  const query = `?${way}&to=${encodeURIComponent(back)}`;
  // The admin page returns only to its own host and to the page's own ones.
  if (!isAtOwnHost && !isAtAdminHost)
    return redirect(302, `${origin()}/status/${head.slug}/sign-in${query}`, []);
  const secret = createToken(43);
  const { organizationId, id: pageId } = head;
  const start: StartedSignIn = {
    organizationId,
    pageId,
    origin: originOf(request),
    base,
    language,
    secretHash: sha256(secret),
    until: clock() + startedMs,
  };
  const visit = vault.seal(JSON.stringify(start), startLocation);
  const cookie = buildSetCookie(request, {
    name: buildCookieName(pageId),
    value: `${secret}~${back}`,
    maxAgeSeconds: startedMs / 1000,
    sameSite: "Lax",
  });
  const path =
    providerId === null
      ? `/status-pages?visit=${visit}`
      : `${visitorPath}?provider=${providerId}&visit=${visit}`;
  return redirect(302, `${isAtAdminHost ? "" : origin()}${path}`, [cookie]);
}

function completeSignIn(
  { vault, clock }: PageSignInDependencies,
  request: Request,
  { head, base, languageName }: Target,
  sealed: string,
): Response {
  const code = openSealed<Code>(vault, sealed, buildCodeLocation(head.id));
  const { secret, to } = readStarted(request, head);
  const home = base || "/";
  if (code === null || code.until < clock() || code.secretHash !== sha256(secret))
    return respondExpired(`${base}/sign-in`, getLanguage(languageName));
  const pass: Pass = "sessionId" in code.who ? code.who : { ...code.who, until: clock() + visitMs };
  const lifetimeMs = "sessionId" in pass ? maxSessionAgeMs : visitMs;
  const cookies = [
    {
      name: buildPassCookieName(head),
      value: sealPass(vault, head, pass),
      maxAgeSeconds: lifetimeMs / 1000,
    },
    { name: buildCookieName(head.id), value: "", maxAgeSeconds: 0 },
  ].map((cookie) => buildSetCookie(request, { ...cookie, sameSite: "Lax" }));
  return redirect(303, isWithin(home, to) ? to : home, cookies);
}

function respondExpired(link: string, language: Language): Response {
  const [heading, again] = [language.translate("linkExpired"), language.translate("signInAgain")];
  return respondWithSmallPage(
    again,
    `<div class="lock"><h1>${Bun.escapeHTML(heading)}</h1><a class="go" href="${Bun.escapeHTML(link)}">${Bun.escapeHTML(again)}</a></div>`,
    403,
    {},
    { language },
  );
}

function redirect(status: 302 | 303, location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ Location: location, "Cache-Control": "no-store" });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status, headers });
}

/** Returns a started sign-in with its page; null if it is forged or expired, or the page no longer exists. */
async function openStart(
  { store, vault, clock, ownHosts, origin }: VisitorContext,
  sealed: string,
): Promise<{ start: StartedSignIn; head: PageHead } | null> {
  const start = openSealed<StartedSignIn>(vault, sealed, startLocation);
  if (start === null || start.until < clock()) return null;
  const { organizationId, pageId } = start;
  const head = await findHeadById(store, pageId);
  const page = await findPlainPage({ store, organizationId }, pageId);
  if (head === null || page === null) return null;
  // Only these hosts, because a forged Host header could otherwise lead the code elsewhere.
  const { hostname } = new URL(start.origin);
  const isAllowed =
    hostname === new URL(origin).hostname ||
    selectEffectiveHosts(page, ownHosts).includes(hostname);
  return isAllowed ? { start, head } : null;
}

function buildCompletion(
  { vault, clock }: VisitorContext,
  start: StartedSignIn,
  who: Code["who"],
): string {
  const code: Code = { who, secretHash: start.secretHash, until: clock() + codeMs };
  const value = vault.seal(JSON.stringify(code), buildCodeLocation(start.pageId));
  return `${start.origin}${start.base}/sign-in?code=${value}`;
}

/**
 * Returns the address that completes a sign-in started by a status page. Throws FORBIDDEN if the person can't see the
 * page as a member, and NOT_FOUND for an expired or foreign start.
 */
export async function approveVisit(
  context: SignedInContext,
  sealed: string,
): Promise<{ url: string }> {
  const opened = await openStart(context, sealed);
  if (opened === null)
    throw new AppError("NOT_FOUND", "This link has expired. Open the status page again.");
  const { start, head } = opened;
  const { id: sessionId, organizations } = context.session;
  const member = organizations.find(({ id }) => id === head.organizationId);
  if (member === undefined || !isAllowedMember(head.allowedRoles, member))
    throw new AppError("FORBIDDEN", "Your account is not allowed to see this status page.");
  return { url: buildCompletion(context, start, { sessionId }) };
}

/** Path at which a visitor goes to a sign-in provider, and to which the provider's response leads. */
export const visitorPath = "/sign-in/visitor";

const buildVisitCookieName = (pageId: string) => `signalbox_visit_${pageId}`;
const buildAccountCookieName = (pageId: string) => `signalbox_account_${pageId}`;

/**
 * Sends a visitor to the sign-in provider of a status page, and afterwards back to the page. Throws the errors of
 * `startAttempt`.
 */
export async function visitProvider(
  context: VisitorContext,
  dependencies: Pick<SingleSignOnDependencies, "providerDocuments">,
  query: URLSearchParams,
): Promise<Response> {
  const { vault, clock, cookies } = context;
  const pageId = query.get("page");
  const visit = query.get("visit") ?? (pageId && cookies.read(buildVisitCookieName(pageId))) ?? "";
  const opened = await openStart(context, visit);
  if (opened === null) return respondExpired("/", getLanguage("en"));
  const { start, head } = opened;
  const providerId = query.get("provider");
  if (providerId !== null) {
    cookies.set({ ...shortCookie, name: buildVisitCookieName(head.id), value: visit });
    try {
      const url = await startAttempt(context, dependencies, {
        providerId,
        purpose: { type: "visitor", pageId: head.id },
        returnTo: `${visitorPath}?page=${head.id}`,
      });
      return redirect(302, url, []);
    } catch (error) {
      return respondTrouble(error, getLanguage(start.language));
    }
  }
  const sealed = cookies.read(buildAccountCookieName(head.id)) ?? "";
  const account = openSealed<VisitorAccount & { until: number }>(
    vault,
    sealed,
    buildAccountLocation(head.id),
  );
  if (account === null || account.until < clock())
    return respondExpired(`${start.origin}${start.base}/sign-in`, getLanguage(start.language));
  for (const name of [buildVisitCookieName(head.id), buildAccountCookieName(head.id)])
    cookies.set({ name, value: "", maxAgeSeconds: 0, sameSite: "Lax" });
  const { until: _until, ...who } = account;
  return redirect(302, buildCompletion(context, start, who), []);
}

/** Shows that a provider can't be used as a page. The log has the reason, because visitors can't change it. */
function respondTrouble(error: unknown, language: Language): Response {
  if (!(error instanceof AppError)) throw error;
  const isFrequent = error.code === "RATE_LIMITED";
  return respondWithStatement(
    language.translate(isFrequent ? "tooManyRequests" : "signInFails"),
    language.translate("signInLater"),
    isFrequent ? 429 : 503,
    language,
  );
}

const shortCookie = { maxAgeSeconds: startedMs / 1000, sameSite: "Lax" } as const;

/** Shows that a visitor's sign-in failed. The log has the reasons that only administrators can change. */
export async function respondVisitorFailure(
  context: VisitorContext,
  pageId: string,
  { isAboutAccount, providerMessage, isUnreachable, providerName }: ProviderFailure,
): Promise<Response> {
  const opened = await openStart(context, context.cookies.read(buildVisitCookieName(pageId)) ?? "");
  const language = getLanguage(
    opened?.start.language ?? (await findHeadById(context.store, pageId))?.language ?? "en",
  );
  const name = providerName ?? "";
  const [heading, text] = isAboutAccount
    ? [language.translate("accountNotAllowed", { name }), language.translate("useOtherAccount")]
    : providerMessage !== null && providerMessage !== ""
      ? [language.translate("providerRejected", { name }), providerMessage]
      : [language.translate("signInFails"), language.translate("signInLater")];
  return respondWithStatement(
    heading,
    text,
    isUnreachable ? 502 : 403,
    language,
    opened && {
      label: language.translate("signInAgain"),
      path: `${opened.start.origin}${opened.start.base}/sign-in`,
    },
  );
}

/** Accepts the account of a visitor whom a provider identified. Throws ProviderFailure if the page does not accept it. */
export async function admitVisitor(
  { store, vault, clock, cookies }: VisitorContext,
  { pageId, provider, claims }: IdentifiedVisitor,
): Promise<void> {
  const head = await findHeadById(store, pageId);
  if (head === null)
    throw new ProviderFailure("The status page no longer exists.", { advice: startAgain });
  const accepted = (await findVisitorProviders(store, head)).find(({ id }) => id === provider.id);
  const email = claims.isEmailVerified ? claims.email : null;
  if (accepted === undefined || !isAllowedVisitor(accepted.domains, email))
    throw new ProviderFailure(
      `Your account at ${provider.name} is not allowed to see this status page.`,
      {
        isAboutAccount: true,
        advice: "Sign in with another account, or ask the people who sent you its address.",
      },
    );
  const account = { providerId: provider.id, email, until: clock() + startedMs };
  cookies.set({
    ...shortCookie,
    name: buildAccountCookieName(pageId),
    value: vault.seal(JSON.stringify(account), buildAccountLocation(pageId)),
  });
}
