import { z } from "zod";
import type { Scope } from "../events/scope.ts";
import type { Role } from "../core/roles.ts";
import { parse } from "../core/validation.ts";
import { type Answer, answerOf, respond } from "./answer.ts";
import { type BodyClient, mediaTypeOf, parseJson, readBody } from "./body.ts";
import { type Appliance, type Call, callOf, type Principal } from "./call.ts";
import { pathOf } from "./request-path.ts";
import { errorAnswer } from "./error-body.ts";
import { admit, mustAdminister, principalOf, rateLimited, signedIn } from "./gate.ts";
import { idempotencyKeyOf, onlyOnce } from "./idempotency.ts";
import { parseQuery } from "./query.ts";
import { organizationParameter } from "./session.ts";
import { ifMatchOf, originOf, type PersonVisit, type Visit, visitOf } from "./visit.ts";

/** The query and the body of a route that takes none; clients that always send `{}` are fine. */
const NoQuery = z.strictObject({});
const NoBody = z.strictObject({}).optional();

/** For whom a route is: those who may read or write an organization's data, administrators of the appliance, anybody signed in, or anybody at all. */
export type Access = "read" | "write" | "administrator" | "person" | "anyone";

/** Everything that is declared about one route: who may, what goes in, what comes out, what the document says. */
export type Endpoint<
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
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
  /** Drops whatever it does not declare: the secrecy filter of every route. */
  answer: A;
  /** The media type of an answer that goes on for as long as the client reads: `use` then returns the Response itself. */
  streams?: "text/event-stream" | "application/vnd.sqlite3";
  /** Whether the answer is worth compressing. */
  packed?: boolean;
  /** 201 makes the answer carry a Location. */
  status?: 200 | 201;
  /** False for what has no address of its own. */
  isLocated?: boolean;
  /** Whether the answer depends on stored rows, the URL and who may write alone, so that it holds until something is written. */
  cached?: boolean;
  /** How long an answer may take, in seconds, where that is longer than a connection may be silent. */
  takesSeconds?: number;
  /** Error codes beyond those that every route may give. */
  errors?: readonly ("NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED")[];
};

type Upload = { type: string; bytes: Uint8Array };
const noUpload: Upload = { type: "", bytes: new Uint8Array() };

type Input<Q extends z.ZodType, B extends z.ZodType, X extends Access> = Given<X> & {
  query: z.output<Q>;
  body: z.output<B>;
  /** The body of a route that declares one; else empty. */
  upload: Upload;
  /** The `:id` of the path, whatever it looks like. */
  id: string;
  /** The path's other one, such as `:subscriberId`; empty where there is none. */
  childId: string;
  appliance: Appliance;
  request: Request;
};

/** Data belong to an organization; people and their sessions to none. */
type Given<X extends Access> = X extends "read" | "write"
  ? { scope: Scope }
  : { visit: X extends "administrator" | "person" ? PersonVisit : Visit };

/** Who asks: on behalf of an organization, or of themselves alone. */
type Caller = { principal: Principal; scope: Scope } | { principal: null; visit: Visit };

type Ids = Pick<Input<z.ZodType, z.ZodType, Access>, "id" | "childId">;

type Context = { request: Request; params?: Record<string, string> };

/**
 * The handler and hook of a route, to be spread into Elysia's `.get(path, …)`. The steps follow the
 * order of the API: scope, rate limit, media type, length, JSON, schema, then the use case.
 */
export function endpoint<
  Q extends z.ZodType = typeof NoQuery,
  B extends z.ZodType = typeof NoBody,
  A extends z.ZodType = z.ZodType,
  X extends Access = Access,
  U extends readonly string[] = never,
