import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Log } from "../base/log.ts";

/** What is served under one path: made once, kept in every encoding that was asked for. */
export type Made = {
  status: number;
  type: string;
  body: string;
  /** Further headers. */
  headers?: Record<string, string>;
};

/** A page is made again this often at most, whatever happens … */
const atMostEveryMs = 1_000;
/** … and at least so often, because its times and figures grow old. */
const atLeastEveryMs = 30_000;
/** So many paths are kept: those made longest ago make room. */
const maxEntries = 2_000;

const encodings = ["br", "gzip", "identity"] as const;
type Encoding = (typeof encodings)[number];

type Entry = {
  organizationId: string;
  madeAt: number;
  etag: string;
  status: number;
  identity: Uint8Array<ArrayBuffer>;
  /** Ready answers' headers and bytes. */
  variants: Map<Encoding, { bytes: Uint8Array<ArrayBuffer>; headers: Record<string, string> }>;
};

export type PageCache = {
  /** The kept answer; null where there is none that may be served without looking. */
  answer(request: Request, path: string): Response | null;
  /** Makes the answer where there is none, or an old one. Null where `make` finds nothing to publish. */
  answerOrMake(
    request: Request,
    path: string,
    make: () => Promise<(Made & { organizationId: string }) | null>,
  ): Promise<Response | null>;
  /** What this organization publishes has changed. */
  touch(organizationId: string): void;
  /** So has what it publishes at all: nothing that is kept may be served any more. */
  drop(organizationId: string): void;
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

/** Keeps rendered bytes by path; the query is no part of it. */
export function pageCache(log: Log, monotonic: () => number = () => performance.now()): PageCache {
  const entries = new Map<string, Entry>();
  /** When an organization's pages changed last. */
  const touched = new Map<string, number>();
  /** When what an organization publishes at all changed last. */
  const dropped = new Map<string, number>();
  const filling = new Map<string, Promise<void>>();

  function mayServe({ organizationId, madeAt }: Entry): boolean {
    const isStale = (touched.get(organizationId) ?? -Infinity) >= madeAt;
    return monotonic() - madeAt < (isStale ? atMostEveryMs : atLeastEveryMs);
  }

  function respond(request: Request, entry: Entry): Response | null {
    const known = request.headers.get("if-none-match");
    const variant = entry.variants.get(encodingFor(request));
    if (variant === undefined) return null;
    if (known !== null && names(known, variant.headers["ETag"] ?? ""))
      return new Response(null, { status: 304, headers: variant.headers });
    return new Response(variant.bytes, { status: entry.status, headers: variant.headers });
  }

  async function prepared(request: Request, entry: Entry): Promise<Response | null> {
    const encoding = encodingFor(request);
    if (!entry.variants.has(encoding) && encoding !== "identity") {
      const bytes = new Uint8Array(await compress[encoding](entry.identity));
      const plain = entry.variants.get("identity");
      entry.variants.set(encoding, {
        bytes,
        headers: {
          ...plain?.headers,
          "Content-Encoding": encoding,
          // Other bytes, another tag (RFC 9110 §8.8.3).
          ETag: entry.etag.replace(/"$/, `-${encoding}"`),
        },
      });
    }
    return respond(request, entry);
  }

  async function fill(
    path: string,
    make: () => Promise<(Made & { organizationId: string }) | null>,
  ): Promise<void> {
    // What changes from here on is not in what is being made.
    const madeAt = monotonic();
    const made = await make();
    if (made !== null && (dropped.get(made.organizationId) ?? -Infinity) >= madeAt)
      return fill(path, make);
    entries.delete(path);
    if (made === null) return;
    const identity = new TextEncoder().encode(made.body);
    const etag = `"${Bun.hash(made.body).toString(36)}"`;
    const headers = {
      "Content-Type": made.type,
      "Cache-Control": "no-cache",
      Vary: "Accept-Encoding",
      ETag: etag,
      ...made.headers,
    };
    entries.set(path, {
      organizationId: made.organizationId,
      madeAt,
      etag,
      status: made.status,
      identity,
      variants: new Map([["identity", { bytes: identity, headers }]]),
    });
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value ?? "");
  }

  return {
    answer(request, path) {
      const entry = entries.get(path);
      return entry === undefined || !mayServe(entry) ? null : respond(request, entry);
    },
    async answerOrMake(request, path, make) {
      const known = entries.get(path);
      if (known === undefined || !mayServe(known)) {
        const under = filling.get(path) ?? fill(path, make).finally(() => filling.delete(path));
        filling.set(path, under);
        try {
          await under;
        } catch (error) {
          // What was true a moment ago is better than nothing.
          if (known === undefined) throw error;
          log.warn("a status page could not be made anew", { path, cause: String(error) });
        }
      }
      const entry = entries.get(path);
      return entry === undefined ? null : prepared(request, entry);
    },
    touch: (organizationId) => void touched.set(organizationId, monotonic()),
    drop(organizationId) {
      dropped.set(organizationId, monotonic());
      for (const [path, entry] of entries)
        if (entry.organizationId === organizationId) entries.delete(path);
    },
  };
}

/** Whether an If-None-Match names this tag (RFC 9110 §13.1.2). */
function names(header: string, etag: string): boolean {
  return header.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}

/** The best encoding that the request takes (RFC 9110 §12.5.3); what it weighs with `q=0` it does not take. */
function encodingFor({ headers }: Request): Encoding {
  const accepted = headers.get("accept-encoding");
  if (accepted === null) return "identity";
  for (const encoding of ["br", "gzip"] as const) {
    const at = accepted.indexOf(encoding);
    if (at !== -1 && !/^\s*;\s*q=0(\.0*)?\s*(,|$)/.test(accepted.slice(at + encoding.length)))
      return encoding;
  }
  return "identity";
}
