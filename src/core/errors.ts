/** Every way a request or a command can fail; the HTTP status and the exit code follow from it at the edges. */

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

/** Message of a NOT_FOUND for an unknown path, which differs from one for an unknown record. */
export const unknownPathMessage = "There is nothing at this path.";

/** A wrong field: its `path`, such as `monitorIds[3]`, and the valid values. Never contains the submitted value. */
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
      /** The cause, only for the log. */
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

/** A limit was exceeded; states the whole seconds to wait. */
export function rateLimited(waitSeconds: number, reason = "Too many requests."): AppError {
  return new AppError("RATE_LIMITED", `${reason} Try again in ${waitSeconds} s.`, {
    headers: { "Retry-After": String(waitSeconds) },
  });
}

/** The data directory can't be used as it is; `code` says which exit code the command line gives. */
export class DataError extends Error {
  readonly code: "DATA_UNUSABLE" | "MIGRATION_REFUSED" | "ALREADY_RUNNING";

  constructor(code: DataError["code"], message: string) {
    super(message);
    this.name = "DataError";
    this.code = code;
  }
}
