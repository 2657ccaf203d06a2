/** Renders JSON responses through their schemas, with ETag and compression. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { z } from "zod";
import { dataSchema } from "../../core/paging.ts";
import { StreamedList, StreamedRecord } from "../../core/text/streamed-list.ts";
import { forEachYielding, yieldToEventLoop } from "../../core/time/event-loop.ts";
import { requestBounds } from "../../core/limits.ts";
import { createBudget } from "../access/budget.ts";
import { isObject } from "../../core/collections/objects.ts";
import { selectEncoding, hasTag, addEncodingToTag } from "./encoding.ts";
import { largeFrom, createOwnBytesResponse } from "./large-bodies.ts";
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
const fastestLevel = 1;

/** Length from which bodies are compressed in another thread. */
const smallBody = 64 * 1024;
/** Compressed bodies of cached responses. */
const compressedBodies = new WeakMap<ApiResponse, Uint8Array<ArrayBuffer>>();

type Shape = { response: z.ZodType; status?: 200 | 201 | 202; isLocated?: boolean; long?: boolean };

/**
 * Renders a payload with the schema of its route, which drops undeclared fields. The ETag is `"version-hash"` for a
 * versioned record, and `"hash"` for other responses.
 */
export const buildApiResponse = (request: Request, shape: Shape, payload: unknown): ApiResponse =>
  createApiResponse(renderJson(shape.response, payload), request, shape, payload);

/** Renders a potentially long response, in slices of the event loop. */
export const buildLongResponse = async (request: Request, shape: Shape, payload: unknown) =>
  createApiResponse(await renderLongBody(shape.response, payload), request, shape, payload);

/** Returns the ETags of a long response without a version, one per encoding. */
export async function computeTagsOfLongResponse(
  data: z.ZodType,
  value: unknown,
): Promise<string[]> {
  const payload = { data: value };
  const schema = dataSchema(data);
  const etag = formatTag(
    isStreamed(payload)
      ? await computeChunksHash(gatherChunks(renderStreamedPieces(schema, payload)))
      : computeHash(await renderLongBody(schema, payload)),
  );
  return (["identity", ...encodings] as const).map((encoding) => addEncodingToTag(encoding, etag));
}

/** Renders a payload with streamed lists. A long one is rendered twice: for its ETag, and during sending. */
export async function buildStreamedResponse(request: Request, shape: Shape, payload: unknown) {
  const createChunks = () => gatherChunks(renderStreamedPieces(shape.response, payload));
  let body: string | null = "";
  const hash = await computeChunksHash(createChunks(), (chunk) => {
    if (body !== null) body = body.length + chunk.length > bufferedCharacters ? null : body + chunk;
  });
  return createApiResponse(body ?? createChunks, request, shape, payload, hash);
}

async function computeChunksHash(chunks: AsyncIterable<string>, use = (_chunk: string) => {}) {
  let hash = 0n;
  for await (const chunk of chunks) {
    hash = computeHash(chunk, hash);
    use(chunk);
    await yieldToEventLoop();
  }
  return hash;
}

/** Status and location of a response with streamed lists, without reading them. */
export const buildUnreadResponse = (request: Request, shape: Shape, data: object) =>
  createApiResponse(
    () => gatherChunks(renderStreamedPieces(shape.response, { data })),
    request,
    shape,
    { data },
  );

/** Length from which a body is streamed. A response with one full incident is shorter. */
const bufferedCharacters = 4 * 1024 * 1024;

async function renderLongBody(schema: z.ZodType, payload: unknown): Promise<string> {
  let body = "";
  await forEachYielding(renderJsonPieces(schema, payload), (piece) => void (body += piece));
  return body;
}

const computeHash = (text: string, before = 0n) => BigInt(Bun.hash(text, before));

const formatTag = (hash: bigint, version?: number) =>
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

/** Like `renderJsonPieces`, for a payload with streamed lists. */
async function* renderStreamedPieces(
  schema: z.core.$ZodType,
  value: unknown,
): AsyncGenerator<string> {
  if (value instanceof StreamedList) {
    if (!(schema instanceof z.ZodArray))
      throw new Error("A streamed list does not fit its schema.");
    let before = "[";
    for await (const portion of value.read()) {
      if (portion.length === 0) continue;
      yield before + renderJson(schema, portion).slice(1, -1);
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
        yield `${before}${JSON.stringify(name)}:${renderJson(entrySchema, entry)}`;
        before = ",";
      }
    yield before === "{" ? "{}" : "}";
    return;
  }
  const fields = isStreamed(value) ? listEntries(schema, value as object) : null;
  if (fields === null) {
    yield* renderJsonPieces(schema, value);
    return;
  }
  let before = "{";
  for (const [name, own, field] of fields) {
    yield `${before}${JSON.stringify(name)}:`;
    yield* renderStreamedPieces(own, field);
    before = ",";
  }
  yield "}";
}

