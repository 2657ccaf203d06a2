/** Finds, renders and caches the parts of status pages that visitors read without an API key. */
import type { Clock } from "../../core/time/clock.ts";
import type { FairQueue } from "../../core/collections/fair-queue.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import type { Store } from "../../database/store.ts";
import { getOriginalRequest } from "../../http/original-request.ts";
import { consume, type NetworkLimit } from "../../http/access/rate-limit.ts";
import { pathOf } from "../../http/request.ts";
import { findSettings } from "../../accounts/settings/service.ts";
import { endOfMonth, formatUtcMonth } from "../formats/history.ts";
import { type createPageReadings, type Reading } from "../page-readings.ts";
import { createUncachedResponse } from "../../http/responses/small-page.ts";
import { renderPart, renderSignUp } from "../rendering/parts.ts";
import { buildAddresses, selectEffectiveHosts } from "../rules.ts";
import {
  findHead,
  findHeadByHost,
  hasIncidentsBefore,
  findLogo,
  canShowIncident,
  type PageHead,
} from "../store.ts";
import type { SignUpResult } from "../subscribe-page.tsx";
import type { PageCache, Rendered, Rendering } from "./cache.ts";
import type { PageLock } from "./lock.ts";
import { isEndless, type Part } from "./public-paths.ts";
import { respondNotFound } from "./small-page.ts";

/** Handlers through which visitors change subscriptions: a form on a page, and links in e-mails. */
export type Subscriptions = {
  /** Signs up the mailbox of the submitted form. */
  signUp(request: Request, page: PageHead): Promise<NonNullable<SignUpResult>>;
  /** Responds to a link of an e-mail; null for an invalid token. */
  respondToLink(
    request: Request,
    verb: "confirm" | "unsubscribe",
    token: string,
  ): Promise<Response | null>;
};

export type PublicPagesDependencies = {
  store: Store;
  clock: Clock;
  origin: () => string;
  ownHosts: OwnHosts;
  pageQueue: FairQueue;
  cache: PageCache;
  readings: ReturnType<typeof createPageReadings>;
  /** Monotonic clock in milliseconds, for the age of cached pages. */
  monotonic: Clock;
  /** Uncached renders per client network and minute. */
  makingLimit: NetworkLimit;
  addressOf: (request: Request) => string;
  lock: PageLock;
  subscriptions: Subscriptions;
};

/** Address of a page in a request: its slug, or its own host. */
export type PageAddress = {
  slug: string;
  host: string | null;
  /** Path of the page in links; empty at the root of its own host. */
  base: string;
};

export class PublicPages {
  readonly #on: PublicPagesDependencies;

  constructor(dependencies: PublicPagesDependencies) {
    this.#on = dependencies;
  }

  /** Serves a part of a page from the cache, or renders it. */
  serve(request: Request, address: PageAddress, part: Part): Response | Promise<Response> {
    const cached = this.#on.cache.respondCached(request, cacheKey(address, part));
    return cached ?? this.#serveUncached(request, address, part);
  }

  async #serveUncached(request: Request, address: PageAddress, part: Part): Promise<Response> {
    const { cache, lock } = this.#on;
    const head = await this.#find(address);
    if (head === null) return respondNotFound(request);
    const isLocked = head.visibility === "password";
    if (isLocked && !lock.isOpenFor(request, head))
      return this.#askPassword(request, head, address);
    const openKey = cacheKey({ ...address, slug: head.slug }, part);
    // `serve` returns entries under the open key to anyone.
    const key = isLocked ? `locked ${openKey}` : openKey;
    const cached = cache.respondCached(request, key);
    if (cached !== null) return cached;
    if (cache.isMissing(key) || !(await this.#canExist(head, part)))
      return respondNotFound(request);
    if (isEndless(part)) this.#consumeRender(request);
    if (part.name === "logo" && part.parameter !== "") {
      const version = (await findLogo(this.#on.store, head))?.version;
      if (part.parameter !== version)
        return this.#serveUncached(request, address, { name: "logo", parameter: "" });
    }
    const response = await cache.respondOrRender(request, key, laneOf(head, isEndless(part)), () =>
      this.#render(head, address, part),
    );
    return response ?? respondNotFound(request);
  }

  /** Serves a document of a page that anyone can read, such as a badge. */
  async serveOpen(
    request: Request,
    { key, isEndless }: { key: string; isEndless: boolean },
    find: () => Promise<PageHead | null>,
    render: (reading: Reading) => Promise<Rendered | null>,
  ): Promise<Response> {
    const { cache } = this.#on;
    const cached = cache.respondCached(request, key);
    if (cached !== null) return cached;
    if (cache.isMissing(key)) return respondNotFound(request);
    const head = await find();
    if (head?.visibility !== "public") return respondNotFound(request);
    if (isEndless) this.#consumeRender(request);
    const response = await cache.respondOrRender(request, key, laneOf(head, true), () =>
      this.#renderReading(head, render),
    );
    return response ?? respondNotFound(request);
  }

  /** Checks the submitted password of a page. */
  async unlock(request: Request, address: PageAddress): Promise<Response> {
    const head = await this.#find(address);
    return head?.visibility === "password"
      ? this.#on.lock.unlock(request, head, address.base || "/")
      : respondNotFound(request);
  }

  /** Signs up the mailbox that a visitor submitted on a page. */
  async signUp(request: Request, address: PageAddress): Promise<Response> {
    const { store, clock, lock, pageQueue, readings, subscriptions } = this.#on;
    const head = await this.#find(address);
    if (head === null) return respondNotFound(request);
    if (head.visibility === "password" && !lock.isOpenFor(request, head))
      return this.#askPassword(request, head, address);
    this.#consumeRender(request);
    if ((await findSettings(store, head.organizationId)).smtp === null)
      return respondNotFound(request);
    const result = await subscriptions.signUp(request, head);
    const reading = await pageQueue.run(laneOf(head, true), () => readings.findReading(head));
    if (reading === null) return respondNotFound(request);
    const { retryAfter } = result;
    return createUncachedResponse(
      await renderSignUp(reading.loaded, result, address.base, clock()),
      retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) },
    );
  }

  /** Responds to a link of an e-mail. */
  async followLink(request: Request, verb: "confirm" | "unsubscribe", token: string) {
    return (
      (await this.#on.subscriptions.respondToLink(request, verb, token)) ?? respondNotFound(request)
    );
  }

  #find({ slug, host }: PageAddress): Promise<PageHead | null> {
    const { store } = this.#on;
    return host === null ? findHead(store, slug) : findHeadByHost(store, host);
  }

  #askPassword(request: Request, head: PageHead, { base }: PageAddress): Promise<Response> {
    return this.#on.lock.ask(head, base || "/", pathOf(getOriginalRequest(request)));
  }

