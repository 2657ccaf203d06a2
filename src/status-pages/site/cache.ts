import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { AppError } from "../../core/errors.ts";
import { fairQueue, type FairQueue } from "../../core/collections/fair-queue.ts";
import { discarded } from "../../core/system/garbage.ts";
import { statusPageBounds } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import { setRecent } from "../../core/collections/recent-set.ts";
import { eachYielding } from "../../core/time/yielding.ts";
import { type Encoding, encodingFor, hasTag, tagIn } from "../../http/responses/encoding.ts";
import { bodyResponse, type Pieces, sharedBody } from "../../http/responses/large-bodies.ts";
import { deflater, packedPieces } from "./long-pages.ts";
import { afterRenewal, allRenewals, canRenew, renewMs, type Renewals } from "./renewals.ts";

/** What is served at one address: made once, kept in every encoding that was asked for. */
export type Rendered = {
  status: number;
  type: string;
  /** Whole, or in pieces, each of which is made when it is its turn. */
  body: string | Uint8Array<ArrayBuffer> | Iterable<string>;
  /** Further headers. */
  headers?: Record<string, string>;
};

/** What was made of an organization's page, from what was read at `readAt` by the cache's own time; null where there is nothing to publish. */
export type Rendering = { organizationId: string; readAt: number; made: Rendered | null };

/** A page without changes is rendered again after this long, because its times and figures age. */
const atLeastEveryMs = 30_000;
/** Bytes that are kept in all, in whichever encoding. */
const usualCapacity = statusPageBounds.cache.value;
/** What an entry takes beside its bytes. */
const overhead = 1_024;
/** So many keys are known to have nothing, for as long as a page is not made again. */
const maxMisses = 1_000;

/** A page of more bytes is kept compressed alone, and inflated while it is sent to those who take it plain. */
const maxPlain = statusPageBounds.cachedPlain.value;

/** A body that responses share, with their headers. */
type Variant = { body: Blob | Pieces; headers: Record<string, string> };

type Entry = {
  organizationId: string;
  readAt: number;
  etag: string;
  status: number;
  /** As it goes plain. */
  headers: Record<string, string>;
  variants: Map<Encoding, Variant>;
  /** Encodings that are being made. */
  compressing: Map<Encoding, Promise<void>>;
  size: number;
  renewals: Renewals;
};

const compress = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: 22,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
};

