/** Generates the OpenAPI document from the routes. */
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import type { ErrorCode } from "../core/errors.ts";
import { Id } from "../core/fields.ts";
import { dataSchema } from "../core/paging.ts";
import type { Endpoint } from "./endpoint.ts";
import { HeldChange, HoldQuery } from "./held-changes/schema.ts";
import { acceptsIdempotencyKey } from "./idempotency.ts";
import {
  errorResponses,
  headerSchema,
  buildErrorReferences,
  requestIdHeader,
} from "./openapi-errors.ts";

/** A route as listed by Elysia. Routes of the API have an endpoint. */
export type Route = { method: string; path: string; hooks: { detail?: { endpoint?: Endpoint } } };

/** Returns all error codes of a route. */
function listErrorCodes(
  method: string,
  path: string,
  { access, limited, body, errors = [] }: Endpoint,
): ErrorCode[] {
  const codes: ErrorCode[] = ["BAD_REQUEST", "UNAUTHORIZED", "VALIDATION_ERROR", "RATE_LIMITED"];
  if (access === "write" || limited === "denied" || limited === "people") codes.push("FORBIDDEN");
  if (access === "write") codes.push("UNAVAILABLE");
  if (access === "write" || body !== undefined)
    codes.push("INVALID_JSON", "UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE");
  if (acceptsIdempotencyKey(method, access)) codes.push("CONFLICT", "IDEMPOTENCY_KEY_REUSED");
  if (path.includes(":")) codes.push("NOT_FOUND");
  return [...new Set([...codes, ...errors, "INTERNAL" as const])];
}

function buildRequestHeaders(method: string, spec: Endpoint) {
  return {
    ...(acceptsIdempotencyKey(method, spec.access) && {
      "Idempotency-Key": headerSchema(
        "1 to 255 visible ASCII characters. The response is stored for 24 h and replayed with `Idempotency-Replayed: true`, for any `If-Match`. Above 64 KiB only status and location are stored, and a replay reads the resource again.",
      ),
    }),
    ...(method === "GET" && {
      "If-None-Match": headerSchema("ETags you already have; a match returns 304 without a body."),
    }),
    ...(spec.errors?.includes("PRECONDITION_FAILED") && {
      "If-Match": headerSchema(
        "The ETag you read; the write is rejected if the record changed since.",
      ),
    }),
  };
}

/** Converts a path to OpenAPI's notation. */
export function toPathTemplate(path: string): string {
  return path.replace(/:([A-Za-z]+)/g, "{$1}");
}

function buildIdParameters(path: string) {
  return z.object(
    Object.fromEntries([...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = ""]) => [name, Id])),
  );
}

function buildOperation({ method, path, hooks }: Route, tag: string): ZodOpenApiOperationObject {
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
      ...(path.includes(":") && { path: buildIdParameters(path) }),
      query: z.object(shape),
      header: z.object(buildRequestHeaders(method, spec)),
    },
    ...(spec.body && {
      requestBody: { required: true, content: { "application/json": { schema: spec.body } } },
    }),
    // In OpenAPI 3.1, a binary body has no schema, only media types.
    ...(spec.upload && {
      requestBody: {
        required: true,
        content: Object.fromEntries(spec.upload.map((type) => [type, {}])),
      },
    }),
    responses: {
      [String(spec.status ?? 200)]: {
        description: spec.status === 201 ? "Created." : "Done.",
        headers: z.object({
          ETag: z.string().meta({ description: "Version of this response." }),
          "X-Request-Id": requestIdHeader,
          ...(acceptsIdempotencyKey(method, spec.access) && {
            "Idempotency-Replayed": headerSchema(
              "`true` if the response was stored for an earlier request.",
            ),
          }),
          ...(spec.status === 201 &&
            spec.isLocated !== false && {
              Location: z.string().meta({ description: "Path of the new record." }),
            }),
        }),
        content: spec.bytes
          ? { [spec.bytes]: {} }
          : { "application/json": { schema: spec.response } },
      },
      ...(spec.query === HoldQuery && {
        "202": {
          description: "Held, because `hold` is not 0.",
          headers: z.object({ "X-Request-Id": requestIdHeader }),
          content: { "application/json": { schema: dataSchema(HeldChange) } },
        },
      }),
      ...(method === "GET" && { "304": { description: "Unchanged since the ETag you sent." } }),
      ...buildErrorReferences(listErrorCodes(method, path, spec)),
    },
  };
}

