/** Reads forms of visitors, and responds to those who find no page. */
import { pathOf } from "../../http/request.ts";
import { respondSmallPage } from "../../http/responses/small-page.ts";
import { renderBadge } from "../rendering/badges.ts";

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
