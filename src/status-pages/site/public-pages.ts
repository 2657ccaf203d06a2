/** Admits visitors to status pages, and serves the parts that they may see from the cache. */
import { type PageLanguage, pageLanguages } from "../../core/languages.ts";
import type { FairQueue } from "../../core/collections/fair-queue.ts";
import { consumeLimit, type NetworkLimit } from "../../http/access/rate-limit.ts";
import { findLogStart } from "../../events/log.ts";
import { findSettings } from "../../accounts/settings/service.ts";
import { endOfMonth, formatUtcMonth } from "../formats/history.ts";
import { getLanguage } from "../languages/catalog.ts";
import { createUncachedResponse } from "../../http/responses/small-page.ts";
import { renderPart, renderSignUp } from "../rendering/parts.ts";
import type { Audience } from "../access-rules.ts";
import { takesVisitors } from "../rules.ts";
import { loaderOf } from "../load.ts";
import {
  findHead,
  findHeadByHost,
  findPublicPageById,
  hasIncidentsBefore,
  canShowIncident,
  type PageCandidate,
  type PageHead,
} from "../store.ts";
import type { SignUpResult } from "../subscribe-page.tsx";
import type { PageCache, Rendered } from "./cache.ts";
import type { Admission, PageAccess } from "./access.ts";
import { hasAccessToken } from "./credentials.ts";
import type { PageLock, VisitedPage } from "./lock.ts";
import { KnownAddresses, type Target } from "./known-addresses.ts";
import { OfferedLanguages, readLanguage } from "./page-language.ts";
import {
  anyOrigin,
  type ChosenLanguage,
  isForAnyone,
  type PageAddress,
  PageRenderer,
  type PageRendererDependencies,
  restrictDocument,
  type TranslatedReading,
} from "./page-renderer.ts";
import { isEndless, isFilePart, type LinkVerb, type Part, type PartName } from "./public-paths.ts";
import { type PageSignInDependencies, signInVisitor } from "./sign-in-service.ts";
import { findFirstMinute, parseMinute } from "./past-rules.ts";
import { respondOnce, respondTimeNotShown } from "./past-responses.ts";
import { addQuery, buildReturnPath } from "./return-path.ts";
import { respondNotFound } from "./small-page.ts";

/** Handlers through which visitors change subscriptions: a form on a page, and links in e-mails. */
export type Subscriptions = {
  /**
   * Signs up the mailbox or chat of the submitted form. With a `person`, only their own mailbox is accepted. Null if the
   * page offers no such form.
   */
  signUp(
    request: Request,
    page: PageHead,
    language: PageLanguage,
    { person, takesMail }: { person: Admission["person"]; takesMail: boolean },
  ): Promise<SignUpResult>;
  /** Responds to a link of an e-mail; null for an invalid token. */
  respondToLink(request: Request, verb: LinkVerb, token: string): Promise<Response | null>;
};

export type PublicPagesDependencies = PageSignInDependencies &
  PageRendererDependencies & {
    pageQueue: FairQueue;
    cache: PageCache;
    /** Uncached renders per client network and minute. */
    renderLimit: NetworkLimit;
    /** Pages of past times per client network and minute. */
    pastLimit: NetworkLimit;
    addressOf: (request: Request) => string;
    lock: PageLock;
    access: PageAccess;
    subscriptions: Subscriptions;
  };

export class PublicPages {
  readonly #dependencies: PublicPagesDependencies;
  readonly #renderer: PageRenderer;
  /** Pages that offer several languages, by slug. All others have one cache entry per part. */
  readonly #offered = new Map<string, OfferedLanguages>();
  readonly #addresses = new KnownAddresses();

  constructor(dependencies: PublicPagesDependencies) {
    this.#dependencies = dependencies;
    this.#renderer = new PageRenderer(dependencies);
  }

