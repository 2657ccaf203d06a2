import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { hostNameOf, type OwnHosts } from "../base/own-hosts.ts";
import type { Store } from "../database/store.ts";
import { followEvents, type Following } from "../events/follow.ts";
import { pathOf } from "../http/call.ts";
import type { WebFiles } from "../http/web-files.ts";
import { badgeDays, type BadgeKind, badgeOf } from "./badges.ts";
import { type Made, pageCache } from "./cache.ts";
import { monthOf } from "./history.ts";
import { pageLoader } from "./load.ts";
import { pageFiles as files } from "./frame.tsx";
import type { Lock } from "./lock.ts";
import { isServable } from "./logo.ts";
import { makePart, type Part, partAt, signUpAnswer } from "./parts.ts";
import { hostsOf } from "./rules.ts";
import { smallPage } from "./small-page.ts";
import type { Subscriptions } from "./subscriptions.ts";
import {
  findDefaultSlugs,
  findHosts,
  findPageByHost,
  findPublicPage,
  findSlugShowing,
  logoOf,
  type PublicPage,
} from "./store.ts";

/** The public pages: everything that anybody may read without a key. */
export type StatusSite = {
  /** The answer; null where the path is none of the public pages'. */
  answer: (request: Request) => Response | Promise<Response> | null;
  /** The same on a port that has nothing else: `/` leads to the page of the only organization. */
  answerAlone: (request: Request) => Response | Promise<Response> | null;
  start(): Promise<void>;
  stop(): Promise<void>;
};

type Room = {
  store: Store;
  clock: Clock;
  log: Log;
  web: WebFiles;
  /** Address under which people open this appliance; without a trailing slash. */
  origin: () => string;
  /** Where it listens. */
  ownPort: () => number;
  ownHosts: OwnHosts;
  lock: Lock;
  subscriptions: Subscriptions;
};

const slugPath = /^\/status\/([a-z0-9-]{1,63})(?=\.json$|\/|$)/;
const linkPath = /^\/status\/[a-z0-9-]{1,63}\/(confirm|unsubscribe)\/([\w.-]{1,400})$/;
const badgePath = /^\/badge\/monitor\/([0-9a-f-]{36})\/(status|uptime|latency)\.svg$/;

