/** Remembers the routes of cached responses, because routing takes longer than the rest of such a response. */
import type { PageLanguage } from "../../core/languages.ts";
import { setRecent } from "../../core/collections/recent-set.ts";
import { getOriginalRequest } from "../../http/original-request.ts";
import { getRoute, setRoute } from "../../http/request-metrics.ts";
import type { PartName } from "./public-paths.ts";

/** A part of a page, with the keys of its cache entries: one in the page's only language, or one per language. */
export type Target = {
  slug: string;
  name: PartName;
  /** Language in the query; null without one. */
  requestedLanguage: string | null;
  key: string;
  keys: Partial<Record<PageLanguage, string>>;
};

/** Maximum remembered addresses. */
const maxAddresses = 1_000;

/** Without a query, so without an access token, or with a language. Clients can invent any number of other queries. */
const rememberedUrl = /^[^?]{1,300}(?:\?lang=[\w-]{1,20})?$/;

export class KnownAddresses {
  readonly #targets = new Map<string, Target & { route: string }>();

  /** Remembers the address of a request, unless the request was rewritten for a proxy or a page's own host. */
  add(request: Request, target: Target) {
    const { method, url } = request;
    if (method !== "GET" || getOriginalRequest(request) !== request || !rememberedUrl.test(url))
      return;
    setRecent(this.#targets, url, { ...target, route: getRoute(request) }, maxAddresses);
  }

  /** Returns the target of the address, and records its route in the metrics; null if it is not remembered. */
  find(request: Request): Target | null {
    const found = this.#targets.get(request.url);
    if (found === undefined || request.method !== "GET") return null;
    setRoute(request, found.route);
    return found;
  }
}
