import { normalizeHostName, type OwnHosts } from "../../core/security/own-hosts.ts";
import type { Store } from "../../database/store.ts";
import { getOriginalRequest, replaceRequest } from "../../http/original-request.ts";
import { pathOf } from "../../http/request.ts";
import { findHosts } from "../store.ts";
import { isPublicPath, resolveHostedPath } from "./public-paths.ts";

/** Rewrites requests to a page's own host, so that routes see only paths below `/status/`. */
export class PageHosts {
  #slugs: ReadonlyMap<string, string> = new Map();
  readonly #store: Store;
  readonly #ownHosts: OwnHosts;

  constructor(store: Store, ownHosts: OwnHosts) {
    this.#store = store;
    this.#ownHosts = ownHosts;
  }

  /** Reads the hosts of all pages, and ignores names of the appliance itself. */
  async refresh() {
    const rows = await findHosts(this.#store);
    const hosts = rows.filter(({ host }) => !this.#ownHosts.isReserved(host));
    this.#slugs = new Map(hosts.map(({ host, slug }) => [host, slug]));
  }

  /** Returns the request with the page's path below `/status/`; unchanged if its host or path belongs to no page. */
  rewrite(request: Request): Request {
    if (this.#slugs.size === 0) return request;
    const path = pathOf(request);
    if (isPublicPath(path)) return request;
    const slug = this.#slugs.get(hostOf(request));
    const hosted = slug === undefined ? null : resolveHostedPath(slug, path);
    if (hosted === null) return request;
    const { url } = request;
    const scheme = url.slice(0, url.indexOf(":"));
    const query = url.slice(url.indexOf("/", 8) + path.length);
    const rewritten = new Request(`${scheme}://localhost${hosted}${query}`, request);
    return replaceRequest(rewritten, request);
  }
}

/** Returns the page's own host to which a request was sent; null if its path contained the slug. */
export function findPageHost(request: Request): string | null {
  const original = getOriginalRequest(request);
  return original === request || isPublicPath(pathOf(original)) ? null : hostOf(request);
}

/** Returns the normalized host of a request. */
export const hostOf = ({ headers }: Request) => normalizeHostName(headers.get("host") ?? "");
