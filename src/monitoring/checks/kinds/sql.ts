import type { SQL } from "bun";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { isDecimal, LongNumber } from "../../../core/decimals.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { dial, trusted } from "../../../core/outgoing/connection.ts";
import { reasonFor } from "../../../core/outgoing/reasons.ts";
import { relayed } from "../../../core/outgoing/relay.ts";
import { type Wire, wireOf, type WireTls } from "../../../core/outgoing/wire.ts";
import { excerpt } from "../../../core/text.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import { mustHold, type Received, repeats } from "../assertions.ts";
import { type CheckContext, type CheckKind, daysUntil, expiryOf, since } from "../check.ts";
import { askedBeside, securedDetails, tlsOf } from "../conversation.ts";
import { valueAt } from "./http-body.ts";

const maxBytes = 1024 * 1024;

type Settings = Parameters<CheckKind<"postgres">>[0];
type Server = {
  adapter: "postgres" | "mysql";
  name: string;
  /** What tells of the server: a row whose columns are details. */
  about: string;
  refusals: Record<string, string>;
};

const refused = "The server refused the user name or the password.";
const noDatabase = "The database does not exist, or is closed to the user.";
const full = "The server has no connection left.";
const noTls = "The server does not offer TLS.";
const invalid = "The server does not understand the query.";
const forbidden = "The user may not run the query.";

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const postgres: Server = {
  adapter: "postgres",
  name: "PostgreSQL",
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

/** https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const mysql: Server = {
  adapter: "mysql",
  name: "MySQL",
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

/** Up when the query is answered and its rows fulfil the assertions. */
async function ask(server: Server, settings: Settings, context: CheckContext) {
  const startedAt = performance.now();
  const { host, port, username, password, database, query, assertions } = settings;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const connection = await dial(addresses, port, context);
  context.step = "waiting for the answer";
  const tls = tlsOf(settings);
  // Bun begins TLS with PostgreSQL by itself only where it connects to a host.
  const isSecured = settings.tls && server.adapter === "postgres";
  if (isSecured) await secure(wireOf(connection, context), tls);
  const relay = relayed(connection, context, maxBytes);
  let certificateExpiresAt = connection.secured?.certificateExpiresAt ?? undefined;
  const sql = new Bun.SQL({
    adapter: server.adapter,
    ...relay.meeting,
    username,
    password: password ?? "",
    database: database ?? (server.adapter === "postgres" ? username : everybodys),
    max: 1,
    connectionTimeout: 0,
    bigint: true,
    tls: settings.tls &&
      !isSecured && {
        serverName: tls.name,
        rejectUnauthorized: tls.verify,
        ...(context.authorities !== null && { ca: trusted(context.authorities) }),
        checkServerIdentity(_name: string, certificate: PeerCertificate) {
          certificateExpiresAt = new Date(certificate.valid_to).toISOString();
          return tls.verify ? checkServerIdentity(tls.name, certificate) : undefined;
        },
      },
  } as unknown as SQL.Options);
  context.signal.addEventListener("abort", () => void sql.close({ timeout: 0 }).catch(() => {}));
  let rows: unknown;
  try {
    rows = plain(await sql.unsafe(query));
  } catch (error) {
    throw failureOf(error, relay.issue(), server, settings);
  }
  const latencyMs = since(startedAt);
  const received = ({ source, path }: { source: string; path: string | null }): Received => {
    if (source === "json") return { value: withNumber(valueAt(rows, path ?? "")) };
    if (source === "latency") return { value: latencyMs };
    return { value: daysUntil(certificateExpiresAt, context.now()) };
  };
  await mustHold(assertions, received, "The query was answered", () => [password ?? ""], context);
  const [about] = (await askedBeside(() => sql.unsafe(server.about), startedAt, context)) ?? [];
  const expiry = expiryOf(certificateExpiresAt, settings.certificateExpiryDays, context.now());
  return {
    status: expiry === null ? ("up" as const) : ("degraded" as const),
    message: expiry ?? `Answered the query in ${latencyMs} ms.`,
    latencyMs,
    ...(certificateExpiresAt !== undefined && { certificateExpiresAt }),
    details: { ...detailsIn(about), ...securedDetails(connection.secured) },
  };
}

function detailsIn(row: unknown): DetailsOf<"postgres"> {
  const { version, role } = (row ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  return { version: text(version), role: text(role) };
}

/** https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

async function secure(wire: Wire, tls: WireTls) {
  wire.write(sslRequest);
  const answer = (await wire.read(1)).toString("latin1");
  if (answer === "N") throw new TargetFailure(noTls);
  if (answer !== "S") throw new TargetFailure("The answer is not valid for PostgreSQL.");
  await wire.secure(tls);
}

/** Of MySQL: Bun names one of its own where none is given, and this one is open to every user. */
const everybodys = "information_schema";

/** Drivers return decimals and long integers as text. */
const withNumber = (value: unknown) =>
  typeof value === "string" && isDecimal(value) ? new LongNumber(value) : value;

/** Rows as JSON has them. */
function plain(rows: unknown): unknown {
  const text = JSON.stringify(rows, (_name, value: unknown) => {
    if (typeof value !== "bigint") return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  });
  return JSON.parse(text) as unknown;
}

type SqlError = { code?: string; errno?: string | number; message?: string };

function failureOf(
  error: unknown,
  relayIssue: unknown,
  { name, refusals }: Server,
  { password, tls }: Settings,
): unknown {
  const { code = "", errno = "", message = "" } = error as SqlError;
  if (/^ERR_(POSTGRES|MYSQL)_(SERVER|SYNTAX)_ERROR$/.test(code)) {
    const number = String(errno);
    const told =
      refusals[number] ??
      refusals[number.slice(0, 2)] ??
      `The server answered with error ${number}.`;
    const mayBeShown = message !== "" && !repeats(message, () => [password ?? ""]);
    const said = `${told.slice(0, -1)}: ${excerpt(message, 200)}`;
    return new TargetFailure(told, false, mayBeShown ? said : undefined);
  }
  if (relayIssue !== null) return relayIssue;
  if (!/^ERR_(POSTGRES|MYSQL)_/.test(code)) return reasonFor(error) ?? error;
  // Of MySQL this is all that Bun says where the server has no TLS.
  if (tls && code === "ERR_MYSQL_AUTHENTICATION_FAILED") return new TargetFailure(noTls);
  if (code.includes("UNSUPPORTED_AUTH"))
    return new TargetFailure("The server asks for a sign-in method that is not supported.");
  return new TargetFailure(`The answer is not valid for ${name}.`);
}
