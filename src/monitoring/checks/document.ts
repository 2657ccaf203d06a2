import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { templateOf } from "../../http/openapi.ts";
import { referencesTo } from "../../http/openapi-errors.ts";
import { pushPath, PushQuery } from "./push.ts";

function operation(operationId: string, summary: string): ZodOpenApiOperationObject {
  return {
    operationId,
    summary,
    description:
      "The path is in the monitor's `pushUrl`; its token is the credential, so no key is needed. Answers once the report is stored. `status=down` counts as a failed check. While the monitor is paused nothing is stored, and the answer says so.",
    tags: ["Monitors"],
    security: [],
    requestParams: { path: z.object({ token: z.string() }), query: PushQuery },
    responses: {
      "200": {
        description: "Taken.",
        content: {
          "application/json": {
            schema: z.object({ ok: z.literal(true), paused: z.literal(true).optional() }),
          },
        },
      },
      ...referencesTo([
        "BAD_REQUEST",
        "NOT_FOUND",
        "VALIDATION_ERROR",
        "RATE_LIMITED",
        "UNAVAILABLE",
      ]),
    },
  };
}

/** What the API's document says about push URLs. */
export const pushOperations: ZodOpenApiPathsObject = {
  [templateOf(pushPath)]: {
    get: operation("reportByUrl", "Report to a push monitor"),
    post: operation("postReport", "Report to a push monitor by POST"),
  },
};
