/** Receives every request: authentication, health, metrics, files, pushes, and all routes. */
import type { CalendarLimits } from "./alerting/schedules/calendar.ts";
import { createCalendarRoutes } from "./alerting/schedules/routes.ts";
import type { AlertLinkLimits } from "./alerting/records/link-page.ts";
import { createVisitorSignInRoutes } from "./status-pages/site/sign-in-routes.ts";
import { admitVisitor, respondVisitorFailure } from "./status-pages/site/sign-in-service.ts";
import { createCallbackRoutes } from "./accounts/single-sign-on/routes.ts";
import { createLinkRoutes, type createPublicLinkRoutes } from "./alerting/records/routes.ts";
import { Elysia } from "elysia";
import { type ApiDependencies, createRoutes } from "./api.ts";
import { AppError } from "./core/errors.ts";
import { longResponseSeconds } from "./http/endpoint.ts";
import { renderAdminPage, adminPaths, isOpenedInBrowser } from "./http/responses/admin-page.ts";
import {
  authenticate,
  parseBasicPassword,
  findSession,
  isPermittedByHeader,
  getSignedInSession,
  authorize,
} from "./http/access/authentication.ts";
import { createErrorResponse, unknownPathError } from "./http/responses/error-response.ts";
import type { RequestHandler } from "./http/fair-turns.ts";
import { createHostGuard, isOurs } from "./http/access/host-guard.ts";
import type { Route } from "./http/openapi.ts";
import { findToolCall, replaceRequest } from "./http/original-request.ts";
import { requestContext, type RequestContext } from "./http/request-context.ts";
import { pathOf } from "./http/request.ts";
import { buildPathPattern, createResourceFinder } from "./http/resources.ts";
import type { RequestServices } from "./http/services.ts";
import type { Log } from "./core/log.ts";
import { assertSameOrigin, type Principal } from "./http/access/session.ts";
import type { WebFiles } from "./http/responses/web-files.ts";
import {
  type PushContext,
  type PushRoute,
  pushRoutes,
  receivePush,
} from "./monitoring/checks/push.ts";
import {
  checksPaths,
  checksPreflight,
  createPingRoutes,
  foreignPaths,
} from "./monitoring/pings/ping-routes.ts";
import { metricsType } from "./core/metrics.ts";
import type { SourceContext } from "./alerting/sources/receive.ts";
import { createReceivingRoutes } from "./alerting/sources/receiving-routes.ts";
import { createMcpRoutes, mcpPath } from "./mcp/routes.ts";
import { createHealthResponse, type FindLack } from "./http/health.ts";
import { setRoute } from "./http/request-metrics.ts";
import { consumeLimit } from "./http/access/rate-limit.ts";
import { renderMetrics } from "./operations/metrics/organization.ts";
import { renderKumaMetrics } from "./operations/metrics/uptime-kuma.ts";
import type { MetricsToken } from "./operations/metrics/token.ts";

/** Files for tools, editors and browsers. They need no key, because they contain no data of organizations. */
const documents = new Map([
  ["/docs/https", "https.html"],
  ["/manifest.webmanifest", "manifest.webmanifest"],
  ["/service-worker.js", "service-worker.js"],
  ["/api/v1/openapi.json", "openapi.json"],
  ["/api/v1/config.schema.json", "config.schema.json"],
]);

type Dependencies = {
  services: RequestServices;
  /** Dependencies that routes declare. */
  api: ApiDependencies;
  web: WebFiles;
  assets: Elysia;
  /** Returns the client's address, without the port. */
  addressOf: (request: Request) => string;
  push: PushContext;
  calendars: CalendarLimits;
  alertLinks: AlertLinkLimits;
  sources: SourceContext;
  /** Metrics of the appliance, for clients with its token. */
  metrics: { token: Pick<MetricsToken, "isSentBy">; text: () => Promise<string> };
  findCurrentLack: FindLack;
};

/** Dependencies of the request steps, with the registered routes. */
type Server = Dependencies & {
  table: RouteTable;
  assertOurHost: (request: Request) => void;
  handle: (request: Request) => Promise<Response>;
};

