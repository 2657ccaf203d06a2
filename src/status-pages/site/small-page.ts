/** Reads forms of visitors, and responds if there is no page. */
import { readForm } from "../../http/body.ts";
import { pathOf } from "../../http/request.ts";
import { respondWithSmallPage } from "../../http/responses/small-page.ts";
import type { Language } from "../languages/language.ts";
import { languageOfVisitor } from "../languages/catalog.ts";
import { renderBadge } from "../rendering/badges.ts";

const maxFormBytes = 4_096;

/** Returns the fields of a short form. */
export const readFormFields = async (
  request: Request,
  address: string,
): Promise<Record<string, string>> =>
  Object.fromEntries(await readForm(request, address, maxFormBytes));

/** Creates the same response for missing, private and unpublished content. Badge paths get an SVG. */
export function respondNotFound(request: Request): Response {
  const language = languageOfVisitor(request);
  const vary = { Vary: "Accept-Language" };
  if (/^(\/api)?\/badge\//.test(pathOf(request)))
    return new Response(
      renderBadge(language.translate("badge"), language.translate("notFound"), "none"),
      {
        status: 404,
        headers: {
          "Cache-Control": "no-cache",
          "Content-Type": "image/svg+xml; charset=utf-8",
          "X-Content-Type-Options": "nosniff",
          ...vary,
        },
      },
    );
  const heading = language.translate("nothingHere");
  return respondWithSmallPage(
    heading,
    `<div class="lock"><h1>${heading}</h1><p>${language.translate("nothingHereText")}</p></div>`,
    404,
    { "Cache-Control": "no-cache", ...vary },
    { language },
  );
}

/** Creates the response for trouble of the appliance itself, when it can't read the page. */
export function respondStatusUnknown(request: Request, retryAfter: string): Response {
  const language = languageOfVisitor(request);
  const heading = language.translate("statusUnknown");
  const text = `${language.translate("monitoringTrouble")} ${formatRetryText(language, 60)}`;
  return respondWithSmallPage(
    heading,
    `<h1 class="month">${heading}</h1><p class="quiet">${text}</p>`,
    503,
    { "Retry-After": retryAfter, "Cache-Control": "no-store" },
    { language },
  );
}

export function respondRateLimited(request: Request, retryAfter: string): Response {
  const language = languageOfVisitor(request);
  const heading = language.translate("tooManyRequests");
  return respondWithSmallPage(
    heading,
    `<h1 class="month">${heading}</h1><p class="quiet">${formatRetryText(language, 60)}</p>`,
    429,
    { "Retry-After": retryAfter },
    { language },
  );
}

export const formatRetryText = (language: Language, seconds: number) =>
  language.translate("tryAgain", { when: describeWait(language, seconds) });

/** Describes a pause in the unit that fits, rounded up, such as `in 10 minutes`. */
function describeWait(language: Language, seconds: number): string {
  if (seconds <= 10) return language.fromNow(seconds, "second");
  if (seconds <= 60) return language.fromNow(1, "minute");
  return seconds <= 600 ? language.fromNow(10, "minute") : language.fromNow(1, "hour");
}