const chunkCharacters = 64 * 1024;

/** Joins pieces into chunks that are large enough for a network write. */
async function* gatherChunks(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const piece of pieces) {
    chunk += piece;
    if (chunk.length < chunkCharacters) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

function renderJson(schema: z.core.$ZodType, value: unknown): string {
  const result = z.safeParse(schema, value);
  if (!result.success)
    throw new Error(`A response does not fit its schema: ${result.error.message}`);
  return JSON.stringify(result.data);
}

/** Like `renderJson`, but in pieces. Long values are rendered entry by entry. */
export function* renderJsonPieces(schema: z.core.$ZodType, value: unknown): Generator<string> {
  const entries = isLong(value) ? listEntries(schema, value) : null;
  if (entries === null) {
    yield renderJson(schema, value);
    return;
  }
  const [begin, end] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  let before = begin;
  for (const [name, own, entry] of entries) {
    yield name === null ? before : `${before}${JSON.stringify(name)}:`;
    yield* renderJsonPieces(own, entry);
    before = ",";
  }
  yield before === begin ? `${begin}${end}` : end;
}

/**
 * Returns the entries of a list, or the fields of an object, with their schemas. Null if the schema must check the
 * whole value.
 */
function listEntries(schema: z.core.$ZodType, value: object) {
  type Entry = [name: string | null, schema: z.core.$ZodType, entry: unknown];
  const { checks = [] } = schema._zod.def;
  if (checks.length > 0) return null;
  if (Array.isArray(value)) {
    const pairItems = (own: z.core.$ZodType) => value.map((item): Entry => [null, own, item]);
    if (schema instanceof z.ZodUnknown) return pairItems(schema);
    return schema instanceof z.ZodArray ? pairItems(schema.element) : null;
  }
  const fields = Object.entries(value).filter(([, entry]) => entry !== undefined);
  const pairFields = (own: z.core.$ZodType) =>
    fields.map(([name, entry]): Entry => [name, own, entry]);
  if (schema instanceof z.ZodUnknown) return pairFields(schema);
  if (schema instanceof z.ZodRecord) return pairFields(schema.valueType);
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

function createApiResponse(
  body: ApiResponse["body"],
  request: Request,
  { status = 200, isLocated = true, long = false }: Shape,
  payload: unknown,
  hash = typeof body === "string" ? computeHash(body) : 0n,
): ApiResponse {
  const { id, version } = (payload as { data: { id?: string; version?: number } }).data;
  return {
    status,
    body,
    etag: formatTag(hash, version),
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
  const encoding = compressed ? selectEncoding(request, encodings) : "identity";
  const etag = addEncodingToTag(encoding, api.etag);
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
      : createOwnBytesResponse(getEncodedBody(api, api.body), { status, headers });
  headers.set("Content-Encoding", encoding);
  return getCompressedBody(api, api.body).then((bytes) =>
    createOwnBytesResponse(bytes, { status, headers }),
  );
}

/** Creates a Response from bytes with exactly this type. 304 if the client has the current ETag. */
export async function createBytesResponse(
  request: Request,
  type: string,
  content: Uint8Array<ArrayBuffer> | File,
  isLong: boolean,
): Promise<Response> {
  const isFile = content instanceof File;
  const bytes = isFile ? await content.bytes() : content;
  const encoding = isLong ? selectEncoding(request, encodings) : "identity";
  const etag = addEncodingToTag(encoding, `"${Bun.hash(bytes).toString(36)}"`);
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
  if (encoding === "identity") return createOwnBytesResponse(bytes, { headers });
  const packed = new Uint8Array(await promisify(gzip)(bytes, { level: fastestLevel }));
  return createOwnBytesResponse(packed, { headers: { ...headers, "Content-Encoding": encoding } });
}

/** Encoded bodies, shared by cached responses. */
const encodedBodies = new WeakMap<ApiResponse, Uint8Array<ArrayBuffer>>();

function getEncodedBody(api: ApiResponse, body: string): Uint8Array<ArrayBuffer> {
  const bytes = encodedBodies.get(api) ?? new TextEncoder().encode(body);
  encodedBodies.set(api, bytes);
  return bytes;
}

const sentResponses = createBudget(
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
  const releaseBudget = () => {
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
        releaseBudget();
      },
      async cancel() {
        releaseBudget();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function getCompressedBody(api: ApiResponse, body: string): Promise<Uint8Array<ArrayBuffer>> {
  const known = compressedBodies.get(api);
  if (known !== undefined) return known;
  const bytes =
    body.length < smallBody
      ? Bun.gzipSync(body, { level: fastestLevel })
      : new Uint8Array(await promisify(gzip)(body, { level: fastestLevel }));
  compressedBodies.set(api, bytes);
  return bytes;
}
