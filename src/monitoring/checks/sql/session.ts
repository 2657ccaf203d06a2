import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire, WireTls } from "../../../core/outgoing/http/wire.ts";
import type { Rows } from "./rows.ts";

export type SqlLogin = { username: string; password: string; database: string | null };

/** A signed-in connection to a database. */
export type SqlSession = {
  /** Runs a query. Without `wantsRows`, its rows are discarded. Throws TargetFailure, SqlError. */
  query(sql: string, wantsRows: boolean): Promise<Rows>;
};

/** Signs in, and first starts TLS if `tls` is given. Throws TargetFailure, SqlError. */
export type OpenSession = (wire: Wire, login: SqlLogin, tls: WireTls | null) => Promise<SqlSession>;

/** An error that the database server reported, with its code. */
export class SqlError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const noTlsError = () => new TargetFailure("The server does not offer TLS.");

/** Creates the failure. Only the organization sees `method`, because the server chose this text. */
export function unsupportedSignInError(method?: string): TargetFailure {
  const sentence = "The server requires a sign-in method that is not supported";
  return new TargetFailure(`${sentence}.`, false, method && `${sentence}: ${method}.`);
}
