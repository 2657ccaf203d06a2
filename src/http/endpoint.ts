/** Declares the routes of the API with their access, schemas and use cases, and runs the steps of each request. */
import type { ResolvePath } from "elysia";
import { z } from "zod";
import { type Scope, buildScope } from "../events/scope.ts";
import { createOrganizationTurns } from "../events/organization-turns.ts";
import { hourMs } from "../core/time/clock.ts";
import type { Role } from "../core/roles.ts";
import { dataSchema } from "../core/paging.ts";
import type { ListOrStream, StreamedList } from "../core/text/streamed-list.ts";
import { parse } from "../core/validation.ts";
import {
  type ApiResponse,
  buildApiResponse,
  createBytesResponse,
  hasLongList,
  isStreamed,
  buildLongResponse,
  buildStreamedResponse,
  buildUnreadResponse,
  toResponse,
} from "./responses/api-response.ts";
import {
  resolvePrincipal,
  getSignedInSession,
  assertPermitted,
  authorize,
  assertAdministrator,
} from "./access/authentication.ts";
import { authorizeLimited, formatLimit, type LimitedAccess } from "./access/limited-access.ts";
import { type BodyClient, parseMediaType, assertNoBody, parseJson, readBody } from "./body.ts";
import { holdChange, rehearseUseCase } from "./held-changes/service.ts";
import { getHoldSeconds, HeldChange } from "./held-changes/schema.ts";
import { createErrorResponse } from "./responses/error-response.ts";
import { parseIdempotencyKey, executeOnce, routeOf, acceptsIdempotencyKey } from "./idempotency.ts";
import { parseQuery } from "./query.ts";
import { consumeLimit } from "./access/rate-limit.ts";
import { type Principal, organizationParameter } from "./access/session.ts";
import type { RequestContext } from "./request-context.ts";
import { isRead, originOf } from "./request.ts";
import type { RequestServices } from "./services.ts";
import {
  readIfMatch,
  type SignedInContext,
  type VisitorContext,
  buildVisitorContext,
} from "./visitor-context.ts";

/** Query and body of a route without either. An empty object is accepted, because some clients always send `{}`. */
const NoQuery = z.strictObject({});
const NoBody = z.strictObject({}).optional();

/**
 * Required access: to read or write an organization's data, to administer the appliance, to be signed in, or none.
 */
type Access = "read" | "write" | "administrator" | "person" | "anyone";

/** Declaration of one route: access, schemas and texts for the OpenAPI document. */
export type Endpoint = EndpointDeclaration & { response: z.ZodType; useCase: UseCase };

type EndpointDeclaration<
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  X extends Access = Access,
  U extends readonly string[] = readonly string[],
> = {
  /** Unique operation ID in the OpenAPI document. */
  name: string;
  access: X;
  /** Access of callers who are limited to monitor groups. */
  limited?: LimitedAccess | undefined;
  /** Required role, if it is higher than viewer for reads or member for writes. */
  role?: Role;
  summary: string;
  description?: string;
  query?: Q;
  body?: B;
  /** Media types of a body that the use case receives as bytes, instead of JSON. */
  upload?: U;
  /** Maximum bytes of a body, if higher than usual. The path must also be in `longBodies` of `http/body.ts`. */
  maxBodyBytes?: number;
  /** Media type of a stream, for which `handle` returns a Response. */
  streams?: "text/event-stream" | "application/vnd.sqlite3" | "text/csv" | "application/x-ndjson";
  /** Media type of a response that `handle` returns as bytes, instead of JSON. Browsers save a `File`. */
  bytes?: "application/pdf" | "image/jpeg" | "text/csv";
  /** Whether the response can be long. It is then compressed, and rendered in slices of the event loop. */
  long?: boolean;
  /** Status of the response. 201 adds a Location header. */
  status?: 200 | 201;
  /** False if a created record has no path, and thus no Location header. */
  isLocated?: boolean;
  /**
   * Caches the response until the next write to any table, or to the listed tables. The response must depend only on
   * rows, URL, scope and hour.
   */
  cached?: true | readonly string[];
  /**
   * Maximum duration of a use case with effects outside the database, in seconds. It claims its Idempotency-Key
   * before it runs.
   */
  timeoutSeconds?: number;
  /** Error codes in addition to those of all routes, and of all routes with a path parameter. */
  errors?: readonly ("NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED")[];
};

