/** Serves the HTML of the admin page at its paths. */
import { randomBytes } from "node:crypto";
import type { WebFiles } from "./web-files.ts";

/** Paths of the admin page; the page itself distinguishes them. */
export const adminPaths = [
  "/",
  "/monitors",
  "/monitors/:id",
  "/incidents",
  "/incidents/:id",
  "/maintenance",
  "/maintenance/:id",
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

const policy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // Mantine adds styles by script; only those with the nonce of this response apply.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

const notForPeople = /^\/(api|dashboard|push|assets|metrics|healthz)(\/|$)/i;

/** Whether a person opened an address in a browser, not a script or the page itself. */
export function isOpenedInBrowser({ method, headers }: Request, path: string): boolean {
  const accepts = headers.get("accept")?.includes("text/html") === true;
  return method === "GET" && accepts && !notForPeople.test(path);
}

/** The admin page's HTML; all that it loads has names that change with the content. Null before the page was built. */
export function adminPage({ headers }: Request, web: WebFiles, status = 200): Response | null {
  const html = web.text("index.html");
  if (html === null) return null;
  const nonce = randomBytes(16).toString("base64url");
  return new Response(html.replace("{nonce}", nonce), {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": policy(nonce),
      // Over plain HTTP on the LAN browsers say in their console that this is ignored; they send Fetch Metadata only elsewhere.
      ...(headers.has("sec-fetch-dest") && { "Cross-Origin-Opener-Policy": "same-origin" }),
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    },
  });
}
