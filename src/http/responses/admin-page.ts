/** Serves the HTML of the admin page on its paths. */
import { randomBytes } from "node:crypto";
import {
  type AdminLanguage,
  adminLanguages,
  languageCookie,
  nameAdminPage,
} from "../../core/admin-languages.ts";
import { negotiateLanguage } from "../../core/text/negotiate-language.ts";
import { readCookie } from "../cookies.ts";
import type { WebFiles } from "./web-files.ts";

/** Paths of the admin page. Its script selects the page to show. */
export const adminPaths = [
  "/",
  "/monitors",
  "/monitors/:id",
  "/alerts",
  "/alerts/:id",
  "/incidents",
  "/incidents/:id",
  "/incidents/:id/postmortem",
  "/maintenance",
  "/maintenance/:id",
  "/on-call",
  "/on-call/readiness",
  "/on-call/alert-sources",
  "/on-call/alert-sources/:id",
  "/on-call/:id",
  "/alert-channels",
  "/alert-channels/:id",
  "/status-pages",
  "/status-pages/:id",
  "/reports",
  "/settings",
  "/settings/:section",
  "/wall",
  "/sign-in",
  "/set-up",
  "/invitation",
] as const;

const buildPolicy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // Mantine adds styles by script. Only those with the nonce of this response apply.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

const machinePathPattern =
  /^\/(api|dashboard|push|ping|in|calendars|assets|metrics|healthz)(\/|$)/i;

/** Whether a person opened a URL in a browser, as opposed to requests by scripts or pages. */
export function isOpenedInBrowser({ method, headers }: Request, path: string): boolean {
  const accepts = headers.get("accept")?.includes("text/html") === true;
  return method === "GET" && accepts && !machinePathPattern.test(path);
}

const isAdminLanguage = (text: string | null): text is AdminLanguage =>
  adminLanguages.some((language) => language === text);

/** Returns the language that the page stored in its cookie, or else the browser's. */
export function selectLanguage(request: Request): AdminLanguage {
  const chosen = readCookie(request, languageCookie);
  if (isAdminLanguage(chosen)) return chosen;
  return negotiateLanguage(request.headers.get("accept-language"), adminLanguages);
}

/**
 * Renders the HTML of the admin page in the person's language; null before the first build. All files that it loads
 * have a hash in their names.
 */
export function renderAdminPage(request: Request, web: WebFiles, status = 200): Response | null {
  const html = web.text(nameAdminPage(selectLanguage(request)));
  if (html === null) return null;
  const nonce = randomBytes(16).toString("base64url");
  return new Response(html.replace("{nonce}", nonce), {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": buildPolicy(nonce),
      // Only with Fetch Metadata. Over plain HTTP on the LAN, browsers don't send it, and would warn that they ignore
      // this header.
      ...(request.headers.has("sec-fetch-dest") && { "Cross-Origin-Opener-Policy": "same-origin" }),
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    },
  });
}
