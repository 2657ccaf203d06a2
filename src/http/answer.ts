import type { z } from "zod";
import { pathOf } from "./request-path.ts";
import { encodingFor, hasTag, tagIn } from "./encoding.ts";

/** What a use case found or did, as it will go over the wire. */
export type Answer = {
  status: number;
  body: string;
  etag: string;
  location: string | null;
  /** Whether it goes compressed to those who take that. */
  packed?: boolean;
};

/** Compressed bodies, for as long as their answers are kept. */
const packs = new WeakMap<Answer, Uint8Array<ArrayBuffer>>();

type Shape = { answer: z.ZodType; status?: 200 | 201; isLocated?: boolean; packed?: boolean };

/**
 * The payload through the schema of its route, which drops whatever it does not declare. The ETag is
 * `"version-hash"` for a record that people edit and `"hash"` for anything else.
 */
export function answerOf(
  request: Request,
  { answer, status = 200, isLocated = true, packed = false }: Shape,
  payload: unknown,
): Answer {
  const result = answer.safeParse(payload);
  if (!result.success)
    throw new Error(`An answer does not fit its schema: ${result.error.message}`);
  const body = JSON.stringify(result.data);
  const { id, version } = (payload as { data: { id?: string; version?: number } }).data;
  const hash = Bun.hash(body).toString(36);
  return {
    status,
    body,
    etag: version === undefined ? `"${hash}"` : `"${version}-${hash}"`,
    location: status === 201 && isLocated ? `${pathOf(request).replace(/\/$/, "")}/${id}` : null,
    packed,
  };
}

/** The answer as a Response: 304 without a body where a reader already has it. */
export function respond(request: Request, answer: Answer, requestId: string): Response {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
    "X-Request-Id": requestId,
  };
  const encoding = answer.packed === true ? encodingFor(request, ["gzip"]) : "identity";
  const etag = tagIn(encoding, answer.etag);
  headers["ETag"] = etag;
  if (answer.packed === true) headers["Vary"] = "Accept-Encoding";
  if (answer.location !== null) headers["Location"] = answer.location;
  if ((request.method === "GET" || request.method === "HEAD") && hasTag(request, etag))
    return new Response(null, { status: 304, headers });
  if (encoding === "identity") return new Response(answer.body, { status: answer.status, headers });
  headers["Content-Encoding"] = encoding;
  return new Response(packOf(answer), { status: answer.status, headers });
}

function packOf(answer: Answer): Uint8Array<ArrayBuffer> {
  // The fastest level: it is made while somebody waits, and mostly for one reader.
  const pack = packs.get(answer) ?? Bun.gzipSync(answer.body, { level: 1 });
  packs.set(answer, pack);
  return pack;
}