  /** Throws RATE_LIMITED. */
  #consumeRender(request: Request) {
    consume(this.#on.makingLimit, this.#on.addressOf(request));
  }

  /** Whether the part can exist. Checked before the page itself is loaded. */
  async #canExist(head: PageHead, { name, parameter }: Part): Promise<boolean> {
    const { store, clock } = this.#on;
    if (name === "incident") return canShowIncident(store, head, parameter);
    if (name !== "history" || parameter === "") return true;
    return (
      parameter < formatUtcMonth(clock()) &&
      hasIncidentsBefore(store, head.organizationId, endOfMonth(parameter))
    );
  }

  async #render(head: PageHead, address: PageAddress, part: Part): Promise<Rendering | null> {
    const { clock, origin, ownHosts } = this.#on;
    const { host, base } = address;
    const rendering =
      part.name === "logo"
        ? await this.#renderLogo(head, part.parameter)
        : await this.#renderReading(head, ({ page, loaded }) => {
            const url =
              host === null
                ? `${origin()}${base}`
                : buildAddresses(
                    { slug: page.slug, hosts: selectEffectiveHosts(page, ownHosts) },
                    origin(),
                  ).page;
            return renderPart(part, loaded, { base, url, now: clock() });
          });
    return rendering?.made && head.visibility === "password"
      ? { ...rendering, made: markPrivate(rendering.made) }
      : rendering;
  }

  async #renderReading(
    head: PageHead,
    render: (reading: Reading) => Promise<Rendered | null>,
  ): Promise<Rendering | null> {
    const reading = await this.#on.readings.findReading(head);
    if (reading === null) return null;
    const { page, readAt } = reading;
    return { organizationId: page.organizationId, readAt, made: await render(reading) };
  }

  async #renderLogo(head: PageHead, version: string): Promise<Rendering> {
    const readAt = this.#on.monotonic();
    const logo = await findLogo(this.#on.store, head);
    const renderedLogo = logo && {
      status: 200,
      type: logo.type,
      body: logo.bytes,
      headers: {
        // A URL without a version returns the current logo, which can change.
        "Cache-Control":
          version === logo.version ? "public, max-age=31536000, immutable" : "no-cache",
        // An SVG that is opened directly is a document: it must not run or load anything.
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "X-Content-Type-Options": "nosniff",
      },
    };
    return { organizationId: head.organizationId, readAt, made: renderedLogo };
  }
}

/** Returns the key of a cache entry. A page has one entry for its path, and one for all its hosts. */
function cacheKey({ slug, host }: PageAddress, { name, parameter, before = "" }: Part): string {
  // The JSON and the logo are the same at every address.
  const root = host === null || name === "json" || name === "logo" ? "" : "root ";
  return `${root}${slug} ${name} ${parameter}${before}`;
}

/** Returns the lane of the render queue. Endless parts have another lane, so that they don't delay the page. */
function laneOf({ organizationId }: PageHead, isEndless: boolean): string {
  return isEndless ? `more of ${organizationId}` : organizationId;
}

/** Marks a response as private, so that no shared cache stores it. */
function markPrivate(rendered: Rendered): Rendered {
  return { ...rendered, headers: { ...rendered.headers, "Cache-Control": "private, no-cache" } };
}
