/** Renders short pages for visitors: questions, confirmations and errors. */
import { resolvePublicAsset } from "../../core/assets.ts";
import { pathOf } from "../../http/request.ts";
import { adjustAccent } from "../rendering/accent.ts";
import { renderBadge } from "../rendering/badges.ts";
import type { PageBranding } from "../store.ts";
import { toHtml, createUncachedResponse } from "../rendering/parts.ts";

/** The Signalbox mark. Written out, because React would slow down the start. */
const mark =
  '<svg width="30" height="30" viewBox="0 0 24 24" fill="none" aria-hidden="true"><path d="M6.5 22V8M3.5 22h6" stroke="currentColor" stroke-width="2.2" stroke-linecap="round"/><g transform="rotate(-40 6.5 13)"><path d="M6.5 10.4h14.2l-1.9 2.6 1.9 2.6H6.5z" class="arm"/></g><circle cx="6.5" cy="13" r="2.2" fill="currentColor"/></svg>';

const unbranded: PageBranding = {
  title: "Signalbox",
  theme: "auto",
  accentColor: null,
  logo: null,
};

/** Creates a short page, such as a question, which no cache may store. `content` is HTML. */
export function respondSmallPage(
  title: string,
  content: string,
  status: number,
  headers?: Record<string, string>,
  branding = unbranded,
): Response {
  const { theme, accentColor, logo } = branding;
  const accent = accentColor === null ? "" : ` style="--accent:${adjustAccent(accentColor)}"`;
  const image = logo === null ? mark : `<img src="${Bun.escapeHTML(logo)}" alt="" height="32">`;
  const header = `<header class="top"><span class="name">${image}<b dir="auto">${Bun.escapeHTML(branding.title)}</b></span></header>`;
  const body = `<!doctype html><html lang="en" data-theme="${theme}"${accent}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="${theme === "auto" ? "light dark" : theme}"><title>${Bun.escapeHTML(title)}</title><link rel="icon" href="data:,"><link rel="preload" href="${resolvePublicAsset("inter-latin.woff2")}" as="font" type="font/woff2" crossorigin><link rel="stylesheet" href="${resolvePublicAsset("status.css")}"></head><body><div class="wrap">${header}<main>${content}</main></div></body></html>`;
  return createUncachedResponse(toHtml(body, status), headers);
}

/** Creates a page with a question and a button, which sends a POST to the same URL. */
export function respondQuestion(heading: string, text: string, button: string): Response {
  const [h1, p, label] = [heading, text, button].map((one) => Bun.escapeHTML(one));
  const form = `<form class="lock" method="post"><h1>${h1}</h1><p>${p}</p><button>${label}</button></form>`;
  return respondSmallPage(heading, form, 200);
}

/** Creates a page with a statement, such as the result of a form. */
export function respondStatement(heading: string, text: string, status = 200): Response {
  const [h1, p] = [heading, text].map((one) => Bun.escapeHTML(one));
  return respondSmallPage(heading, `<div class="lock"><h1>${h1}</h1><p>${p}</p></div>`, status);
}

const maxFormBytes = 4_096;

/** Reads the fields of a form (application/x-www-form-urlencoded); empty if it is too long or has no Content-Length. */
export async function readFormFields(request: Request): Promise<Record<string, string>> {
  const length = Number(request.headers.get("content-length") ?? maxFormBytes + 1);
  return Object.fromEntries(new URLSearchParams(length > maxFormBytes ? "" : await request.text()));
}

/** Creates the same response for missing, private and unpublished content. Badge paths get an SVG. */
export function respondNotFound(request: Request): Response {
  if (/^(\/api)?\/badge\//.test(pathOf(request)))
    return new Response(renderBadge("badge", "not found", "none"), {
      status: 404,
      headers: {
        "Cache-Control": "no-cache",
        "Content-Type": "image/svg+xml; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
      },
    });
  return respondSmallPage(
    "Nothing here",
    '<div class="lock"><h1>Nothing here</h1><p>There is no public page at this address. It can have moved, or the link is incomplete. Ask the sender for the current link.</p></div>',
    404,
    { "Cache-Control": "no-cache" },
  );
}

/** Creates the response for trouble of the appliance itself, when it can't read the page. */
export function respondStatusUnknown(retryAfter: string): Response {
  return respondSmallPage(
    "Status not known",
    '<h1 class="month">The current status is not known</h1><p class="quiet">The monitoring itself has trouble. Try again in a minute.</p>',
    503,
    { "Retry-After": retryAfter, "Cache-Control": "no-store" },
  );
}

export function respondTooManyRequests(retryAfter: string): Response {
  return respondSmallPage(
    "Too many requests",
    '<h1 class="month">Too many requests</h1><p class="quiet">Try again in a minute.</p>',
    429,
    { "Retry-After": retryAfter },
  );
}