export function statusSite(room: Room): StatusSite {
  const { store, clock, log, web, origin, ownPort, ownHosts, lock, subscriptions } = room;
  const cache = pageCache(log);
  const load = pageLoader(store);
  let hosts: ReadonlySet<string> = new Set();
  let following: Following | null = null;

  function answer(request: Request): Response | Promise<Response> | null {
    const path = pathOf(request);
    if (path.startsWith("/status/")) {
      const key = keyOf(request, path);
      const known = isReading(request) ? cache.answer(request, key) : null;
      if (known !== null) return known;
      const [, verb, token = ""] = linkPath.exec(path) ?? [];
      if (verb !== undefined) return linked(request, verb as "confirm" | "unsubscribe", token);
      if (isReading(request)) return bySlug(request, path, key);
    }
    if (request.method === "POST") return sent(request, path);
    if (!isReading(request)) return null;
    if (path.startsWith("/status-files/"))
      return web.answer(request, path.slice(1).replace("-files", "")) ?? nothing();
    if (path.startsWith("/badge/")) return cache.answer(request, path) ?? badge(request, path);
    return hosts.size === 0 ? null : byHost(request, path);
  }

  /** Of the query only a month makes a difference, and only to the history. */
  function keyOf(request: Request, path: string): string {
    const month = path.endsWith("/history") ? monthOf(request.url) : null;
    return month === null ? path : `${path}?${month}`;
  }

  async function bySlug(request: Request, path: string, key: string): Promise<Response> {
    const [base = "", slug] = slugPath.exec(path) ?? [];
    const part = partAt(path.slice(base.length), monthOf(request.url));
    if (slug === undefined || part === null) return nothing();
    return served(request, key, part, base, () => findPublicPage(store, slug), origin());
  }

  function byHost(request: Request, path: string): Response | Promise<Response> | null {
    const host = hostOf(request);
    if (!hosts.has(host)) return null;
    const part = partAt(path === "/status.json" ? ".json" : path, monthOf(request.url));
    if (part === null) return null;
    // A port that is not ours may be anything that the visitor made up.
    const port = `:${ownPort()}`;
    const name = request.headers.get("host")?.endsWith(port) === true ? `${host}${port}` : host;
    const key = `${name}${keyOf(request, path)}`;
    const known = cache.answer(request, key);
    if (known !== null) return known;
    const address = `${request.url.slice(0, request.url.indexOf(":"))}://${name}`;
    return served(request, key, part, "", () => findPageByHost(store, host), address);
  }

  async function served(
    request: Request,
    key: string,
    part: Part,
    base: string,
    find: () => Promise<PublicPage | null>,
    address: string,
  ): Promise<Response> {
    const page = await find();
    if (page === null) return nothing();
    const isLocked = page.visibility === "password";
    if (isLocked && !lock.isOpenFor(request, page))
      return lock.ask(page, base || "/", pathOf(request));
    if (part.name === "logo") return logo(request, page);
    // What is kept under its plain key is served to anybody.
    const made = await cache.answerOrMake(request, isLocked ? `locked ${key}` : key, async () => {
      // Who may read it may have changed since the question was let in.
      const current = await find();
      if (current === null || current.visibility !== page.visibility) return null;
      const now = clock();
      const place = { base, url: `${address}${base}`, files, now };
      const made = await makePart(part, await load(current, now), place);
      return owned(current.organizationId, made && isLocked ? forOne(made) : made);
    });
    return made ?? nothing();
  }

  /** The links of e-mails: a question, which its own button answers. */
  async function linked(request: Request, verb: "confirm" | "unsubscribe", token: string) {
    return (await subscriptions.answer(request, verb, token)) ?? nothing();
  }

  /** Takes what the forms of a page send: its password, at its own address, or a sign-up; null where there is none. */
  function sent(request: Request, path: string): Promise<Response> | null {
    const host = hostOf(request);
    const found = /^\/status\/([a-z0-9-]{1,63})(\/subscribe)?\/?$/.exec(path);
    const isHosted = hosts.has(host) && (path === "/" || path === "/subscribe");
    if (found === null && !isHosted) return null;
    const [, slug, signUp] = found ?? [];
    return (async () => {
      const page = await (slug === undefined
        ? findPageByHost(store, host)
        : findPublicPage(store, slug));
      if (page === null) return nothing();
      const base = slug === undefined ? "" : `/status/${slug}`;
      if (signUp !== undefined || path === "/subscribe") return signedUp(request, page, base);
      return page.visibility === "password" ? lock.unlock(request, page, base || "/") : nothing();
    })();
  }

  async function signedUp(request: Request, page: PublicPage, base: string): Promise<Response> {
    if (page.visibility === "password" && !lock.isOpenFor(request, page))
      return lock.ask(page, base || "/", `${base}/subscribe`);
    const now = clock();
    const loaded = await load(page, now);
    if (!loaded.takesMail) return nothing();
    const result = await subscriptions.signUp(request, page);
    const { body, status, type, headers } = signUpAnswer(loaded, result, { base, files, now });
    return new Response(body, {
      status,
      headers: {
        "Content-Type": type,
        "Cache-Control": "no-store",
        ...(result.retryAfter !== undefined && { "Retry-After": String(result.retryAfter) }),
        ...headers,
      },
    });
  }

  async function logo(request: Request, page: PublicPage): Promise<Response> {
    const found = await logoOf(store, page);
    if (found === null || !isServable(found)) return nothing();
    const isItsOwn = request.url.slice(request.url.indexOf("/", 8)) === page.logoUrl;
    const caching =
      page.visibility === "public"
        ? isItsOwn
          ? "public, max-age=31536000, immutable"
          : "no-cache"
        : "private, no-cache";
    return new Response(found.bytes, {
      headers: {
        "Content-Type": found.type,
        "Cache-Control": caching,
        // An SVG that is opened by itself is a document.
        "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
        "X-Content-Type-Options": "nosniff",
      },
    });
  }

  async function badge(request: Request, path: string): Promise<Response> {
    const [, id, kind] = badgePath.exec(path) ?? [];
    if (id === undefined) return nothing();
    const made = await cache.answerOrMake(request, path, async () => {
      const slug = await findSlugShowing(store, id);
      const page = slug === null ? null : await findPublicPage(store, slug);
      if (page === null) return null;
      const now = clock();
      const { sections } = await load({ ...page, historyDays: badgeDays }, now);
      const monitor = sections.flatMap(({ monitors }) => monitors).find((one) => one.id === id);
      if (monitor === undefined || (kind === "latency" && !page.showLatency)) return null;
      return owned(page.organizationId, {
        status: 200,
        type: "image/svg+xml; charset=utf-8",
        body: badgeOf(kind as BadgeKind, monitor, now),
        headers: { "Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff" },
      });
    });
    return made ?? nothing();
  }

  async function home(): Promise<Response> {
    const [slug, ...others] = await findDefaultSlugs(store);
    if (slug === undefined || others.length > 0) return nothing();
    return new Response(null, { status: 302, headers: { Location: `/status/${slug}` } });
  }

  async function readHosts() {
    hosts = new Set(hostsOf({ hosts: await findHosts(store) }, ownHosts));
  }

  return {
    answer,
    answerAlone: (request) =>
      answer(request) ?? (pathOf(request) === "/" && isReading(request) ? home() : null),
    async start() {
      await readHosts();
      following = followEvents(store, log, async (events) => {
        for (const { organizationId, type } of events)
          if (type.startsWith("status-page.")) cache.drop(organizationId);
          else cache.touch(organizationId);
        if (events.some(({ type }) => type.startsWith("status-page."))) await readHosts();
      });
    },
    stop: async () => following?.stop(),
  };
}

function isReading({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

function hostOf({ headers }: Request): string {
  return hostNameOf(headers.get("host") ?? "");
}

/** Nothing that a cache may hand to others. */
function forOne(made: Made): Made {
  return { ...made, headers: { ...made.headers, "Cache-Control": "private, no-cache" } };
}

function owned(organizationId: string, made: Made | null) {
  return made === null ? null : { ...made, organizationId };
}

const nothingHere = smallPage(
  "Nothing here",
  '<h1 class="month">Nothing here</h1><p class="quiet">There is nothing public at this address.</p>',
  404,
);

/** One and the same for what does not exist, what is private and what no page shows. */
function nothing(): Response {
  const { body, status, type, headers } = nothingHere;
  return new Response(body, {
    status,
    headers: { "Content-Type": type, "Cache-Control": "no-cache", ...headers },
  });
}
