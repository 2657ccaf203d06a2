/** Protects status pages with a password, and remembers visitors who entered it by a cookie. */
import { type Clock, dayMs } from "../../core/time/clock.ts";
import { networkOf } from "../../core/security/client-network.ts";
import { AppError } from "../../core/errors.ts";
import { isPassword } from "../../core/security/passwords.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import { respondSmallPage } from "../../http/responses/small-page.ts";
import { adjustAccent } from "../rendering/accent.ts";
import { readFormFields } from "./small-page.ts";
import type { Store } from "../../database/store.ts";
import { findBranding, type PageBranding, type PageHead } from "../store.ts";
import { readCookie, buildSetCookie } from "../../http/cookies.ts";

/** How long a visitor can read the page after entering the password. */
const openMs = 30 * dayMs;

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
  const locationOf = ({ id, passwordHash }: PageHead) => `status-page/${id}/${passwordHash}`;
  const cookieNameOf = ({ id }: PageHead) => `signalbox_page_${id}`;

  /** Whether the visitor has a valid cookie for the page. */
  function isOpenFor(request: Request, page: PageHead): boolean {
    const sealed = readCookie(request, cookieNameOf(page));
    if (sealed === null) return false;
    try {
      return Number(vault.open(sealed, locationOf(page))) > clock();
    } catch {
      return false;
    }
  }

  /** Creates the password form. It is sent to the page's `home`, and leads back to `path`. */
  const askPassword = async (page: PageHead, home: string, path: string) =>
    renderForm(await findBranding(store, page), home, path, null, 403);

  /** Checks the submitted form: opens the page, or asks again. */
  async function unlock(request: Request, page: PageHead, home: string): Promise<Response> {
    const address = addressOf(request);
    const tryAgain = async (trouble: string, seconds = "1") =>
      renderForm(await findBranding(store, page), home, home, trouble, 429, {
        "Retry-After": seconds,
      });
    const waitSeconds = attempts.take(address);
    if (waitSeconds > 0)
      return tryAgain("Too many attempts from here. Try again in a minute.", String(waitSeconds));
    const { password = "", path = "" } = await readFormFields(request);
    const to = isWithin(home, path) ? path : home;
    const { passwordHash } = page;
    try {
      const client = { lane: "page", client: networkOf(address) } as const;
      if (passwordHash === null || !(await isPassword(password, passwordHash, client)))
        return renderForm(await findBranding(store, page), home, to, "The password is wrong.", 403);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "RATE_LIMITED") throw error;
      attempts.refund(address);
      const trouble =
        "Too many people are opening pages at the moment. Try again in a few seconds.";
      return tryAgain(trouble, error.headers["Retry-After"]);
    }
    const until = String(clock() + openMs);
    const cookie = buildSetCookie(request, {
      name: cookieNameOf(page),
      value: vault.seal(until, locationOf(page)),
      maxAgeSeconds: openMs / 1000,
      sameSite: "Lax",
    });
    return new Response(null, { status: 303, headers: { Location: to, "Set-Cookie": cookie } });
  }

  return { isOpenFor, ask: askPassword, unlock };
}

/** Whether a path belongs to the page, so that nothing can redirect elsewhere. */
export function isWithin(home: string, path: string): boolean {
  if (!/^\/(?:[a-z0-9][a-z0-9./-]*)?$/.test(path)) return false;
  return home === "/" || [home, `${home}.json`].includes(path) || path.startsWith(`${home}/`);
}

function renderForm(
  branding: PageBranding,
  home: string,
  path: string,
  trouble: string | null,
  status: number,
  headers?: Record<string, string>,
): Response {
  const notice = trouble === null ? "" : `<p class="trouble" role="alert">${trouble}</p>`;
  return respondSmallPage(
    branding.title,
    `<form class="lock" method="post" action="${home}"><input type="hidden" name="path" value="${Bun.escapeHTML(path)}"><h1>Enter the password</h1><p>You get it from the people who sent you this address.</p><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required autofocus>${notice}<button>Open</button></form>`,
    status,
    headers,
    {
      ...branding,
      accentColor: branding.accentColor === null ? null : adjustAccent(branding.accentColor),
    },
  );
}
