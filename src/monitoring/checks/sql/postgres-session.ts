/** The protocol of PostgreSQL, version 3: signs in and runs queries over a connection with a byte limit. */
import { ByteReader } from "../../../core/outgoing/http/byte-reader.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire, WireTls } from "../../../core/outgoing/http/wire.ts";
import { digest } from "../protocols/digest.ts";
import { scram } from "../protocols/scram.ts";
import { notPostgres, postgresValue } from "./postgres-values.ts";
import { type Row, RowBudget, type Rows } from "./rows.ts";
import { noTls, SqlError, type SqlLogin, type SqlSession, unsupportedSignIn } from "./session.ts";

/** Signs in and returns the session. Throws TargetFailure, SqlError. */
export async function postgresSession(
  wire: Wire,
  login: SqlLogin,
  tls: WireTls | null,
): Promise<SqlSession> {
  if (tls !== null) await secure(wire, tls);
  const parameters = {
    user: login.username,
    database: login.database ?? login.username,
    client_encoding: "UTF8",
    DateStyle: "ISO",
  };
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [`${name}\0`, `${value}\0`]);
  const start = Buffer.concat([int32(protocolVersion), Buffer.from(pairs.join("")), zero]);
  wire.write(Buffer.concat([int32(start.length + 4), start]));
  await signIn(wire, login, tls !== null);
  await untilReady(wire);
  return { query: (sql, wantsRows) => query(wire, sql, wantsRows) };
}

/** Version 3.0, in the start message: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const protocolVersion = 196_608;
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const zero = Buffer.from([0]);

async function secure(wire: Wire, tls: WireTls) {
  wire.write(sslRequest);
  const answer = (await wire.read(1)).toString("latin1");
  if (answer === "N") throw noTls();
  if (answer !== "S") throw notPostgres();
  await wire.secure(tls);
}

type Message = { type: string; body: ByteReader };

/** Message types that can arrive at any time: notices, changed parameters and notifications. */
const asides = new Set(["N", "S", "A"]);

/** Reads the next message, which must have one of these types. Throws SqlError for an error message. */
async function nextOf(wire: Wire, types: string): Promise<Message> {
  for (;;) {
    const type = (await wire.read(1)).toString("latin1");
    // Checked before the length, which is arbitrary data if the server speaks another protocol.
    if (type !== "E" && !asides.has(type) && !types.includes(type)) throw notPostgres();
    const length = (await wire.read(4)).readUInt32BE() - 4;
    if (length < 0) throw notPostgres();
    const body = new ByteReader(await wire.read(length), notPostgres);
    if (type === "E") throw errorIn(body);
    if (!asides.has(type)) return { type, body };
  }
}

/** Reads an error message: https://www.postgresql.org/docs/current/protocol-error-fields.html */
function errorIn(body: ByteReader): SqlError {
  const fields = new Map<string, string>();
  for (let code = body.bytes(1)[0]; code !== 0; code = body.bytes(1)[0])
    fields.set(String.fromCharCode(code ?? 0), body.text());
  return new SqlError(fields.get("C") ?? "", fields.get("M") ?? "");
}

const authentication = { ok: 0, cleartext: 3, md5: 5, sasl: 10, saslContinue: 11, saslFinal: 12 };
/** Authentication by Kerberos, SCM, GSSAPI and SSPI. */
const unsupportedMethods = [2, 6, 7, 8, 9];
const mechanism = "SCRAM-SHA-256";

async function signIn(wire: Wire, { username, password }: SqlLogin, isSecure: boolean) {
  const { code, body } = await nextAuthentication(wire);
  if (code === authentication.ok) return;
  if (code === authentication.cleartext) {
    if (!isSecure) throw noCleartext();
    send(wire, "p", Buffer.from(`${password}\0`));
  } else if (code === authentication.md5) {
    const inner = digest("md5", password, username).toString("hex");
    const outer = digest("md5", inner, body.bytes(4)).toString("hex");
    send(wire, "p", Buffer.from(`md5${outer}\0`));
  } else if (code === authentication.sasl) {
    if (!body.rest().toString().split("\0").includes(mechanism)) throw unsupportedSignIn();
    await signInByScram(wire, password);
  } else throw unsupportedMethods.includes(code) ? unsupportedSignIn() : notPostgres();
  if ((await nextAuthentication(wire)).code !== authentication.ok) throw notPostgres();
}

/** Failure for a cleartext password without TLS, which an eavesdropper or an impostor of the server could read. */
const noCleartext = () =>
  new TargetFailure(
    "The server asks for the password in cleartext over an unencrypted connection: turn on TLS.",
  );

async function nextAuthentication(wire: Wire) {
  const { body } = await nextOf(wire, "R");
  return { code: body.int(4), body };
}

/** Signs in by SCRAM with an empty user name, because the server uses the name in the start message. */
async function signInByScram(wire: Wire, password: string) {
  const login = scram("sha256", "", password, "saslprep");
  const first = Buffer.from(login.first);
  send(wire, "p", Buffer.concat([Buffer.from(`${mechanism}\0`), int32(first.length), first]));
  const next = await nextAuthentication(wire);
  if (next.code !== authentication.saslContinue) throw notPostgres();
  send(wire, "p", Buffer.from(await login.final(next.body.rest().toString())));
  const last = await nextAuthentication(wire);
  if (last.code !== authentication.saslFinal) throw notPostgres();
  login.mustKnow(last.body.rest().toString());
}

/** Skips messages until the server accepts queries. `K` contains the key for canceling queries. */
async function untilReady(wire: Wire) {
  while ((await nextOf(wire, "KZv")).type !== "Z");
}

type Column = { name: string; oid: number };

async function query(wire: Wire, sql: string, wantsRows: boolean): Promise<Rows> {
  send(wire, "Q", Buffer.from(`${sql}\0`));
  const budget = new RowBudget();
  const results: Row[][] = [];
  let columns: Column[] = [];
  let rows: Row[] = [];
  for (;;) {
    const { type, body } = await nextOf(wire, "TDCIZGHW");
    if (type === "T") columns = columnsIn(body);
    else if (type === "D") {
      if (wantsRows) rows.push(rowIn(body, columns, budget));
    } else if (type === "C" || type === "I") {
      budget.takeValues(1);
      results.push(rows);
      [columns, rows] = [[], []];
    } else if (type === "Z") return results.length > 1 ? results : (results[0] ?? []);
    else throw new TargetFailure("The query copies data: use one that returns rows.");
  }
}

function columnsIn(body: ByteReader): Column[] {
  return Array.from({ length: Math.max(0, body.int(2)) }, () => {
    const name = body.text();
    body.bytes(6);
    const oid = body.int(4);
    body.bytes(6);
    // A simple query returns values as text (format 0).
    if (body.int(2) !== 0) throw notPostgres();
    return { name, oid };
  });
}

function rowIn(body: ByteReader, columns: readonly Column[], budget: RowBudget) {
  if (body.int(2) !== columns.length) throw notPostgres();
  budget.takeValues(columns.length + 1);
  return Object.fromEntries(
    columns.map(({ name, oid }) => {
      const length = body.int(4);
      if (length === -1) return [name, null];
      return [name, postgresValue(oid, body.bytes(length).toString(), budget)];
    }),
  );
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function send(wire: Wire, type: string, body: Buffer) {
  wire.write(Buffer.concat([Buffer.from(type), int32(body.length + 4), body]));
}
