/** The part of Healthchecks.io's management API that dashboards read, with the organization's API keys. */
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import { forEachListed } from "../../core/text/streamed-list.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import { buildScope, type Scope } from "../../events/scope.ts";
import { authorize } from "../../http/access/authentication.ts";
import { authorizeLimited } from "../../http/access/limited-access.ts";
import { consumeLimit } from "../../http/access/rate-limit.ts";
import type { Principal } from "../../http/access/session.ts";
import { originOf } from "../../http/request.ts";
import type { RequestServices } from "../../http/services.ts";
import { findByPushToken } from "../checks/engine/watched-monitors.ts";
import { computeDue } from "../checks/kinds/push.ts";
import { openRunsOf } from "../jobs/report-rules.ts";
import { type BriefReport, listBriefReports, listPushMonitorIds } from "../jobs/store.ts";
import type { Monitor } from "../monitors/schema.ts";
import { getMonitor, listMonitors } from "../monitors/service.ts";
import { type CheckedJob, type ChecksVersion, toCheck } from "./checks-rules.ts";

/** Reports per monitor from which a check is derived, which are also its number of pings at most. */
const reportsPerCheck = 20;
const perPage = 100;

type Client = { address: string; services: RequestServices };

/** Responds to `/api/VERSION/checks/`, or to `/api/VERSION/checks/CODE`. */
export async function serveChecks(
  request: Request,
  { version, code }: { version: ChecksVersion; code: string | null },
  client: Client,
): Promise<Response> {
  const principal = await findPrincipal(request, client);
  const { services } = client;
  authorize(services, principal, "read");
  const { organizationId, actor, groupIds } = principal;
  const scope: Scope = {
    ...buildScope(services, organizationId, actor),
    groupIds,
    mayWrite: principal.scope === "write",
    origin: originOf(request),
  };
  const { searchParams } = new URL(request.url);
  if (code === null)
    return respondWithJson({ checks: await listChecks(scope, version, searchParams) });
  const id = await findId(scope, code);
  if (id === null) throw notFoundError();
  await authorizeLimited(services.store, principal, { access: "read", limited: "monitor" }, { id });
  const [check] = await toChecks(scope, version, [await getMonitor(scope, id)]);
  return respondWithJson(check ?? {});
}

const notFoundError = () => new AppError("NOT_FOUND", "There is no push monitor with this UUID.");

const respondWithJson = (body: object) =>
  Response.json(body, {
    headers: { "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*" },
  });

/** Returns the principal of the key in `X-Api-Key`. Throws UNAUTHORIZED, and RATE_LIMITED after too many wrong keys. */
async function findPrincipal(
  { headers }: Request,
  { address, services }: Client,
): Promise<Principal> {
  const key = headers.get("x-api-key") ?? "";
  const principal = key === "" ? null : await services.keys.find(sha256(key));
  if (principal !== null) return principal;
  if (key !== "") consumeLimit(services.failureLimit, address);
  throw new AppError("UNAUTHORIZED", "A valid API key is needed: send it as `X-Api-Key: KEY`.");
}

async function listChecks(scope: Scope, version: ChecksVersion, query: URLSearchParams) {
  const checks: object[] = [];
  const slug = query.get("slug");
  const tags = query.getAll("tag");
  for (let page = 1; ; page++) {
    const { data, meta } = await listMonitors(scope, { type: "push", page, per_page: perPage });
    const monitors: Monitor[] = [];
    await forEachListed<Monitor>(data, (monitor) => void monitors.push(monitor));
    const found = await toChecks(scope, version, monitors);
    checks.push(
      ...found.filter(
        (check) =>
          (slug === null || check.slug === slug) &&
          tags.every((tag) => check.tags.split(" ").includes(tag)),
      ),
    );
    if (page * perPage >= meta.total) return checks;
    await yieldToEventLoop();
  }
}

async function toChecks(scope: Scope, version: ChecksVersion, monitors: readonly Monitor[]) {
  const { store, organizationId, clock } = scope;
  const ids = monitors.map(({ id }) => id);
  const now = clock();
  const reports = await listBriefReports(store, organizationId, ids, reportsPerCheck, now);
  return monitors.map((monitor) => {
    const reportsOfMonitor = reports.get(monitor.id) ?? [];
    const job = monitor as unknown as CheckedJob;
    return {
      ...toCheck(job, describeJob(monitor, reportsOfMonitor), version, now),
      ...(scope.mayWrite
        ? listAddresses(scope, monitor, version)
        : { unique_key: hashUniqueKey(monitor) }),
    };
  });
}

function describeJob(monitor: Monitor, reports: readonly BriefReport[]) {
  const { current } = openRunsOf(reports.toReversed());
  const last = reports.find(({ kind }) => kind === "success" || kind === "failure");
  const reporting = { intervalSeconds: monitor.interval, settings: { ...monitor } };
  const dueAt = last === undefined ? Infinity : computeDue(reporting, last.at);
  return {
    reports,
    startedAt: current?.at ?? null,
    dueAt: dueAt === Infinity ? null : dueAt,
  };
}

/** A stable identifier for clients that must not know the address of pings. */
const hashUniqueKey = ({ id }: { id: string }) =>
  new Bun.CryptoHasher("sha1").update(id).digest("hex");

function listAddresses(
  { origin }: Scope,
  { pingUrl, alertChannelIds }: Monitor,
  version: ChecksVersion,
) {
  const code = String(pingUrl).split("/").at(-1) ?? "";
  const address = `${origin}/api/${version}/checks/${code}`;
  return {
    uuid: code,
    ping_url: pingUrl,
    update_url: address,
    pause_url: `${address}/pause`,
    resume_url: `${address}/resume`,
    channels: alertChannelIds.join(","),
  };
}

/** Finds a monitor by the UUID of its pings, or by its `unique_key`. */
async function findId({ store, organizationId }: Scope, code: string): Promise<string | null> {
  const found = await findByPushToken(store, sha256(code));
  if (found?.organizationId === organizationId) return found.id;
  if (!/^[0-9a-f]{40}$/.test(code)) return null;
  const ids = await listPushMonitorIds(store, organizationId);
  return ids.find((id) => hashUniqueKey({ id }) === code) ?? null;
}
