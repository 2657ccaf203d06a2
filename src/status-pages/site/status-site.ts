/** Routes requests of the public site: status pages with their feeds, forms, badges and files. */
import { Elysia } from "elysia";
import type { Clock } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { findEffect, type EventEffects } from "../../events/catalog.ts";
import { findLastSeq } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import { isRead, pathOf } from "../../http/request.ts";
import { setRoute } from "../../http/request-metrics.ts";
import { createErrorResponse, unknownPathError } from "../../http/responses/error-response.ts";
import { requestBounds, statusPageBounds } from "../../core/limits.ts";
import type { Tenant } from "../../database/rows.ts";
import type { Store } from "../../database/store.ts";
import { createNetworkLimit } from "../../http/access/rate-limit.ts";
import type { Sessions } from "../../http/access/session.ts";
import { readQueryParameter } from "../../http/query-parameter.ts";
import { parseMonth } from "../formats/history.ts";
import { findMonitor, type PublicData } from "../formats/public-data.ts";
import {
  findPagesShowingNumber,
  renderKumaBadge,
  renderKumaHeartbeats,
  renderKumaHistory,
  renderKumaManifest,
  renderKumaPageBadge,
  type KumaMeasure,
  renderKumaPage,
  parseLabels,
} from "../formats/uptime-kuma.ts";
import { createPageReadings } from "../page-readings.ts";
import { type BadgeKind, renderMonitorBadge } from "../rendering/badges.ts";
import { toJson, toSvg } from "../rendering/parts.ts";
import {
  findDefaultSlugs,
  findHead,
  findPagesShowingMonitor,
  type PageCandidate,
} from "../store.ts";
import { PageAccess } from "./access.ts";
import { PageCache } from "./cache.ts";
import { findPageHost, PageHosts } from "./hosts.ts";
import { createJudgmentWatch } from "./judgment-watch.ts";
import type { PageAddress } from "./page-renderer.ts";
import { PublicPages, type PublicPagesDependencies } from "./public-pages.ts";
import {
  fileParts,
  isLinkVerb,
  isParameter,
  isPublicPath,
  type Part,
  type PartName,
  publicPaths,
  parseV2Name,
} from "./public-paths.ts";
import { respondStatusUnknown, respondNotFound, respondRateLimited } from "./small-page.ts";

type Dependencies = Omit<
  PublicPagesDependencies,
  "access" | "cache" | "readings" | "monotonic" | "pastLimit"
> & {
  log: Log;
  sessions: Sessions;
  /** Monotonic clock in milliseconds, for the age of cached pages. */
  monotonic?: Clock;
  events: EventReader;
};

/** Creates the public site for the main port and for its own port. */
export function createStatusSite(dependencies: Dependencies) {
  const { store, clock, log, pageQueue, ownHosts, events } = dependencies;
  const { monotonic = () => performance.now() } = dependencies;
  const cache = new PageCache(log, pageQueue, monotonic);
  const readings = createPageReadings(store, clock, monotonic);
  const wrongTokens = createNetworkLimit(requestBounds.wrongPageTokens.value, clock);
  const access = new PageAccess({ ...dependencies, wrongTokens });
  const pastLimit = createNetworkLimit(statusPageBounds.pastRenders.value, clock);
  const pages = new PublicPages({ ...dependencies, access, monotonic, cache, readings, pastLimit });
  const hosts = new PageHosts(store, ownHosts);
  const judgment = createJudgmentWatch(store, log, cache);
  /** Requests at the public port, which has no admin page. */
  const publicPortRequests = new WeakSet<Request>();
  const hasAdminPage = (request: Request) => !publicPortRequests.has(request);
  const { fetch } = createPublicRoutes({ ...dependencies, pages, hasAdminPage });
  let subscription: Subscription | null = null;

  function respond(request: Request): Response | Promise<Response> {
    // Public paths contain no escaped characters, but the router would decode them.
    if (pathOf(request).includes("%")) return respondError(request, unknownPathError(), log);
    return fetch(request);
  }

  return {
    /** Responds on the public site's own port, where `/` is the page of the only organization. */
    answerAlone: (received: Request): Response | Promise<Response> | null => {
      judgment.followWrites();
      const known = pages.serveKnown(received);
      if (known !== null) return known;
      const request = hosts.rewrite(received);
      const path = pathOf(request);
      publicPortRequests.add(request);
      return path === "/" || isPublicPath(path) ? respond(request) : null;
    },
    /** Responds on the main port; null if the path is not part of the public site. */
    handleRequest(received: Request): Response | Promise<Response> | null {
      judgment.followWrites();
      const known = pages.serveKnown(received);
      if (known !== null) return known;
      const request = hosts.rewrite(received);
      return isPublicPath(pathOf(request)) ? respond(request) : null;
    },
    async start() {
      const seq = await findLastSeq(store);
      await hosts.refresh();
      judgment.start();
      subscription = events.subscribe("status-pages", seq, async (events) => {
        for (const { organizationId, type } of events)
          for (const part of [cache, readings])
            part[findEffect(eventsAffectingPages, type) ? "drop" : "touch"](organizationId);
        if (events.some(({ type }) => findEffect(eventsAffectingPages, type)))
          await hosts.refresh();
      });
    },
    async stop() {
      judgment.stop();
      await subscription?.stop();
    },
  };
}

