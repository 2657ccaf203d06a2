/** Error codes and error classes that requests and commands share. */

/** `src/http` maps a code to an HTTP status, and `src/cli` to an exit code. */
export type ErrorCode =
  | "BAD_REQUEST"
  | "INVALID_JSON"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "CONFLICT"
  | "PRECONDITION_FAILED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "MISDIRECTED_REQUEST"
  | "VALIDATION_ERROR"
  | "IDEMPOTENCY_KEY_REUSED"
  | "RATE_LIMITED"
  | "INTERNAL"
  | "UNAVAILABLE";

/** Message of NOT_FOUND for an unknown path. An unknown record has a different message. */
export const unknownPathMessage = "There is nothing at this path.";

/**
 * An invalid field: its `path`, such as `monitorIds[3]`, and the valid values. Never contains the submitted value.
 */
export type ErrorDetail = { path: string; message: string };

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Extra response headers, such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    extra: {
      details?: readonly ErrorDetail[];
      headers?: Record<string, string>;
      /** Original error, for the log only. */
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: extra.cause });
    this.name = "AppError";
    this.code = code;
    this.details = extra.details;
    this.headers = extra.headers ?? {};
  }
}

/** Creates a RATE_LIMITED error with the wait in whole seconds, in the message and in `Retry-After`. */
export function rateLimitError(waitSeconds: number, reason = "Too many requests."): AppError {
  return new AppError("RATE_LIMITED", `${reason} Try again in ${waitSeconds} s.`, {
    headers: { "Retry-After": String(waitSeconds) },
  });
}

/** The data directory or the cluster is unusable. `code` determines the exit code of the command. */
export class DataError extends Error {
  readonly code: "DATA_UNUSABLE" | "MIGRATION_REFUSED" | "ALREADY_RUNNING";

  constructor(code: DataError["code"], message: string) {
    super(message);
    this.name = "DataError";
    this.code = code;
  }
}