/** Every route of an organization's data declares the access of limited callers. */
type DeclaresLimit<X extends Access> = X extends "read" | "write"
  ? { limited: LimitedAccess }
  : unknown;

/** Schema of the whole response, or of its `data`. It drops undeclared fields, which also protects secrets. */
type Returns<R extends z.ZodType, D extends z.ZodType> =
  { response: R; data?: never } | { data: D; response?: never };

/** Data of a response, whose lists can be streamed from the database. */
type WithStreamed<T> =
  | T
  | (T extends readonly (infer E)[] ? StreamedList<E> : never)
  | { [K in keyof T]: T[K] extends readonly (infer E)[] ? ListOrStream<E> : T[K] };

type Declaration<
  Path extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  X extends Access,
  U extends readonly string[],
  D extends z.ZodType,
> = EndpointDeclaration<Q, B, X, U> &
  Returns<R, D> & {
    handle: (
      input: Input<Path, Q, B, X>,
    ) => Promise<
      [D] extends [never] ? WithStreamed<z.input<R>> | Response : WithStreamed<z.input<D>>
    >;
  };

/** Response to a request that is held. */
const heldShape = { response: dataSchema(HeldChange), status: 202 as const };

const runInReadTurn = createOrganizationTurns();
/** Never rejects, because the write has been stored. */
const runInWriteTurn = createOrganizationTurns(Infinity);

/** Maximum duration of a long response on a busy machine, in seconds. */
export const longResponseSeconds = 60;

type Upload = { type: string; bytes: Uint8Array };
const noUpload: Upload = { type: "", bytes: new Uint8Array() };

type ParsedRequest<Q extends z.ZodType, B extends z.ZodType> = {
  query: z.output<Q>;
  body: z.output<B>;
  /** Body of a route with `upload`; otherwise empty. */
  upload: Upload;
};

type Input<
  Path extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
  X extends Access,
> = Caller<X> &
  ParsedRequest<Q, B> & {
    /** Parameters of the path, before validation. */
    params: ResolvePath<Path>;
    services: RequestServices;
    request: Request;
    requestContext: RequestContext;
  };

/** Context of the caller. Data belongs to an organization; people and sessions do not. */
type Caller<X extends Access> = X extends "read" | "write"
  ? { scope: Scope }
  : { context: X extends "administrator" | "person" ? SignedInContext : VisitorContext };

type AnyCaller =
  { principal: Principal; scope: Scope } | { principal: null; context: VisitorContext };
type LimitedCaller = { principal: Principal };

const isLimited = (caller: AnyCaller): caller is Extract<AnyCaller, LimitedCaller> =>
  caller.principal !== null && caller.principal.groupIds !== null;

/** Time after which the caller of a request is identified again. Revocations take effect within a second. */
const reidentifyAfterMs = 250;

/** Subset of Elysia's context that handlers use. */
type HandlerContext<Params = unknown> = {
  request: Request;
  params: Params;
  requestContext: RequestContext;
};

/** Creates the path, handler and hook of a route, for Elysia's `.get(…)` and similar methods. */
export function defineEndpoint<
  const Path extends string,
  Q extends z.ZodType = typeof NoQuery,
  B extends z.ZodType = typeof NoBody,
  R extends z.ZodType = z.ZodType,
  X extends Access = Access,
  U extends readonly string[] = never,
  D extends z.ZodType = never,
