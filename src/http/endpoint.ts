import type { ResolvePath } from "elysia";
import { z } from "zod";
import { type Scope, scopeOf } from "../events/scope.ts";
import { organizationTurns } from "../events/turns.ts";
import { hourMs } from "../core/time/clock.ts";
import type { Role } from "../core/roles.ts";
import { dataOf } from "../core/paging.ts";
import type { Listed, StreamedList } from "../core/text/streamed-list.ts";
import { parse } from "../core/validation.ts";
import {
  type ApiResponse,
  apiResponseOf,
  bytesResponse,
  hasLongList,
  isStreamed,
  longResponseOf,
  sending,
  streamedResponseOf,
  unreadResponseOf,
  toResponse,
} from "./responses/api-response.ts";
import {
  principalOf,
  signedInSession,
  authorize,
  mustBeAdministrator,
} from "./access/authentication.ts";
import { type BodyClient, mediaTypeOf, mustHaveNoBody, parseJson, readBody } from "./body.ts";
import { errorResponse } from "./responses/error-response.ts";
import { idempotencyKeyOf, onlyOnce, routeOf, takesIdempotencyKey } from "./idempotency.ts";
import { parseQuery } from "./query.ts";
import { consume } from "./access/rate-limit.ts";
import { type Principal, organizationParameter } from "./access/session.ts";
import type { RequestContext } from "./request-context.ts";
import { isRead, originOf } from "./request.ts";
import type { RequestServices } from "./services.ts";
import {
  ifMatchOf,
  type SignedInContext,
  type VisitorContext,
  visitorContextOf,
} from "./visitor-context.ts";

/** The query and the body of a route that takes none; clients that always send `{}` are fine. */
const NoQuery = z.strictObject({});
const NoBody = z.strictObject({}).optional();

/** For whom a route is: those who may read or write an organization's data, administrators of the appliance, anybody signed in, or anybody at all. */
type Access = "read" | "write" | "administrator" | "person" | "anyone";

/** Everything that is declared about one route: who may, what goes in, what comes out, what the document says. */
export type Endpoint = Declared & { response: z.ZodType };

type Declared<
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  X extends Access = Access,
  U extends readonly string[] = readonly string[],
> = {
  /** What generated clients call it; unique in the document. */
  name: string;
  access: X;
  /** What people need to be, where that is more than a viewer who reads and a member who writes. */
  role?: Role;
  summary: string;
  description?: string;
  query?: Q;
  body?: B;
  /** Media types of a body that is taken as it is, instead of JSON. */
  upload?: U;
  /** How long a body may be, where that is more than usual; its path is in `http/body.ts`, too. */
  maxBodyBytes?: number;
  /** The media type of a response that goes on for as long as the client reads: `handle` then returns the Response itself. */
  streams?: "text/event-stream" | "application/vnd.sqlite3" | "text/csv" | "application/x-ndjson";
  /** The media type of a response that is the bytes which `handle` returns, instead of JSON; a `File` is one to be saved. */
  bytes?: "image/jpeg" | "text/csv";
  /** Whether the response may be long: others have their turn while it is made, and it goes compressed. */
  long?: boolean;
  /** 201 makes the response carry a Location. */
  status?: 200 | 201;
  /** False for what has no address of its own. */
  isLocated?: boolean;
  /** Whether the response depends on stored rows, the URL, who may write and the hour alone, so that it holds until something is written: to any table, or to one of those that are named. */
  cached?: true | readonly string[];
  /**
   * How long a response may take, where it waits for what happens outside the database. No write can undo
   * that: under an Idempotency-Key such a request is claimed before it begins.
   */
  timeoutSeconds?: number;
  /** Error codes beyond those that every route may give, or every one with a parameter in its path. */
  errors?: readonly ("NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED")[];
};

/** What `handle` returns: the whole response, or what stands under its `data`. The schema drops whatever it does not declare: the secrecy filter of every route. */
type Returns<R extends z.ZodType, D extends z.ZodType> =
  { response: R; data?: never } | { data: D; response?: never };

/** The data of a response, in which lists can be read while they are sent. */
type WithStreamed<T> =
  | T
  | (T extends readonly (infer E)[] ? StreamedList<E> : never)
  | { [K in keyof T]: T[K] extends readonly (infer E)[] ? Listed<E> : T[K] };

const streamedTurns = organizationTurns();

/** A machine that has much else to do may take so long to make what is long. */
export const longSeconds = 60;

type Upload = { type: string; bytes: Uint8Array };
const noUpload: Upload = { type: "", bytes: new Uint8Array() };

type Parsed<Q extends z.ZodType, B extends z.ZodType> = {
  query: z.output<Q>;
  body: z.output<B>;
  /** The body of a route that declares one; else empty. */
  upload: Upload;
};

type Input<
  Path extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
  X extends Access,
> = Caller<X> &
  Parsed<Q, B> & {
    /** What stands in the path, whatever it looks like. */
    params: ResolvePath<Path>;
    services: RequestServices;
    request: Request;
    requestContext: RequestContext;
  };