/** Events that can create, remove or rename pages. Any event can change their content. */
const eventsAffectingPages: EventEffects<true> = {
  "organization.deleted": true,
  "status-page.*": true,
};

type RouteDependencies = Pick<Dependencies, "store" | "clock" | "log"> & {
  pages: PublicPages;
  /** Whether the port of the request also serves the admin page. */
  hasAdminPage: (request: Request) => boolean;
};

type Handler = (request: Request, params: Record<string, string>) => Response | Promise<Response>;

type Pattern = (typeof publicPaths)[keyof typeof publicPaths] | "/";

/** Adds handlers to the routes. `pattern` names the route in metrics, `path` is the pattern for the router. */
type Routes = {
  /** Adds a handler for GET and HEAD. */
  read: (pattern: Pattern, path: string, handler: Handler) => void;
  post: (pattern: Pattern, path: string, handler: Handler) => void;
};

function createPublicRoutes(dependencies: RouteDependencies) {
  const { store, log } = dependencies;
  const app = new Elysia({ name: "status-site", strictPath: true });
  app.onError(({ request, error, code }) => {
    const isUnrouted = code === "NOT_FOUND" && !(error instanceof AppError);
    return respondError(request, isUnrouted ? unknownPathError() : error, log);
  });

  const add = (method: string, pattern: string, path: string, handler: Handler) =>
    app.route(
      method,
      path,
      ({ request, params }) => {
        setRoute(request, pattern);
        const response = handler(request, params);
        return response instanceof Promise
          ? response.catch((error: unknown) => respondError(request, error, log))
          : response;
      },
      { parse: "none" },
    );
  const routes: Routes = {
    read(pattern, path, handler) {
      for (const method of ["GET", "HEAD"]) add(method, pattern, path, handler);
    },
    post(pattern, path, handler) {
      add("POST", pattern, path, handler);
    },
  };
  addPages(routes, dependencies);
  addForms(routes, dependencies);
  addBadges(routes, dependencies);
  addUptimeKuma(routes, dependencies);
  routes.read("/", "/", async (request) => {
    const [slug, ...others] = await findDefaultSlugs(store);
    if (slug === undefined || others.length > 0) return respondNotFound(request);
    return new Response(null, { status: 302, headers: { Location: `/status/${slug}` } });
  });
  addOptions(app);
  return app;
}

/** Adds OPTIONS handlers, which list the methods of each path. */
function addOptions(app: Elysia) {
  for (const [path, routes] of Map.groupBy(app.routes, ({ path }) => path)) {
    const allowed = [...routes.map(({ method }) => method), "OPTIONS"].sort().join(", ");
    app.route("OPTIONS", path, ({ request }) => {
      const isJson = pathOf(request).endsWith(".json");
      const headers = { Allow: isJson ? "GET, HEAD, OPTIONS" : allowed };
      return new Response(null, { status: 204, headers });
    });
  }
}

/** Parts that can show a past time. */
const partsOfPast: readonly PartName[] = ["page", "json"];

