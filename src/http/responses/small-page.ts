/** Renders short pages for visitors, without scripts: questions, confirmations and errors. */
import { resolvePublicAsset } from "../../core/assets.ts";

/** Allows only our own scripts. Its last directive lists the origins that can show the page in a frame. Style attributes are allowed because one sets the colors. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
].join("; ");

/**
 * Creates an HTML response of a public page, without caching headers. Pages of `embedOrigins` can show it in a frame.
 */
export function toHtml<Body>(body: Body, status = 200, embedOrigins: readonly string[] = []) {
  return {
    status,
    type: "text/html; charset=utf-8",
    body,
    headers: {
      "Content-Security-Policy": [contentSecurityPolicy, ...embedOrigins].join(" "),
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    },
  };
}

/** Creates a response for a single visitor, which no cache may store. */
export function createUncachedResponse(
  { body, status, type, headers }: ReturnType<typeof toHtml<string>>,
  further: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: { "Content-Type": type, "Cache-Control": "no-store", ...headers, ...further },
  });
}

/** The Signalbox mark. Written out, because React would slow down the start. */
const mark =
  '<svg width="30" height="30" viewBox="0 0 24 24" fill="none" aria-hidden="true"><path d="M6.5 22V8M3.5 22h6" stroke="currentColor" stroke-width="2.2" stroke-linecap="round"/><g transform="rotate(-40 6.5 13)"><path d="M6.5 10.4h14.2l-1.9 2.6 1.9 2.6H6.5z" class="arm"/></g><circle cx="6.5" cy="13" r="2.2" fill="currentColor"/></svg>';

/** Language of a page, as a BCP 47 tag with its direction of writing. */
type DocumentLanguage = { readonly tag: string; readonly dir: "ltr" | "rtl" };

const english: DocumentLanguage = { tag: "en", dir: "ltr" };

/** Name, language and looks of the page. `style` has CSS custom properties, and `logo` is a URL. */
type SmallPageBranding = {
  title: string;
  theme: string;
  style: Readonly<Record<string, string>>;
  logo: string | null;
  language: DocumentLanguage;
};

const unbranded: SmallPageBranding = {
  language: english,
  title: "Signalbox",
  theme: "auto",
  style: {},
  logo: null,
};

/**
 * Creates a short page, such as a question, which no cache may store. `content` is HTML. With
 * `nextPath`, the browser opens that path at once.
 */
export function respondWithSmallPage(
  title: string,
  content: string,
  status: number,
  headers?: Record<string, string>,
  looks: Partial<SmallPageBranding> = {},
  nextPath: string | null = null,
): Response {
  const branding = { ...unbranded, ...looks };
  const { theme, logo, language } = branding;
  const properties = Object.entries(branding.style).map(([name, value]) => `${name}:${value}`);
  const style = properties.length === 0 ? "" : ` style="${Bun.escapeHTML(properties.join(";"))}"`;
  const image = logo === null ? mark : `<img src="${Bun.escapeHTML(logo)}" alt="" height="32">`;
  const refresh =
    nextPath === null
      ? ""
      : `<meta http-equiv="refresh" content="0;url=${Bun.escapeHTML(nextPath)}">`;
  const header = `<header class="top"><span class="name">${image}<b dir="auto">${Bun.escapeHTML(branding.title)}</b></span></header>`;
  const body = `<!doctype html><html lang="${language.tag}" dir="${language.dir}" data-theme="${theme}"${style}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="${theme === "auto" ? "light dark" : theme}">${refresh}<title>${Bun.escapeHTML(title)}</title><link rel="icon" href="data:,"><link rel="preload" href="${resolvePublicAsset("inter-latin.woff2")}" as="font" type="font/woff2" crossorigin><link rel="stylesheet" href="${resolvePublicAsset("status.css")}"></head><body><div class="wrap">${header}<main>${content}</main></div></body></html>`;
  return createUncachedResponse(toHtml(body, status), headers);
}

/** Creates a page with a question and a button, which sends a POST to the same URL. */
export function respondWithQuestion(
  heading: string,
  text: string,
  button: string,
  language: DocumentLanguage,
): Response {
  const [h1, p, label] = [heading, text, button].map((one) => Bun.escapeHTML(one));
  const form = `<form class="lock" method="post"><h1>${h1}</h1><p>${p}</p><button>${label}</button></form>`;
  return respondWithSmallPage(heading, form, 200, undefined, { language });
}

/** Creates a page with a statement, such as the result of a form, and a link to continue. */
export function respondWithStatement(
  heading: string,
  text: string,
  status: number,
  language: DocumentLanguage,
  link: { label: string; path: string } | null = null,
): Response {
  const [h1, p] = [heading, text].map((one) => Bun.escapeHTML(one));
  const anchor =
    link === null ? "" : `<a href="${Bun.escapeHTML(link.path)}">${Bun.escapeHTML(link.label)}</a>`;
  return respondWithSmallPage(
    heading,
    `<div class="lock"><h1>${h1}</h1><p>${p}</p>${anchor}</div>`,
    status,
    undefined,
    { language },
  );
}

export function respondTooManyRequests(retryAfter: string): Response {
  return respondWithSmallPage(
    "Too many requests",
    '<h1 class="month">Too many requests</h1><p class="quiet">Try again in a minute.</p>',
    429,
    { "Retry-After": retryAfter },
  );
}
