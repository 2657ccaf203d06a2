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
  /** The form that asks for the password. */
  ask(page: PublicPage): Response;
  /** Takes what the form sends: opens the page at `path`, or asks again. */
  unlock(request: Request, page: PublicPage, path: string): Promise<Response>;
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

  async function unlock(request: Request, page: PublicPage, path: string): Promise<Response> {
    const waitSeconds = attempts.take(addressOf(request));
    if (waitSeconds > 0) {
      const answer = form(page, "Too many attempts from here. Try again in a minute.", 429);
      answer.headers.set("Retry-After", String(waitSeconds));
      return answer;
    }
    const said = await passwordIn(request);
    if (page.passwordHash === null || !(await isPassword(said, page.passwordHash)))
      return form(page, "That is not the password.", 403);
    const until = String(clock() + openMs);
    const secure = request.url.startsWith("https:") ? "; Secure" : "";
    const cookie = `${nameOf(page)}=${vault.seal(until, placeOf(page))}; Path=/; Max-Age=${openMs / 1000}; HttpOnly; SameSite=Lax${secure}`;
    return new Response(null, { status: 303, headers: { Location: path, "Set-Cookie": cookie } });
  }

  return { isOpenFor, ask: (page) => form(page, null, 403), unlock };
}

async function passwordIn(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? maxFormBytes + 1) > maxFormBytes) return "";
  return new URLSearchParams(await request.text()).get("password") ?? "";
}

function form({ title }: PublicPage, trouble: string | null, status: number): Response {
  const name = Bun.escapeHTML(title);
  const said = trouble === null ? "" : `<p class="trouble" role="alert">${trouble}</p>`;
  const made = html(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${name}</title><link rel="stylesheet" href="/status-files/status.css"></head><body><div class="wrap"><main><form class="lock" method="post"><h1>${name}</h1><label for="password">This page asks for a password.</label><input id="password" name="password" type="password" autocomplete="current-password" required autofocus>${said}<button>Open</button></form></main></div></body></html>`,
    status,
  );
  return new Response(made.body, {
    status,
    headers: { "Content-Type": made.type, "Cache-Control": "no-store", ...made.headers },
  });
}
