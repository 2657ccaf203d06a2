/** Receives reports of jobs at push URLs. */
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import type { BodyClient } from "../../http/body.ts";
import { unknownPathError } from "../../http/responses/error-response.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import type { CheckEngine } from "./engine/check-engine.ts";
import { type PushDialect, readReport, signalboxPush, uptimeKumaPush } from "./push-report.ts";

/** A push URL: path, methods, and names of the fields. */
export type PushRoute = {
  path: `/${string}/:token`;
  methods: readonly string[];
  dialect: PushDialect;
};

/** Path to which jobs report. The token is in the monitor's `pushUrl`. */
export const pushPath = "/push/:token";

/** All push URLs. Jobs that were set up for Uptime Kuma keep using its path, with any method. */
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
  reportTo: CheckEngine["reportTo"];
  /** Limit of wrong tokens per client network and minute. Valid tokens are not limited. */
  wrongTokens: NetworkLimit;
};

/** Throws RATE_LIMITED after too many wrong tokens from a network. */
export function countWrongToken(wrongTokens: NetworkLimit, address: string) {
  const waitSeconds = wrongTokens.take(address);
  if (waitSeconds > 0)
    throw new AppError("RATE_LIMITED", "Too many wrong push tokens from this network.", {
      headers: { "Retry-After": String(waitSeconds) },
    });
}

const maxUserAgent = 200;

/** Returns the sender of a report. */
export const describeSender = ({ headers }: Request, { address }: { address: string }) => ({
  address,
  userAgent: headers.get("user-agent")?.slice(0, maxUserAgent) ?? null,
});

/**
 * Stores a report, then responds. The token in the push URL is the credential. Throws NOT_FOUND for a wrong token,
 * RATE_LIMITED for too many wrong tokens.
 */
export async function receivePush(
  request: Request,
  token: string,
  client: BodyClient & { address: string },
  dialect: PushDialect,
  { report, wrongTokens }: PushContext,
): Promise<Response> {
  const pushReport = await readReport(request, client, dialect);
  const known = await report(sha256(token), { ...pushReport, ...describeSender(request, client) });
  if (known === null) {
    countWrongToken(wrongTokens, client.address);
    throw unknownPathError();
  }
  const response = known ? { ok: true } : { ok: true, paused: true };
  return Response.json(response, { headers: { "Cache-Control": "no-store" } });
}
