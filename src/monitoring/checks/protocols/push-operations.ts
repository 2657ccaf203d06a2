/** Describes the push URLs in the OpenAPI document. */
import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { toPathTemplate } from "../../../http/openapi.ts";
import { buildErrorReferences } from "../../../http/openapi-errors.ts";
import { pushPath } from "../push.ts";

/** Fields of a report. Only an invalid `status` is an error. Other invalid values are corrected or ignored. */
const Report = z.object({
  status: z.enum(["up", "down"]).default("up").optional(),
  msg: z.string().optional().meta({
    description:
      "Message of the job. Control characters become spaces; text after 500 characters is cut.",
  }),
  latency_ms: z.number().min(0).max(999_999_999).optional().meta({
    description: "Duration of the job. Fractions are rounded; anything but a number is ignored.",
  }),
});

const reportBody = {
  description:
    "The fields can be in the body instead. If `status` is sent more than once, `down` wins.",
  required: false,
  content: Object.fromEntries(
    ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"].map((type) => [
      type,
      { schema: Report },
    ]),
  ),
};

function buildOperation(
  operationId: string,
  summary: string,
  hasBody: boolean,
): ZodOpenApiOperationObject {
  return {
    operationId,
    summary,
    description:
      "The path is in the monitor's `pushUrl`; its token is the credential, so no key is needed. Responds once the report is stored. `status=down` counts as a failed check. Unknown parameters are ignored. While the monitor is paused nothing is stored, and the response has `paused`.",
    tags: ["Monitors"],
    security: [],
    requestParams: { path: z.object({ token: z.string() }), query: Report },
    ...(hasBody && { requestBody: reportBody }),
    responses: {
      "200": {
        description: "The report is stored.",
        content: {
          "application/json": {
            schema: z.object({ ok: z.literal(true), paused: z.literal(true).optional() }),
          },
        },
      },
      ...buildErrorReferences([
        "BAD_REQUEST",
        "NOT_FOUND",
        "VALIDATION_ERROR",
        ...(hasBody
          ? (["INVALID_JSON", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const)
          : []),
        "RATE_LIMITED",
        "UNAVAILABLE",
      ]),
    },
  };
}

function buildPing(operationId: string, summary: string): ZodOpenApiOperationObject {
  return {
    operationId,
    summary,
    description:
      "In the format of Healthchecks.io. The path is in the monitor's `pingUrl`; `/start`, `/fail`, `/log` or an exit status can follow. With a key of the scope `ping`, the path is `/ping/KEY/SLUG`, and `create=1` creates a push monitor for an unknown slug. The first 10,000 bytes of a body are stored. Also by HEAD, which has the same effect.",
    tags: ["Monitors"],
    security: [],
    requestParams: {
      path: z.object({ code: z.string() }),
      query: z.object({
        rid: z.uuid().optional().meta({ description: "The same for all reports of one run." }),
      }),
    },
    responses: {
      "200": {
        description: "The ping is stored: `OK`. 201 and `Created` if a monitor was created.",
        content: { "text/plain": { schema: z.string() } },
      },
      "400": {
        description: "`invalid url format` or `invalid uuid format`",
        content: { "text/plain": { schema: z.string() } },
      },
      "404": {
        description: "`not found`",
        content: { "text/plain": { schema: z.string() } },
      },
      "409": {
        description: "`ambiguous slug`",
        content: { "text/plain": { schema: z.string() } },
      },
      ...buildErrorReferences(["RATE_LIMITED", "UNAVAILABLE"]),
    },
  };
}

/** Operations of push URLs in the OpenAPI document. */
export const pushOperations: ZodOpenApiPathsObject = {
  [toPathTemplate(pushPath)]: {
    get: buildOperation("reportByUrl", "Report to a push monitor", false),
    post: buildOperation("postReport", "Report to a push monitor by POST", true),
  },
  "/ping/{code}": {
    get: buildPing("sendPing", "Ping a push monitor"),
    post: buildPing("postPing", "Ping a push monitor by POST"),
  },
};