>(path: Path, declaration: Declaration<Path, Q, B, R, X, U, D> & DeclaresLimit<X>) {
  const { data, response, handle, ...declared }: Declaration<Path, Q, B, R, X, U, D> = declaration;
  type Context = HandlerContext<ResolvePath<Path>>;
  type Sent = [D] extends [never] ? z.output<R> : { data: z.output<D> };
  let responseSchema: z.ZodType | undefined;
  const spec: Endpoint = {
    ...declared,
    // Created with the first response, because creating all schemas would slow down the start.
    get response() {
      return (responseSchema ??= data === undefined ? (response as R) : dataSchema(data));
    },
    useCase: handle as UseCase,
  };
  const route = new RouteHandler(spec, data !== undefined);
  // Elysia prepares the context by the handler's parameters, so they are destructured. The return type is that of the
  // body, for clients.
  const handler = ({ request, params, requestContext }: Context) =>
    route.serve({ request, params, requestContext }) as unknown as Promise<Sent>;
  const hook = { parse: "none" as const, detail: { endpoint: spec } as object };
  return [path, handler, hook as typeof hook & AcceptedInput<Q, B, U>] as const;
}

/** A use case, without the types of its route. */
type UseCase = (input: unknown) => Promise<unknown>;

/**
 * Serves the requests of a route. Checks access, rate limit, media type, length, JSON and schemas, in this order, and
 * runs the use case.
 */
class RouteHandler {
  readonly #spec: Endpoint;
  /** Whether the use case returns only the `data` of the response. */
  readonly #returnsData: boolean;
  #needsBody: boolean | undefined;

  constructor(spec: Endpoint, returnsData: boolean) {
    this.#spec = spec;
    this.#returnsData = returnsData;
  }

