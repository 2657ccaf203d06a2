/** Responses with a page of a past time, and for times that a page can't show. */
import { formatUtcMinute } from "../../core/time/clock.ts";
import { forEachYielding } from "../../core/time/event-loop.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { respondWithStatement } from "../../http/responses/small-page.ts";
import { createTimeFormats } from "../languages/times.ts";
import type { PageLocation } from "../rendering/parts.ts";
import type { Rendered } from "./cache.ts";
import type { Part } from "./public-paths.ts";

/** Creates the response of a document that no cache may store, and no search engine may list. */
export async function respondOnce({ status, type, body, headers }: Rendered): Promise<Response> {
  const pieces: string[] = [];
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    await forEachYielding(body, (piece) => void pieces.push(piece));
  const wholeBody = typeof body === "string" || body instanceof Uint8Array ? body : pieces.join("");
  return new Response(wholeBody, {
    status,
    headers: {
      "Content-Type": type,
      ...headers,
      "Cache-Control": "no-store",
      "X-Robots-Tag": "noindex",
    },
  });
}

/** Responds that the page can't show a time, with the first one. Throws VALIDATION_ERROR for programs. */
export function respondTimeNotShown(
  { timeZone }: { timeZone: string },
  part: Part,
  { base, now, language }: PageLocation,
  first: number,
): Response {
  if (part.name === "json")
    throw invalidFieldError("at", `must be a time from ${formatUtcMinute(first)} until now`);
  const { moment } = createTimeFormats(language, timeZone, now);
  const time = moment(new Date(first).toISOString()).text;
  return respondWithStatement(
    language.translate("timeNotShown"),
    language.translate("timesShown", { time }),
    422,
    language,
    { label: language.translate("backToNow"), path: base || "/" },
  );
}
