/** The protocol of PostgreSQL, version 3: signs in and runs queries over a connection with a byte limit. */
import { ByteReader } from "../../../core/outgoing/http/byte-reader.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire, WireTls } from "../../../core/outgoing/http/wire.ts";
import { computeDigest } from "../protocols/digest.ts";
import { createScram } from "../protocols/scram.ts";
import { notPostgresError, convertPostgresValue } from "./postgres-values.ts";
import { type Row, RowBudget, type Rows } from "./rows.ts";
import {
  noTlsError,
  SqlError,
  type SqlLogin,
  type SqlSession,
  unsupportedSignInError,
} from "./session.ts";

/** Signs in and returns the session. Throws TargetFailure, SqlError. */
export async function openPostgresSession(
  wire: Wire,
  login: SqlLogin,
  tls: WireTls | null,
): Promise<SqlSession> {
  if (tls !== null) await startTls(wire, tls);
  const parameters = {
    user: login.username,
    database: login.database ?? login.username,
    client_encoding: "UTF8",
    DateStyle: "ISO",
  };
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [`${name}\0`, `${value}\0`]);
  const start = Buffer.concat([
    encodeInt32(protocolVersion),
    Buffer.from(pairs.join("")),
    zeroByte,
  ]);
  wire.write(Buffer.concat([encodeInt32(start.length + 4), start]));
  await signIn(wire, login, tls !== null);
  await waitUntilReady(wire);
  return { query: (sql, wantsRows) => runQuery(wire, sql, wantsRows) };
}

/** Version 3.0, in the start message: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const protocolVersion = 196_608;
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const zeroByte = Buffer.from([0]);

async function startTls(wire: Wire, tls: WireTls) {
  wire.write(sslRequest);
  const response = (await wire.read(1)).toString("latin1");
  if (response === "N") throw noTlsError();
  if (response !== "S") throw notPostgresError();
  await wire.secure(tls);
}

type Message = { type: string; body: ByteReader };

/** Message types that can arrive at any time: notices, changed parameters and notifications. */
const asideTypes = new Set(["N", "S", "A"]);

/** Reads the next message, which must have one of these types. Throws SqlError for an error message. */
async function readMessage(wire: Wire, types: string): Promise<Message> {
  for (;;) {
    const type = (await wire.read(1)).toString("latin1");
    // Checked before the length, which is arbitrary data if the server speaks another protocol.
    if (type !== "E" && !asideTypes.has(type) && !types.includes(type)) throw notPostgresError();
    const length = (await wire.read(4)).readUInt32BE() - 4;
    if (length < 0) throw notPostgresError();
    const body = new ByteReader(await wire.read(length), notPostgresError);
    if (type === "E") throw parseError(body);
    if (!asideTypes.has(type)) return { type, body };
  }
}

/** Reads an error message: https://www.postgresql.org/docs/current/protocol-error-fields.html */
function parseError(body: ByteReader): SqlError {
  const fields = new Map<string, string>();
  for (let code = body.readBytes(1)[0]; code !== 0; code = body.readBytes(1)[0])
    fields.set(String.fromCharCode(code ?? 0), body.readText());
  return new SqlError(fields.get("C") ?? "", fields.get("M") ?? "");
}

const authentication = { ok: 0, cleartext: 3, md5: 5, sasl: 10, saslContinue: 11, saslFinal: 12 };
/** Authentication by Kerberos, SCM, GSSAPI and SSPI. */
const unsupportedMethods = [2, 6, 7, 8, 9];
const mechanism = "SCRAM-SHA-256";

