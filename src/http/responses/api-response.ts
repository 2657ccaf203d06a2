/** Renders JSON responses through their schemas, with ETag and compression. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { z } from "zod";
import { dataOf } from "../../core/paging.ts";
import { StreamedList, StreamedRecord } from "../../core/text/streamed-list.ts";
import { eachYielding, turn } from "../../core/time/yielding.ts";
import { requestBounds } from "../../core/limits.ts";
import { budget } from "../access/budget.ts";
import { isObject } from "../../core/collections/objects.ts";
import { encodingFor, hasTag, tagIn } from "./encoding.ts";
import { largeFrom, ownBytesResponse } from "./large-bodies.ts";
import { isRead, pathOf } from "../request.ts";

/** A JSON response before content negotiation. */
export type ApiResponse = {
  status: number;
  /** Text of the body, or a function that renders it during sending if it is too long for memory. */
  body: string | (() => AsyncIterable<string>);
  etag: string;
  location: string | null;
  /** Whether the body is gzipped for clients that accept it. */
  compressed?: boolean;
  /** Organization to which a streamed body counts. */
  sender?: string;
};

const encodings = ["gzip"] as const;
/** gzip level. The fastest one, because clients wait for it and most responses are sent only once. */
const fastest = 1;

/** Length from which bodies are compressed in another thread. */
const smallBody = 64 * 1024;
/** Compressed bodies of cached responses. */
const compressedBodies = new WeakMap<ApiResponse, Uint8Array<ArrayBuffer>>();

type Shape = { response: z.ZodType; status?: 200 | 201; isLocated?: boolean; long?: boolean };

/**
 * Renders a payload with the schema of its route, which drops undeclared fields. The ETag is `"version-hash"` for a
 * versioned record, and `"hash"` for other responses.
 */
export const apiResponseOf = (request: Request, shape: Shape, payload: unknown): ApiResponse =>
  responseWith(jsonOf(shape.response, payload), request, shape, payload);

/** Renders a potentially long response, in slices of the event loop. */
export const longResponseOf = async (request: Request, shape: Shape, payload: unknown) =>
  responseWith(await longBodyOf(shape.response, payload), request, shape, payload);

/** Returns the ETags of a long response without a version, one per encoding. */
export async function longTagsOf(data: z.ZodType, value: unknown): Promise<string[]> {
  const payload = { data: value };
  const schema = dataOf(data);
  const etag = tagOf(
    isStreamed(payload)
      ? await hashOfChunks(chunksOf(streamedPieces(schema, payload)))
      : hashOf(await longBodyOf(schema, payload)),
  );
  return (["identity", ...encodings] as const).map((encoding) => tagIn(encoding, etag));
}

/** Renders a payload with streamed lists. A long one is rendered twice: for its ETag, and during sending. */
export async function streamedResponseOf(request: Request, shape: Shape, payload: unknown) {
  const chunks = () => chunksOf(streamedPieces(shape.response, payload));
  let body: string | null = "";
  const hash = await hashOfChunks(chunks(), (chunk) => {
    if (body !== null) body = body.length + chunk.length > bufferedCharacters ? null : body + chunk;
  });
  return responseWith(body ?? chunks, request, shape, payload, hash);
}

async function hashOfChunks(chunks: AsyncIterable<string>, use = (_chunk: string) => {}) {
  let hash = 0n;
  for await (const chunk of chunks) {
    hash = hashOf(chunk, hash);
    use(chunk);
    await turn();
  }
  return hash;
}

/** Status and location of a response with streamed lists, without reading them. */
export const unreadResponseOf = (request: Request, shape: Shape, data: object) =>
  responseWith(() => chunksOf(streamedPieces(shape.response, { data })), request, shape, { data });

/** Length from which a body is streamed. A response with one full incident is shorter. */
const bufferedCharacters = 4 * 1024 * 1024;

async function longBodyOf(schema: z.ZodType, payload: unknown): Promise<string> {
  let body = "";
  await eachYielding(jsonPieces(schema, payload), (piece) => void (body += piece));
  return body;
}

const hashOf = (text: string, before = 0n) => BigInt(Bun.hash(text, before));

const tagOf = (hash: bigint, version?: number) =>
  `"${version === undefined ? "" : `${version}-`}${hash.toString(36)}"`;

/** Maximum depth of a streamed part: the payload, its `data`, a field, or a field of a field. */
const streamedDepth = 3;

