/** The checks of PostgreSQL, MySQL and MariaDB: run a query and judge its rows by assertions. */
import { isDecimal, LongNumber } from "../../../core/text/decimals.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import { assertAllHold, type Received, repeatsSecret } from "../protocols/assertions.ts";
import { type CheckContext, type CheckKind, countDaysUntil, measureElapsedMs } from "../check.ts";
import { converse, buildTls } from "../protocols/conversation.ts";
import { openMysqlSession } from "../sql/mysql-session.ts";
import { openPostgresSession } from "../sql/postgres-session.ts";
import type { Rows } from "../sql/rows.ts";
import { type OpenSession, SqlError, type SqlSession } from "../sql/session.ts";
import { findValue } from "../protocols/json-path.ts";

const maxBytes = 1024 * 1024;

type Settings = Parameters<CheckKind<"postgres">>[0];
type Server = {
  name: string;
  open: OpenSession;
  /** Query for the server's details, one per column. */
  about: string;
  refusals: Record<string, string>;
};

const refusedLoginReason = "The server rejected the user name or the password.";
const unknownDatabaseReason = "The database does not exist, or is closed to the user.";
const noConnectionLeftReason = "The server has no connection left.";
const invalidQueryReason = "The server does not understand the query.";
const forbiddenQueryReason = "The user may not run the query.";

/** Error codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const postgres: Server = {
  name: "PostgreSQL",
  open: openPostgresSession,
  about: `SELECT current_setting('server_version') AS version, CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END AS role`,
  refusals: {
    "28P01": refusedLoginReason,
    "28000": refusedLoginReason,
    "3D000": unknownDatabaseReason,
    "53300": noConnectionLeftReason,
    "57P01": "The server is shutting down.",
    "57P03": "The server is starting or shutting down.",
    "42501": forbiddenQueryReason,
    "57014": "The server aborted the query.",
    "42": invalidQueryReason,
  },
};

/** Error codes: https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const mysql: Server = {
  name: "MySQL",
  open: openMysqlSession,
  about: "SELECT version() AS version",
  refusals: {
    1045: refusedLoginReason,
    1698: refusedLoginReason,
    1044: unknownDatabaseReason,
    1049: unknownDatabaseReason,
    1040: noConnectionLeftReason,
    1203: noConnectionLeftReason,
    1130: "The server accepts no connections from this machine.",
    1129: "The server no longer accepts connections from this machine, after too many errors.",
    1142: forbiddenQueryReason,
    1227: forbiddenQueryReason,
    1053: "The server is shutting down.",
    1046: "The query needs a database.",
    1054: invalidQueryReason,
    1064: invalidQueryReason,
    1146: invalidQueryReason,
  },
};

export const checkPostgres: CheckKind<"postgres"> = (settings, context) =>
  runSqlCheck(postgres, settings, context);

export const checkMysql: CheckKind<"mysql"> = (settings, context) =>
  runSqlCheck(mysql, settings, context);

function runSqlCheck(server: Server, settings: Settings, context: CheckContext) {
  const { username, database, query, assertions, number } = settings;
  const password = settings.password ?? "";
  const startedAt = performance.now();
  const wantsRows = number !== null || assertions.some(({ source }) => source === "json");
  let session: SqlSession | null = null;
  context.silence = `${server.name} did not respond: perhaps the port is for another protocol.`;
  return converse<DetailsOf<"postgres">>(
    settings,
    context,
    async (wire) => {
      const tls = settings.tls ? buildTls(settings) : null;
      let rows: Rows;
      try {
        session = await server.open(wire, { username, password, database }, tls);
        context.silence = "The query did not finish.";
        rows = await session.query(query, wantsRows);
      } catch (error) {
        throw error instanceof SqlError ? toFailure(error, server, password) : error;
      }
      const latencyMs = measureElapsedMs(startedAt);
      const expiresAt = wire.getCertificateExpiry() ?? undefined;
      const getReceived = ({ source, path }: { source: string; path: string | null }): Received => {
        if (source === "json") return { value: convertNumbers(findValue(rows, path ?? "")) };
        if (source === "latency") return { value: latencyMs };
        return { value: countDaysUntil(expiresAt, context.now()) };
      };
      await assertAllHold(
        assertions,
        getReceived,
        "The query was answered",
        () => [password],
        context,
      );
      const [first = {}] = rows;
      const value = number?.path == null ? Object.values(first)[0] : findValue(rows, number.path);
      return { words: "Answered the query", measured: { value } };
    },
    {
      startsTls: true,
      maxBytes,
      details: async () => parseDetails(await session?.query(server.about, true)),
    },
  );
}

/** Converts decimals and long integers, which servers send as text, to numbers that can be compared exactly. */
function convertNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convertNumbers);
  return typeof value === "string" && isDecimal(value) ? new LongNumber(value) : value;
}

function parseDetails(rows: Rows = []): DetailsOf<"postgres"> {
  const { version, role } = (rows[0] ?? {}) as Record<string, unknown>;
  const toText = (value: unknown) => (typeof value === "string" ? value : null);
  return { version: toText(version), role: toText(role) };
}

function toFailure({ code, message }: SqlError, { refusals }: Server, password: string) {
  const errorName = /^[0-9A-Z]{3,5}$/.test(code) ? `error ${code}` : "an error";
  const sentence =
    refusals[code] ?? refusals[code.slice(0, 2)] ?? `The server responded with ${errorName}.`;
  const canBeShown = message !== "" && !repeatsSecret(message, () => [password]);
  const fullMessage = `${sentence.slice(0, -1)}: ${excerptText(message, 200)}`;
  return new TargetFailure(sentence, false, canBeShown ? fullMessage : undefined);
}
