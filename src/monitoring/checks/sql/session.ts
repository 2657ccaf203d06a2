import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire, WireTls } from "../../../core/outgoing/wire.ts";
import type { Rows } from "./rows.ts";

export type SqlLogin = { username: string; password: string; database: string | null };

/** A database that has let the user in. */
export type SqlSession = {
  /** Without `wantsRows` they are read and dropped. Throws TargetFailure, SqlError. */
  query(sql: string, wantsRows: boolean): Promise<Rows>;
};

/** Signs in; over TLS if `tls` is given, which the protocol itself begins. Throws TargetFailure, SqlError. */
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

/** Nobody else than a server can tell whether it is the right one: over a plain connection no password is sent as it is. */
export const noCleartext = () =>
  new TargetFailure(
    "The server asks for the password in cleartext over an unencrypted connection: turn on TLS.",
  );
