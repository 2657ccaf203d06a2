import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire, WireTls } from "../../../core/outgoing/http/wire.ts";
import type { Rows } from "./rows.ts";

export type SqlLogin = { username: string; password: string; database: string | null };

/** A connection to a database after the sign-in. */
export type SqlSession = {
  /** Without `wantsRows`, rows are read and discarded. Throws TargetFailure, SqlError. */
  query(sql: string, wantsRows: boolean): Promise<Rows>;
};

/** Signs in, over TLS if `tls` is given: these protocols start it themselves. Throws TargetFailure, SqlError. */
export type OpenSession = (wire: Wire, login: SqlLogin, tls: WireTls | null) => Promise<SqlSession>;

/** An error that the server reported, by its code. */
export class SqlError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const noTls = () => new TargetFailure("The server does not offer TLS.");

/** `method` is shown to the organization only: the server chose its name. */
export function unsupportedSignIn(method?: string): TargetFailure {
  const sentence = "The server asks for a sign-in method that is not supported";
  return new TargetFailure(`${sentence}.`, false, method && `${sentence}: ${method}.`);
}
