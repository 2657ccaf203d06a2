/** Caches rendered pages by key, in every encoding that clients requested. */
import { AppError } from "../../core/errors.ts";
import { createFairQueue, type FairQueue } from "../../core/collections/fair-queue.ts";
import { countReleased } from "../../core/system/garbage-collection.ts";
import { statusPageBounds } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import { setRecent } from "../../core/collections/recent-set.ts";
import {
  type Encoding,
  selectEncoding,
  hasTag,
  addEncodingToTag,
} from "../../http/responses/encoding.ts";
import { createBodyResponse } from "../../http/responses/large-bodies.ts";
import { type Body, collectBody, compressBody, type RenderedBody } from "./bodies.ts";
import { hasPass } from "./credentials.ts";
import { spendRenewal, createRenewals, canRenew, renewMs, type Renewals } from "./renewals.ts";

/** A rendered response. */
export type Rendered = {
  status: number;
  type: string;
  body: RenderedBody;
  /** Additional headers. */
  headers?: Record<string, string>;
};

/**
 * A response rendered from data that was read at `readAt`, by the monotonic clock. `rendered` is null if there is
 * nothing to publish. `isPartial` is true if signed-in visitors get another response.
 */
export type Rendering = {
  organizationId: string;
  readAt: number;
  rendered: Rendered | null;
  isPartial?: boolean;
};

export type Render = () => Promise<Rendering | null>;

/** Maximum age of an entry without changes, because its times and figures age. */
const maxAgeMs = 30_000;
/** Estimated memory of an entry in addition to its body, in bytes. */
const entryOverheadBytes = 1_024;
/** Maximum remembered keys without content. */
const maxMisses = 1_000;

/**
 * A body that responses share, with their headers. `response` is a template to clone, which takes less time than to create
 * one; null for a body in pieces.
 */
type Variant = { body: Body; headers: Headers; etag: string; response: Response | null };

type Entry = {
  organizationId: string;
  readAt: number;
  etag: string;
  status: number;
  /** Headers of the identity encoding. */
  headers: Record<string, string>;
  isPartial: boolean;
  variants: Map<Encoding, Variant>;
  /** Encodings in progress. */
  compressing: Map<Encoding, Promise<void>>;
  size: number;
  renewals: Renewals;
};

export class PageCache {
  readonly #log: Log;
  readonly #queue: FairQueue;
  readonly #compressions = createFairQueue();
  readonly #monotonic: () => number;
  readonly #entries: EntryStore;
  /** Renders in progress, by key. */
  readonly #filling = new Map<string, Promise<Entry | null>>();
  /** Times at which keys had no content. */
  readonly #misses = new Map<string, number>();
  /** Time of the last data change, by organization. */
  readonly #touched = new Map<string, number>();
  /** Time of the last change to pages, addresses or visibility, by organization. */
  readonly #dropped = new Map<string, number>();
  /** Data read up to this time is never served, even if nothing newer can be read. */
  #distrustedUpTo = -Infinity;

  constructor(
    log: Log,
    queue: FairQueue,
    monotonic: () => number = () => performance.now(),
    capacity: number = statusPageBounds.cache.value,
  ) {
    this.#log = log;
    this.#queue = queue;
    this.#monotonic = monotonic;
    this.#entries = new EntryStore(capacity);
  }