/** Who asks: data belong to an organization; people and their sessions to none. */
type Caller<X extends Access> = X extends "read" | "write"
  ? { scope: Scope }
  : { context: X extends "administrator" | "person" ? SignedInContext : VisitorContext };

type AnyCaller =
  { principal: Principal; scope: Scope } | { principal: null; context: VisitorContext };

/** What Elysia gives to the handler of a route. */
type HandlerContext<Path extends string> = {
  request: Request;
  params: ResolvePath<Path>;
  requestContext: RequestContext;
};

/**
 * The path, handler and hook of a route, to be spread into Elysia's `.get(…)`. The steps follow the
 * order of the API: scope, rate limit, media type, length, JSON, schema, then the use case.
 */
export function endpoint<
  const Path extends string,
  Q extends z.ZodType = typeof NoQuery,
  B extends z.ZodType = typeof NoBody,
  R extends z.ZodType = z.ZodType,
  X extends Access = Access,
  U extends readonly string[] = never,
  D extends z.ZodType = never,
>(
  path: Path,
  {
    data,
    response,
    handle,
    ...declared
  }: Declared<Q, B, X, U> &
    Returns<R, D> & {
      handle: (
        input: Input<Path, Q, B, X>,
      ) => Promise<
        [D] extends [never] ? WithStreamed<z.input<R>> | Response : WithStreamed<z.input<D>>
      >;
    },
) {
  type Context = HandlerContext<Path>;
  type Sent = [D] extends [never] ? z.output<R> : { data: z.output<D> };
  let responseSchema: z.ZodType | undefined;
  const spec: Endpoint = {
    ...declared,
    // Made with the first response; so is `needsBody` with the first body: a start would pay for all routes.
    get response() {
      return (responseSchema ??= data === undefined ? (response as R) : dataOf(data));
    },
  };
  const querySchema = spec.query ?? NoQuery;
  const bodySchema = spec.body ?? NoBody;
  let needsBody: boolean | undefined;

  async function serve(context: Context): Promise<Response> {
    const { request, requestContext } = context;
    const { services, requestId } = requestContext;
    try {
      const caller = callerOf(requestContext, request, spec);
      const result = await (isRead(request) ? read(context, caller) : write(context, caller));
      const response = result instanceof Response ? result : await toResponse(request, result);
      if (caller.principal === null || spec.streams !== undefined)
        response.headers.set("Cache-Control", "no-store");
      else if (caller.principal.role !== null)
        response.headers.set("Cache-Control", "private, no-cache");
      if (requestContext.setCookie !== null)
        response.headers.append("Set-Cookie", requestContext.setCookie);
      return response;
    } catch (error) {
      return errorResponse(error, requestId, services.log);
    }
  }

  async function read(context: Context, caller: AnyCaller) {
    const { request, requestContext } = context;
    const { responses, clock, extendTimeout } = requestContext.services;
    mustHaveNoBody(request);
    const hour = Math.floor(clock() / hourMs);
    const key = `${caller.principal?.organizationId} ${caller.principal?.scope} ${hour} ${request.url}`;
    const tables = spec.cached === true ? undefined : spec.cached;
    const known = spec.cached === undefined ? { revision: null } : responses.get(key, tables);
    if ("body" in known) return known;
    const mayTakeLong = spec.long === true || spec.streams !== undefined;
    const seconds = spec.timeoutSeconds ?? (mayTakeLong ? longSeconds : undefined);
    if (seconds !== undefined) extendTimeout(request, seconds);
    const query = queryOf(context);
    const parsed = { query, body: undefined as z.output<B>, upload: noUpload };
    if (spec.streams !== undefined)
      return request.method === "HEAD"
        ? new Response(null, { headers: { "Content-Type": spec.streams } })
        : ((await handle(inputOf(context, caller, parsed))) as Response);
    if (spec.bytes !== undefined) {
      const bytes = await handle(inputOf(context, caller, parsed));
      const content = bytes as Uint8Array<ArrayBuffer> | File;
      return bytesResponse(request, spec.bytes, content, spec.long === true);
    }
    const response = await respond(context, caller, parsed);
    responses.set(key, known, response, tables);
    return response;
  }

  async function write(context: Context, caller: AnyCaller): Promise<ApiResponse | Response> {
    const { request, requestContext } = context;
    const client = bodyClientOf(requestContext, caller);
    needsBody ??= spec.upload !== undefined || !bodySchema.safeParse(undefined).success;
    const bytes = await readBody(request, client, needsBody, spec.upload, spec.maxBodyBytes);
    const upload = spec.upload ? { type: mediaTypeOf(request), bytes } : noUpload;
    if (spec.timeoutSeconds !== undefined)
      requestContext.services.extendTimeout(request, spec.timeoutSeconds);
    const isJson = spec.upload === undefined && (needsBody || bytes.length > 0);
    const json = isJson ? await parseJson(bytes) : undefined;
    const query = queryOf(context);
    const parsed = { query, body: parse(bodySchema, json) as z.output<B>, upload };
    const key = takesIdempotencyKey(request.method) ? idempotencyKeyOf(request) : null;
    if (key === null || caller.principal === null) return respond(context, caller, parsed);
    const { principal, scope } = caller;
    const responseOf = (data: object) =>
      isStreamed(data)
        ? unreadResponseOf(request, spec, data)
        : apiResponseOf(request, spec, { data });
    const isClaimed = spec.timeoutSeconds !== undefined;
    const { method } = request;
    const asked = { method, route: routeOf(request), idempotencyKey: key, body: bytes, isClaimed };
    return onlyOnce(requestContext, principal, asked, responseOf, (remember) =>
      respond(context, { principal, scope: { ...scope, remember } }, parsed),
    );
  }

  function queryOf({ request, requestContext }: Context) {
    const except = requestContext.session === null ? undefined : organizationParameter;
    return parseQuery(request.url, querySchema, except) as z.output<Q>;
  }

  function inputOf(context: Context, caller: AnyCaller, parsed: Parsed<Q, B>) {
    const { request, params, requestContext } = context;
    const { services } = requestContext;
    // The caller has what the route's access asks for: `callerOf` saw to it.
    return { ...parsed, ...caller, params, services, request, requestContext } as unknown as Input<
      Path,
      Q,
      B,
      X
    >;
  }

  async function respond(
    context: Context,
    caller: AnyCaller,
    parsed: Parsed<Q, B>,
  ): Promise<ApiResponse> {
    const result: unknown = await handle(inputOf(context, caller, parsed));
    if (result instanceof Response)
      throw new Error("Only a stream makes its response by itself; no schema has seen this one.");
    const payload = data === undefined ? result : { data: result };
    if (isStreamed(payload)) return respondInTurn(context, caller, payload);
    const isLong = spec.long === true || hasLongList(data === undefined ? null : result);
    const made = isLong ? longResponseOf : apiResponseOf;
    return made(context.request, spec, payload);
  }

  /** A response that reads while it is written: one at a time for an organization. */
  async function respondInTurn(
    { request, requestContext }: Context,
    { principal }: AnyCaller,
    payload: unknown,
  ): Promise<ApiResponse> {
    const organizationId = principal?.organizationId ?? "";
    requestContext.services.extendTimeout(request, longSeconds);
    const turn = { organizationId, signal: request.signal };
    const response = await streamedTurns(turn, () => streamedResponseOf(request, spec, payload));
    const { body } = response;
    if (typeof body === "string") return response;
    return { ...response, body: () => sending(organizationId, body()) };
  }

  // It really is a Response; its type says what the client finds in it. Elysia looks at the parameters
  // of a handler to decide what it has to prepare: these are all.
  const handler = ({ request, params, requestContext }: Context) =>
    serve({ request, params, requestContext }) as unknown as Promise<Sent>;
  const hook = { parse: "none" as const, detail: { endpoint: spec } as object };
  return [path, handler, hook as typeof hook & Accepts<Q, B, U>] as const;
}