const introduction = `Scripts use this API to work with Signalbox. Create a key with
\`signalbox keys create --org SLUG --name NAME\` and send it as \`Authorization: Bearer KEY\`.

- Bodies are JSON in UTF-8, at most 256\u00a0KiB, or 8\u00a0MiB for a configuration. Logos, favicons and fonts are sent as
  files. Unknown fields are rejected, so that no typo is ignored. Read-only fields of a record are accepted and ignored,
  so you can send back a GET response.
- Timestamps are RFC 3339 in UTC with milliseconds. Durations are whole seconds, latencies milliseconds.
- Lists are newest first. \`page\` and \`per_page\` choose a part. A page past the end is empty.
- Every GET returns an \`ETag\`. Send it as \`If-None-Match\` to save the body. Send it as \`If-Match\` with a PATCH or
  DELETE to reject the write if another client was first. Check results don't count as a change.
- A POST or PATCH with an \`Idempotency-Key\` runs once. Repeating it returns the first response, for any
  \`If-Match\`.
- HEAD works wherever GET does, except at push URLs. OPTIONS lists the methods of a path.`;

type OperationDetails = {
  operationId: string;
  summary: string;
  description?: string;
  asksForKey?: boolean;
  /** Description of the successful response. */
  result: string;
  content: NonNullable<ZodOpenApiResponseObject["content"]>;
  codes: readonly ErrorCode[];
};

function buildOperationalRoute({
  asksForKey = false,
  result,
  content,
  codes,
  ...operation
}: OperationDetails) {
  return {
    get: {
      ...operation,
      tags: ["Operation"],
      ...(!asksForKey && { security: [] }),
      responses: { "200": { description: result, content }, ...buildErrorReferences(codes) },
    },
  };
}

/** Routes that belong to no resource. */
const operationalPaths: ZodOpenApiPathsObject = {
  "/api/v1/openapi.json": buildOperationalRoute({
    operationId: "getOpenApi",
    summary: "Get this document",
    result: "The OpenAPI document.",
    content: { "application/json": { schema: z.object({ openapi: z.literal("3.1.0") }).loose() } },
    codes: ["BAD_REQUEST"],
  }),
  "/api/v1/config.schema.json": buildOperationalRoute({
    operationId: "getConfigSchema",
    summary: "Get the JSON Schema of a configuration",
    description: "Editors check and complete YAML by it.",
    result: "The schema.",
    content: { "application/json": { schema: z.object({ $schema: z.string() }).loose() } },
    codes: ["BAD_REQUEST"],
  }),
  "/healthz": buildOperationalRoute({
    operationId: "getHealth",
    summary: "Get the health of the appliance",
    description:
      "Needs no key and writes nothing. 503 with the status `failing` while results of checks can't be stored. `degraded` while this machine has no network or file handles, so that checks are not judged; `reasons` and `since` say what and since when.",
    result: "The appliance serves requests.",
    content: {
      "application/json": {
        schema: z.object({
          status: z.enum(["ok", "degraded"]),
          reasons: z.array(z.string()).max(3).optional(),
          since: z.string().optional(),
        }),
        example: { status: "ok" },
      },
    },
    codes: ["BAD_REQUEST", "UNAVAILABLE"],
  }),
  "/metrics": buildOperationalRoute({
    operationId: "getMetrics",
    summary: "Get the organization's figures for Prometheus",
    description:
      "With the token of `--metrics-token-file` in place of a key: figures of the whole appliance.",
    asksForKey: true,
    result: "Prometheus' text format 0.0.4.",
    content: {
      "text/plain": { schema: z.string(), example: 'signalbox_build_info{version="0.1.0"} 1\n' },
    },
    codes: ["BAD_REQUEST", "UNAUTHORIZED", "RATE_LIMITED"],
  }),
};