/** Builds the server: first the steps of all requests, then the routes. */
export function createServer(dependencies: Dependencies) {
  const { services, web, assets, findCurrentLack } = dependencies;
  const { api, dashboard } = createRoutes(dependencies.api);
  const app = new Elysia({ name: "signalbox" })
    .use(requestContext)
    .onRequest(async (context) => {
      const current = createRequestContext(server, context.request);
      context.requestContext = current;
      return admitRequest(server, context.request, current);
    })
    // A function expression, because Elysia treats minified arrow functions as asynchronous.
    .onTransform(function ({ request, route }) {
      setRoute(request, route);
    })
    .onError(({ request, error, code, requestContext: { requestId } }) => {
      // Elysia copies the code of any error. Only its own NOT_FOUND means that no route matched.
      if (code === "NOT_FOUND" && !(error instanceof AppError))
        return (
          renderUnknownPage(server, request, requestId) ??
          createErrorResponse(noRouteError(server, request), requestId, services.log)
        );
      return createErrorResponse(error, requestId, services.log);
    })
    .onAfterHandle(function ({ response, requestContext }) {
      if (response instanceof Response)
        response.headers.set("X-Request-Id", requestContext.requestId);
    })
    .get("/healthz", () => createHealthResponse(services.store, findCurrentLack))
    .get("/metrics", ({ request, requestContext: { principal } }) =>
      createMetricsResponse(server, request, principal),
    )
    .use(createMcpRoutes(api.routes as unknown as Route[], () => server))
    .use(createAddressedRoutes(dependencies))
    .use(assets)
    .get("/docs", ({ request }) => serveWebFile(web, request, "docs.html"))
    .use(api)
    .use(dashboard);

  for (const route of pushRoutes)
    for (const method of route.methods)
      app.route(
        method,
        route.path,
        ({ request, params, requestContext: { address } }) =>
          createPushResponse(server, request, { token: params.token, address, route }),
        { parse: "none" },
      );
  for (const [path, file] of documents)
    app.get(path, ({ request }) => serveWebFile(web, request, file));
  for (const path of adminPaths)
    app.get(path, ({ request }) => {
      server.assertOurHost(request);
      return renderAdminPage(request, web) ?? throwError(unknownPathError());
    });
  const server: Server = {
    ...dependencies,
    table: createRouteTable(app.routes as unknown as Route[]),
    assertOurHost: createHostGuard(services.ownHosts),
    handle: (request) => app.handle(request),
  };
  return app;
}

/** Routes whose addresses other programs open: calendars, links in messages, and returns from sign-in providers. */
const createAddressedRoutes = ({ calendars, alertLinks, push, sources, api }: Dependencies) =>
  new Elysia({ name: "addressed" })
    .use(createCalendarRoutes(calendars))
    .use(createLinkRoutes(alertLinks))
    .use(createPingRoutes(push))
    .use(createReceivingRoutes(sources))
    .use(createCallbackRoutes({ ...api, admitVisitor, respondVisitorFailure }))
    .use(createVisitorSignInRoutes(api));

function createRequestContext(server: Server, request: Request): RequestContext {
  let address: string | null = null;
  const call = findToolCall(request);
  return {
    services: server.services,
    // The audit log names the ID that the client of a tool receives.
    requestId: call?.requestId ?? Bun.randomUUIDv7(),
    // Computed on access, because it takes a system call and requests with an API key don't need it.
    get address() {
      return (address ??= server.addressOf(request));
    },
    principal: null,
    tool: call?.tool ?? null,
    session: null,
    headerAccount: null,
    replacedSessionId: null,
    setCookies: [],
    authenticateAgain() {
      return identify(server, request, this);
    },
    resources: {
      find: (method, location) => server.table.findResource(method, pathOf(request), location),
      read: (path) => readAgain(server, request, path),
    },
  };
}

/** Authenticates a request before its route is looked up. Returns the response to a rejected request. */
async function admitRequest(server: Server, request: Request, current: RequestContext) {
  try {
    const path = pathOf(request);
    if (request.method === "OPTIONS") {
      if (isUnder("/dashboard", path)) await enterDashboard(server, request, current);
      return createOptionsResponse(server, path, current.requestId);
    }
    await identify(server, request, current);
    if (!isDecodable(path)) throw unknownPathError();
  } catch (error) {
    return createErrorResponse(error, current.requestId, server.services.log);
  }
}

