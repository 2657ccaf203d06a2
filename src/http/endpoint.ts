import { z } from "zod";
import type { Scope } from "../audit/scope.ts";
import { parse } from "../base/validation.ts";
import { type Answer, answerOf, respond } from "./answer.ts";
import { mediaTypeOf, parseJson, readBody } from "./body.ts";
import { type Appliance, type Call, callOf, pathOf, type Principal } from "./call.ts";
import { errorAnswer } from "./error-body.ts";
import { admit } from "./gate.ts";
import { idempotencyKeyOf, onlyOnce } from "./idempotency.ts";
import { parseQuery } from "./query.ts";

/** The query and the body of a route that takes none; clients that always send `{}` are fine. */
const NoQuery = z.strictObject({});
const NoBody = z.strictObject({}).optional();

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
  /** Media types of a body that is taken as it is, instead of JSON. */
  upload?: readonly string[];
  /** Drops whatever it does not declare: the secrecy filter of every route. */
  answer: A;
  /** 201 makes the answer carry a Location. */
  status?: 200 | 201;
  /** Whether the answer depends on stored rows and the URL alone, so that it holds until something is written. */
  cached?: boolean;
  /** How long an answer may take, in seconds, where that is longer than a connection may be silent. */
  takesSeconds?: number;
  /** Error codes beyond those that every route may give. */
  errors?: readonly ("NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED")[];
};

type Upload = { type: string; bytes: Uint8Array };
const noUpload: Upload = { type: "", bytes: new Uint8Array() };

type Input<Q extends z.ZodType, B extends z.ZodType> = {
  scope: Scope;
  query: z.output<Q>;
  body: z.output<B>;
  /** The body of a route that declares one; else empty. */
  upload: Upload;
  /** The `:id` of the path, whatever it looks like. */
  id: string;
  appliance: Appliance;
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
      const scope = scopeOf(call, principal, request);
      const answer = await (spec.access === "read"
        ? read(request, appliance, scope, id)
        : write(request, call, principal, scope, id));
      return answer instanceof Response ? answer : respond(request, answer, requestId);
    } catch (error) {
      return errorAnswer(error, requestId, appliance.log);
    }
  }

  async function read(request: Request, appliance: Appliance, scope: Scope, id: string) {
    const { answers } = appliance;
    const key = `${scope.organizationId} ${request.url}`;
    const known = spec.cached === true ? answers.find(key) : { revision: null };
    if ("body" in known) return known;
    const query = parseQuery(request.url, querySchema) as z.output<Q>;
    const body = undefined as z.output<B>;
    const input = { scope, query, body, upload: noUpload, id, appliance };
    const answer = answerOf(request, spec, await use(input));
    answers.keep(key, known, answer);
    return answer;
  }

  async function write(
    request: Request,
    call: Call,
    principal: Principal,
    scope: Scope,
    id: string,
  ): Promise<Answer | Response> {
    const takesBody = spec.body !== undefined || spec.upload !== undefined;
    const bytes = await readBody(request, takesBody, spec.upload);
    const upload = spec.upload ? { type: mediaTypeOf(request), bytes } : noUpload;
    if (spec.takesSeconds !== undefined) call.appliance.giveTime(request, spec.takesSeconds);
    const isJson = spec.upload === undefined && (takesBody || bytes.length > 0);
    const json = isJson ? parseJson(bytes) : undefined;
    const query = parseQuery(request.url, querySchema) as z.output<Q>;
    const body = parse(bodySchema, json) as z.output<B>;
    const { appliance } = call;
    const done = async (scope: Scope) =>
      answerOf(request, spec, await use({ scope, query, body, upload, id, appliance }));
    const key = request.method === "POST" ? idempotencyKeyOf(request) : null;
    if (key === null) return done(scope);
    const remembered = (data: object) => answerOf(request, spec, { data });
    return onlyOnce(call, principal, pathOf(request), key, bytes, remembered, (remember) =>
      done({ ...scope, remember }),
    );
  }

  // The answer really is a Response; its type says what the client finds in it.
  const handler = ({ request, params }: Context) =>
    run(request, params?.["id"] ?? "") as unknown as Promise<z.output<A>>;
  return [handler, { parse: "none" as const, detail: { endpoint: spec } as object }] as const;
}

function scopeOf({ appliance, requestId }: Call, principal: Principal, request: Request): Scope {
  return {
    store: appliance.store,
    clock: appliance.clock,
    vault: appliance.vault,
    targets: appliance.targets,
    organizationId: principal.organizationId,
    actor: { type: "api-key", id: principal.keyId, name: principal.keyName },
    requestId,
    get origin() {
      return `${request.url.slice(0, request.url.indexOf(":"))}://${request.headers.get("host")}`;
    },
    ifMatch: request.method === "POST" ? null : request.headers.get("if-match"),
    remember: null,
  };
}
