/** Receives pings in the formats of Healthchecks.io and Gatus, and creates monitors for new slugs. */
import { sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import { jobBounds } from "../../core/limits.ts";
import { toRemoteLine } from "../../core/text/formatting.ts";
import { parse } from "../../core/validation.ts";
import { guard } from "../../database/store.ts";
import { monitorBounds } from "../../core/limits.ts";
import { buildScope, type ScopeServices, system } from "../../events/scope.ts";
import { parseBearerToken } from "../../http/access/authentication.ts";
import type { Principal } from "../../http/access/session.ts";
import { type BodyClient, readStart } from "../../http/body.ts";
import { unknownPathError } from "../../http/responses/error-response.ts";
import type { RequestServices } from "../../http/services.ts";
import { isRead } from "../../http/request.ts";
import { countWrongToken, describeSender, type PushContext } from "../checks/push.ts";
import { findByPushToken } from "../checks/engine/watched-monitors.ts";
import { NewMonitor } from "../monitors/schema.ts";
import { resumeMonitor } from "../monitors/bulk-service.ts";
import { createMonitor } from "../monitors/service.ts";
import {
  decodeOutput,
  isResolvedAlert,
  isRunId,
  parseAction,
  type PingAction,
  buildSharedToken,
} from "./ping-rules.ts";
import { createReport, type PushReport } from "../jobs/report-rules.ts";
import { listBySlug } from "../jobs/store.ts";

/** Parameters of a path: `/ping/TOKEN`, `/ping/TOKEN/ACTION`, `/ping/KEY/SLUG` or `/ping/KEY/SLUG/ACTION`. */
export type PingPath = { code: string; second?: string; third?: string };

export type PingTarget = { organizationId: string; id: string };

export type PingContext = PushContext;

type Dependencies = PingContext & { services: RequestServices };

/** Settings of monitors that a ping creates, as in Healthchecks: one run per day, an hour late. */
const createdFields = { type: "push", interval: 86_400, grace: 3_600 } as const;

/** Stores a ping, then responds as Healthchecks does. Throws RATE_LIMITED for too many unknown addresses. */
export async function receivePing(
  request: Request,
  path: PingPath,
  client: BodyClient & { address: string },
  dependencies: Dependencies,
): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const found = await findTarget(path, query.get("create") === "1", dependencies);
  if (found === "ambiguous") return respondWithText(409, "ambiguous slug");
  const action = found === null ? null : parseAction(found.action);
  if (found === null || action === null) {
    countWrongToken(dependencies.wrongTokens, client.address);
    return respondWithText(404, "not found");
  }
  if (action === "invalid") return respondWithText(400, "invalid url format");
  const runId = query.get("rid");
  if (runId !== null && !isRunId(runId)) return respondWithText(400, "invalid uuid format");
  const target = found.target ?? (await createForSlug(found, dependencies));
  await reportRun(target, await readPing(request, client, action, runId), dependencies);
  return found.target === null ? respondWithText(201, "Created") : respondWithText(200, "OK");
}

/** Stores a report. One about the end of a run resumes a paused monitor, as in Healthchecks. */
export async function reportRun(
  target: PingTarget,
  given: PushReport,
  { reportTo, services }: Pick<PingContext, "reportTo"> & { services: ScopeServices },
): Promise<void> {
  const isActive = await reportTo(target, given);
  if (isActive || (given.kind !== "success" && given.kind !== "failure")) return;
  const { changed } = await resumeMonitor(
    buildScope(services, target.organizationId, system),
    target.id,
  );
  if (changed > 0) await reportTo(target, given);
}

function respondWithText(status: number, text: string): Response {
  return new Response(text, {
    status,
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Cache-Control": "no-store",
      "Access-Control-Allow-Origin": "*",
      ...(status < 300 && { "Ping-Body-Limit": String(jobBounds.body.value) }),
    },
  });
}

