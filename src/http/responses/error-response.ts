import { AppError, type ErrorCode, unknownPathMessage } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";

/** HTTP status of each error code (RFC 9110 §15, RFC 6585). No other file refers to error statuses. */
export const httpStatuses: Record<ErrorCode, number> = {
  BAD_REQUEST: 400,
  INVALID_JSON: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MISDIRECTED_REQUEST: 421,
  VALIDATION_ERROR: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

/**
 * Converts any error to a response. Errors other than AppError are bugs: they are logged, and the client receives a
 * fixed message.
 */
export function createErrorResponse(error: unknown, requestId: string, log: Log): Response {
  const known =
    error instanceof AppError
      ? error
      : new AppError("INTERNAL", "Something went wrong on our side. See the log for the cause.", {
          cause: error,
        });
  if (known.cause !== undefined) {
    const { cause } = known;
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : Bun.inspect(cause);
    log.error("request failed", { requestId, cause: text });
  }
  const { code, message, details, headers } = known;
  return Response.json(
    { error: { code, message, ...(details && { details }), requestId } },
    {
      status: httpStatuses[code],
      headers: { ...headers, "Cache-Control": "no-store", "X-Request-Id": requestId },
    },
  );
}

/** Error for an unknown path, or for a path whose existence is hidden from the client. */
export function unknownPathError() {
  return new AppError("NOT_FOUND", unknownPathMessage);
}
