import type { Clock } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { hostNameOf } from "../../core/security/own-hosts.ts";
import { effectOn, type EventEffects } from "../../events/catalogue.ts";
import { lastSeq } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import { isRead, pathOf } from "../../http/request.ts";
import { errorResponse } from "../../http/responses/error-response.ts";
import { consume, type NetworkLimit } from "../../http/access/rate-limit.ts";
import type { FairQueue } from "../../core/collections/fair-queue.ts";
import type { Log } from "../../core/log.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import type { Store } from "../../database/store.ts";
import { setRoute } from "../../http/request-metrics.ts";
import { findSettings } from "../../accounts/settings/service.ts";
import { type BadgeKind, badgeOf } from "../rendering/badges.ts";
import { type Rendered, type Rendering, pageCache } from "./cache.ts";
import { askedLikeUptimeKuma, uptimeKumaAnswers } from "../formats/uptime-kuma.ts";
import { endOf, monthAt } from "../formats/history.ts";
import { judgementWatch } from "./judgement-watch.ts";
import type { PageLock } from "./lock.ts";
import { renderPart, renderSignUp, svg, uncached } from "../rendering/parts.ts";
import {
  badgePath,
  isEndless,
  linkPath,
  pagePath,
  type Part,
  partAt,
  publicPaths,
  queryOf,
} from "./public-paths.ts";
import { pageReadings } from "../readings.ts";
import { addressesOf, hostsOf } from "../rules.ts";
import { notKnown, nothing, tooMany } from "./small-page.ts";
import {
  findDefaultSlugs,
  findHead,
  findHeadByHost,
  findHosts,
  findSlugShowing,
  hasIncidentsBefore,
  logoOf,
  mayShowIncident,
  type PageHead,
} from "../store.ts";
import type { SignUpResult } from "../subscribe-page.tsx";

/** What the public pages need of subscribers. */
export type Subscriptions = {
  /** Takes a mailbox that somebody gave on the page. */
  signUp(request: Request, page: PageHead): Promise<NonNullable<SignUpResult>>;
  /** Answers a link of an e-mail; null for one that we did not make. */
  answer(
    request: Request,
    verb: "confirm" | "unsubscribe",
    token: string,
  ): Promise<Response | null>;
};

type Dependencies = {
  store: Store;
  clock: Clock;
  log: Log;
  origin: () => string;
  ownHosts: OwnHosts;
  pageQueue: FairQueue;
  /** Milliseconds that only ever go forward: how old a kept page is. */
  monotonic?: Clock;
  events: EventReader;
  /** What is made for strangers because none is kept, a minute by network. */
  makingLimit: NetworkLimit;
  addressOf: (request: Request) => string;
  lock: PageLock;
  subscriptions: Subscriptions;
};

/** Events that can change which pages exist, and their addresses. Any event can change their content. */
const publishes: EventEffects<true> = { "organization.deleted": true, "status-page.*": true };

/** Where a request leads: to the page of a slug, below its own path or at the root of one of its hosts. */
type Address = { slug: string; host: string | null; base: string; rest: string };