const tags: Record<string, { name: string; description: string }> = {
  incidents: { name: "Incidents", description: "Records of service problems and their timelines." },
  "incident-templates": {
    name: "Incident templates",
    description: "Texts from which an incident or an update can start.",
  },
  "monitor-groups": { name: "Monitor groups", description: "Folders of the Monitors page." },
  monitors: {
    name: "Monitors",
    description:
      "A monitor is a target that is checked. A new monitor is checked at once. `retries` further failures in a row make it `down`, `successThreshold` successes in a row make it `up` again; a check that failed because of the appliance itself is `unknown` and changes nothing.",
  },
  "alert-channels": {
    name: "Alert channels",
    description:
      "Destinations of alerts. A failed delivery is retried for 24 hours. A delivery that can't succeed is flagged at once.",
  },
  "alert-sources": {
    name: "Alert sources",
    description:
      "Tools that send their alerts to an address of Signalbox. Their problems become alerts, which notify channels or an escalation policy, and end when the tool reports their end.",
  },
  "escalation-policies": {
    name: "Escalation policies",
    description:
      "Whom to notify step by step until someone acknowledges an alert. A monitor has its own policy, which it gets from its group when it joins, or the organization's default. `afterMinutes` counts from the start of the alert. A step that reaches nobody is followed by the next one at once. At the end, the `default` channels hear that nobody acknowledged. Degraded monitors don't escalate.",
  },
  "contact-methods": {
    name: "Contact methods",
    description:
      "Ways to reach one person, in the order of their minutes. Each must be verified by a code before escalation policies use it.",
  },
  people: { name: "People", description: "Members of the organization." },
  "maintenance-windows": {
    name: "Maintenance windows",
    description: "Planned work, one-time or recurring. Alerts are held, and status pages show it.",
  },
  "held-changes": {
    name: "Held changes",
    description:
      "Changes that were sent with `hold`. They take effect when the hold is over, and can be undone until then.",
  },
  alerting: {
    name: "Alert rules",
    description: "Which stored alerts other retries, dependencies or policies would have sent.",
  },
  alerts: { name: "Alerts", description: "Sent alerts, with their recipients and outcomes." },
  schedules: {
    name: "On-call schedules",
    description: "Rotations of people in layers, with overrides: who is on call at which time.",
  },
  "on-call": { name: "On call", description: "Who is on call in every schedule." },
  "status-pages": {
    name: "Status pages",
    description:
      "Public pages of chosen groups and monitors. Every organization has one from the beginning, under its own slug.",
  },
  reports: { name: "Reports", description: "Figures of past months, as mails." },
  "deleted-records": {
    name: "Deleted records",
    description: "Records that can be restored until they are permanently removed.",
  },
  config: {
    name: "Configuration",
    description: "Records as code: configuration files, and differences from them.",
  },
  settings: { name: "Settings", description: "What an organization sets for itself." },
};

type JsonSchema = { [key: string]: unknown };

/**
 * Moves `default` into the description. Generators treat a field with a default as required, so a body without the
 * field would not match its type. Response fields need no default.
 */
function describeDefaults(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  const { properties, required, items, additionalProperties, anyOf, oneOf, allOf } =
    schema as JsonSchema;
  const always = new Set(Array.isArray(required) ? required : []);
  for (const [name, field] of Object.entries((properties ?? {}) as Record<string, JsonSchema>)) {
    if (Object.hasOwn(field, "default") && !always.has(name)) {
      const { description = "" } = field as { description?: string };
      const text = `Default: \`${JSON.stringify(field["default"])}\`.`;
      field["description"] =
        description === "" ? text : `${description.replace(/\.?$/, ".")} ${text}`;
    }
    delete field["default"];
    describeDefaults(field);
  }
  for (const part of [items, additionalProperties, anyOf, oneOf, allOf].flat())
    describeDefaults(part);
}

/**
 * Generates the OpenAPI 3.1 document of these routes, of further paths, and of outgoing webhooks. Throws if a route
 * of the API declares no endpoint.
 */
export function buildOpenApi(
  routes: readonly Route[],
  version: string,
  { paths: furtherPaths = {}, webhooks = {} }: Pick<ZodOpenApiObject, "paths" | "webhooks"> = {},
) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    if (!route.path.startsWith("/api/v1/") || route.path.endsWith(".json")) continue;
    const noun = route.path.split("/")[3] ?? "";
    const path = toPathTemplate(route.path.replace(/\/$/, ""));
    const tag = tags[noun];
    if (tag === undefined) throw new Error(`No tag describes /api/v1/${noun}.`);
    const operation = buildOperation(route, tag.name);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  }
  const document = createDocument({
    openapi: "3.1.0",
    info: {
      title: "Signalbox API",
      version,
      description: introduction,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This appliance" }],
    security: [{ apiKey: [] }],
    tags: [...Object.values(tags), { name: "Operation", description: "Health and figures." }],
    paths: { ...paths, ...furtherPaths, ...operationalPaths },
    webhooks,
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
  for (const schema of Object.values(document.components?.schemas ?? {})) describeDefaults(schema);
  return document;
}