  /** Serves a part of a page from the cache, or renders it. */
  serve(request: Request, address: PageAddress, part: Part): Response | Promise<Response> {
    const key = cacheKey(address, part);
    const { slug } = address;
    const requestedLanguage = readLanguage(request);
    const target = { slug, name: part.name, requestedLanguage, key, keys: {} };
    const cached = hasAccessToken(request) ? null : this.#respondCached(request, target);
    if (cached === null) return this.#serveUncached(request, address, part);
    this.#addresses.add(request, target);
    return cached;
  }

  /** Responds from the cache to a request whose address was served before; null for any other. */
  serveKnown(request: Request): Response | null {
    const target = this.#addresses.find(request);
    return target && this.#respondCached(request, target);
  }

  /** Returns the cached response for everyone; null if there is none, or if the visitor can see more. */
  #respondCached(request: Request, target: Target): Response | null {
    const { cache } = this.#dependencies;
    const { slug, name, requestedLanguage, key, keys } = target;
    const offered = isFilePart(name) ? undefined : this.#offered.get(slug);
    if (offered === undefined) return cache.respondCached(request, key);
    const language = offered.choose(request, name, requestedLanguage);
    return cache.respondCached(request, (keys[language] ??= `${key} ${language}`));
  }

  /** Chooses the language of a response. `isOnlyOne` if the page offers no other. */
  #chooseLanguage(request: Request, head: PageHead, name: PartName): ChosenLanguage {
    const offered = OfferedLanguages.of(head);
    if (offered === null) {
      this.#offered.delete(head.slug);
      return { language: head.language, isOnlyOne: true };
    }
    const known = this.#offered.get(head.slug);
    if (known === undefined || !known.equals(offered)) this.#offered.set(head.slug, offered);
    return { language: offered.choose(request, name), isOnlyOne: false };
  }

  async #serveUncached(request: Request, address: PageAddress, part: Part): Promise<Response> {
    const { cache, access } = this.#dependencies;
    const head = await this.#find(address);
    if (head === null) return respondNotFound(request);
    const admission = await access.admit(request, head);
    if (admission === null) return this.#refuse(request, head, address);
    const { audience } = admission;
    const chosen = this.#chooseLanguage(request, head, part.name);
    const neutralKey = cacheKey({ ...address, slug: head.slug }, part);
    const isNeutral = chosen.isOnlyOne || isFilePart(part.name);
    const openKey = isNeutral ? neutralKey : `${neutralKey} ${chosen.language}`;
    const key = buildCacheKey(admission, head, openKey);
    const cached = cache.respondEntry(request, key);
    if (cached !== null) return adaptToReader(cached, admission, head);
    if (cache.isMissing(key) || !(await this.#canExist(head, part, audience)))
      return respondNotFound(request);
    if (isEndless(part)) this.#consumeRender(request);
    const { name } = part;
    if (isFilePart(name) && part.parameter !== "") {
      const version = (await this.#renderer.findFile(head, name))?.version;
      if (part.parameter !== version)
        return this.#serveUncached(request, address, { name, parameter: "" });
    }
    const render = this.#renderer.createRender(head, address, part, { audience, ...chosen });
    const response = await cache.respondOrRender(
      request,
      key,
      laneOf(head, isEndless(part)),
      render,
    );
    return response === null ? respondNotFound(request) : adaptToReader(response, admission, head);
  }

  /**
   * Serves the page or its JSON as of a past time, in whole minutes. Never cached, because each minute is another
   * document.
   */
  async serveAt(request: Request, address: PageAddress, part: Part, at: string): Promise<Response> {
    const { store, clock, access, pageQueue, pastLimit, addressOf } = this.#dependencies;
    const head = await this.#find(address);
    if (head === null) return respondNotFound(request);
    const admission = await access.admit(request, head);
    if (admission === null) return this.#refuse(request, head, address);
    consumeLimit(pastLimit, addressOf(request));
    const { audience } = admission;
    const chosen = this.#chooseLanguage(request, head, part.name);
    return pageQueue.run(laneOf(head, true), async () => {
      const page = await findPublicPageById({ store, ...head }, head.id, audience);
      if (page === null || page.visibility !== head.visibility) return respondNotFound(request);
      const first = findFirstMinute(page, await findLogStart(store));
      const time = parseMinute(at, first, clock());
      const target = this.#renderer.locate(address, page, chosen.language);
      if (time === null) return respondTimeNotShown(page, part, target, first);
      const loaded = await loaderOf(store)({ ...page, indexing: false }, target.now, time);
      const rendered = await renderPart(part, loaded, { ...target, now: time, isPast: true });
      if (rendered === null) return respondNotFound(request);
      const response = await respondOnce(restrictDocument(rendered, head, audience));
      return adaptToReader(response, admission, head);
    });
  }

  /** Serves a document of the first of these pages that is open for the visitor, such as a badge. */
  async serveOpen<C extends PageCandidate>(
    request: Request,
    { key: path, isEndless }: { key: string; isEndless: boolean },
    find: () => Promise<readonly C[]>,
    render: (reading: TranslatedReading, candidate: C) => Promise<Rendered | null>,
  ): Promise<Response> {
    const { cache, access } = this.#dependencies;
    const chosen = readLanguage(request);
    const chosenLanguage = pageLanguages.find((one) => one === chosen);
    const openKey = chosenLanguage === undefined ? path : `${path} ${chosenLanguage}`;
    const cached = hasAccessToken(request) ? null : cache.respondCached(request, openKey);
    if (cached !== null) return cached;
    for (const candidate of await find()) {
      const { head, neededAudience } = candidate;
      const admission = await access.admit(request, head);
      if (admission === null) continue;
      const { audience } = admission;
      if (neededAudience === "signed-in" && audience === "everyone") continue;
      const key = buildCacheKey(admission, head, openKey);
      if (cache.isMissing(key)) return respondNotFound(request);
      if (isEndless) this.#consumeRender(request);
      const renderCandidate = this.#renderer.createOpenRender(
        head,
        audience,
        chosenLanguage,
        (reading) => render(reading, candidate),
      );
      const response = await cache.respondOrRender(
        request,
        key,
        laneOf(head, true),
        renderCandidate,
      );
      return response === null
        ? respondNotFound(request)
        : adaptToReader(response, admission, head);
    }
    if (hasAccessToken(request)) throw access.createWrongTokenError(request);
    return respondNotFound(request);
  }

  /** Recognizes a member with the help of the admin page, and then returns to the page. */
  async signIn(
    request: Request,
    address: PageAddress,
    query: URLSearchParams,
    hasAdminPage: boolean,
  ): Promise<Response> {
    const head = await this.#find(address);
    if (head === null) return respondNotFound(request);
    const target = {
      head,
      base: address.base,
      languageName: this.#chooseLanguage(request, head, "page").language,
      isAtOwnHost: address.host !== null,
      hasAdminPage,
    };
    return signInVisitor(this.#dependencies, request, target, query);
  }

  /** Checks the submitted password of a page. */
  async unlock(request: Request, address: PageAddress): Promise<Response> {
    const head = await this.#find(address);
    return head?.visibility === "password"
      ? this.#dependencies.lock.unlock(
          request,
          head,
          this.#buildVisitedPage(request, head, address),
        )
      : respondNotFound(request);
  }

  /** Signs up the mailbox or chat that a visitor submitted on a page. */
  async signUp(request: Request, address: PageAddress): Promise<Response> {
    const { store, clock, access, pageQueue, readings, subscriptions } = this.#dependencies;
    const head = await this.#find(address);
    if (head === null) return respondNotFound(request);
    const admission = await access.admit(request, head);
    if (admission === null) return this.#refuse(request, head, address);
    const { audience, isByToken, person } = admission;
    this.#consumeRender(request);
    // A token is for reading.
    if (isByToken || !takesVisitors(head)) return respondNotFound(request);
    const takesMail = (await findSettings(store, head.organizationId)).smtp !== null;
    const isForMembers = head.visibility === "signed-in";
    const { language } = this.#chooseLanguage(request, head, "subscribe");
    const result = await subscriptions.signUp(request, head, language, {
      person: isForMembers ? person : null,
      takesMail,
    });
    if (result === null) return respondNotFound(request);
    const reading = await pageQueue.run(laneOf(head, true), () =>
      readings.findReading(head, audience),
    );
    if (reading === null) return respondNotFound(request);
    const { retryAfter } = result;
    return createUncachedResponse(
      await renderSignUp(reading.loaded, result, {
        base: address.base,
        now: clock(),
        language: getLanguage(language),
      }),
      retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) },
    );
  }

  /** Responds to a link of an e-mail. */
  async followLink(request: Request, verb: LinkVerb, token: string) {
    // The form lists the components of the page, so rendering it costs as much as the page.
    if (verb === "manage") this.#consumeRender(request);
    return (
      (await this.#dependencies.subscriptions.respondToLink(request, verb, token)) ??
      respondNotFound(request)
    );
  }

  #find({ slug, host }: PageAddress): Promise<PageHead | null> {
    const { store } = this.#dependencies;
    return host === null ? findHead(store, slug) : findHeadByHost(store, host);
  }

  #refuse(request: Request, head: PageHead, address: PageAddress): Promise<Response> {
    const path = buildReturnPath(request);
    const page = this.#buildVisitedPage(request, head, address);
    // A language that the visitor chose is still chosen after signing in.
    const query = readLanguage(request) === null ? "" : page.query;
    return this.#dependencies.access.refuse(request, head, page, addQuery(path, query));
  }

  #buildVisitedPage(request: Request, head: PageHead, { base }: PageAddress): VisitedPage {
    const { language, isOnlyOne } = this.#chooseLanguage(request, head, "page");
    return {
      home: base || "/",
      language: getLanguage(language),
      query: isOnlyOne ? "" : `?lang=${language}`,
    };
  }

  /** Throws RATE_LIMITED. */
  #consumeRender(request: Request) {
    consumeLimit(this.#dependencies.renderLimit, this.#dependencies.addressOf(request));
  }

  /** Whether the part can exist. Checked before the page itself is loaded. */
  async #canExist(head: PageHead, { name, parameter }: Part, audience: Audience): Promise<boolean> {
    const { store, clock } = this.#dependencies;
    if (name === "incident") return canShowIncident(store, head, parameter, audience);
    if (name !== "history" || parameter === "") return true;
    return (
      parameter < formatUtcMonth(clock()) &&
      hasIncidentsBefore(store, head.organizationId, endOfMonth(parameter))
    );
  }
}

/** Returns the key of a cache entry. A page has one entry for its path, and one for all its hosts. */
function cacheKey({ slug, host }: PageAddress, { name, parameter, before = "" }: Part): string {
  // The JSON and files are the same at every address.
  const root = host === null || name === "json" || isFilePart(name) ? "" : "root ";
  return `${root}${slug} ${name} ${parameter}${before}`;
}

/** Returns the lane of the render queue. Endless parts have another lane, so that they don't delay the page. */
function laneOf({ organizationId }: PageHead, isEndless: boolean): string {
  return isEndless ? `more of ${organizationId}` : organizationId;
}

/** Returns the key of a cache entry for this visitor. Entries under an open key are for anyone. */
function buildCacheKey({ audience }: Admission, head: PageHead, openKey: string): string {
  return isForAnyone(head, audience) ? openKey : `${audience} of ${head.id} ${openKey}`;
}

/** Lets web pages of any origin read a response that an access token opened, such as the page of a dashboard. */
function adaptToReader(response: Response, { isByToken, audience }: Admission, head: PageHead) {
  if (isByToken && !isForAnyone(head, audience)) response.headers.set(anyOrigin, "*");
  return response;
}