>(spec: Endpoint<Q, B, A, X, U>, use: (input: Input<Q, B, X>) => Promise<z.input<A> | Response>) {
  const querySchema = spec.query ?? NoQuery;
  const bodySchema = spec.body ?? NoBody;

  async function run(request: Request, ids: Ids): Promise<Response> {
    const call = callOf(request);
    const { appliance, requestId } = call;
    try {
      const caller = callerOf(call, request, spec);
      const reads = request.method === "GET" || request.method === "HEAD";
      const answer = await (reads
        ? read(request, call, caller, ids)
        : write(request, call, caller, ids));
      const response = answer instanceof Response ? answer : respond(request, answer, requestId);
      if (caller.principal === null || spec.streams !== undefined)
        response.headers.set("Cache-Control", "no-store");
      else if (caller.principal.role !== null)
        response.headers.set("Cache-Control", "private, no-cache");
      if (call.cookie !== null) response.headers.append("Set-Cookie", call.cookie);
      return response;
    } catch (error) {
      return errorAnswer(error, requestId, appliance.log);
    }
  }

  async function read(request: Request, call: Call, caller: Caller, ids: Ids) {
    const { answers } = call.appliance;
    const key = `${caller.principal?.organizationId} ${caller.principal?.scope} ${request.url}`;
    const known = spec.cached === true ? answers.find(key) : { revision: null };
    if ("body" in known) return known;
    const query = queryOf(request, call);
    const body = undefined as z.output<B>;
    const given = { query, body, upload: noUpload, ...ids };
    if (spec.streams !== undefined)
      return request.method === "HEAD"
        ? new Response(null, { headers: { "Content-Type": spec.streams } })
        : ((await use(inputOf(request, call, caller, given))) as Response);
    const answer = await done(request, call, caller, given);
    answers.keep(key, known, answer);
    return answer;
  }

  async function write(
    request: Request,
    call: Call,
    caller: Caller,
    ids: Ids,
  ): Promise<Answer | Response> {
    const takesBody = spec.body !== undefined || spec.upload !== undefined;
    const bytes = await readBody(request, bodyClientOf(call, caller), takesBody, spec.upload);
    const upload = spec.upload ? { type: mediaTypeOf(request), bytes } : noUpload;
    if (spec.takesSeconds !== undefined) call.appliance.giveTime(request, spec.takesSeconds);
    const isJson = spec.upload === undefined && (takesBody || bytes.length > 0);
    const json = isJson ? parseJson(bytes) : undefined;
    const query = queryOf(request, call);
    const body = parse(bodySchema, json) as z.output<B>;
    const given = { query, body, upload, ...ids };
    const key = request.method === "POST" ? idempotencyKeyOf(request) : null;
    if (key === null || caller.principal === null) return done(request, call, caller, given);
    const { principal, scope } = caller;
    const remembered = (data: object) => answerOf(request, spec, { data });
    return onlyOnce(call, principal, pathOf(request), key, bytes, remembered, (remember) =>
      done(request, call, { principal, scope: { ...scope, remember } }, given),
    );
  }

  function queryOf({ url }: Request, { session }: Call) {
    const except = session === null ? undefined : organizationParameter;
    return parseQuery(url, querySchema, except) as z.output<Q>;
  }

  type Parsed = Omit<Input<Q, B, Access>, "appliance" | "request" | "scope" | "visit">;

  function inputOf(request: Request, { appliance }: Call, caller: Caller, given: Parsed) {
    // The caller has what the route's access asks for: `callerOf` saw to it.
    return { ...given, ...caller, appliance, request } as unknown as Input<Q, B, X>;
  }

  async function done(
    request: Request,
    call: Call,
    caller: Caller,
    given: Parsed,
  ): Promise<Answer> {
    const answer = await use(inputOf(request, call, caller, given));
    if (answer instanceof Response)
      throw new Error("Only a stream makes its answer by itself; no schema has seen this one.");
    return answerOf(request, spec, answer);
  }

  // The answer really is a Response; its type says what the client finds in it.
  const handler = ({ request, params = {} }: Context) =>
    run(request, idsOf(params)) as unknown as Promise<z.output<A>>;
  const hook = { parse: "none" as const, detail: { endpoint: spec } as object };
  return [handler, hook as typeof hook & Accepts<Q, B, U>] as const;
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

function idsOf({ id = "", ...others }: Record<string, string>): Ids {
  return { id, childId: Object.values(others)[0] ?? "" };
}

function bodyClientOf({ appliance, address, session }: Call, { principal }: Caller): BodyClient {
  if (principal !== null) return { organizationId: principal.organizationId };
  return { address, isKnown: session !== null || appliance.knownNetworks.has(address) };
}

/** Throws whatever keeps the caller from this route. */
function callerOf(call: Call, request: Request, { access, role }: Endpoint): Caller {
  if (access === "read" || access === "write") {
    const principal = principalOf(call, request);
    admit(call.appliance, principal, access, role);
    return { principal, scope: scopeOf(call, principal, request) };
  }
  if (access === "administrator") mustAdminister(signedIn(call));
  if (access === "administrator" || access === "person") {
    const wait = call.appliance.personLimit.take(signedIn(call).person.id);
    if (wait > 0) throw rateLimited(wait);
  }
  return { principal: null, visit: visitOf(call, request) };
}

/** What a use case of this principal's organization runs in. */
export function scopeOf(
  { appliance, requestId }: Call,
  principal: Principal,
  request: Request,
): Scope {
  return {
    store: appliance.store,
    clock: appliance.clock,
    vault: appliance.vault,
    targets: appliance.targets,
    ownHosts: appliance.ownHosts,
    limits: appliance.limits,
    organizationId: principal.organizationId,
    actor: principal.actor,
    mayWrite: principal.scope === "write",
    requestId,
    get origin() {
      return originOf(request);
    },
    ifMatch: ifMatchOf(request),
    remember: null,
  };
}
