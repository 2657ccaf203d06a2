import type { z } from "zod";
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

/** Compressed bodies, for as long as their responses are cached. */
const compressedBodies = new WeakMap<ApiResponse, Uint8Array<ArrayBuffer>>();

type Shape = { response: z.ZodType; status?: 200 | 201; isLocated?: boolean; compressed?: boolean };

/**
 * The payload through the schema of its route, which drops whatever it does not declare. The ETag is
 * `"version-hash"` for a record that people edit and `"hash"` for anything else.
 */
export function apiResponseOf(
  request: Request,
  { response, status = 200, isLocated = true, compressed = false }: Shape,
  payload: unknown,
): ApiResponse {
  const result = response.safeParse(payload);
  if (!result.success)
    throw new Error(`A response does not fit its schema: ${result.error.message}`);
  const body = JSON.stringify(result.data);
  const { id, version } = (payload as { data: { id?: string; version?: number } }).data;
  const hash = Bun.hash(body).toString(36);
  return {
    status,
    body,
    etag: version === undefined ? `"${hash}"` : `"${version}-${hash}"`,
    location: status === 201 && isLocated ? `${pathOf(request).replace(/\/$/, "")}/${id}` : null,
    compressed,
  };
}

/** It as a Response: 304 without a body where a reader already has it. */
export function toResponse(request: Request, api: ApiResponse, requestId: string): Response {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
    "X-Request-Id": requestId,
  };
  const encoding = api.compressed === true ? encodingFor(request, ["gzip"]) : "identity";
  const etag = tagIn(encoding, api.etag);
  headers["ETag"] = etag;
  if (api.compressed === true) headers["Vary"] = "Accept-Encoding";
  if (api.location !== null) headers["Location"] = api.location;
  if (isRead(request) && hasTag(request, etag)) return new Response(null, { status: 304, headers });
  if (encoding === "identity") return new Response(api.body, { status: api.status, headers });
  headers["Content-Encoding"] = encoding;
  return new Response(compressedBodyOf(api), { status: api.status, headers });
}

function compressedBodyOf(api: ApiResponse): Uint8Array<ArrayBuffer> {
  // The fastest level: it is made while somebody waits, and mostly for one reader.
  const bytes = compressedBodies.get(api) ?? Bun.gzipSync(api.body, { level: 1 });
  compressedBodies.set(api, bytes);
  return bytes;
}
