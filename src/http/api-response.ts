import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { z } from "zod";
import { dataOf } from "../core/paging.ts";
import { eachYielding } from "../core/yielding.ts";
import { isObject } from "../core/objects.ts";
import { encodingFor, hasTag, tagIn } from "./encoding.ts";
import { isRead, pathOf } from "./request.ts";

/** What a use case found or did, as it will go over the wire. */
export type ApiResponse = {
  status: number;
  body: string;
  etag: string;
  location: string | null;
  /** Whether it goes compressed to those who take that. */
  compressed?: boolean;
};

const encodings = ["gzip"] as const;
/** The level: it is made while somebody waits, and mostly for one reader. */
const fastest = 1;

/** Longer ones are compressed in a thread of their own. */
const smallBody = 64 * 1024;
/** Compressed bodies, for as long as their responses are cached. */
const compressedBodies = new WeakMap<ApiResponse, Uint8Array<ArrayBuffer>>();

type Shape = { response: z.ZodType; status?: 200 | 201; isLocated?: boolean; long?: boolean };

/**
 * The payload through the schema of its route, which drops whatever it does not declare. The ETag is
 * `"version-hash"` for a record that people edit and `"hash"` for anything else.
 */
export const apiResponseOf = (request: Request, shape: Shape, payload: unknown): ApiResponse =>
  responseWith(jsonOf(shape.response, payload), request, shape, payload);

/** The same of what may be long: others have their turn while it is made. */
export const longResponseOf = async (request: Request, shape: Shape, payload: unknown) =>
  responseWith(await longBodyOf(shape.response, payload), request, shape, payload);

/** The ETags of a long response with this data, which has no version: one for each encoding in which it goes. */
export async function longTagsOf(data: z.ZodType, value: unknown): Promise<string[]> {
  const etag = tagOf(await longBodyOf(dataOf(data), { data: value }));
  return (["identity", ...encodings] as const).map((encoding) => tagIn(encoding, etag));
}

async function longBodyOf(schema: z.ZodType, payload: unknown): Promise<string> {
  let body = "";
  await eachYielding(jsonPieces(schema, payload), (piece) => void (body += piece));
  return body;
}

const tagOf = (body: string, version?: number) =>
  `"${version === undefined ? "" : `${version}-`}${Bun.hash(body).toString(36)}"`;

function jsonOf(schema: z.core.$ZodType, value: unknown): string {
  const result = z.safeParse(schema, value);
  if (!result.success)
    throw new Error(`A response does not fit its schema: ${result.error.message}`);
  return JSON.stringify(result.data);
}

/** `jsonOf` in pieces: what is long in it entry by entry. */
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

/** The entries of a list, or the fields of an object, each with its schema; null for what is judged as a whole. */
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

/** Whether a record has lists so long that others have their turn while they are written. */
export const hasLongList = (record: unknown) =>
  isObject(record) &&
  Object.values(record).some((field) => Array.isArray(field) && field.length > manyEntries);

/** Whether it holds a list of many entries, or as many fields. */
function isLong(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const entries = Array.isArray(value) ? value : Object.values(value);
  return entries.length > manyEntries || entries.some(isLong);
}

function responseWith(
  body: string,
  request: Request,
  { status = 200, isLocated = true, long = false }: Shape,
  payload: unknown,
): ApiResponse {
  const { id, version } = (payload as { data: { id?: string; version?: number } }).data;
  return {
    status,
    body,
    etag: tagOf(body, version),
    location: status === 201 && isLocated ? `${pathOf(request).replace(/\/$/, "")}/${id}` : null,
    compressed: long,
  };
}

/** Copied for each response: to name them anew takes a microsecond. */
const commonHeaders = new Headers({
  "Content-Type": "application/json",
  "Cache-Control": "no-cache",
});

/** It as a Response, a promise of one while it is being compressed: 304 without a body where a reader already has it. */
export function toResponse(request: Request, api: ApiResponse): Response | Promise<Response> {
  const { status, compressed = false, location } = api;
  const headers = new Headers(commonHeaders);
  const encoding = compressed ? encodingFor(request, encodings) : "identity";
  const etag = tagIn(encoding, api.etag);
  headers.set("ETag", etag);
  if (compressed) headers.set("Vary", "Accept-Encoding");
  if (location !== null) headers.set("Location", location);
  if (isRead(request) && hasTag(request, etag)) return new Response(null, { status: 304, headers });
  if (encoding === "identity") return new Response(api.body, { status, headers });
  headers.set("Content-Encoding", encoding);
  return compressedBodyOf(api).then((bytes) => new Response(bytes, { status, headers }));
}

/** Bytes as a Response of this type and no other; 304 without them where a reader already has them. */
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
  if (encoding === "identity") return new Response(bytes, { headers });
  const packed = new Uint8Array(await promisify(gzip)(bytes, { level: fastest }));
  return new Response(packed, { headers: { ...headers, "Content-Encoding": encoding } });
}

async function compressedBodyOf(api: ApiResponse): Promise<Uint8Array<ArrayBuffer>> {
  const known = compressedBodies.get(api);
  if (known !== undefined) return known;
  const bytes =
    api.body.length < smallBody
      ? Bun.gzipSync(api.body, { level: fastest })
      : new Uint8Array(await promisify(gzip)(api.body, { level: fastest }));
  compressedBodies.set(api, bytes);
  return bytes;
}
