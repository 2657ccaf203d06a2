/** Describes error responses for the OpenAPI document. */
import { z } from "zod";
import type { ErrorCode } from "../core/errors.ts";
import { httpStatuses } from "./responses/error-response.ts";

const errorTexts: Record<ErrorCode, string> = {
  BAD_REQUEST: "The request is malformed, such as one with two Host headers.",
  INVALID_JSON: "The body is unreadable JSON, invalid UTF-8, nested deeper than 32, or empty.",
  UNAUTHORIZED: "The API key is missing, malformed, wrong, revoked or expired.",
  FORBIDDEN: "The key can only read, or is limited to monitor groups.",
  NOT_FOUND: "The path, or a record it or the body names, does not exist in the organization.",
  METHOD_NOT_ALLOWED: "The path does not accept this method; `Allow` lists the accepted ones.",
  CONFLICT: "The state of the record, or a request still in flight, does not allow it.",
  PRECONDITION_FAILED: "The record has changed since the version in If-Match.",
  PAYLOAD_TOO_LARGE: "The body has more than 256 KiB.",
  UNSUPPORTED_MEDIA_TYPE:
    "The body has a media type that the route does not accept, or is compressed.",
  MISDIRECTED_REQUEST: "The admin page is not served under this host name.",
  VALIDATION_ERROR: "The JSON is readable but values are wrong; `details` names the fields.",
  IDEMPOTENCY_KEY_REUSED:
    "The Idempotency-Key was used with another body or other query parameters.",
  RATE_LIMITED: "Too many requests; `Retry-After` contains the seconds to wait.",
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

function buildErrorExample(code: ErrorCode) {
  const details =
    code === "VALIDATION_ERROR" ? [{ path: "title", message: "is required" }] : undefined;
  const requestId = "01a1fb99-1ee5-7270-a960-0717e3b3b9ec";
  return { error: { code, message: errorTexts[code], ...(details && { details }), requestId } };
}

// 405 belongs to no operation, and 421 belongs to the admin page.
const referredCodes = errorCodes.filter(
  (code) => code !== "METHOD_NOT_ALLOWED" && code !== "MISDIRECTED_REQUEST",
);
const codesByStatus = Map.groupBy(referredCodes, (code) => httpStatuses[code]);

export const headerSchema = (description: string) => z.string().optional().meta({ description });
export const requestIdHeader = z.string().meta({ description: "Names the request in the log." });

function buildHeaders(status: number): Record<string, z.ZodType> {
  const headers: Record<string, z.ZodType> = { "X-Request-Id": requestIdHeader };
  if (status === 401)
    headers["WWW-Authenticate"] = headerSchema("The scheme, and whether the key sent was wrong.");
  if (status === 409 || status === 429 || status === 503)
    headers["Retry-After"] = headerSchema("Whole seconds to wait, where waiting helps.");
  return headers;
}

/** One response per status, to which operations refer. */
export const errorResponses = Object.fromEntries(
  [...codesByStatus].map(([status, codes]) => [
    `Error${status}`,
    {
      description: codes.map((code) => `\`${code}\`: ${errorTexts[code]}`).join(" "),
      headers: z.object(buildHeaders(status)),
      content: {
        "application/json": {
          schema: ErrorBody,
          examples: Object.fromEntries(
            codes.map((code) => [code, { summary: code, value: buildErrorExample(code) }]),
          ),
        },
      },
    },
  ]),
);

/** References to the error responses of an operation with these codes. */
export function buildErrorReferences(codes: readonly ErrorCode[]) {
  const statuses = [...new Set(codes.map((code) => httpStatuses[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { $ref: `#/components/responses/Error${status}` as const },
    ]),
  );
}