async function readPing(
  request: Request,
  client: BodyClient & { address: string },
  { kind, exitStatus }: PingAction,
  runId: string | null,
) {
  const body = isRead(request)
    ? null
    : decodeOutput(await readStart(request, client, jobBounds.body.value));
  const isResolved = kind === "success" && body !== null && isResolvedAlert(body);
  return createReport(isResolved ? "failure" : kind, {
    exitStatus,
    isFinal: true,
    runId,
    body,
    ...(isResolved && { message: "Alertmanager reports the end of the alert." }),
    ...describeSender(request, client),
  });
}

type FoundTarget =
  | { action: string; target: PingTarget }
  | { action: string; target: null; slug: string; principal: Principal };

/** Finds the monitor of a path by its token, or by a ping key and a slug; null for an unknown one. */
async function findTarget(
  { code, second, third }: PingPath,
  mayCreate: boolean,
  { services }: Dependencies,
): Promise<FoundTarget | "ambiguous" | null> {
  const { store, keys } = services;
  const hash = sha256(code);
  const byToken = third === undefined ? await findByPushToken(store, hash) : null;
  if (byToken !== null) return { action: second ?? "", target: byToken };
  const principal = second === undefined ? null : await keys.findPing(hash);
  if (principal === null || second === undefined) return null;
  const action = third ?? "";
  const [target, ...others] = await listBySlug(store, principal.organizationId, second);
  if (others.length > 0) return "ambiguous";
  if (target !== undefined) return { action, target };
  return mayCreate ? { action, target: null, slug: second, principal } : null;
}

/** Creates the monitor of a slug. If another ping created it meanwhile, returns that one. */
async function createForSlug(found: FoundTarget, { services }: Dependencies): Promise<PingTarget> {
  if (found.target !== null) return found.target;
  const { slug, principal } = found;
  const { organizationId, actor } = principal;
  const scope = buildScope(services, organizationId, actor);
  const newMonitor = parse(NewMonitor, { ...createdFields, name: slug, slug }) as NewMonitor;
  const isFree = guard(
    sql`not exists (select 1 from monitors where organization_id = ${organizationId}
      and type = 'push' and settings ->> 'slug' = ${slug})`,
    () => new AppError("CONFLICT", "Another ping has created this monitor."),
  );
  try {
    return { organizationId, id: (await createMonitor(scope, newMonitor, [isFree])).id };
  } catch (error) {
    const [created] = await listBySlug(services.store, organizationId, slug);
    if (created !== undefined) return created;
    throw error;
  }
}

const gatusDuration = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)$/;
const unitsMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 3.6e6 };

/**
 * Stores the result of an external endpoint of Gatus. The bearer token is the token of the monitor's `pushUrl`; the
 * key in the path distinguishes jobs with the same token. https://github.com/TwiN/gatus#external-endpoints
 */
export async function receiveGatusResult(
  request: Request,
  key: string,
  client: BodyClient & { address: string },
  { report, wrongTokens }: Dependencies,
): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const success = query.get("success");
  const token = parseBearerToken(request);
  if (token === null) return respondWithText(401, "bearer token must not be empty");
  if (success !== "true" && success !== "false")
    return respondWithText(400, "missing or invalid success value: true or false");
  const [, count, unit] = gatusDuration.exec(query.get("duration") ?? "") ?? [];
  const message = toRemoteLine(query.get("error") ?? "", monitorBounds.pushMessage.value);
  const pingReport = createReport(success === "true" ? "success" : "failure", {
    message: message === "" ? null : message,
    latencyMs:
      count === undefined
        ? null
        : Math.round(Number(count) * unitsMs[unit as keyof typeof unitsMs]),
    ...describeSender(request, client),
  });
  const known =
    (await report(sha256(token), pingReport)) ??
    (await report(sha256(buildSharedToken(key, token)), pingReport));
  if (known !== null) return respondWithText(200, "");
  countWrongToken(wrongTokens, client.address);
  throw unknownPathError();
}
