import { AppError } from "../../core/errors.ts";

/** The cluster rejected the credentials. A retry is pointless until the configuration changes. */
export class RefusedCredentials extends Error {}

export const refusedCredentialsError = () =>
  unavailableError(new RefusedCredentials("it rejects this user or password"));

export function unavailableError(reason: string | Error): AppError {
  return new AppError("UNAVAILABLE", "The database can't be reached right now. Try again soon.", {
    headers: { "Retry-After": "5" },
    cause: typeof reason === "string" ? new Error(reason) : reason,
  });
}

const codes: [RegExp, string][] = [
  [/^CHECK constraint/, "SQLITE_CONSTRAINT_CHECK"],
  [/^UNIQUE constraint/, "SQLITE_CONSTRAINT_UNIQUE"],
  [/^FOREIGN KEY constraint/, "SQLITE_CONSTRAINT_FOREIGNKEY"],
  [/^NOT NULL constraint/, "SQLITE_CONSTRAINT_NOTNULL"],
];

/** Converts an error message of rqlite to the error that embedded SQLite would throw. */
export function toSqlError(message: string): Error {
  if (/disk is full|disk I\/O error|readonly database|is being upgraded/.test(message))
    return unavailableError(message);
  const code = codes.find(([pattern]) => pattern.test(message))?.[1] ?? "SQLITE_ERROR";
  return Object.assign(new Error(message), { code });
}
