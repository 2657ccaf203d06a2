/** The checks of PostgreSQL, MySQL and MariaDB: run a query and judge its rows by assertions. */
import { isDecimal, LongNumber } from "../../../core/text/decimals.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { excerpt } from "../../../core/text/words.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import { mustHold, type Received, repeats } from "../protocols/assertions.ts";
import { type CheckContext, type CheckKind, daysUntil, since } from "../check.ts";
import { converse, tlsOf } from "../protocols/conversation.ts";
import { mysqlSession } from "../sql/mysql-session.ts";
import { postgresSession } from "../sql/postgres-session.ts";
import type { Rows } from "../sql/rows.ts";
import { type OpenSession, SqlError, type SqlSession } from "../sql/session.ts";
import { valueAt } from "../protocols/json-path.ts";

const maxBytes = 1024 * 1024;

type Settings = Parameters<CheckKind<"postgres">>[0];
type Server = {
  name: string;
  open: OpenSession;
  /** Query for the server's details, one per column. */
  about: string;
  refusals: Record<string, string>;
};

const refused = "The server refused the user name or the password.";
const noDatabase = "The database does not exist, or is closed to the user.";
const full = "The server has no connection left.";
const invalid = "The server does not understand the query.";
const forbidden = "The user may not run the query.";

/** Error codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const postgres: Server = {
  name: "PostgreSQL",
  open: postgresSession,
  about: `SELECT current_setting('server_version') AS version, CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END AS role`,
  refusals: {
    "28P01": refused,
    "28000": refused,
    "3D000": noDatabase,
    "53300": full,
    "57P01": "The server is shutting down.",
    "57P03": "The server is starting or shutting down.",
    "42501": forbidden,
    "57014": "The server aborted the query.",
    "42": invalid,
  },
};

/** Error codes: https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const mysql: Server = {
  name: "MySQL",
  open: mysqlSession,
  about: "SELECT version() AS version",
  refusals: {
    1045: refused,
    1698: refused,
    1044: noDatabase,
    1049: noDatabase,
    1040: full,
    1203: full,
    1130: "The server accepts no connections from this machine.",
    1129: "The server no longer accepts connections from this machine, after too many errors.",
    1142: forbidden,
    1227: forbidden,
    1053: "The server is shutting down.",
    1046: "The query needs a database.",
    1054: invalid,
    1064: invalid,
    1146: invalid,
  },
};

export const checkPostgres: CheckKind<"postgres"> = (settings, context) =>
  ask(postgres, settings, context);

export const checkMysql: CheckKind<"mysql"> = (settings, context) => ask(mysql, settings, context);

function ask(server: Server, settings: Settings, context: CheckContext) {
  const { username, database, query, assertions } = settings;
  const password = settings.password ?? "";
  const startedAt = performance.now();
  const wantsRows = assertions.some(({ source }) => source === "json");
  let session: SqlSession | null = null;
  context.silence = `${server.name} did not respond: perhaps the port is for another protocol.`;
  return converse<DetailsOf<"postgres">>(
    settings,
    context,
    async (wire) => {
      const tls = settings.tls ? tlsOf(settings) : null;
      let rows: Rows;
      try {
        session = await server.open(wire, { username, password, database }, tls);
        rows = await session.query(query, wantsRows);
      } catch (error) {
        throw error instanceof SqlError ? failureOf(error, server, password) : error;
      }
      const latencyMs = since(startedAt);
      const expiresAt = wire.certificateExpiresAt() ?? undefined;
      const received = ({ source, path }: { source: string; path: string | null }): Received => {
        if (source === "json") return { value: withNumber(valueAt(rows, path ?? "")) };
        if (source === "latency") return { value: latencyMs };
        return { value: daysUntil(expiresAt, context.now()) };
      };
      await mustHold(assertions, received, "The query was answered", () => [password], context);
      return "Answered the query";
    },
    {
      startsTls: true,
      maxBytes,
      details: async () => detailsIn(await session?.query(server.about, true)),
    },
  );
}

/** Converts decimals and long integers, which servers send as text, to numbers that can be compared exactly. */
function withNumber(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNumber);
  return typeof value === "string" && isDecimal(value) ? new LongNumber(value) : value;
}

function detailsIn(rows: Rows = []): DetailsOf<"postgres"> {
  const { version, role } = (rows[0] ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  return { version: text(version), role: text(role) };
}

function failureOf({ code, message }: SqlError, { refusals }: Server, password: string) {
  const named = /^[0-9A-Z]{3,5}$/.test(code) ? `error ${code}` : "an error";
  const sentence =
    refusals[code] ?? refusals[code.slice(0, 2)] ?? `The server answered with ${named}.`;
  const canBeShown = message !== "" && !repeats(message, () => [password]);
  const said = `${sentence.slice(0, -1)}: ${excerpt(message, 200)}`;
  return new TargetFailure(sentence, false, canBeShown ? said : undefined);
}
