import { timestamp } from "./core/time/clock.ts";
import { Elysia } from "elysia";
import { api, dashboard } from "./api.ts";
import { AppError } from "./core/errors.ts";
import { longSeconds } from "./http/endpoint.ts";
import { adminPage, adminPaths, isOpenedInBrowser } from "./http/responses/admin-page.ts";
import {
  authenticate,
  findSession,
  signedInSession,
  authorize,
} from "./http/access/authentication.ts";
import { errorResponse, noSuchPath } from "./http/responses/error-response.ts";
import type { RequestHandler } from "./http/fair-turns.ts";
import { hostGuard, isOurs } from "./http/access/host-guard.ts";
import type { Route } from "./http/openapi.ts";
import { replaceRequest } from "./http/original-request.ts";
import { requestContext, type RequestContext } from "./http/request-context.ts";
import { pathOf } from "./http/request.ts";
import { patternOf, resourceFinder } from "./http/resources.ts";
import type { Services } from "./http/services.ts";
import { mustBeSameOrigin, type Principal } from "./http/access/session.ts";
import type { WebFiles } from "./http/responses/web-files.ts";
import {
  type PushContext,
  type PushRoute,
  pushRoutes,
  receivePush,
} from "./monitoring/checks/push.ts";
import { metricsType } from "./core/metrics.ts";
import { setRoute } from "./http/request-metrics.ts";
import { consume } from "./http/access/rate-limit.ts";
import { metricsOf } from "./operations/metrics/organization.ts";
import type { MetricsToken } from "./operations/metrics/token.ts";

/** What tools and editors read; it tells nothing of anybody. */
const documents = new Map([
  ["/api/v1/openapi.json", "openapi.json"],
  ["/api/v1/config.schema.json", "config.schema.json"],
]);

type Dependencies = {
  web: WebFiles;
  assets: Elysia;
  /** The client's address, without the port. */
  addressOf: (request: Request) => string;
  push: PushContext;
  /** Whoever sends the token gets the text. */
  metrics: { token: Pick<MetricsToken, "isSentBy">; text: () => Promise<string> };
};