/**
 * What a client may send, for the types of Elysia and of the admin page's client. Elysia itself gets no
 * schema: it would validate before scope, rate limit and media type have been looked at.
 */
type Accepts<Q extends z.ZodType, B extends z.ZodType, U extends readonly string[]> = {
  query: StandardSchema<z.input<Q>>;
  body: StandardSchema<[U] extends [never] ? z.input<B> : Blob>;
};

type StandardSchema<T> = { "~standard": { types?: { input: T; output: T } } };

function bodyClientOf(requestContext: RequestContext, { principal }: AnyCaller): BodyClient {
  if (principal !== null) return { organizationId: principal.organizationId };
  const { services, address, session } = requestContext;
  return { address, isKnown: session !== null || services.knownNetworks.has(address) };
}

/** Throws whatever keeps the caller from this route. */
function callerOf(
  requestContext: RequestContext,
  request: Request,
  { access, role }: Endpoint,
): AnyCaller {
  const { services } = requestContext;
  if (access === "read" || access === "write") {
    const principal = principalOf(requestContext, request);
    authorize(services, principal, access, role);
    return {
      principal,
      // A response that is known needs none.
      get scope() {
        return requestScope(requestContext, principal, request);
      },
    };
  }
  if (access !== "anyone") {
    const session = signedInSession(requestContext);
    if (access === "administrator") mustBeAdministrator(session);
    consume(services.personLimit, session.person.id);
  }
  return { principal: null, context: visitorContextOf(requestContext, request) };
}

/** What a use case of this principal's organization runs in. */
function requestScope(
  { services, requestId }: RequestContext,
  { organizationId, actor, scope }: Principal,
  request: Request,
): Scope {
  return {
    ...scopeOf(services, organizationId, actor),
    mayWrite: scope === "write",
    requestId,
    get origin() {
      return originOf(request);
    },
    ifMatch: ifMatchOf(request),
    get signal() {
      return request.signal;
    },
  };
}