  /** Returns the cached response; null if none is fresh enough, or if the visitor can see more. */
  respondCached(request: Request, key: string): Response | null {
    const entry = this.#entries.get(key);
    if (entry === undefined || !this.#isServable(entry)) return null;
    return entry.isPartial && hasPass(request) ? null : respondFromEntry(request, entry);
  }

  /** Returns the cached response, for a visitor whose rights were checked; null if none is fresh enough. */
  respondEntry(request: Request, key: string): Response | null {
    const entry = this.#entries.get(key);
    return entry === undefined || !this.#isServable(entry)
      ? null
      : respondFromEntry(request, entry);
  }

  /** Whether the key had no content within the last second. */
  isMissing(key: string): boolean {
    return this.#monotonic() - (this.#misses.get(key) ?? -Infinity) < renewMs;
  }

  /** Responds from the cache, or renders in a lane of the queue. Null if there is nothing to publish. */
  async respondOrRender(
    request: Request,
    key: string,
    lane: string,
    render: Render,
  ): Promise<Response | null> {
    const cached = this.#entries.get(key);
    if (cached !== undefined && this.#isServable(cached))
      return this.#respondEncoded(request, key, cached);
    const filling =
      this.#filling.get(key) ??
      this.#queue.run(lane, () => this.#fill(key, render)).finally(() => this.#filling.delete(key));
    this.#filling.set(key, filling);
    try {
      const entry = await filling;
      return entry && this.#respondEncoded(request, key, entry);
    } catch (error) {
      const stale = this.#entries.get(key);
      // A stale page is better than an error.
      if (stale === undefined || stale.readAt <= this.#distrustedUpTo) throw error;
      if (!(error instanceof AppError) || error.code !== "RATE_LIMITED")
        this.#log.warn("a status page could not be rendered again", { key, cause: String(error) });
      return this.#respondEncoded(request, key, stale);
    }
  }

  /** Marks the entries of an organization as stale after a change to its data. */
  touch(organizationId: string) {
    this.#touched.set(organizationId, this.#monotonic());
  }

  /** Marks all entries as stale. If rendering them again fails, they are not served. */
  distrust() {
    this.#distrustedUpTo = this.#monotonic();
  }

  /** Removes the entries of an organization after a change to its pages, addresses or visibility. */
  drop(organizationId: string) {
    this.#dropped.set(organizationId, this.#monotonic());
    this.#misses.clear();
    this.#entries.removeAllOf(organizationId);
  }

  #isServable({ organizationId, readAt, renewals }: Entry): boolean {
    const now = this.#monotonic();
    if (now - readAt >= maxAgeMs) return false;
    const changedAt = this.#touched.get(organizationId) ?? -Infinity;
    const isStale = Math.max(changedAt, this.#distrustedUpTo) >= readAt;
    return !isStale || !canRenew(renewals, now);
  }

  /** Responds in the encoding that the client accepts, and compresses the body first if needed. */
  async #respondEncoded(request: Request, key: string, entry: Entry): Promise<Response | null> {
    const encoding = selectEncoding(request);
    if (encoding !== "identity" && !entry.variants.has(encoding)) {
      const compressing =
        entry.compressing.get(encoding) ??
        this.#compressions
          .run(entry.organizationId, () => this.#addEncoding(key, entry, encoding))
          .finally(() => entry.compressing.delete(encoding));
      entry.compressing.set(encoding, compressing);
      await compressing;
    }
    return respondFromEntry(request, entry);
  }

  async #addEncoding(key: string, entry: Entry, encoding: "br" | "gzip") {
    const identity = entry.variants.get("identity");
    if (identity === undefined) throw new Error("A cache entry lacks its identity encoding.");
    const { body, size } = await compressBody(identity.body, encoding);
    entry.variants.set(encoding, createVariant(encoding, entry, body));
    this.#entries.grow(key, entry, size);
  }

  async #fill(key: string, render: Render, retries = 3): Promise<Entry | null> {
    const rendering = await render();
    const renderedPart = rendering?.rendered ?? null;
    const body = renderedPart && (await collectBody(renderedPart.body));
    // Data read before a `drop` is outdated: it is neither stored nor served.
    if (
      rendering !== null &&
      (this.#dropped.get(rendering.organizationId) ?? -Infinity) >= rendering.readAt
    )
      return retries > 0 ? this.#fill(key, render, retries - 1) : null;
    const now = this.#monotonic();
    const before = this.#entries.get(key);
    const renewals =
      before === undefined ? createRenewals(now) : spendRenewal(before.renewals, now);
    this.#entries.remove(key);
    if (rendering === null || renderedPart === null || body === null) {
      setRecent(this.#misses, key, now, maxMisses);
      return null;
    }
    const entry = createEntry(rendering, renderedPart, body, renewals);
    this.#misses.delete(key);
    this.#entries.set(key, entry, body.size + 2 * key.length + entryOverheadBytes);
    return entry;
  }
}

/** Entries by key, the least recently rendered first, with the bytes of each organization. */
class EntryStore {
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry>();
  readonly #sizes = new Map<string, number>();
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  set(key: string, entry: Entry, size: number) {
    this.#entries.set(key, entry);
    this.grow(key, entry, size);
  }

  /** Adds bytes to an entry, unless it was removed meanwhile, and evicts others for them. */
  grow(key: string, entry: Entry, bytes: number) {
    if (this.#entries.get(key) !== entry) return;
    entry.size += bytes;
    this.#count(entry.organizationId, bytes);
    // Evicts from the largest organization, so that its many pages don't evict the pages of others.
    while (this.#total > this.#capacity) {
      const [largest] = [...this.#sizes].reduce((a, b) => (b[1] > a[1] ? b : a));
      const [oldest] =
        [...this.#entries].find(([, { organizationId }]) => organizationId === largest) ?? [];
      if (oldest === undefined) return;
      this.remove(oldest);
    }
  }

  remove(key: string) {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#count(entry.organizationId, -entry.size);
    countReleased(entry.size);
  }

  removeAllOf(organizationId: string) {
    for (const [key, entry] of this.#entries)
      if (entry.organizationId === organizationId) this.remove(key);
  }

  #count(organizationId: string, bytes: number) {
    this.#total += bytes;
    const size = (this.#sizes.get(organizationId) ?? 0) + bytes;
    if (size === 0) this.#sizes.delete(organizationId);
    else this.#sizes.set(organizationId, size);
  }
}

function createEntry(
  { organizationId, readAt, isPartial = false }: Rendering,
  { type, status, headers }: Rendered,
  body: Awaited<ReturnType<typeof collectBody>>,
  renewals: Renewals,
): Entry {
  const etag = `"${body.hash.toString(36)}"`;
  const entry: Entry = {
    organizationId,
    readAt,
    etag,
    status,
    headers: {
      "Content-Type": type,
      "Cache-Control": "no-cache",
      Vary: "Accept-Encoding",
      ETag: etag,
      ...headers,
    },
    isPartial,
    variants: new Map(),
    compressing: new Map(),
    size: 0,
    renewals,
  };
  for (const encoding of ["identity", "gzip"] as const) {
    const encoded = body[encoding];
    if (encoded !== undefined)
      entry.variants.set(encoding, createVariant(encoding, entry, encoded));
  }
  return entry;
}

function createVariant(encoding: Encoding, entry: Entry, body: Body): Variant {
  const { status } = entry;
  const etag = addEncodingToTag(encoding, entry.etag);
  const coding = encoding === "identity" ? {} : { "Content-Encoding": encoding };
  const headers = new Headers({ ...entry.headers, ...coding, ETag: etag });
  const response = body instanceof Blob ? new Response(body, { status, headers }) : null;
  return { body, headers, etag, response };
}

/** Responds from an entry; null if it lacks the encoding that the client accepts. */
function respondFromEntry(request: Request, { variants, status }: Entry): Response | null {
  const variant = variants.get(selectEncoding(request));
  if (variant === undefined) return null;
  const { headers, body, etag, response } = variant;
  if (hasTag(request, etag)) return new Response(null, { status: 304, headers });
  return response?.clone() ?? createBodyResponse(body, { status, headers });
}