/** The public pages: everything that anybody may read without a key. */
export function statusSite(dependencies: Dependencies) {
  const { store, clock, events, log, origin, ownHosts, pageQueue: queue } = dependencies;
  const { makingLimit, addressOf, lock, subscriptions } = dependencies;
  const { monotonic = () => performance.now() } = dependencies;
  const cache = pageCache(log, queue, monotonic);
  const readings = pageReadings(store, clock, monotonic);
  const likeUptimeKuma = uptimeKumaAnswers({ store, clock, readings }, async (...asked) => {
    const [request, { key, isEndless }, head, make] = asked;
    if (head?.visibility !== "public" || cache.isMissing(key)) return nothing(request);
    if (isEndless) consume(makingLimit, addressOf(request));
    const making = () => make(head);
    return (await cache.answerOrMake(request, key, laneOf(head, true), making)) ?? nothing(request);
  });
  const judgement = judgementWatch(store, log, cache);
  /** Slugs of pages by host. */
  let hosts: ReadonlyMap<string, string> = new Map();
  let subscription: Subscription | null = null;

  /** The response; null where the path is none of the public pages'. */
  function answer(request: Request): Response | Promise<Response> | null {
    judgement.followWrites();
    const response = route(request);
    return response instanceof Promise
      ? response.catch((error) => failed(request, error))
      : response;
  }

  function failed(request: Request, error: unknown): Response {
    const { code, headers } = error instanceof AppError ? error : { code: null, headers: {} };
    const retryAfter = (headers as Record<string, string>)["Retry-After"];
    if (code === "RATE_LIMITED") return tooMany(retryAfter ?? "1");
    const isPage = request.headers.get("accept")?.includes("text/html") === true;
    return code === "UNAVAILABLE" && isPage
      ? notKnown(retryAfter ?? "5")
      : errorResponse(error, Bun.randomUUIDv7(), log);
  }

  function route(request: Request): Response | Promise<Response> | null {
    const path = pathOf(request);
    // No page has such paths, and nothing is asked for as often.
    if (path.startsWith("/api/v1/")) return null;
    const address = addressed(request, path);
    if (isRead(request)) {
      const part = address && partAt(address.rest, queryOf(request.url, clock()));
      if (address !== null && part !== null) {
        setRoute(request, publicPaths[part.name]);
        return cache.answer(request, keyOf(address, part)) ?? served(request, address, part);
      }
      if (path.startsWith("/badge/")) {
        setRoute(request, publicPaths.badge);
        return cache.answer(request, path) ?? badgeAt(request, path);
      }
      const asked = path.startsWith("/api/") ? askedLikeUptimeKuma(path, request.url) : null;
      if (asked !== null) {
        setRoute(request, asked.route);
        return cache.answer(request, asked.key) ?? likeUptimeKuma(asked, request);
      }
    }
    const { verb, token = "" } = linkPath.exec(path)?.groups ?? {};
    if (verb !== undefined && request.method !== "OPTIONS") {
      setRoute(request, publicPaths.link);
      return linked(request, verb as "confirm" | "unsubscribe", token);
    }
    if (isRead(request)) return path.startsWith("/status/") ? nothing(request) : null;
    return request.method === "POST" && address !== null ? sent(request, address) : null;
  }

  /** The response to OPTIONS; null for any other method, and where the path is none of the public pages'. */
  function options(request: Request): Response | null {
    const path = pathOf(request);
    if (request.method !== "OPTIONS" || path.startsWith("/api/v1/")) return null;
    const allow = allowedAt(path, addressed(request, path), request.url);
    return allow === null ? null : new Response(null, { status: 204, headers: { Allow: allow } });
  }

  function addressed(request: Request, path: string): Address | null {
    const [base, slug] = pagePath.exec(path) ?? [];
    if (base !== undefined && slug !== undefined)
      return { slug, host: null, base, rest: path.slice(base.length) };
    if (hosts.size === 0 || path.startsWith("/status/")) return null;
    const host = hostNameOf(request.headers.get("host") ?? "");
    const hosted = hosts.get(host);
    if (hosted === undefined) return null;
    return { slug: hosted, host, base: "", rest: path === "/status.json" ? ".json" : path };
  }

  function findAt({ slug, host }: Address): Promise<PageHead | null> {
    return host === null ? findHead(store, slug) : findHeadByHost(store, host);
  }

  async function served(request: Request, address: Address, part: Part): Promise<Response> {
    const head = await findAt(address);
    if (head === null) return nothing(request);
    const isLocked = head.visibility === "password";
    if (isLocked && !lock.isOpenFor(request, head))
      return lock.ask(head, address.base || "/", pathOf(request));
    const plainKey = keyOf({ ...address, slug: head.slug }, part);
    // What is kept under its plain key is served to anybody.
    const key = isLocked ? `locked ${plainKey}` : plainKey;
    const known = cache.answer(request, key);
    if (known !== null) return known;
    if (cache.isMissing(key) || !(await mayExist(head, part))) return nothing(request);
    if (isEndless(part)) consume(makingLimit, addressOf(request));
    if (part.name === "logo" && part.parameter !== "") {
      const version = (await logoOf(store, head))?.version;
      if (part.parameter !== version)
        return served(request, address, { name: "logo", parameter: "" });
    }
    const lane = laneOf(head, isEndless(part));
    const made = await cache.answerOrMake(request, key, lane, async () => {
      const making = await makingOf(head, address, part);
      if (making === null || !isLocked) return making;
      return { ...making, made: making.made && forOne(making.made) };
    });
    return made ?? nothing(request);
  }

  /** Looked up before the page is read for it. */
  async function mayExist(head: PageHead, { name, parameter }: Part): Promise<boolean> {
    if (name === "incident") return mayShowIncident(store, head, parameter);
    if (name !== "history" || parameter === "") return true;
    return (
      parameter < monthAt(clock()) &&
      hasIncidentsBefore(store, head.organizationId, endOf(parameter))
    );
  }

  async function makingOf(
    head: PageHead,
    { host, base }: Address,
    part: Part,
  ): Promise<Rendering | null> {
    if (part.name === "logo") return logo(head, part.parameter);
    const reading = await readings.of(head);
    if (reading === null) return null;
    const { page, loaded, readAt } = reading;
    const url =
      host === null
        ? `${origin()}${base}`
        : addressesOf({ slug: page.slug, hosts: hostsOf(page, ownHosts) }, origin()).page;
    const made = await renderPart(part, loaded, { base, url, now: clock() });
    return { organizationId: page.organizationId, readAt, made };
  }

  /** The links of e-mails: a question, which its own button answers. */
  async function linked(request: Request, verb: "confirm" | "unsubscribe", token: string) {
    return (await subscriptions.answer(request, verb, token)) ?? nothing(request);
  }

  /** Takes what the forms of a page send: its password, at its own address, or a sign-up; null where there is none. */
  function sent(request: Request, address: Address): Promise<Response> | null {
    const [whole, signUp] = /^(\/subscribe)?\/?$/.exec(address.rest) ?? [];
    if (whole === undefined) return null;
    setRoute(request, signUp === undefined ? publicPaths.page : publicPaths.subscribe);
    return (async () => {
      const head = await findAt(address);
      if (head === null) return nothing(request);
      if (signUp !== undefined) return signedUp(request, head, address.base);
      return head.visibility === "password"
        ? lock.unlock(request, head, address.base || "/")
        : nothing(request);
    })();
  }

  async function signedUp(request: Request, head: PageHead, base: string): Promise<Response> {
    if (head.visibility === "password" && !lock.isOpenFor(request, head))
      return lock.ask(head, base || "/", `${base}/subscribe`);
    consume(makingLimit, addressOf(request));
    if ((await findSettings(store, head.organizationId)).smtp === null) return nothing(request);
    const result = await subscriptions.signUp(request, head);
    const reading = await queue.run(laneOf(head, true), () => readings.of(head));
    if (reading === null) return nothing(request);
    const { retryAfter } = result;
    return uncached(
      await renderSignUp(reading.loaded, result, base, clock()),
      retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) },
    );
  }

  async function logo(head: PageHead, version: string): Promise<Rendering> {
    const readAt = monotonic();
    const found = await logoOf(store, head);
    const made = found && {
      status: 200,
      type: found.type,
      body: found.bytes,
      headers: {
        // Without its version an address goes on leading to the logo, whichever that is.
        "Cache-Control":
          version === found.version ? "public, max-age=31536000, immutable" : "no-cache",
        // An SVG that is opened directly is a document: it must not run or load anything.
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "X-Content-Type-Options": "nosniff",
      },
    };
    return { organizationId: head.organizationId, readAt, made };
  }

  async function badgeAt(request: Request, path: string): Promise<Response> {
    const { id, kind } = badgePath.exec(path)?.groups ?? {};
    if (id === undefined || cache.isMissing(path)) return nothing(request);
    const slug = await findSlugShowing(store, id);
    const head = slug === null ? null : await findHead(store, slug);
    if (head === null) return nothing(request);
    consume(makingLimit, addressOf(request));
    const made = await cache.answerOrMake(request, path, laneOf(head, true), async () => {
      const reading = head.visibility === "public" ? await readings.of(head) : null;
      if (reading === null) return null;
      const { page, loaded, readAt } = reading;
      const monitor = loaded.sections
        .flatMap(({ monitors }) => monitors)
        .find((one) => one.id === id);
      const isShown = monitor !== undefined && (kind !== "latency" || page.showLatency);
      const made = isShown
        ? svg(badgeOf(kind as BadgeKind, monitor, page.timeZone, clock()))
        : null;
      return { organizationId: page.organizationId, readAt, made };
    });
    return made ?? nothing(request);
  }

  async function home(request: Request): Promise<Response> {
    const [slug, ...others] = await findDefaultSlugs(store);
    if (slug === undefined || others.length > 0) return nothing(request);
    return new Response(null, { status: 302, headers: { Location: `/status/${slug}` } });
  }

  async function readHosts() {
    const all = await findHosts(store);
    hosts = new Map(
      all.flatMap(({ host, slug }) => (ownHosts.reserves(host) ? [] : [[host, slug]])),
    );
  }

  return {
    answer,
    options,
    /** The same on a port that has nothing else: `/` leads to the page of the only organization. */
    answerAlone: (request: Request) =>
      answer(request) ??
      options(request) ??
      (pathOf(request) === "/" && isRead(request) ? home(request) : null),
    async start() {
      const seq = await lastSeq(store);
      await readHosts();
      judgement.start();
      subscription = events.subscribe("status-pages", seq, async (events) => {
        for (const { organizationId, type } of events)
          if (effectOn(publishes, type)) {
            cache.drop(organizationId);
            readings.drop(organizationId);
          } else {
            cache.touch(organizationId);
            readings.touch(organizationId);
          }
        if (events.some(({ type }) => effectOn(publishes, type))) await readHosts();
      });
    },
    async stop() {
      judgement.stop();
      await subscription?.stop();
    },
  };
}

/** Names what is asked for: a page has one copy at its own path and one at the root of all its hosts. */
function keyOf({ slug, host }: Address, { name, parameter, before = "" }: Part): string {
  // Figures and logo are the same at every address.
  const root = host === null || name === "json" || name === "logo" ? "" : "root ";
  return `${root}${slug} ${name} ${parameter}${before}`;
}

/** What there may be any number of does not hold up the page itself. */
function laneOf({ organizationId }: PageHead, isOneOfMany: boolean): string {
  return isOneOfMany ? `more of ${organizationId}` : organizationId;
}

/** Nothing that a cache may hand to others. */
function forOne(made: Rendered): Rendered {
  return { ...made, headers: { ...made.headers, "Cache-Control": "private, no-cache" } };
}

/** The methods of a public path as `Allow` lists them, whether or not a page is there; null for any other path. */
function allowedAt(path: string, address: Address | null, url: string): string | null {
  const part = address && partAt(address.rest);
  if (linkPath.test(path) || part?.name === "page" || part?.name === "subscribe")
    return "GET, HEAD, OPTIONS, POST";
  const isRead = part !== null || badgePath.test(path) || askedLikeUptimeKuma(path, url) !== null;
  return isRead ? "GET, HEAD, OPTIONS" : null;
}
