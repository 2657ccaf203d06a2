/** The protocol of MySQL and MariaDB: signs in and runs queries over a connection with a byte limit. */
import { ByteReader } from "../../../core/outgoing/http/byte-reader.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire, WireTls } from "../../../core/outgoing/http/wire.ts";
import { canProve, encryptedFor, proofFor } from "./mysql-login.ts";
import { mysqlValue, type MysqlColumn } from "./mysql-values.ts";
import { RowBudget, type Row, type Rows } from "./rows.ts";
import { noTls, SqlError, type SqlLogin, type SqlSession } from "./session.ts";

const notMysql = () => new TargetFailure("The answer is not valid for MySQL.");

/** Capability flags: https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html */
const capability = {
  longPassword: 2 ** 0,
  longFlag: 2 ** 2,
  withDatabase: 2 ** 3,
  protocol41: 2 ** 9,
  tls: 2 ** 11,
  transactions: 2 ** 13,
  secureConnection: 2 ** 15,
  multiStatements: 2 ** 16,
  multiResults: 2 ** 17,
  pluginAuth: 2 ** 19,
};
/** Capability of MariaDB in a separate field: the server marks JSON columns. https://mariadb.com/docs/server/reference/clientserver-protocol/1-connecting/connection */
const extendedMetadata = 2 ** 3;
const mysqlItself = 2 ** 0;
const utf8mb4 = 45;
/** Database for sessions without one. Every user can open it. */
const defaultDatabase = "information_schema";

/** Signs in and returns the session. Throws TargetFailure, SqlError. */
export async function mysqlSession(
  wire: Wire,
  login: SqlLogin,
  tls: WireTls | null,
): Promise<SqlSession> {
  const packets = new Packets(wire);
  const greeting = greetingIn(await packets.first());
  const wanted = capabilitiesFor(greeting, tls !== null);
  const opening = Buffer.concat([
    uintLE(wanted.base, 4),
    uintLE(2 ** 24 - 1, 4),
    Buffer.from([utf8mb4]),
    Buffer.alloc(19),
    uintLE(wanted.extended, 4),
  ]);
  if (tls !== null) {
    packets.send(opening);
    await wire.secure(tls);
  }
  await signIn(packets, opening, greeting, login, tls !== null);
  const hasMetadata = wanted.extended !== 0;
  const session: SqlSession = {
    query: (sql, wantsRows) => query(packets, sql, wantsRows, hasMetadata),
  };
  // The server would send times in its own time zone, which is unknown here.
  await session.query("SET time_zone = '+00:00'", false);
  return session;
}

/** Packets of a connection. Both sides number their packets in one sequence. */
class Packets {
  private sequence = 0;
  private readonly wire: Wire;

  constructor(wire: Wire) {
    this.wire = wire;
  }

  /** Reads the greeting. The limit on its length rejects other protocols. */
  async first(): Promise<ByteReader> {
    const head = await this.wire.read(4);
    if (head[3] !== 0 || head.readUIntLE(0, 3) > maxGreeting) throw notMysql();
    return this.bodyAfter(head);
  }

  async next(): Promise<ByteReader> {
    return this.bodyAfter(await this.wire.read(4));
  }

  private async bodyAfter(head: Buffer): Promise<ByteReader> {
    this.sequence = (head[3] ?? 0) + 1;
    const body = await this.wire.read(head.readUIntLE(0, 3));
    if (body[0] === marks.error) throw errorIn(new ByteReader(body, notMysql));
    return new ByteReader(body, notMysql);
  }

  send(body: Buffer) {
    const number = Buffer.from([this.sequence++ & 0xff]);
    this.wire.write(Buffer.concat([uintLE(body.length, 3), number, body]));
  }

  /** Sends a command and restarts the packet sequence. */
  command(code: number, text: string) {
    this.sequence = 0;
    this.send(Buffer.concat([Buffer.from([code]), Buffer.from(text)]));
  }
}

