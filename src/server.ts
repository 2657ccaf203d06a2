import { Elysia } from "elysia";
import { AppError } from "./base/errors.ts";
import { adminPage, adminPaths } from "./http/admin-page.ts";
import { allowedMethods } from "./http/allow.ts";
import { type Appliance, beginCall, type Call, callOf, pathOf } from "./http/call.ts";
import { errorAnswer } from "./http/error-body.ts";
import { admit, authenticated, mustBeWellFormed } from "./http/gate.ts";
import { hostGuard } from "./http/host-guard.ts";
import { openApiOf, type Route } from "./http/openapi.ts";
import type { WebFiles } from "./http/web-files.ts";
import { settingsRoutes } from "./settings/routes.ts";
import { alertChannelRoutes } from "./alert-channels/routes.ts";
import { monitorGroupRoutes } from "./monitor-groups/routes.ts";
import { monitorRoutes } from "./monitors/routes.ts";
import { uptimeRoutes } from "./uptime/routes.ts";
import { pushPaths, type PushRoom, receivePush } from "./checks/push.ts";
import { checkRoutes } from "./checks/routes.ts";
import { alertRoutes } from "./alerting/routes.ts";
import { webhooks } from "./alerting/webhooks.ts";
import { publicPaths } from "./status-pages/document.ts";
import { metricsOf } from "./metrics.ts";
import { statusPageRoutes } from "./status-pages/routes.ts";
import { incidentRoutes } from "./incidents/routes.ts";
import { maintenanceRoutes } from "./maintenance/routes.ts";

/** Every resource of `/api/v1`; the OpenAPI document is made from these routes. */
export const api = new Elysia({ name: "api" })
  .use(incidentRoutes)
  .use(maintenanceRoutes)
  .use(monitorGroupRoutes)
  .use(monitorRoutes)
  .use(uptimeRoutes)
  .use(checkRoutes)
  .use(alertChannelRoutes)
  .use(alertRoutes)
  .use(statusPageRoutes)
  .use(settingsRoutes);

/** The OpenAPI document of everything that scripts talk to. */
export function documentOf(version: string) {
  return openApiOf(api.routes as unknown as Route[], version, {
    paths: { ...pushPaths, ...publicPaths },
    webhooks,
  });
}

const openApiPath = "/api/v1/openapi.json";

type Surroundings = {
  web: WebFiles;
  /** Further names under which the pages for people answer. */
  allowedHosts: readonly string[];
  /** The client's address, without the port. */
  addressOf: (request: Request) => string;
  push: PushRoom;
};

/** All routes behind the gate. */
export function serverOf(appliance: Appliance, surroundings: Surroundings) {
  const { web, allowedHosts, addressOf, push } = surroundings;
  const mustBeOurs = hostGuard(allowedHosts);
  const app = new Elysia({ name: "signalbox" })
    .onRequest(async ({ request }) => {
      const call: Call = { appliance, requestId: Bun.randomUUIDv7(), principal: null };
      beginCall(request, call);
      try {
        mustBeWellFormed(request);
        const path = pathOf(request);
        if (request.method === "OPTIONS") return options(path, call.requestId);
        if (isGuarded(path))
          call.principal = await authenticated(request, appliance, addressOf(request));
      } catch (error) {
        return errorAnswer(error, call.requestId, appliance.log);
      }
    })
    .onError(({ request, error, code }) => {
      // Elysia takes the code from whatever was thrown; only its own means that no route was found.
      const unrouted = code === "NOT_FOUND" && !(error instanceof AppError);
      const thrown = unrouted ? noRoute(pathOf(request), request.method) : error;
      return errorAnswer(thrown, callOf(request).requestId, appliance.log);
    })
    .onAfterHandle(({ request, response }) => {
      if (response instanceof Response)
        response.headers.set("X-Request-Id", callOf(request).requestId);
    })
    .get("/healthz", () =>
      Response.json({ status: "ok" }, { headers: { "Cache-Control": "no-store" } }),
    )
    .get("/metrics", async ({ request }) => {
      const { principal } = callOf(request);
      if (principal === null) throw new Error("Metrics were asked for past the gate.");
      admit(appliance, principal, "read");
      return new Response(await metricsOf(appliance.store, principal.organizationId), {
        headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
      });
    })
    .get("/push/:token", ({ request, params }) => receivePush(request, params.token, push))
    .post("/push/:token", ({ request, params }) => receivePush(request, params.token, push), {
      parse: "none",
    })
    .get(openApiPath, ({ request }) => webFile(request, "openapi.json"))
    .get("/assets/:file", ({ request, params }) => webFile(request, `assets/${params.file}`))
    .get("/docs", ({ request }) => webFile(request, "docs/index.html"))
    .get("/docs/:file", ({ request, params }) => webFile(request, `docs/${params.file}`))
    .use(api);

  for (const path of adminPaths)
    app.get(path, ({ request }) => {
      mustBeOurs(request);
      const page = adminPage(web);
      if (page === null) throw nothingHere();
      return page;
    });

  const allowed = allowedMethods(app.routes);

  function webFile(request: Request, name: string): Response {
    const answer = web.answer(request, name);
    if (answer === null) throw nothingHere();
    return answer;
  }

  function options(path: string, requestId: string) {
    const allow = allowed(path);
    if (allow === null) throw nothingHere();
    return new Response(null, {
      status: 204,
      headers: { Allow: allow, "X-Request-Id": requestId },
    });
  }

  function noRoute(path: string, method: string) {
    const allow = allowed(path);
    if (allow === null) return nothingHere();
    return new AppError(
      "METHOD_NOT_ALLOWED",
      `This path does not take ${method}; it takes ${allow}.`,
      { headers: { Allow: allow } },
    );
  }

  return app;
}

/**
 * Elysia looks for the path behind the 11th character of the URL, so under a host as short as
 * `http://nas/` it finds none: such a request goes on under a longer name.
 */
export function withFindablePath(request: Request): Request {
  const start = request.url.indexOf("/", 8);
  if (start >= 11 || start === -1) return request;
  return new Request(`http://localhost${request.url.slice(start)}`, request);
}

/** The port for the public pages alone. */
export function publicServer(
  { log }: Appliance,
  answer: (request: Request) => Response | Promise<Response> | null,
) {
  return (request: Request) =>
    answer(request) ?? errorAnswer(nothingHere(), Bun.randomUUIDv7(), log);
}

function nothingHere() {
  return new AppError("NOT_FOUND", "There is nothing at this path.");
}

/** Whether a path asks for a key. */
function isGuarded(path: string): boolean {
  if (path === openApiPath) return false;
  return path === "/metrics" || path === "/api/v1" || path.startsWith("/api/v1/");
}