/** Keeps rendered bytes by key, those of one organization no longer than others leave room for. */
export function pageCache(
  log: Log,
  queue: FairQueue,
  monotonic: () => number = () => performance.now(),
  capacity = usualCapacity,
) {
  /** Those read longest ago first. */
  const entries = new Map<string, Entry>();
  /** Bytes in all, and of each organization. */
  let total = 0;
  const sizes = new Map<string, number>();
  /** When keys were looked for that have nothing. */
  const misses = new Map<string, number>();
  /** When an organization's pages changed last. */
  const touched = new Map<string, number>();
  /** When what an organization publishes at all changed last. */
  const dropped = new Map<string, number>();
  /** What was read up to here is served no more, not even where nothing newer can be read. */
  let distrustedUpTo = -Infinity;
  const filling = new Map<string, Promise<Entry | null>>();
  const compressions = fairQueue();

  function mayServe({ organizationId, readAt, renewals }: Entry): boolean {
    const now = monotonic();
    if (now - readAt >= atLeastEveryMs) return false;
    const changedAt = touched.get(organizationId) ?? -Infinity;
    const isStale = Math.max(changedAt, distrustedUpTo) >= readAt;
    return !isStale || !canRenew(renewals, now);
  }

  function respond(request: Request, entry: Entry): Response | null {
    const encoding = encodingFor(request);
    const variant = entry.variants.get(encoding);
    if (variant === undefined) return null;
    const { headers, body } = variant;
    if (hasTag(request, headers["ETag"] ?? "")) return new Response(null, { status: 304, headers });
    return bodyResponse(body, { status: entry.status, headers });
  }

  async function prepared(request: Request, key: string, entry: Entry): Promise<Response | null> {
    const encoding = encodingFor(request);
    if (encoding !== "identity" && !entry.variants.has(encoding)) {
      const under =
        entry.compressing.get(encoding) ??
        compressions
          .run(entry.organizationId, () => addEncoding(key, entry, encoding))
          .finally(() => entry.compressing.delete(encoding));
      entry.compressing.set(encoding, under);
      await under;
    }
    return respond(request, entry);
  }

  async function addEncoding(key: string, entry: Entry, encoding: "br" | "gzip") {
    const body = entry.variants.get("identity")?.body;
    if (body === undefined) throw new Error("An entry lacks the body that it was rendered with.");
    const packed =
      body instanceof Blob
        ? await compressedBytes(body, encoding)
        : await packedPieces(body, encoding);
    const size = packed.length;
    entry.variants.set(encoding, variantIn(encoding, entry, storedBody(packed)));
    grow(key, entry, size);
  }

  /** Counts further bytes of an entry, unless it is gone meanwhile, and makes room for them. */
  function grow(key: string, entry: Entry, bytes: number) {
    if (entries.get(key) !== entry) return;
    entry.size += bytes;
    count(entry.organizationId, bytes);
    // Whoever has most makes room, so that nobody's many pages send away another's.
    while (total > capacity) {
      const [most] = [...sizes].reduce((a, b) => (b[1] > a[1] ? b : a));
      const [oldest] = [...entries].find(([, one]) => one.organizationId === most) ?? [];
      if (oldest === undefined) return;
      remove(oldest);
    }
  }

  function count(organizationId: string, bytes: number) {
    total += bytes;
    const size = (sizes.get(organizationId) ?? 0) + bytes;
    if (size === 0) sizes.delete(organizationId);
    else sizes.set(organizationId, size);
  }

  function remove(key: string) {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    count(entry.organizationId, -entry.size);
    discarded(entry.size);
  }

  function renewalsAfter(before: Entry | undefined): Renewals {
    const now = monotonic();
    return before === undefined ? allRenewals(now) : afterRenewal(before.renewals, now);
  }

  async function fill(
    key: string,
    make: () => Promise<Rendering | null>,
    tries = 3,
  ): Promise<Entry | null> {
    const making = await make();
    const whole = making?.made ? await collected(making.made.body) : null;
    // What was read before it was dropped is not kept, nor answered.
    if (making !== null && (dropped.get(making.organizationId) ?? -Infinity) >= making.readAt)
      return tries > 0 ? fill(key, make, tries - 1) : null;
    const renewals = renewalsAfter(entries.get(key));
    remove(key);
    if (making === null || making.made === null || whole === null) {
      setRecent(misses, key, monotonic(), maxMisses);
      return null;
    }
    const { organizationId, readAt, made } = making;
    const { hash } = whole;
    const etag = `"${hash.toString(36)}"`;
    const headers = {
      "Content-Type": made.type,
      "Cache-Control": "no-cache",
      Vary: "Accept-Encoding",
      ETag: etag,
      ...made.headers,
    };
    const entry: Entry = {
      organizationId,
      readAt,
      etag,
      status: made.status,
      headers,
      variants: new Map(),
      compressing: new Map(),
      size: 0,
      renewals,
    };
    for (const encoding of ["identity", "gzip"] as const) {
      const body = whole[encoding];
      if (body !== undefined) entry.variants.set(encoding, variantIn(encoding, entry, body));
    }
    entries.set(key, entry);
    misses.delete(key);
    grow(key, entry, whole.size + 2 * key.length + overhead);
    return entry;
  }

  return {
    /** The kept response; null where there is none that may be served without looking. */
    answer(request: Request, key: string): Response | null {
      const entry = entries.get(key);
      return entry === undefined || !mayServe(entry) ? null : respond(request, entry);
    },
    /** Whether it was looked for a moment ago and there was nothing. */
    isMissing: (key: string) => monotonic() - (misses.get(key) ?? -Infinity) < renewMs,
    /** Makes the response in its lane's turn where there is none, or an old one. Null where `make` finds nothing to publish. */
    async answerOrMake(
      request: Request,
      key: string,
      lane: string,
      make: () => Promise<Rendering | null>,
    ): Promise<Response | null> {
      const known = entries.get(key);
      if (known !== undefined && mayServe(known)) return prepared(request, key, known);
      const under =
        filling.get(key) ??
        queue.run(lane, () => fill(key, make)).finally(() => filling.delete(key));
      filling.set(key, under);
      try {
        const entry = await under;
        return entry && prepared(request, key, entry);
      } catch (error) {
        const before = entries.get(key);
        // What was true a moment ago is better than nothing.
        if (before === undefined || before.readAt <= distrustedUpTo) throw error;
        if (!(error instanceof AppError) || error.code !== "RATE_LIMITED")
          log.warn("a status page could not be made anew", { key, cause: String(error) });
        return prepared(request, key, before);
      }
    },
    /** What this organization publishes has changed. */
    touch: (organizationId: string) => void touched.set(organizationId, monotonic()),
    /** All that was read so far may be wrong: it is served no longer than it takes to read it again. */
    distrust: () => void (distrustedUpTo = monotonic()),
    /** So has what it publishes at all: nothing that is kept may be served any more. */
    drop(organizationId: string) {
      dropped.set(organizationId, monotonic());
      misses.clear();
      for (const [key, entry] of entries) if (entry.organizationId === organizationId) remove(key);
    },
  };
}