async function signIn(wire: Wire, { username, password }: SqlLogin, isSecure: boolean) {
  const { code, body } = await readAuthentication(wire);
  if (code === authentication.ok) return;
  if (code === authentication.cleartext) {
    if (!isSecure) throw noCleartextError();
    sendMessage(wire, "p", Buffer.from(`${password}\0`));
  } else if (code === authentication.md5) {
    const inner = computeDigest("md5", password, username).toString("hex");
    const outer = computeDigest("md5", inner, body.readBytes(4)).toString("hex");
    sendMessage(wire, "p", Buffer.from(`md5${outer}\0`));
  } else if (code === authentication.sasl) {
    if (!body.readRest().toString().split("\0").includes(mechanism)) throw unsupportedSignInError();
    await signInByScram(wire, password);
  } else throw unsupportedMethods.includes(code) ? unsupportedSignInError() : notPostgresError();
  if ((await readAuthentication(wire)).code !== authentication.ok) throw notPostgresError();
}

/** Failure for a cleartext password without TLS, which an eavesdropper or an impostor of the server could read. */
const noCleartextError = () =>
  new TargetFailure(
    "The server requests the password in cleartext over an unencrypted connection: turn on TLS.",
  );

async function readAuthentication(wire: Wire) {
  const { body } = await readMessage(wire, "R");
  return { code: body.readInt(4), body };
}

/** Signs in by SCRAM with an empty user name, because the server uses the name in the start message. */
async function signInByScram(wire: Wire, password: string) {
  const login = createScram("sha256", "", password, "saslprep");
  const first = Buffer.from(login.first);
  sendMessage(
    wire,
    "p",
    Buffer.concat([Buffer.from(`${mechanism}\0`), encodeInt32(first.length), first]),
  );
  const next = await readAuthentication(wire);
  if (next.code !== authentication.saslContinue) throw notPostgresError();
  sendMessage(wire, "p", Buffer.from(await login.final(next.body.readRest().toString())));
  const last = await readAuthentication(wire);
  if (last.code !== authentication.saslFinal) throw notPostgresError();
  login.assertServerKnows(last.body.readRest().toString());
}

/** Skips messages until the server accepts queries. `K` contains the key for canceling queries. */
async function waitUntilReady(wire: Wire) {
  while ((await readMessage(wire, "KZv")).type !== "Z");
}

type Column = { name: string; oid: number };

async function runQuery(wire: Wire, sql: string, wantsRows: boolean): Promise<Rows> {
  sendMessage(wire, "Q", Buffer.from(`${sql}\0`));
  const budget = new RowBudget();
  const results: Row[][] = [];
  let columns: Column[] = [];
  let rows: Row[] = [];
  for (;;) {
    const { type, body } = await readMessage(wire, "TDCIZGHW");
    if (type === "T") columns = parseColumns(body);
    else if (type === "D") {
      if (wantsRows) rows.push(parseRow(body, columns, budget));
    } else if (type === "C" || type === "I") {
      budget.countValues(1);
      results.push(rows);
      [columns, rows] = [[], []];
    } else if (type === "Z") return results.length > 1 ? results : (results[0] ?? []);
    else throw new TargetFailure("The query copies data: use one that returns rows.");
  }
}

function parseColumns(body: ByteReader): Column[] {
  return Array.from({ length: Math.max(0, body.readInt(2)) }, () => {
    const name = body.readText();
    body.readBytes(6);
    const oid = body.readInt(4);
    body.readBytes(6);
    // A simple query returns values as text (format 0).
    if (body.readInt(2) !== 0) throw notPostgresError();
    return { name, oid };
  });
}

function parseRow(body: ByteReader, columns: readonly Column[], budget: RowBudget) {
  if (body.readInt(2) !== columns.length) throw notPostgresError();
  budget.countValues(columns.length + 1);
  return Object.fromEntries(
    columns.map(({ name, oid }) => {
      const length = body.readInt(4);
      if (length === -1) return [name, null];
      return [name, convertPostgresValue(oid, body.readBytes(length).toString(), budget)];
    }),
  );
}

function encodeInt32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function sendMessage(wire: Wire, type: string, body: Buffer) {
  wire.write(Buffer.concat([Buffer.from(type), encodeInt32(body.length + 4), body]));
}
