import { Elysia } from "elysia";
import { AppError } from "./base/errors.ts";
import { allowedMethods } from "./http/allow.ts";
import type { Appliance, Call } from "./http/call.ts";
import { errorAnswer } from "./http/error-body.ts";
import { authenticated, mustBeWellFormed } from "./http/gate.ts";
import { alertChannelRoutes } from "./alert-channels/routes.ts";
import { monitorGroupRoutes } from "./monitor-groups/routes.ts";
import { monitorRoutes } from "./monitors/routes.ts";
import { incidentRoutes } from "./incidents/routes.ts";

/** Paths under /api/v1 that answer without a key. */
const openPaths = new Set(["/api/v1/openapi.json"]);

/** All routes behind the gate. `addressOf` tells the client's address, without the port. */
export function serverOf(appliance: Appliance, addressOf: (request: Request) => string) {
  const app = new Elysia({ name: "signalbox" })
    .onRequest(async (context) => {
      const { request } = context;
      const call: Call = { appliance, requestId: Bun.randomUUIDv7(), principal: null };
      Object.assign(context, { call });
      try {
        mustBeWellFormed(request);
        const { path } = context as unknown as { path: string };
        if (request.method === "OPTIONS") return options(path, call.requestId);
        if (isGuarded(path))
          call.principal = await authenticated(request, appliance, addressOf(request));
      } catch (error) {
        return errorAnswer(error, call.requestId, appliance.log);
      }
    })
    .onError((context) => {
      const { call } = context as unknown as { call: Call };
      const { path, request, error, code } = context;
      const thrown = code === "NOT_FOUND" ? noRoute(path, request.method) : error;
      return errorAnswer(thrown, call.requestId, appliance.log);
    })
    .get("/healthz", () =>
      Response.json({ status: "ok" }, { headers: { "Cache-Control": "no-store" } }),
    )
    .use(incidentRoutes)
    .use(monitorGroupRoutes)
    .use(monitorRoutes)
    .use(alertChannelRoutes);

  const allowed = allowedMethods(app.routes);

  function options(path: string, requestId: string) {
    const allow = allowed(path);
    if (allow === null) throw new AppError("NOT_FOUND", "There is nothing at this path.");
    return new Response(null, {
      status: 204,
      headers: { Allow: allow, "X-Request-Id": requestId },
    });
  }

  function noRoute(path: string, method: string) {
    const allow = allowed(path);
    if (allow === null) return new AppError("NOT_FOUND", "There is nothing at this path.");
    return new AppError(
      "METHOD_NOT_ALLOWED",
      `This path does not take ${method}; it takes ${allow}.`,
      {
        headers: { Allow: allow },
      },
    );
  }

  return app;
}

function isGuarded(path: string): boolean {
  return (path === "/api/v1" || path.startsWith("/api/v1/")) && !openPaths.has(path);
}
