import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import type { BodyClient } from "../../http/body.ts";
import { noSuchPath } from "../../http/responses/error-response.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import type { CheckEngine } from "./engine/check-engine.ts";
import { type PushDialect, readReport, signalboxPush, uptimeKumaPush } from "./push-report.ts";

/** A push URL: its path, its methods, and the names of its fields. */
export type PushRoute = {
  path: `/${string}/:token`;
  methods: readonly string[];
  dialect: PushDialect;
};

/** Where a watched job reports; the token is in its monitor's `pushUrl`. */
export const pushPath = "/push/:token";

/** Every push URL. Jobs of an imported Uptime Kuma report to its path by any method. */
export const pushRoutes: readonly PushRoute[] = [
  { path: pushPath, methods: ["GET", "POST"], dialect: signalboxPush },
  {
    path: "/api/push/:token",
    methods: ["GET", "POST", "PUT", "PATCH"],
    dialect: uptimeKumaPush,
  },
];

export type PushContext = {
  report: CheckEngine["report"];
  /** Wrong tokens a minute by client network; right ones are not touched. */
  wrongTokens: NetworkLimit;
};

/**
 * Stores a report under a push URL, whose token is the credential, then responds. Throws NOT_FOUND for
 * a wrong token, RATE_LIMITED for too many of them.
 */
export async function receivePush(
  request: Request,
  token: string,
  client: BodyClient & { address: string },
  dialect: PushDialect,
  { report, wrongTokens }: PushContext,
): Promise<Response> {
  const known = await report(sha256(token), await readReport(request, client, dialect));
  if (known === null) {
    const waitSeconds = wrongTokens.take(client.address);
    if (waitSeconds > 0)
      throw new AppError("RATE_LIMITED", "Too many wrong push tokens from this network.", {
        headers: { "Retry-After": String(waitSeconds) },
      });
    throw noSuchPath();
  }
  const response = known ? { ok: true } : { ok: true, paused: true };
  return Response.json(response, { headers: { "Cache-Control": "no-store" } });
}
