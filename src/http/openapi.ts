import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject } from "zod-openapi";
import type { ErrorCode } from "../base/errors.ts";
import { Id } from "../base/fields.ts";
import type { Endpoint } from "./endpoint.ts";
import { statusOf } from "./error-body.ts";

/** A route as Elysia lists it; those of the API carry their endpoint. */
export type Route = { method: string; path: string; hooks: { detail?: { endpoint?: Endpoint } } };

const errorTexts: Record<ErrorCode, string> = {
  BAD_REQUEST: "The request is malformed, such as one with two Host headers.",
  INVALID_JSON: "The body is unreadable JSON, invalid UTF-8, nested deeper than 32, or empty.",
  UNAUTHORIZED: "The API key is missing, malformed, wrong, revoked or expired.",
  FORBIDDEN: "The key may only read.",
  NOT_FOUND: "The path, or a record it or the body names, does not exist in the organization.",
  METHOD_NOT_ALLOWED: "The path does not take this method; `Allow` lists those it takes.",
  CONFLICT: "The state of the record, or a request still in flight, does not allow it.",
  PRECONDITION_FAILED: "The record no longer is what If-Match names.",
  PAYLOAD_TOO_LARGE: "The body has more than 256 KiB.",
  UNSUPPORTED_MEDIA_TYPE: "The body is not application/json in UTF-8, or is compressed.",
  MISDIRECTED_REQUEST: "The admin page does not answer under this host name.",
  VALIDATION_ERROR: "The JSON is readable but values are wrong; `details` names the fields.",
  IDEMPOTENCY_KEY_REUSED: "The Idempotency-Key was used with another body.",
  RATE_LIMITED: "Too many requests; `Retry-After` says how many seconds to wait.",
  INTERNAL: "Our fault; the log has the cause under the request id.",
  UNAVAILABLE: "The database can't be written now: disk full, shutting down, or no quorum.",
};

const errorCodes = Object.keys(errorTexts) as [ErrorCode, ...ErrorCode[]];

const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(errorCodes).meta({
        description: errorCodes.map((code) => `- \`${code}\`: ${errorTexts[code]}`).join("\n"),
      }),
      message: z
        .string()
        .meta({ description: "What is wrong and what would be right, for people." }),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .max(20)
        .optional()
        .meta({ description: "The wrong fields, at most 20 of them; never the values sent." }),
      requestId: z.string().meta({ description: "The same as in `X-Request-Id`." }),
    }),
  })
  .meta({ id: "Error" });

function errorExample(code: ErrorCode) {
  const details =
    code === "VALIDATION_ERROR" ? [{ path: "title", message: "is required" }] : undefined;
  const requestId = "01a1fb99-1ee5-7270-a960-0717e3b3b9ec";
  return { error: { code, message: errorTexts[code], ...(details && { details }), requestId } };
}

/** Every code that a route may answer with: what the gate gives to all, and its own. */
function codesOf(method: string, { access, body, errors = [] }: Endpoint): ErrorCode[] {
  const codes: ErrorCode[] = ["BAD_REQUEST", "UNAUTHORIZED", "VALIDATION_ERROR", "RATE_LIMITED"];
  if (access === "write") codes.push("FORBIDDEN", "UNAVAILABLE");
  if (access === "write" || body !== undefined)
    codes.push("INVALID_JSON", "UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE");
  if (method === "POST") codes.push("CONFLICT", "IDEMPOTENCY_KEY_REUSED");
  return [...new Set([...codes, ...errors, "INTERNAL" as const])];
}

// A wrong method has no operation to refer from, and 421 belongs to the admin page.
const referred = errorCodes.filter(
  (code) => code !== "METHOD_NOT_ALLOWED" && code !== "MISDIRECTED_REQUEST",
);
const codesByStatus = Map.groupBy(referred, (code) => statusOf[code]);

const header = (description: string) => z.string().optional().meta({ description });
const requestIdHeader = z.string().meta({ description: "Names the request in the log." });

function headersGiven(status: number): Record<string, z.ZodType> {
  const given: Record<string, z.ZodType> = { "X-Request-Id": requestIdHeader };
  if (status === 401)
    given["WWW-Authenticate"] = header("The scheme, and whether the key sent was wrong.");
  if (status === 409 || status === 429 || status === 503)
    given["Retry-After"] = header("Whole seconds to wait, where waiting helps.");
  return given;
}