/** Whether a part of the payload is streamed. */
export function isStreamed(value: unknown, depth = streamedDepth): boolean {
  if (value instanceof StreamedList || value instanceof StreamedRecord) return true;
  return (
    depth > 0 && isObject(value) && Object.values(value).some((one) => isStreamed(one, depth - 1))
  );
}

/** Like `jsonPieces`, for a payload with streamed lists. */
async function* streamedPieces(schema: z.core.$ZodType, value: unknown): AsyncGenerator<string> {
  if (value instanceof StreamedList) {
    if (!(schema instanceof z.ZodArray))
      throw new Error("A streamed list does not fit its schema.");
    let before = "[";
    for await (const portion of value.read()) {
      if (portion.length === 0) continue;
      yield before + jsonOf(schema, portion).slice(1, -1);
      before = ",";
    }
    yield before === "[" ? "[]" : "]";
    return;
  }
  if (value instanceof StreamedRecord) {
    const entrySchema = schema instanceof z.ZodRecord ? schema.valueType : schema;
    let before = "{";
    for await (const portion of value.read())
      for (const [name, entry] of portion) {
        yield `${before}${JSON.stringify(name)}:${jsonOf(entrySchema, entry)}`;
        before = ",";
      }
    yield before === "{" ? "{}" : "}";
    return;
  }
  const fields = isStreamed(value) ? entriesOf(schema, value as object) : null;
  if (fields === null) {
    yield* jsonPieces(schema, value);
    return;
  }
  let before = "{";
  for (const [name, own, field] of fields) {
    yield `${before}${JSON.stringify(name)}:`;
    yield* streamedPieces(own, field);
    before = ",";
  }
  yield "}";
}

const chunkCharacters = 64 * 1024;