const maxGreeting = 1_024;
const marks = { ok: 0x00, moreData: 0x01, localFile: 0xfb, switch: 0xfe, end: 0xfe, error: 0xff };

/** Reads an error packet: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_err_packet.html */
function errorIn(body: ByteReader): SqlError {
  body.bytes(1);
  const code = body.uintLE(2);
  const message = body.rest().toString();
  return new SqlError(String(code), message.replace(/^#.{5}/s, ""));
}

type Greeting = { base: number; extended: number; plugin: string; nonce: Buffer };

/** Reads the greeting: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html */
function greetingIn(body: ByteReader): Greeting {
  if (body.uintLE(1) !== 10) throw notMysql();
  body.text();
  body.bytes(4);
  const start = body.bytes(8);
  body.bytes(1);
  const low = body.uintLE(2);
  body.bytes(3);
  const base = low + body.uintLE(2) * 2 ** 16;
  const nonceLength = Math.max(13, body.uintLE(1) - start.length);
  body.bytes(6);
  const extended = has(base, mysqlItself) ? 0 : body.uintLE(4);
  if (has(base, mysqlItself)) body.bytes(4);
  if (!has(base, capability.protocol41) || !has(base, capability.secureConnection))
    throw notMysql();
  const nonce = Buffer.concat([start, body.bytes(Math.min(nonceLength, body.left))]);
  const plugin = has(base, capability.pluginAuth) ? body.text() : "mysql_native_password";
  return { base, extended, plugin, nonce };
}

const has = (all: number, one: number) => Math.floor(all / one) % 2 === 1;

/** Returns the capabilities of both sides. Throws TargetFailure if TLS is required but not offered. */
function capabilitiesFor({ base, extended }: Greeting, wantsTls: boolean) {
  if (wantsTls && !has(base, capability.tls)) throw noTls();
  const { tls, ...others } = capability;
  const shared = Object.values(others).filter((one) => has(base, one));
  const secured = wantsTls ? [tls] : [];
  return {
    base: [...shared, ...secured].reduce((sum, one) => sum + one, 0),
    extended: has(extended, extendedMetadata) ? extendedMetadata : 0,
  };
}

async function signIn(
  packets: Packets,
  opening: Buffer,
  { base, plugin: greeted, nonce: greetedNonce }: Greeting,
  { username, password, database }: SqlLogin,
  isSecure: boolean,
) {
  // If the preferred method of the server is not supported, this user can still have a supported one.
  let plugin = canProve(greeted) ? greeted : "mysql_native_password";
  let nonce = greetedNonce;
  const proof = proofFor(plugin, password, nonce);
  packets.send(
    Buffer.concat([
      opening,
      Buffer.from(`${username}\0`),
      Buffer.from([proof.length]),
      proof,
      Buffer.from(has(base, capability.withDatabase) ? `${database ?? defaultDatabase}\0` : ""),
      Buffer.from(has(base, capability.pluginAuth) ? `${plugin}\0` : ""),
    ]),
  );
  for (let step = 0; step < maxSteps; step++) {
    const answer = await packets.next();
    const mark = answer.uintLE(1);
    if (mark === marks.ok) return;
    if (mark === marks.switch) {
      plugin = answer.left === 0 ? "mysql_old_password" : answer.text();
      nonce = answer.rest();
      packets.send(proofFor(plugin, password, nonce));
    } else if (mark === marks.moreData && plugin === "caching_sha2_password") {
      const code = answer.uintLE(1);
      if (code === cachingSha2.isFull) await sendPassword(packets, password, nonce, isSecure);
      else if (code !== cachingSha2.isFast) throw notMysql();
    } else throw notMysql();
  }
  throw notMysql();
}

/** Maximum steps of a sign-in. Real servers need up to four. */
const maxSteps = 8;
const cachingSha2 = { wantsKey: 2, isFast: 3, isFull: 4 };

/**
 * Sends the password over TLS, or encrypted with the server's RSA key. A server asks for it if it can't verify the
 * proof, for example after a restart.
 */
async function sendPassword(packets: Packets, password: string, nonce: Buffer, isSecure: boolean) {
  if (isSecure) return packets.send(Buffer.from(`${password}\0`));
  packets.send(Buffer.from([cachingSha2.wantsKey]));
  const key = await packets.next();
  if (key.uintLE(1) !== marks.moreData) throw notMysql();
  packets.send(encryptedFor(key.rest(), password, nonce));
}

const comQuery = 3;
const moreResults = 0x0008;

async function query(
  packets: Packets,
  sql: string,
  wantsRows: boolean,
  hasMetadata: boolean,
): Promise<Rows> {
  packets.command(comQuery, sql);
  const budget = new RowBudget();
  const results: Row[][] = [];
  for (;;) {
    budget.takeValues(1);
    const head = await packets.next();
    const mark = head.uintLE(1);
    if (mark === marks.localFile)
      throw new TargetFailure("The server asks for a file of this machine, which is not sent.");
    let status: number;
    if (mark === marks.ok) {
      lengthIn(head, head.uintLE(1));
      lengthIn(head, head.uintLE(1));
      status = head.uintLE(2);
      results.push([]);
    } else {
      const columns = await readColumns(packets, lengthIn(head, mark), hasMetadata);
      const rows: Row[] = [];
      status = await readRows(packets, columns, budget, wantsRows ? rows : null);
      results.push(rows);
    }
    if ((status & moreResults) === 0) break;
  }
  return results.length > 1 ? results : (results[0] ?? []);
}

/** Reads a length-encoded integer: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html */
function lengthIn(body: ByteReader, first: number): number {
  if (first < 0xfb) return first;
  const bytes = ({ 0xfc: 2, 0xfd: 3, 0xfe: 8 } as Record<number, number>)[first];
  if (bytes === undefined) throw notMysql();
  if (bytes < 8) return body.uintLE(bytes);
  const [low, high] = [body.uintLE(4), body.uintLE(4)];
  return high * 2 ** 32 + low;
}

const stringIn = (body: ByteReader) => body.bytes(lengthIn(body, body.uintLE(1)));

async function readColumns(
  packets: Packets,
  count: number,
  hasMetadata: boolean,
): Promise<MysqlColumn[]> {
  const columns: MysqlColumn[] = [];
  while (columns.length < count) columns.push(columnIn(await packets.next(), hasMetadata));
  statusAtEnd(await packets.next());
  return columns;
}

/** Reads a column definition: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html */
function columnIn(body: ByteReader, hasMetadata: boolean): MysqlColumn {
  for (const _part of ["catalog", "schema", "table", "original table"]) stringIn(body);
  const name = stringIn(body).toString();
  stringIn(body);
  // Metadata consists of pairs of a number and a text. Number 1 is the format.
  const isJson = hasMetadata && stringIn(body).includes("\u0001\u0004json");
  body.bytes(1);
  const charset = body.uintLE(2);
  const length = body.uintLE(4);
  return { name, charset, length, isJson, type: body.uintLE(1) };
}

function statusAtEnd(body: ByteReader): number {
  if (body.uintLE(1) !== marks.end) throw notMysql();
  body.bytes(2);
  return body.uintLE(2);
}

/** Reads all rows and appends them to `into`, unless it is null. Returns the status after the rows. */
async function readRows(
  packets: Packets,
  columns: readonly MysqlColumn[],
  budget: RowBudget,
  into: Row[] | null,
): Promise<number> {
  for (;;) {
    const body = await packets.next();
    const first = body.peek();
    if (first === marks.end && body.left < 9) return statusAtEnd(body);
    if (into === null) continue;
    budget.takeValues(columns.length + 1);
    const entries = columns.map((column) => [column.name, valueIn(body, column, budget)] as const);
    into.push(Object.fromEntries(entries));
  }
}

function valueIn(body: ByteReader, column: MysqlColumn, budget: RowBudget): unknown {
  const first = body.uintLE(1);
  if (first === 0xfb) return null;
  return mysqlValue(column, body.bytes(lengthIn(body, first)), budget);
}

function uintLE(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}