/** One response a status, which every operation that may give it refers to. */
const errorResponses = Object.fromEntries(
  [...codesByStatus].map(([status, codes]) => [
    `Error${status}`,
    {
      description: codes.map((code) => `\`${code}\`: ${errorTexts[code]}`).join(" "),
      headers: z.object(headersGiven(status)),
      content: {
        "application/json": {
          schema: ErrorBody,
          examples: Object.fromEntries(
            codes.map((code) => [code, { summary: code, value: errorExample(code) }]),
          ),
        },
      },
    },
  ]),
);

function referencesTo(codes: readonly ErrorCode[]) {
  const statuses = [...new Set(codes.map((code) => statusOf[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { $ref: `#/components/responses/Error${status}` as const },
    ]),
  );
}

function headersTaken(method: string, spec: Endpoint) {
  const taken: Record<string, z.ZodType> = {};
  if (method === "POST")
    taken["Idempotency-Key"] = header(
      "1 to 255 visible ASCII characters. The answer is kept for 24 h and replayed with `Idempotency-Replayed: true`.",
    );
  if (method === "GET")
    taken["If-None-Match"] = header("ETags you already have; a match answers 304 without a body.");
  if (spec.errors?.includes("PRECONDITION_FAILED"))
    taken["If-Match"] = header(
      "The ETag you read; the write is refused if the record changed since.",
    );
  return taken;
}

function operationOf({ method, path, hooks }: Route, tag: string): ZodOpenApiOperationObject {
  const spec = hooks.detail?.endpoint;
  if (spec === undefined) throw new Error(`${method} ${path} declares no endpoint.`);
  const shape = spec.query instanceof z.ZodObject ? spec.query.shape : {};
  return {
    operationId: spec.name,
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    tags: [tag],
    "x-access": spec.access,
    requestParams: {
      ...(path.includes(":id") && { path: z.object({ id: Id }) }),
      query: z.object(shape),
      header: z.object(headersTaken(method, spec)),
    },
    ...(spec.body && {
      requestBody: { required: true, content: { "application/json": { schema: spec.body } } },
    }),
    responses: {
      [String(spec.status ?? 200)]: {
        description: spec.status === 201 ? "Created." : "Done.",
        headers: z.object({
          ETag: z.string().meta({ description: "Version of this answer." }),
          "X-Request-Id": requestIdHeader,
          ...(method === "POST" && {
            "Idempotency-Replayed": header(
              "`true` where the answer was kept from an earlier request.",
            ),
          }),
          ...(spec.status === 201 && {
            Location: z.string().meta({ description: "Path of the new record." }),
          }),
        }),
        content: { "application/json": { schema: spec.answer } },
      },
      ...(method === "GET" && { "304": { description: "Unchanged since the ETag you sent." } }),
      ...referencesTo(codesOf(method, spec)),
    },
  };
}

const introduction = `Scripts on the LAN talk to Signalbox here. Make a key with
\`signalbox keys create --org SLUG --name NAME\` and send it as \`Authorization: Bearer KEY\`.

- Bodies are JSON in UTF-8, at most 256 KiB. Unknown fields are refused, so that a typo does not pass
  silently; a record's read-only fields are accepted and ignored, so what GET returned can be sent back.
- Timestamps are RFC 3339 in UTC with milliseconds. Durations are whole seconds, latencies milliseconds.
- Lists are newest first. \`page\` and \`per_page\` choose a part; a page past the end is empty.
- Every GET has an \`ETag\`: send it as \`If-None-Match\` to save the body, or as \`If-Match\` with a PATCH
  or DELETE to refuse the write when somebody else was first. A monitor's results don't break an edit.
- HEAD works wherever GET does; OPTIONS lists the methods of a path.`;

const tags: Record<string, { name: string; description: string }> = {
  incidents: { name: "Incidents", description: "Records of service problems and their timelines." },
  "monitor-groups": { name: "Monitor groups", description: "Folders of the Monitors page." },
  monitors: { name: "Monitors", description: "The things being watched." },
  "alert-channels": { name: "Alert channels", description: "Places where alerts go." },
};

/** The OpenAPI 3.1 document of these routes. Throws when a route of the API declares no endpoint. */
export function openApiOf(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    if (!route.path.startsWith("/api/v1/") || route.path.endsWith("/openapi.json")) continue;
    const noun = route.path.split("/")[3] ?? "";
    const path = route.path.replace(/\/$/, "").replace(/:([A-Za-z]+)/g, "{$1}");
    const operation = operationOf(route, tags[noun]?.name ?? noun);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Signalbox API",
      version,
      description: introduction,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This appliance" }],
    security: [{ apiKey: [] }],
    tags: Object.values(tags),
    paths,
    components: {
      responses: errorResponses,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "`sbx_` and 43 letters and digits.",
        },
      },
    },
  });
}
