import type { z } from "zod";
import type { Scope } from "../audit/scope.ts";
import { parse } from "../base/validation.ts";
import { parseJson, readBody } from "./body.ts";
import { type Call, callOf, pathOf, type Principal } from "./call.ts";
import { errorAnswer } from "./error-body.ts";
import { admit } from "./gate.ts";
import { attemptOf, idempotencyKeyOf, type StoredAnswer } from "./idempotency.ts";
import { parseQuery } from "./query.ts";
import { NoBody, NoQuery } from "./nothing.ts";

/** Everything that is declared about one route: who may, what goes in, what comes out, what the document says. */
export type Endpoint<
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
> = {
  /** What generated clients call it; unique in the document. */
  name: string;
  access: "read" | "write";
  summary: string;
  description?: string;
  query?: Q;
  body?: B;
  /** Drops whatever it does not declare: the secrecy filter of every route. */
  answer: A;
  /** 201 makes the answer carry a Location. */
  status?: 200 | 201;
  /** Error codes beyond those that every route may give. */
  errors?: readonly ("NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED")[];
};

type Input<Q extends z.ZodType, B extends z.ZodType> = {
  scope: Scope;
  query: z.output<Q>;
  body: z.output<B>;
  /** The `:id` of the path, whatever it looks like. */
  id: string;
};

type Context = { request: Request; params?: Record<string, string> };

/**
 * The handler and hook of a route, to be spread into Elysia's `.get(path, …)`. The steps follow the
 * order of the API: scope, rate limit, media type, length, JSON, schema, then the use case.
 */
export function endpoint<
  Q extends z.ZodType = typeof NoQuery,
  B extends z.ZodType = typeof NoBody,
  A extends z.ZodType = z.ZodType,
>(spec: Endpoint<Q, B, A>, use: (input: Input<Q, B>) => Promise<z.input<A>>) {
  const querySchema = spec.query ?? NoQuery;
  const bodySchema = spec.body ?? NoBody;

  async function run(request: Request, id: string): Promise<Response> {
    const call = callOf(request);
    const { appliance, principal, requestId } = call;
    try {
      if (principal === null) throw new Error("A route of the API was reached without the gate.");
      admit(appliance, principal, spec.access);
      const takesBody = spec.body !== undefined;
      const bytes = spec.access === "read" ? noBytes : await readBody(request, takesBody);
      const json = takesBody || bytes.length > 0 ? parseJson(bytes) : undefined;
      const query = parseQuery(request.url, querySchema) as z.output<Q>;
      const body = parse(bodySchema, json) as z.output<B>;
      const scope = scopeOf(call, principal, request);
      if (request.method !== "POST")
        return answer(request, call, spec, await use({ scope, query, body, id }));
      return await post(request, call, principal, spec, bytes, scope, (scope) =>
        use({ scope, query, body, id }),
      );
    } catch (error) {
      return errorAnswer(error, requestId, appliance.log);
    }
  }

  // The answer really is a Response; its type says what the client finds in it.
  const handler = ({ request, params }: Context) =>
    run(request, params?.["id"] ?? "") as unknown as Promise<z.output<A>>;
  return [handler, { parse: "none" as const, detail: { endpoint: spec } as object }] as const;
}

const noBytes = new Uint8Array();

function scopeOf({ appliance, requestId }: Call, principal: Principal, request: Request): Scope {
  return {
    store: appliance.store,
    clock: appliance.clock,
    vault: appliance.vault,
    organizationId: principal.organizationId,
    actor: { type: "api-key", id: principal.keyId, name: principal.keyName },
    requestId,
    get origin() {
      return `${request.url.slice(0, request.url.indexOf(":"))}://${request.headers.get("host")}`;
    },
    ifMatch: request.headers.get("if-match"),
    remember: null,
  };
}

/** A POST, done at most once under its Idempotency-Key. */
async function post(
  request: Request,
  call: Call,
  principal: Principal,
  spec: Endpoint,
  bytes: Uint8Array,
  scope: Scope,
  use: (scope: Scope) => Promise<unknown>,
): Promise<Response> {
  const key = idempotencyKeyOf(request);
  if (key === null) return answer(request, call, spec, await use(scope));
  const { store, clock } = call.appliance;
  const path = pathOf(request);
  const attempt = await attemptOf(store, clock(), principal, path, key, bytes);
  if ("body" in attempt) return replay(attempt, call);
  const remember = (data: object) => attempt.keep(storable(request, spec, { data }));
  try {
    return answer(request, call, spec, await use({ ...scope, remember }));
  } finally {
    attempt.end();
  }
}

function replay({ status, location, body }: StoredAnswer, { requestId }: Call): Response {
  const headers = new Headers(commonHeaders(requestId));
  headers.set("Idempotency-Replayed", "true");
  if (location !== null) headers.set("Location", location);
  return new Response(body, { status, headers });
}

function commonHeaders(requestId: string): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
    "X-Request-Id": requestId,
  };
}

function filtered(spec: Endpoint, payload: unknown): string {
  const result = spec.answer.safeParse(payload);
  if (result.success) return JSON.stringify(result.data);
  throw new Error(`An answer does not fit its schema: ${result.error.message}`);
}

function storable(request: Request, spec: Endpoint, payload: { data: object }): StoredAnswer {
  return {
    status: spec.status ?? 200,
    location: locationOf(request, spec, payload),
    body: filtered(spec, payload),
  };
}

function locationOf(request: Request, spec: Endpoint, payload: unknown): string | null {
  if (spec.status !== 201) return null;
  const { id } = (payload as { data: { id: string } }).data;
  return `${pathOf(request).replace(/\/$/, "")}/${id}`;
}

/** The payload as bytes with its ETag: `"version-hash"` for a record that people edit, `"hash"` for anything else. */
function answer(request: Request, { requestId }: Call, spec: Endpoint, payload: unknown): Response {
  const body = filtered(spec, payload);
  const headers = commonHeaders(requestId);
  const { version } = (payload as { data: { version?: number } }).data;
  const hash = Bun.hash(body).toString(36);
  const etag = version === undefined ? `"${hash}"` : `"${version}-${hash}"`;
  headers["ETag"] = etag;
  const location = locationOf(request, spec, payload);
  if (location !== null) headers["Location"] = location;
  const known = request.headers.get("if-none-match");
  if (known !== null && spec.access === "read" && names(known, etag))
    return new Response(null, { status: 304, headers });
  return new Response(body, { status: spec.status ?? 200, headers });
}

/** If-None-Match compares weakly (RFC 9110 §13.1.2). */
function names(header: string, etag: string): boolean {
  return header.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}
