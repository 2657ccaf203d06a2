import type { Clock } from "../base/clock.ts";
import { isPassword } from "../base/passwords.ts";
import type { Vault } from "../base/secrets.ts";
import type { RateLimit } from "../http/rate-limit.ts";
import { html } from "./parts.ts";
import type { PublicPage } from "./store.ts";

/** Who knew the password does not have to say it again for so long. */
const openMs = 30 * 86_400_000;
const maxFormBytes = 4_096;

export type Lock = {
  /** Whether this visitor may read the page. */
  isOpenFor(request: Request, page: PublicPage): boolean;
  /** The form that asks for the password; it is sent to the page's own `home` and leads back to `path`. */
  ask(page: PublicPage, home: string, path: string): Response;
  /** Takes what the form sends: opens the page, or asks again. */
  unlock(request: Request, page: PublicPage, home: string): Promise<Response>;
};

/**
 * Pages behind a password. The cookie says until when, sealed together with the password's hash: a
 * changed password closes the page for everybody.
 */
export function pageLock(
  vault: Vault,
  clock: Clock,
  attempts: RateLimit,
  addressOf: (request: Request) => string,
): Lock {
  const placeOf = ({ id, passwordHash }: PublicPage) => `status-page/${id}/${passwordHash}`;
  const nameOf = ({ id }: PublicPage) => `signalbox_page_${id}`;

  function isOpenFor({ headers }: Request, page: PublicPage): boolean {
    const name = `${nameOf(page)}=`;
    const pair = (headers.get("cookie") ?? "").split(/;\s*/).find((one) => one.startsWith(name));
    if (pair === undefined) return false;
    try {
      return Number(vault.open(pair.slice(name.length), placeOf(page))) > clock();
    } catch {
      return false;
    }
  }

  async function unlock(request: Request, page: PublicPage, home: string): Promise<Response> {
    const address = addressOf(request);
    const waitSeconds = attempts.take(address);
    if (waitSeconds > 0) {
      const trouble = "Too many attempts from here. Try again in a minute.";
      const answer = form(page, home, home, trouble, 429);
      answer.headers.set("Retry-After", String(waitSeconds));
      return answer;
    }
    const { password, path } = await said(request);
    const to = isWithin(home, path) ? path : home;
    const { passwordHash } = page;
    if (passwordHash === null || !(await isPassword(password, passwordHash, address)))
      return form(page, home, to, "That is not the password.", 403);
    const until = String(clock() + openMs);
    const secure = request.url.startsWith("https:") ? "; Secure" : "";
    const cookie = `${nameOf(page)}=${vault.seal(until, placeOf(page))}; Path=/; Max-Age=${openMs / 1000}; HttpOnly; SameSite=Lax${secure}`;
    return new Response(null, { status: 303, headers: { Location: to, "Set-Cookie": cookie } });
  }

  return { isOpenFor, ask: (page, home, path) => form(page, home, path, null, 403), unlock };
}

async function said(request: Request): Promise<{ password: string; path: string }> {
  const length = Number(request.headers.get("content-length") ?? maxFormBytes + 1);
  const fields = new URLSearchParams(length > maxFormBytes ? "" : await request.text());
  return { password: fields.get("password") ?? "", path: fields.get("path") ?? "" };
}

/** Whether a path belongs to the page: nobody is sent elsewhere. */
function isWithin(home: string, path: string): boolean {
  if (!/^\/(?:[a-z0-9][a-z0-9./-]*)?$/.test(path)) return false;
  return home === "/" || [home, `${home}.json`].includes(path) || path.startsWith(`${home}/`);
}

function form(
  { title }: PublicPage,
  home: string,
  path: string,
  trouble: string | null,
  status: number,
): Response {
  const name = Bun.escapeHTML(title);
  const said = trouble === null ? "" : `<p class="trouble" role="alert">${trouble}</p>`;
  const made = html(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${name}</title><link rel="stylesheet" href="/status-files/status.css"></head><body><div class="wrap"><main><form class="lock" method="post" action="${home}"><input type="hidden" name="path" value="${Bun.escapeHTML(path)}"><h1>${name}</h1><label for="password">This page asks for a password.</label><input id="password" name="password" type="password" autocomplete="current-password" required autofocus>${said}<button>Open</button></form></main></div></body></html>`,
    status,
  );
  return new Response(made.body, {
    status,
    headers: { "Content-Type": made.type, "Cache-Control": "no-store", ...made.headers },
  });
}
