import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import { validateLine } from "../../core/text.ts";
import { parseQuery } from "../../http/query.ts";
import type { NetworkLimit } from "../../http/rate-limit.ts";
import type { Engine } from "./engine.ts";
import { noSuchPath } from "../../http/error-response.ts";

/** Where a watched job reports; the token is in its monitor's `pushUrl`. */
export const pushPath = "/push/:token";

/** Where jobs report that reported to an Uptime Kuma. */
export const uptimeKumaPushPath = "/api/push/:token";

/** What a watched job may report in the query of its push URL. */
export const PushQuery = z.strictObject({
  status: z.enum(["up", "down"]).default("up"),
  msg: z
    .string()
    .max(500)
    .refine((text) => validateLine(text) === null, "must be one line of text")
    .optional()
    .meta({ description: "What the job has to say." }),
  latency_ms: z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number of milliseconds")
    .transform(Number)
    .optional()
    .meta({ override: { type: "integer", minimum: 0, description: "How long the job took." } }),
});

/** The same as Uptime Kuma takes it: whatever is not up is down, and what can't be read is left out. */
function uptimeKumaQuery(url: string): z.output<typeof PushQuery> {
  const query = new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "");
  const said = (query.get("msg") ?? "")
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, 500);
  const ping = Number.parseFloat(query.get("ping") ?? "");
  const isLatency = ping >= 0 && ping < 1_000_000_000;
  return {
    status: (query.get("status") ?? "up") === "up" ? "up" : "down",
    msg: validateLine(said) === null ? said : "",
    ...(isLatency && { latency_ms: Math.round(ping) }),
  };
}

export type PushContext = {
  report: Engine["report"];
  /** Wrong tokens a minute by client network; right ones are not touched. */
  wrongTokens: NetworkLimit;
};

/**
 * Takes a report under a push URL, whose token is the credential. Answers once it is stored. Throws
 * NOT_FOUND for a wrong token, RATE_LIMITED for too many of them.
 */
export async function receivePush(
  request: Request,
  token: string,
  address: string,
  { report, wrongTokens }: PushContext,
  isUptimeKuma = false,
): Promise<Response> {
  const query = isUptimeKuma ? uptimeKumaQuery(request.url) : parseQuery(request.url, PushQuery);
  const known = await report(sha256(token), {
    status: query.status,
    message: query.msg === undefined || query.msg === "" ? null : query.msg,
    latencyMs: query.latency_ms ?? null,
  });
  if (known === null) {
    const waitSeconds = wrongTokens.take(address);
    if (waitSeconds > 0)
      throw new AppError("RATE_LIMITED", "Too many wrong push tokens from this network.", {
        headers: { "Retry-After": String(waitSeconds) },
      });
    throw noSuchPath();
  }
  const answer = known ? { ok: true } : { ok: true, paused: true };
  return Response.json(answer, { headers: { "Cache-Control": "no-store" } });
}