/** All routes, behind what every request has to pass. */
export function serverOf(
  services: Services,
  { web, assets, addressOf, push, metrics }: Dependencies,
) {
  const mustBeOurs = hostGuard(services.ownHosts);
  const app = new Elysia({ name: "signalbox" })
    .use(requestContext)
    .onRequest(async (context) => {
      const { request } = context;
      let address: string | null = null;
      const current: RequestContext = {
        services,
        requestId: Bun.randomUUIDv7(),
        // A system call, which whoever has a key never needs.
        get address() {
          return (address ??= addressOf(request));
        },
        principal: null,
        session: null,
        setCookie: null,
        resources: {
          find: (method, location) => findResource(method, pathOf(request), location),
          read: (path) => readAgain(request, path),
        },
      };
      context.requestContext = current;
      try {
        const path = pathOf(request);
        if (isOf("/dashboard", path)) await enterDashboard(request, current, path);
        if (request.method === "OPTIONS") return options(path, current.requestId);
        if (isGuarded(path) && !isOfAppliance(request, path))
          current.principal = await authenticate(request, current);
        if (!isDecodable(path)) throw noSuchPath();
      } catch (error) {
        return errorResponse(error, current.requestId, services.log);
      }
    })
    // No arrow functions: once minified, those look to Elysia as if they returned a promise.
    .onTransform(function ({ request, route }) {
      setRoute(request, route);
    })
    .onError(({ request, error, code, requestContext }) => {
      // Elysia takes the code from whatever was thrown; only its own means that no route was found.
      const unrouted = code === "NOT_FOUND" && !(error instanceof AppError);
      const thrown = unrouted ? noRoute(pathOf(request), request.method) : error;
      const page = unrouted ? unknownPage(request, requestContext.requestId) : null;
      if (page !== null) return page;
      return errorResponse(thrown, requestContext.requestId, services.log);
    })
    .onAfterHandle(function ({ response, requestContext }) {
      if (response instanceof Response)
        response.headers.set("X-Request-Id", requestContext.requestId);
    })
    .get("/healthz", () => healthOf(services))
    .get("/metrics", async ({ request, requestContext: { principal } }) => {
      services.extendTimeout(request, longSeconds);
      const text =
        principal === null ? await ofAppliance(request) : await ofOrganization(principal);
      return new Response(text, { headers: { "Content-Type": metricsType } });
    })
    .use(assets)
    .get("/docs", ({ request }) => webFile(request, "docs.html"))
    .use(api)
    .use(dashboard);

  for (const route of pushRoutes)
    for (const method of route.methods)
      app.route(
        method,
        route.path,
        ({ request, params, requestContext }) =>
          report(request, params.token, requestContext.address, route),
        { parse: "none" },
      );
  for (const [path, file] of documents) app.get(path, ({ request }) => webFile(request, file));
  for (const path of adminPaths)
    app.get(path, ({ request }) => {
      mustBeOurs(request);
      const page = adminPage(request, web);
      if (page === null) throw noSuchPath();
      return page;
    });

  const allowed = allowedMethods(app.routes);
  const findResource = resourceFinder(app.routes as unknown as Route[]);
  const isOpen = openPaths(app.routes as unknown as Route[]);

  /** Cookies are read here and nowhere else; API keys are not. */
  async function enterDashboard(request: Request, current: RequestContext, path: string) {
    mustBeOurs(request);
    mustBeSameOrigin(request);
    current.session = await findSession(request, services);
    if (current.session?.stage === "signed-in") services.knownNetworks.add(current.address);
    if (!isOpen(path)) signedInSession(current);
  }

  /** GET of another path with the credentials of this request. */
  async function readAgain(request: Request, path: string): Promise<Response> {
    const headers = new Headers(request.headers);
    for (const name of headersOfWrite) headers.delete(name);
    const { signal } = request;
    const read = new Request(new URL(path, request.url), { headers, signal });
    return app.handle(replaceRequest(read, request));
  }

  /** The admin page, which says that there is nothing at the address; null for whom it is not for. */
  function unknownPage(request: Request, requestId: string): Response | null {
    const path = pathOf(request);
    if (!isOpenedInBrowser(request, path) || allowed(path) !== null) return null;
    if (!isOurs(request, services.ownHosts)) return null;
    const page = adminPage(request, web, 404);
    page?.headers.set("X-Request-Id", requestId);
    return page;
  }

  /** Whether it asks for the metrics of the whole appliance, with the credential for them. */
  function isOfAppliance(request: Request, path: string): boolean {
    return plain(path) === "/metrics" && metrics.token.isSentBy(request);
  }

  async function ofAppliance(request: Request): Promise<string> {
    if (!metrics.token.isSentBy(request)) throw new Error("Nobody's metrics were asked for.");
    consume(services.requestLimit, "metrics");
    return metrics.text();
  }

  async function ofOrganization(principal: Principal): Promise<string> {
    authorize(services, principal, "read");
    const { store, clock } = services;
    return metricsOf({ store, clock, organizationId: principal.organizationId });
  }

  // HEAD is safe (RFC 9110 §9.2.1): a link checker must not report for the job.
  function report(request: Request, token: string, address: string, { dialect }: PushRoute) {
    if (request.method === "HEAD") throw noRoute(pathOf(request), "HEAD");
    const client = { address, isKnown: services.knownNetworks.has(address) };
    return receivePush(request, token, client, dialect, push);
  }

  function webFile(request: Request, name: string): Response {
    const file = web.serve(request, name);
    if (file === null) throw noSuchPath();
    return file;
  }

  function options(path: string, requestId: string) {
    const allow = allowed(path);
    if (allow === null) throw noSuchPath();
    return new Response(null, {
      status: 204,
      headers: { Allow: allow, "X-Request-Id": requestId },
    });
  }

  function noRoute(path: string, method: string) {
    const allow = allowed(path);
    if (allow === null) return noSuchPath();
    return new AppError(
      "METHOD_NOT_ALLOWED",
      `This path does not take ${method}; it takes ${allow}.`,
      { headers: { Allow: allow } },
    );
  }

  return app;
}