  async serve(context: HandlerContext): Promise<Response> {
    const { request, requestContext } = context;
    const { services, requestId } = requestContext;
    try {
      const caller = identifyCaller(requestContext, request, this.#spec);
      // Awaited only for limited callers, so that all others stay as fast.
      if (isLimited(caller)) await this.#authorizeLimited(context, caller);
      const result = isRead(request)
        ? await this.#read(context, caller)
        : await this.#write(context, caller);
      const response = result instanceof Response ? result : await toResponse(request, result);
      if (caller.principal === null || this.#spec.streams !== undefined)
        response.headers.set("Cache-Control", "no-store");
      else if (caller.principal.role !== null)
        response.headers.set("Cache-Control", "private, no-cache");
      for (const cookie of requestContext.setCookies) response.headers.append("Set-Cookie", cookie);
      return response;
    } catch (error) {
      return createErrorResponse(error, requestId, services.log);
    }
  }

  #authorizeLimited({ params, requestContext }: HandlerContext, { principal }: LimitedCaller) {
    const { store } = requestContext.services;
    const parameters = params as Record<string, string> | undefined;
    return authorizeLimited(store, principal, this.#spec, parameters);
  }

  /** Identifies the caller of a request that takes long. A revoked key, session or right is no longer valid. */
  async #identifyAgain(context: HandlerContext): Promise<AnyCaller> {
    const { request, requestContext } = context;
    await requestContext.authenticateAgain();
    const caller = identifyCaller(requestContext, request, this.#spec, { isCounted: false });
    if (isLimited(caller)) await this.#authorizeLimited(context, caller);
    return caller;
  }

  async #read(context: HandlerContext, caller: AnyCaller): Promise<ApiResponse | Response> {
    const { request, requestContext } = context;
    const { responses, clock } = requestContext.services;
    const { cached } = this.#spec;
    assertNoBody(request);
    const hour = Math.floor(clock() / hourMs);
    const key = `${caller.principal?.organizationId} ${caller.principal?.scope}${formatLimit(caller.principal)} ${hour} ${request.url}`;
    const tables = cached === true ? undefined : cached;
    const known = cached === undefined ? { revision: null } : responses.get(key, tables);
    if ("body" in known) return known;
    this.#extendTimeout(context);
    const parsed = { query: this.#queryOf(context), body: undefined, upload: noUpload };
    const input = buildInput(context, caller, parsed);
    if (this.#spec.streams !== undefined) return this.#stream(request, input);
    if (this.#spec.bytes !== undefined) {
      const bytes = (await this.#spec.useCase(input)) as Uint8Array<ArrayBuffer> | File;
      return createBytesResponse(request, this.#spec.bytes, bytes, this.#spec.long === true);
    }
    const response = await this.#respond(context, caller, input);
    responses.set(key, known, response, tables);
    return response;
  }

  #extendTimeout({ request, requestContext }: HandlerContext) {
    const { timeoutSeconds, long, streams } = this.#spec;
    const canBeLong = isRead(request) && (long === true || streams !== undefined);
    const seconds = timeoutSeconds ?? (canBeLong ? longResponseSeconds : undefined);
    if (seconds !== undefined) requestContext.services.extendTimeout(request, seconds);
  }

  async #stream(request: Request, input: object): Promise<Response> {
    if (request.method !== "HEAD") return (await this.#spec.useCase(input)) as Response;
    return new Response(null, { headers: { "Content-Type": this.#spec.streams ?? "" } });
  }

  async #write(context: HandlerContext, sender: AnyCaller): Promise<ApiResponse | Response> {
    const { request, requestContext } = context;
    const { upload: types, body: bodySchema = NoBody, maxBodyBytes, timeoutSeconds } = this.#spec;
    this.#needsBody ??= types !== undefined || !bodySchema.safeParse(undefined).success;
    const client = identifyBodyClient(requestContext, sender);
    const startedAt = performance.now();
    const bytes = await readBody(request, client, this.#needsBody, types, maxBodyBytes);
    const isLate = performance.now() - startedAt > reidentifyAfterMs;
    const caller = isLate ? await this.#identifyAgain(context) : sender;
    this.#extendTimeout(context);
    const isJson = types === undefined && (this.#needsBody || bytes.length > 0);
    const json = isJson ? await parseJson(bytes) : undefined;
    const upload = types ? { type: parseMediaType(request), bytes } : noUpload;
    const query = this.#queryOf(context);
    const parsed = { query, body: parse(bodySchema, json), upload };
    const hold = getHoldSeconds(this.#spec.query, query);
    const respond = (by: AnyCaller) =>
      hold > 0 && by.principal !== null
        ? this.#hold(context, by.scope, parsed, { seconds: hold, change: json ?? {} })
        : this.#respond(context, by, buildInput(context, by, parsed));
    const key = acceptsIdempotencyKey(request.method, this.#spec.access)
      ? parseIdempotencyKey(request)
      : null;
    if (key === null || caller.principal === null) return respond(caller);
    const { principal, scope } = caller;
    const keyed = {
      method: request.method,
      route: routeOf(request),
      idempotencyKey: key,
      query: new URL(request.url).search,
      body: bytes,
      isClaimed: timeoutSeconds !== undefined,
    };
    const buildResponse = (data: object) =>
      isStreamed(data)
        ? buildUnreadResponse(request, this.#spec, data)
        : buildApiResponse(request, hold > 0 ? heldShape : this.#spec, { data });
    return executeOnce(requestContext, principal, keyed, buildResponse, (remember) =>
      respond({ principal, scope: { ...scope, remember } }),
    );
  }

  /** Rehearses the use case, so that its errors appear now, and stores the request for later. */
  async #hold(
    context: HandlerContext,
    scope: Scope,
    parsed: object,
    { seconds, change }: { seconds: number; change: unknown },
  ): Promise<ApiResponse> {
    const rehearsal = { ...scope, isRehearsal: true, remember: null };
    // Elysia passes no parameters for a path without any.
    const params = context.params ?? {};
    const input = { ...parsed, scope: rehearsal, params };
    const response = await rehearseUseCase(() => this.#spec.useCase(input));
    const operation = { name: this.#spec.name, params, change };
    const heldChange = await holdChange(scope, operation, response, seconds);
    return buildApiResponse(context.request, heldShape, { data: heldChange });
  }

  #queryOf({ request, requestContext }: HandlerContext): unknown {
    const except = requestContext.session === null ? undefined : organizationParameter;
    return parseQuery(request.url, this.#spec.query ?? NoQuery, except);
  }

  async #respond(context: HandlerContext, caller: AnyCaller, input: object): Promise<ApiResponse> {
    const result = await this.#spec.useCase(input);
    if (result instanceof Response)
      throw new Error(
        "The use case returned a Response, but its route declares no stream: no schema has filtered it.",
      );
    const payload = this.#returnsData ? { data: result } : result;
    if (isStreamed(payload)) return this.#respondInTurn(context, caller, payload);
    const isLong = this.#spec.long === true || (this.#returnsData && hasLongList(result));
    const render = isLong ? buildLongResponse : buildApiResponse;
    return render(context.request, this.#spec, payload);
  }

  /** Renders a response that is streamed from the database, one at a time per organization. */
  async #respondInTurn(
    context: HandlerContext,
    { principal }: AnyCaller,
    payload: unknown,
  ): Promise<ApiResponse> {
    const { request, requestContext } = context;
    const organizationId = principal?.organizationId ?? "";
    requestContext.services.extendTimeout(request, longResponseSeconds);
    const turn = { organizationId, signal: request.signal };
    const runInTurn = isRead(request) ? runInReadTurn : runInWriteTurn;
    const response = await runInTurn(turn, () =>
      buildStreamedResponse(request, this.#spec, payload),
    );
    const { body } = response;
    if (typeof body === "string") return { ...response, sender: organizationId };
    const identifyAgain = () => this.#identifyAgain(context);
    return {
      ...response,
      body: () => checkWhileSending(body(), identifyAgain),
      sender: organizationId,
    };
  }
}

/** Cuts a response off when its reader loses the right to it, because its rest is read from the database later. */
async function* checkWhileSending(chunks: AsyncIterable<string>, check: () => Promise<unknown>) {
  let checkedAt = performance.now();
  for await (const chunk of chunks) {
    if (performance.now() - checkedAt > reidentifyAfterMs) {
      await check();
      checkedAt = performance.now();
    }
    yield chunk;
  }
}

/** Creates the input of a use case. `identifyCaller` has verified that the caller has the declared type. */
function buildInput(
  { request, params, requestContext }: HandlerContext,
  caller: AnyCaller,
  parsed: object,
) {
  const { services } = requestContext;
  return { ...parsed, ...caller, params, services, request, requestContext };
}

/**
 * Query and body of a route, for the types of Elysia and of the admin page's client. Elysia receives no schema,
 * because it would validate before access, rate limit and media type are checked.
 */
type AcceptedInput<Q extends z.ZodType, B extends z.ZodType, U extends readonly string[]> = {
  query: StandardSchema<z.input<Q>>;
  body: StandardSchema<[U] extends [never] ? z.input<B> : Blob>;
};

type StandardSchema<T> = { "~standard": { types?: { input: T; output: T } } };

function identifyBodyClient(requestContext: RequestContext, { principal }: AnyCaller): BodyClient {
  if (principal !== null) return { organizationId: principal.organizationId };
  const { services, address, session } = requestContext;
  return { address, isKnown: session !== null || services.knownNetworks.has(address) };
}

/** Identifies and authorizes the caller. Throws UNAUTHORIZED, FORBIDDEN or RATE_LIMITED. */
function identifyCaller(
  requestContext: RequestContext,
  request: Request,
  { access, role }: Endpoint,
  { isCounted = true } = {},
): AnyCaller {
  const { services } = requestContext;
  if (access === "read" || access === "write") {
    const principal = resolvePrincipal(requestContext, request);
    if (isCounted) authorize(services, principal, access, role);
    else assertPermitted(principal, access, role);
    return {
      principal,
      // Created on access, because cached responses don't need it.
      get scope() {
        return buildRequestScope(requestContext, principal, request);
      },
    };
  }
  if (access !== "anyone") {
    const session = getSignedInSession(requestContext);
    if (access === "administrator") assertAdministrator(session);
    if (isCounted) consumeLimit(services.personLimit, session.person.id);
  }
  return { principal: null, context: buildVisitorContext(requestContext, request) };
}

/** Creates the scope of a use case, in the organization of the principal. */
function buildRequestScope(
  { services, requestId, tool }: RequestContext,
  { organizationId, actor, scope, groupIds }: Principal,
  request: Request,
): Scope {
  return {
    ...buildScope(services, organizationId, actor),
    groupIds,
    mayWrite: scope === "write",
    requestId,
    tool,
    get origin() {
      return originOf(request);
    },
    ifMatch: readIfMatch(request),
    get signal() {
      return request.signal;
    },
  };
}