function addPages({ read }: Routes, { clock, pages, hasAdminPage }: RouteDependencies) {
  const serve = (request: Request, slug: string | undefined, part: Part) => {
    const address = parsePageAddress(request, slug);
    const at = partsOfPast.includes(part.name) ? readQueryParameter(request, "at") : null;
    return at === null
      ? pages.serve(request, address, part)
      : pages.serveAt(request, address, part, at);
  };

  read(publicPaths.page, "/status/:slug", (request, { slug = "" }) => {
    if (!slug.endsWith(".json")) return serve(request, slug, { name: "page", parameter: "" });
    setRoute(request, publicPaths.json);
    return serve(request, slug.slice(0, -".json".length), { name: "json", parameter: "" });
  });
  for (const [path, name] of [
    ["/", "page"],
    ["/feed.rss", "rss"],
    // The same feed at the path that Uptime Kuma uses.
    ["/rss", "rss"],
    ["/feed.atom", "atom"],
    // The same feeds at the paths that Statuspage uses.
    ["/history.rss", "rss"],
    ["/history.atom", "atom"],
    ["/maintenance.ics", "ics"],
    ["/subscribe", "subscribe"],
    ["/embed", "embed"],
    ["/robots.txt", "robots"],
  ] as const)
    read(publicPaths[name], `/status/:slug${path}`, (request, { slug }) =>
      serve(request, slug, { name, parameter: "" }),
    );
  read(publicPaths.signIn, publicPaths.signIn, (request, { slug }) => {
    const address = parsePageAddress(request, slug);
    return pages.signIn(request, address, queryOf(request), hasAdminPage(request));
  });
  read(publicPaths.history, publicPaths.history, (request, { slug }) =>
    serve(request, slug, { name: "history", parameter: parseMonth(queryOf(request), clock()) }),
  );
  for (const name of fileParts)
    read(publicPaths[name], publicPaths[name], (request, { slug }) => {
      const version = readQueryParameter(request, "v");
      return serve(request, slug, {
        name,
        parameter: isParameter("version", version) ? version : "",
      });
    });
  read(publicPaths.incident, publicPaths.incident, (request, { slug, id = "" }) => {
    if (!isParameter("id", id)) throw unknownPathError();
    const before = readQueryParameter(request, "before");
    const continued = isParameter("id", before) && { before };
    return serve(request, slug, { name: "incident", parameter: id, ...continued });
  });
  read(publicPaths.v2, "/status/:slug/api/v2/*", (request, { slug }) => {
    const name = parseV2Name(pathOf(request));
    if (name === null) throw unknownPathError();
    return serve(request, slug, { name: "v2", parameter: name });
  });
}

function addForms({ read, post }: Routes, { pages }: RouteDependencies) {
  for (const path of ["/status/:slug", "/status/:slug/"])
    post(publicPaths.page, path, (request, { slug }) =>
      pages.unlock(request, parsePageAddress(request, slug)),
    );
  post(publicPaths.subscribe, publicPaths.subscribe, (request, { slug }) =>
    pages.signUp(request, parsePageAddress(request, slug)),
  );
  for (const add of [read, post])
    add(publicPaths.link, publicPaths.link, (request, { verb, token = "" }) => {
      if (!isLinkVerb(verb) || !isParameter("token", token)) throw unknownPathError();
      return pages.followLink(request, verb, token);
    });
}

function addBadges({ read }: Routes, { store, clock, pages }: RouteDependencies) {
  read(publicPaths.badge, "/badge/monitor/:id/:file", (request, { id = "", file = "" }) => {
    if (!isParameter("id", id) || !isParameter("badge", file)) throw unknownPathError();
    const kind = file.slice(0, -".svg".length) as BadgeKind;
    return pages.serveOpen(
      request,
      { key: pathOf(request), isEndless: true },
      () => findPagesShowingMonitor(store, id),
      async ({ page, loaded, language }) => {
        const monitor = findMonitor(loaded, id);
        const reader = { timeZone: page.timeZone, now: clock(), language };
        return monitor !== undefined && (kind !== "latency" || page.showLatency)
          ? toSvg(renderMonitorBadge(kind, monitor, reader))
          : null;
      },
    );
  });
}