const headersOfWrite = [
  "content-length",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "transfer-encoding",
];

/**
 * Elysia looks for the path behind the 11th character of the URL, so under a host as short as
 * `http://nas/` it finds none: such a request goes on under a longer name.
 */
export function withFindablePath(request: Request): Request {
  const start = request.url.indexOf("/", 8);
  if (start >= 11 || start === -1) return request;
  const scheme = request.url.slice(0, request.url.indexOf(":"));
  return replaceRequest(
    new Request(`${scheme}://localhost${request.url.slice(start)}`, request),
    request,
  );
}

/** 503 while results of checks can't be stored: who watches the appliance from outside learns of it there. */
/** 503 while results can't be stored. A machine that lacks something still serves: 200, with what and since when. */
function healthOf({ store, lackedNow }: Pick<Services, "store" | "lackedNow">): Response {
  const failingSince = store.writes.failingSince();
  const headers = { "Cache-Control": "no-store" };
  const bodyOf = (status: string, reason: string, since: number) => ({
    status,
    reasons: [reason],
    since: timestamp(since),
  });
  if (failingSince !== null)
    return Response.json(bodyOf("failing", "storage", failingSince), { status: 503, headers });
  const lack = lackedNow();
  const body = lack === null ? { status: "ok" } : bodyOf("degraded", lack.resource, lack.since);
  return Response.json(body, { headers });
}

/** Handles requests to the port that serves only public pages and their assets. */
export function publicServer(
  { log }: Pick<Services, "log">,
  serve: (request: Request) => Response | Promise<Response> | null,
  assets: Elysia,
): RequestHandler {
  const app = new Elysia()
    .onError(() => errorResponse(noSuchPath(), Bun.randomUUIDv7(), log))
    .use(assets);
  return (request) => serve(request) ?? app.fetch(withFindablePath(request));
}

/** Whether a path asks for a key. */
function isGuarded(path: string): boolean {
  const found = plain(path);
  return found === "/metrics" || (isOf("/api/v1", path) && !documents.has(found));
}

/** Elysia finds a path with a slash behind it as well. */
function plain(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Elysia hands over nothing in the place of what it can't decode. */
function isDecodable(path: string): boolean {
  if (!path.includes("%")) return true;
  try {
    return decodeURIComponent(path) !== "";
  } catch {
    return false;
  }
}

function isOf(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Which paths a stranger may ask for, so that they can sign in. */
function openPaths(routes: readonly Route[]): (path: string) => boolean {
  const open = new Set(
    routes
      .filter(({ hooks }) => hooks.detail?.endpoint?.access === "anyone")
      .map(({ path }) => plain(path)),
  );
  return (path) => open.has(plain(path));
}

/** The methods of a path as `Allow` lists them (RFC 9110 §10.2.1), null for a path that no route has: HEAD works wherever GET does but reports nothing, OPTIONS everywhere. */
function allowedMethods(routes: readonly { method: string; path: string }[]) {
  const byPattern = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const pattern = patternOf(path);
    const methods = byPattern.get(pattern) ?? new Set(["OPTIONS"]);
    methods.add(method);
    if (method === "GET" && !pushRoutes.some((route) => route.path === path)) methods.add("HEAD");
    byPattern.set(pattern, methods);
  }
  const table = [...byPattern].map(
    ([pattern, methods]) => [new RegExp(pattern), [...methods]] as const,
  );
  return (path: string) => {
    // `/sessions/end-others` is a path of its own, and one that `/sessions/:id` has.
    const methods = table.flatMap(([pattern, methods]) => (pattern.test(path) ? methods : []));
    return methods.length === 0 ? null : [...new Set(methods)].sort().join(", ");
  };
}
