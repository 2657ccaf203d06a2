/** Protects status pages with a password, and remembers visitors who entered it by a cookie. */
import { type Clock, dayMs } from "../../core/time/clock.ts";
import { networkOf } from "../../core/security/client-network.ts";
import { AppError } from "../../core/errors.ts";
import { isPassword } from "../../core/security/passwords.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import { respondWithSmallPage } from "../../http/responses/small-page.ts";
import { buildLookStyle } from "../rendering/look.ts";
import type { Language } from "../languages/language.ts";
import { addQuery, isWithin, languageOf } from "./return-path.ts";
import { readFormFields, formatRetryText } from "./small-page.ts";
import type { Store } from "../../database/store.ts";
import { findBranding, type PageBranding, type PageHead } from "../store.ts";
import { readCookie, buildSetCookie } from "../../http/cookies.ts";

/** How long a visitor can read the page after entering the password. */
const openMs = 30 * dayMs;

/** A page that a visitor opens, as forms and notices show it. */
export type VisitedPage = {
  /** Path of the page. */
  home: string;
  language: Language;
  /** Query that keeps the language; empty if the page offers only one. */
  query: string;
};

export type PageLock = ReturnType<typeof createPageLock>;

/**
 * Creates the lock of pages with a password. The cookie contains its expiry, sealed for the password's hash, so that
 * a changed password locks out all visitors.
 */
export function createPageLock(
  store: Store,
  vault: Vault,
  clock: Clock,
  attempts: NetworkLimit,
  addressOf: (request: Request) => string,
) {
  const buildSealLocation = ({ id, passwordHash }: PageHead) => `status-page/${id}/${passwordHash}`;
  const buildCookieName = ({ id }: PageHead) => `signalbox_page_${id}`;

  /** Whether the visitor has a valid cookie for the page. */
  function isOpenFor(request: Request, page: PageHead): boolean {
    const sealed = readCookie(request, buildCookieName(page));
    if (sealed === null) return false;
    try {
      return Number(vault.open(sealed, buildSealLocation(page))) > clock();
    } catch {
      return false;
    }
  }

  /** Creates the password form. It is sent to the page's `home`, and leads back to `path`. */
  const askPassword = async (page: PageHead, visited: VisitedPage, path: string) =>
    renderForm(await findBranding(store, page), visited, { path, error: null, status: 403 });

  /** Checks the submitted form: opens the page, or asks again. */
  async function unlock(request: Request, page: PageHead, visited: VisitedPage): Promise<Response> {
    const { home, language } = visited;
    const address = addressOf(request);
    const { password = "", path = "" } = await readFormFields(request, address);
    const to = isWithin(home, path) ? path : home;
    const tryAgain = async (error: "tooManyAttempts" | "tooManyPeopleOpen", seconds = "1") => {
      const retryText = `${language.translate(error)} ${formatRetryText(language, Number(seconds))}`;
      const form = { path: to, error: retryText, status: 429 };
      const headers = { "Retry-After": seconds };
      return renderForm(await findBranding(store, page), visited, form, headers);
    };
    const waitSeconds = attempts.take(address);
    if (waitSeconds > 0) return tryAgain("tooManyAttempts", String(waitSeconds));
    const { passwordHash } = page;
    try {
      const client = { lane: "page", client: networkOf(address) } as const;
      if (passwordHash === null || !(await isPassword(password, passwordHash, client)))
        return renderForm(await findBranding(store, page), visited, buildFailedForm(language, to));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "RATE_LIMITED") throw error;
      attempts.refund(address);
      return tryAgain("tooManyPeopleOpen", error.headers["Retry-After"]);
    }
    const until = String(clock() + openMs);
    const cookie = buildSetCookie(request, {
      name: buildCookieName(page),
      value: vault.seal(until, buildSealLocation(page)),
      maxAgeSeconds: openMs / 1000,
      sameSite: "Lax",
    });
    return new Response(null, {
      status: 303,
      headers: {
        Location: languageOf(to) === "" ? addQuery(to, visited.query) : to,
        "Set-Cookie": cookie,
      },
    });
  }

  return { isOpenFor, ask: askPassword, unlock };
}

const buildFailedForm = (language: Language, path: string): Form => ({
  path,
  error: language.translate("wrongPassword"),
  status: 403,
});

type Form = { path: string; error: string | null; status: number };

function renderForm(
  branding: PageBranding,
  { home, language, query }: VisitedPage,
  { path, error, status }: Form,
  headers?: Record<string, string>,
): Response {
  const translate = (key: "enterPassword" | "passwordOrigin" | "password" | "open") =>
    Bun.escapeHTML(language.translate(key));
  const notice = error === null ? "" : `<p class="error" role="alert">${Bun.escapeHTML(error)}</p>`;
  return respondWithSmallPage(
    branding.title,
    `<form class="lock" method="post" action="${home}${query}"><input type="hidden" name="path" value="${Bun.escapeHTML(path)}"><h1>${translate("enterPassword")}</h1><p>${translate("passwordOrigin")}</p><label for="password">${translate("password")}</label><input id="password" name="password" type="password" autocomplete="current-password" required autofocus>${notice}<button>${translate("open")}</button></form>`,
    status,
    headers,
    {
      ...branding,
      language,
      style: buildLookStyle(branding),
    },
  );
}