/** Finds the session or the API key of a request. Throws UNAUTHORIZED. */
async function identify(server: Server, request: Request, current: RequestContext) {
  const path = pathOf(request);
  if (isUnder("/dashboard", path)) await enterDashboard(server, request, current);
  const needsKey = isGuarded(path) && !isMetricsRequest(server, request, path);
  // Clients of Uptime Kuma send the key as the password of Basic authentication.
  const key = isMetricsPath(path) ? parseBasicPassword(request) : null;
  if (needsKey) current.principal = await authenticate(request, current, key ?? undefined);
}

/** Reads the session cookie. Only dashboard routes accept cookies, and they accept no API keys. */
async function enterDashboard(server: Server, request: Request, current: RequestContext) {
  const { services, table } = server;
  server.assertOurHost(request);
  assertSameOrigin(request);
  current.headerAccount = services.trustedHeader.read(request);
  const session = await findSession(request, services);
  const isPermitted =
    session !== null && (await isPermittedByHeader(session, current.headerAccount, services));
  current.session = isPermitted ? session : null;
  current.replacedSessionId = isPermitted ? null : (session?.id ?? null);
  if (current.session?.stage === "signed-in") services.knownNetworks.add(current.address);
  if (!table.isOpen(pathOf(request))) getSignedInSession(current);
}

/** Sends a GET to another path, with the credentials of this request. */
function readAgain(server: Server, request: Request, path: string): Promise<Response> {
  const headers = new Headers(request.headers);
  for (const name of bodyHeaders) headers.delete(name);
  const { signal } = request;
  const readRequest = new Request(new URL(path, request.url), { headers, signal });
  return server.handle(replaceRequest(readRequest, request));
}

/** Returns the admin page with status 404 to a browser; null for other clients, and under foreign host names. */
function renderUnknownPage(
  { services, table, web }: Server,
  request: Request,
  requestId: string,
): Response | null {
  const path = pathOf(request);
  if (!isOpenedInBrowser(request, path) || table.createAllowedMethods(path) !== null) return null;
  if (!isOurs(request, services.ownHosts)) return null;
  const page = renderAdminPage(request, web, 404);
  page?.headers.set("X-Request-Id", requestId);
  return page;
}

const isMetricsPath = (path: string) => stripTrailingSlash(path) === "/metrics";

/** Whether the request is for the appliance's metrics and has their token. */
const isMetricsRequest = ({ metrics }: Server, request: Request, path: string) =>
  isMetricsPath(path) && metrics.token.isSentBy(request);

/** Returns the metrics of the appliance, or of the API key's organization: with Basic authentication, Uptime Kuma's. */
async function createMetricsResponse(
  { services, metrics }: Server,
  request: Request,
  principal: Principal | null,
): Promise<Response> {
  services.extendTimeout(request, longResponseSeconds);
  const headers = { "Content-Type": metricsType };
  if (principal === null) {
    if (!metrics.token.isSentBy(request)) throw new Error("The metrics need a token or a key.");
    consumeLimit(services.requestLimit, "metrics");
    return new Response(await metrics.text(), { headers });
  }
  authorize(services, principal, "read");
  const { store, clock } = services;
  const { organizationId, groupIds } = principal;
  const render = parseBasicPassword(request) === null ? renderMetrics : renderKumaMetrics;
  return new Response(await render({ store, clock, organizationId, groupIds }), { headers });
}

function createPushResponse(
  server: Server,
  request: Request,
  { token, address, route }: { token: string; address: string; route: PushRoute },
) {
  // HEAD must have no effect (RFC 9110 §9.2.1), because a link checker could send it.
  if (request.method === "HEAD") throw noRouteError(server, request);
  const client = { address, isKnown: server.services.knownNetworks.has(address) };
  return receivePush(request, token, client, route.dialect, server.push);
}

const serveWebFile = (web: WebFiles, request: Request, name: string): Response =>
  web.serve(request, name) ?? throwError(unknownPathError());

function throwError(error: AppError): never {
  throw error;
}

function createOptionsResponse({ table }: Server, path: string, requestId: string) {
  const allow = table.createAllowedMethods(path);
  if (allow === null) throw unknownPathError();
  return new Response(null, {
    status: 204,
    headers: {
      Allow: allow,
      "X-Request-Id": requestId,
      ...(checksPatterns.some((pattern) => pattern.test(path)) && checksPreflight),
    },
  });
}