/** Adds the paths of Uptime Kuma, so that its badges and widgets keep working at the same address. */
function addUptimeKuma({ read }: Routes, { store, clock, pages }: RouteDependencies) {
  const serveBadge: Handler = (request, { number = "", measure = "", span = "24" }) => {
    if (!isParameter("number", number) || !isParameter("measure", measure))
      throw unknownPathError();
    if (!isParameter("span", span)) throw unknownPathError();
    const labels = parseLabels(queryOf(request));
    const badgeRequest = { measure: measure as KumaMeasure, span, labels };
    const key = `${pathOf(request)} ${JSON.stringify(labels)}`;
    return pages.serveOpen(
      request,
      { key, isEndless: true },
      () => findPagesShowingNumber(store, number),
      async ({ page, loaded }, { monitorId }) => {
        const monitor = findMonitor(loaded, monitorId);
        const tenant = { store, organizationId: page.organizationId };
        const image =
          monitor &&
          (await renderKumaBadge(tenant, badgeRequest, monitor, page.showLatency, clock()));
        return image ? toSvg(image) : null;
      },
    );
  };
  read(publicPaths.uptimeKumaBadge, publicPaths.uptimeKumaBadge, serveBadge);
  read(publicPaths.uptimeKumaBadgeOver, publicPaths.uptimeKumaBadgeOver, serveBadge);
  const documents: [Pattern, (tenant: Tenant, data: PublicData, now: number) => Promise<string>][] =
    [
      [publicPaths.uptimeKumaPage, renderKumaPage],
      [publicPaths.uptimeKumaHeartbeats, renderKumaHeartbeats],
      [publicPaths.uptimeKumaHistory, renderKumaHistory],
      [publicPaths.uptimeKumaManifest, renderKumaManifest],
    ];
  for (const [path, render] of documents)
    read(path, path, (request, { slug = "" }) => {
      if (!isParameter("slug", slug)) throw unknownPathError();
      return pages.serveOpen(
        request,
        { key: pathOf(request), isEndless: false },
        () => findCandidate(store, slug),
        async ({ page, loaded }) =>
          toJson(await render({ store, organizationId: page.organizationId }, loaded, clock())),
      );
    });
  read(
    publicPaths.uptimeKumaPageBadge,
    publicPaths.uptimeKumaPageBadge,
    (request, { slug = "" }) => {
      if (!isParameter("slug", slug)) throw unknownPathError();
      const { label = "" } = parseLabels(queryOf(request));
      return pages.serveOpen(
        request,
        { key: `${pathOf(request)} ${JSON.stringify(label)}`, isEndless: true },
        () => findCandidate(store, slug),
        async ({ loaded }) => toSvg(renderKumaPageBadge(loaded, label)),
      );
    },
  );
}

/** Returns the page with this slug, whose documents exist for everyone who can open it. */
async function findCandidate(store: Store, slug: string): Promise<PageCandidate[]> {
  const head = await findHead(store, slug);
  return head === null ? [] : [{ head, neededAudience: "everyone" }];
}

/** Throws NOT_FOUND for a malformed slug. */
function parsePageAddress(request: Request, slug = ""): PageAddress {
  if (!isParameter("slug", slug)) throw unknownPathError();
  const host = findPageHost(request);
  return { slug, host, base: host === null ? `/status/${slug}` : "" };
}

const noQuery = new URLSearchParams();

function queryOf({ url }: Request): URLSearchParams {
  const start = url.indexOf("?");
  return start === -1 ? noQuery : new URLSearchParams(url.slice(start));
}

/** Creates the response to an error: a page for people, else JSON. */
function respondError(request: Request, error: unknown, log: Log): Response {
  const { code, headers } = error instanceof AppError ? error : { code: null, headers: {} };
  const retryAfter = (headers as Record<string, string>)["Retry-After"];
  if (code === "RATE_LIMITED") return respondRateLimited(request, retryAfter ?? "1");
  const isPage = request.headers.get("accept")?.includes("text/html") === true;
  if (code === "UNAVAILABLE" && isPage) return respondStatusUnknown(request, retryAfter ?? "5");
  const isForPeople = isRead(request) && /^\/(?:status|badge)\//.test(pathOf(request));
  return code === "NOT_FOUND" && isForPeople
    ? respondNotFound(request)
    : createErrorResponse(error, Bun.randomUUIDv7(), log);
}