/** Joins pieces into chunks that are large enough for a network write. */
async function* chunksOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const piece of pieces) {
    chunk += piece;
    if (chunk.length < chunkCharacters) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

function jsonOf(schema: z.core.$ZodType, value: unknown): string {
  const result = z.safeParse(schema, value);
  if (!result.success)
    throw new Error(`A response does not fit its schema: ${result.error.message}`);
  return JSON.stringify(result.data);
}

/** Like `jsonOf`, but in pieces. Long values are rendered entry by entry. */
export function* jsonPieces(schema: z.core.$ZodType, value: unknown): Generator<string> {
  const entries = isLong(value) ? entriesOf(schema, value) : null;
  if (entries === null) {
    yield jsonOf(schema, value);
    return;
  }
  const [begin, end] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  let before = begin;
  for (const [name, own, entry] of entries) {
    yield name === null ? before : `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(own, entry);
    before = ",";
  }
  yield before === begin ? `${begin}${end}` : end;
}

/**
 * Returns the entries of a list, or the fields of an object, with their schemas. Null if the schema must check the
 * whole value.
 */
function entriesOf(schema: z.core.$ZodType, value: object) {
  type Entry = [name: string | null, schema: z.core.$ZodType, entry: unknown];
  const { checks = [] } = schema._zod.def;
  if (checks.length > 0) return null;
  if (Array.isArray(value)) {
    const itemsBy = (own: z.core.$ZodType) => value.map((item): Entry => [null, own, item]);
    if (schema instanceof z.ZodUnknown) return itemsBy(schema);
    return schema instanceof z.ZodArray ? itemsBy(schema.element) : null;
  }
  const fields = Object.entries(value).filter(([, entry]) => entry !== undefined);
  const fieldsBy = (own: z.core.$ZodType) =>
    fields.map(([name, entry]): Entry => [name, own, entry]);
  if (schema instanceof z.ZodUnknown) return fieldsBy(schema);
  if (schema instanceof z.ZodRecord) return fieldsBy(schema.valueType);
  if (schema instanceof z.ZodObject) {
    const known = new Map(fields);
    return Object.entries<z.core.$ZodType>(schema.shape).flatMap(([name, own]): Entry[] =>
      known.has(name) || own._zod.optout !== "optional" ? [[name, own, known.get(name)]] : [],
    );
  }
  return null;
}

const manyEntries = 20;

/** Whether a record has a list that is long enough for rendering in slices. */
export const hasLongList = (record: unknown) =>
  isObject(record) &&
  Object.values(record).some((field) => Array.isArray(field) && field.length > manyEntries);

/** Whether a value contains a long list, or an object with many fields. */
function isLong(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const entries = Array.isArray(value) ? value : Object.values(value);
  return entries.length > manyEntries || entries.some(isLong);
}

function responseWith(
  body: ApiResponse["body"],
  request: Request,
  { status = 200, isLocated = true, long = false }: Shape,
  payload: unknown,
  hash = typeof body === "string" ? hashOf(body) : 0n,
): ApiResponse {
  const { id, version } = (payload as { data: { id?: string; version?: number } }).data;
  return {
    status,
    body,
    etag: tagOf(hash, version),
    location: status === 201 && isLocated ? `${pathOf(request).replace(/\/$/, "")}/${id}` : null,
    compressed: long && typeof body === "string",
  };
}

/** Copied for each response, because setting the headers again takes 1 µs. */
const commonHeaders = new Headers({
  "Content-Type": "application/json",
  "Cache-Control": "no-cache",
});

/** Creates the Response, asynchronously if it must be compressed. 304 if the client has the current ETag. */
export function toResponse(request: Request, api: ApiResponse): Response | Promise<Response> {
  const { status, compressed = false, location } = api;
  const headers = new Headers(commonHeaders);
  const encoding = compressed ? encodingFor(request, encodings) : "identity";
  const etag = tagIn(encoding, api.etag);
  headers.set("ETag", etag);
  if (compressed) headers.set("Vary", "Accept-Encoding");
  if (location !== null) headers.set("Location", location);
  if (isRead(request) && hasTag(request, etag)) return new Response(null, { status: 304, headers });
  if (typeof api.body !== "string")
    return new Response(
      request.method === "HEAD" ? null : streamChunks(api.body(), api.sender ?? ""),
      { status, headers },
    );
  if (encoding === "identity")
    return api.body.length < largeFrom
      ? new Response(api.body, { status, headers })
      : ownBytesResponse(encodedBodyOf(api, api.body), { status, headers });
  headers.set("Content-Encoding", encoding);
  return compressedBodyOf(api, api.body).then((bytes) =>
    ownBytesResponse(bytes, { status, headers }),
  );
}

/** Creates a Response from bytes with exactly this type. 304 if the client has the current ETag. */
export async function bytesResponse(
  request: Request,
  type: string,
  content: Uint8Array<ArrayBuffer> | File,
  isLong: boolean,
): Promise<Response> {
  const isFile = content instanceof File;
  const bytes = isFile ? await content.bytes() : content;
  const encoding = isLong ? encodingFor(request, encodings) : "identity";
  const etag = tagIn(encoding, `"${Bun.hash(bytes).toString(36)}"`);
  const headers = {
    "Content-Type": type,
    ...(isLong && { Vary: "Accept-Encoding" }),
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    ETag: etag,
    ...(isFile && { "Content-Disposition": `attachment; filename="${content.name}"` }),
  };
  if (hasTag(request, etag)) return new Response(null, { status: 304, headers });
  if (encoding === "identity") return ownBytesResponse(bytes, { headers });
  const packed = new Uint8Array(await promisify(gzip)(bytes, { level: fastest }));
  return ownBytesResponse(packed, { headers: { ...headers, "Content-Encoding": encoding } });
}

/** Encoded bodies, shared by cached responses. */
const encodedBodies = new WeakMap<ApiResponse, Uint8Array<ArrayBuffer>>();

function encodedBodyOf(api: ApiResponse, body: string): Uint8Array<ArrayBuffer> {
  const bytes = encodedBodies.get(api) ?? new TextEncoder().encode(body);
  encodedBodies.set(api, bytes);
  return bytes;
}

const sentResponses = budget(
  requestBounds.longResponses.value,
  requestBounds.longResponsesPerOrganization.value,
);

/**
 * Streams chunks, each after the client has read the previous one. Counts for the organization until it ends. Throws
 * RATE_LIMITED.
 */
function streamChunks(
  chunks: AsyncIterable<string>,
  organizationId: string,
): ReadableStream<Uint8Array> {
  let release = sentResponses.take(organizationId, 1);
  // Can run twice, because a client can disconnect while the last chunk is rendered.
  const end = () => {
    release();
    release = () => {};
  };
  const iterator = chunks[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next();
          if (done !== true) return controller.enqueue(encoder.encode(value));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        end();
      },
      async cancel() {
        end();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function compressedBodyOf(api: ApiResponse, body: string): Promise<Uint8Array<ArrayBuffer>> {
  const known = compressedBodies.get(api);
  if (known !== undefined) return known;
  const bytes =
    body.length < smallBody
      ? Bun.gzipSync(body, { level: fastest })
      : new Uint8Array(await promisify(gzip)(body, { level: fastest }));
  compressedBodies.set(api, bytes);
  return bytes;
}