function noRouteError({ table }: Server, request: Request): AppError {
  const allow = table.createAllowedMethods(pathOf(request));
  if (allow === null) return unknownPathError();
  return new AppError(
    "METHOD_NOT_ALLOWED",
    `This path does not support ${request.method}; it supports ${allow}.`,
    { headers: { Allow: allow } },
  );
}

const bodyHeaders = [
  "content-length",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "transfer-encoding",
];

/**
 * Replaces a short host such as `http://nas/`, because Elysia searches for the path from the 11th character of the
 * URL.
 */
export function lengthenShortHost(request: Request): Request {
  const start = request.url.indexOf("/", 8);
  if (start >= 11 || start === -1) return request;
  const scheme = request.url.slice(0, request.url.indexOf(":"));
  return replaceRequest(
    new Request(`${scheme}://localhost${request.url.slice(start)}`, request),
    request,
  );
}

/** Creates the handler of the port that serves only public pages, their assets, and the links in alerts. */
export function createPublicHandler(
  log: Log,
  serve: (request: Request) => Response | Promise<Response> | null,
  assets: Elysia,
  links: ReturnType<typeof createPublicLinkRoutes>,
): RequestHandler {
  const app = new Elysia()
    .onError(() => createErrorResponse(unknownPathError(), Bun.randomUUIDv7(), log))
    .use(links)
    .use(assets);
  return (received) => {
    const request = lengthenShortHost(received);
    return serve(request) ?? app.fetch(request);
  };
}

const checksPatterns = checksPaths.map((path) => new RegExp(buildPathPattern(path)));
const foreignPatterns = foreignPaths.map((path) => new RegExp(buildPathPattern(path)));

/** Whether a path needs an API key. */
function isGuarded(path: string): boolean {
  const found = stripTrailingSlash(path);
  return (
    found === "/metrics" ||
    found === mcpPath ||
    (isUnder("/api/v1", path) &&
      !documents.has(found) &&
      !foreignPatterns.some((pattern) => pattern.test(found)))
  );
}

/** Removes a trailing slash, which Elysia also accepts. */
function stripTrailingSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Whether a path can be decoded. Elysia would pass an empty parameter otherwise. */
function isDecodable(path: string): boolean {
  if (!path.includes("%")) return true;
  try {
    return decodeURIComponent(path) !== "";
  } catch {
    return false;
  }
}

function isUnder(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

type RouteTable = {
  /** Returns the methods of a path, in the format of `Allow`; null for an unknown path. */
  createAllowedMethods: (path: string) => string | null;
  findResource: ReturnType<typeof createResourceFinder>;
  /** Whether a path needs no session, as for signing in. */
  isOpen: (path: string) => boolean;
};

function createRouteTable(routes: readonly Route[]): RouteTable {
  const open = new Set(
    routes
      .filter(({ hooks }) => hooks.detail?.endpoint?.access === "anyone")
      .map(({ path }) => stripTrailingSlash(path)),
  );
  return {
    createAllowedMethods: listAllowedMethods(routes),
    findResource: createResourceFinder(routes),
    isOpen: (path) => open.has(stripTrailingSlash(path)),
  };
}

/** Returns a function that lists the methods of a path (RFC 9110 §10.2.1), or null for an unknown path. */
function listAllowedMethods(routes: readonly { method: string; path: string }[]) {
  let table: ReturnType<typeof listMethodPatterns> | undefined;
  return (path: string) => {
    table ??= listMethodPatterns(routes);
    // Collects all matches, because `/sessions/end-others` also matches `/sessions/:id`.
    const methods = table.flatMap(([pattern, methods]) => (pattern.test(path) ? methods : []));
    return methods.length === 0 ? null : [...new Set(methods)].sort().join(", ");
  };
}

/** Lists the methods of each path pattern. GET also allows HEAD, except for pushes. OPTIONS is always allowed. */
function listMethodPatterns(routes: readonly { method: string; path: string }[]) {
  const byPattern = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const pattern = buildPathPattern(path);
    const methods = byPattern.get(pattern) ?? new Set(["OPTIONS"]);
    methods.add(method);
    if (method === "GET" && !pushRoutes.some((route) => route.path === path)) methods.add("HEAD");
    byPattern.set(pattern, methods);
  }
  return [...byPattern].map(([pattern, methods]) => [new RegExp(pattern), [...methods]] as const);
}