const encoder = new TextEncoder();

/** Small ones may lie in a pool with others. */
const releasedFrom = 64 * 1024;

/** Gives a copy's memory back at once: it would grow faster than it is collected. */
function release({ buffer, byteLength }: Uint8Array) {
  if (byteLength >= releasedFrom && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

async function compressedBytes(
  plain: Blob,
  encoding: "br" | "gzip",
): Promise<Uint8Array<ArrayBuffer>> {
  const source = await plain.bytes();
  const packed = await compress[encoding](source);
  release(source);
  return packed;
}

function variantIn(encoding: Encoding, { headers, etag }: Entry, body: Blob | Pieces): Variant {
  if (encoding === "identity") return { body, headers };
  const own = { "Content-Encoding": encoding, ETag: tagIn(encoding, etag) };
  return { body, headers: { ...headers, ...own } };
}

/** Where pages are gathered, used again and again: garbage of megabytes a page would grow faster than it is collected. */
const buffers: Uint8Array<ArrayBuffer>[] = [];
/** A larger one was needed for one long piece. */
const maxBuffer = 4 * maxPlain;

/** A rendered body; a long one is stored in gzip alone, from which `identity` inflates. */
type Collected = {
  identity: Blob | Pieces;
  gzip?: Blob | Pieces;
  /** Bytes that are stored. */
  size: number;
  hash: bigint;
};

/** The bytes as a body; gives their memory back where that is a copy. */
function storedBody(bytes: Uint8Array<ArrayBuffer>): Blob | Pieces {
  const body = sharedBody(bytes);
  if (body instanceof Blob) release(bytes);
  return body;
}

/** Collects a body; other work runs while a long page is rendered. */
async function collected(body: Rendered["body"]): Promise<Collected> {
  if (body instanceof Uint8Array)
    return { identity: sharedBody(body), size: body.length, hash: BigInt(Bun.hash(body)) };
  let buffer = buffers.pop() ?? new Uint8Array(64 * 1024);
  let length = 0;
  let hash = 0n;
  let long = null as ReturnType<typeof deflater> | null;
  const take = () => {
    const part = buffer.subarray(0, length);
    hash = BigInt(Bun.hash(part, hash));
    length = 0;
    return part;
  };
  await eachYielding(typeof body === "string" ? [body] : body, (piece) => {
    // One unit of UTF-16 takes three bytes at most.
    const needed = length + 3 * piece.length;
    if (needed > buffer.length) {
      const longer = new Uint8Array(Math.max(needed, 2 * buffer.length));
      longer.set(buffer.subarray(0, length));
      release(buffer);
      buffer = longer;
    }
    length += encoder.encodeInto(piece, buffer.subarray(length)).written;
    if (length <= maxPlain) return undefined;
    long ??= deflater();
    return long.write(take());
  });
  const rest = take();
  if (long === null) {
    // The buffer is used again.
    const whole = rest.slice();
    if (buffer.length <= maxBuffer) buffers.push(buffer);
    return { size: whole.length, identity: storedBody(whole), hash };
  }
  const { plain: identity, gzip, size } = await long.end(rest);
  if (buffer.length <= maxBuffer) buffers.push(buffer);
  return { identity, gzip, size, hash };
}
