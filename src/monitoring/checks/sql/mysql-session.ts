/** The protocol of MySQL and MariaDB: signs in and runs queries over a connection with a byte limit. */
import { ByteReader } from "../../../core/outgoing/http/byte-reader.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire, WireTls } from "../../../core/outgoing/http/wire.ts";
import { canProve, encryptPassword, computeProof } from "./mysql-login.ts";
import { convertMysqlValue, type MysqlColumn } from "./mysql-values.ts";
import { RowBudget, type Row, type Rows } from "./rows.ts";
import { noTlsError, SqlError, type SqlLogin, type SqlSession } from "./session.ts";

const notMysqlError = () => new TargetFailure("The response is not valid for MySQL.");

/** Capability flags: https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html */
const capabilityBits = {
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
export async function openMysqlSession(
  wire: Wire,
  login: SqlLogin,
  tls: WireTls | null,
): Promise<SqlSession> {
  const packets = new Packets(wire);
  const greeting = parseGreeting(await packets.readGreeting());
  const capabilities = negotiateCapabilities(greeting, tls !== null);
  const opening = Buffer.concat([
    encodeUintLE(capabilities.base, 4),
    encodeUintLE(2 ** 24 - 1, 4),
    Buffer.from([utf8mb4]),
    Buffer.alloc(19),
    encodeUintLE(capabilities.extended, 4),
  ]);
  if (tls !== null) {
    packets.send(opening);
    await wire.secure(tls);
  }
  await signIn(packets, opening, greeting, login, tls !== null);
  const hasMetadata = capabilities.extended !== 0;
  const session: SqlSession = {
    query: (sql, wantsRows) => runQuery(packets, sql, wantsRows, hasMetadata),
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
  async readGreeting(): Promise<ByteReader> {
    const head = await this.wire.read(4);
    if (head[3] !== 0 || head.readUIntLE(0, 3) > maxGreetingBytes) throw notMysqlError();
    return this.readBodyAfter(head);
  }

  async readNext(): Promise<ByteReader> {
    return this.readBodyAfter(await this.wire.read(4));
  }

  private async readBodyAfter(head: Buffer): Promise<ByteReader> {
    this.sequence = (head[3] ?? 0) + 1;
    const body = await this.wire.read(head.readUIntLE(0, 3));
    if (body[0] === packetMarks.error) throw parseError(new ByteReader(body, notMysqlError));
    return new ByteReader(body, notMysqlError);
  }

  send(body: Buffer) {
    const number = Buffer.from([this.sequence++ & 0xff]);
    this.wire.write(Buffer.concat([encodeUintLE(body.length, 3), number, body]));
  }

  /** Sends a command and restarts the packet sequence. */
  sendCommand(code: number, text: string) {
    this.sequence = 0;
    this.send(Buffer.concat([Buffer.from([code]), Buffer.from(text)]));
  }
}

const maxGreetingBytes = 1_024;
const packetMarks = {
  ok: 0x00,
  moreData: 0x01,
  localFile: 0xfb,
  switch: 0xfe,
  end: 0xfe,
  error: 0xff,
};

/** Reads an error packet: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_err_packet.html */
function parseError(body: ByteReader): SqlError {
  body.readBytes(1);
  const code = body.readUintLE(2);
  const message = body.readRest().toString();
  return new SqlError(String(code), message.replace(/^#.{5}/s, ""));
}

type Greeting = { base: number; extended: number; plugin: string; nonce: Buffer };

/** Reads the greeting: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html */
function parseGreeting(body: ByteReader): Greeting {
  if (body.readUintLE(1) !== 10) throw notMysqlError();
  body.readText();
  body.readBytes(4);
  const start = body.readBytes(8);
  body.readBytes(1);
  const low = body.readUintLE(2);
  body.readBytes(3);
  const base = low + body.readUintLE(2) * 2 ** 16;
  const nonceLength = Math.max(13, body.readUintLE(1) - start.length);
  body.readBytes(6);
  const extended = hasCapability(base, mysqlItself) ? 0 : body.readUintLE(4);
  if (hasCapability(base, mysqlItself)) body.readBytes(4);
  if (
    !hasCapability(base, capabilityBits.protocol41) ||
    !hasCapability(base, capabilityBits.secureConnection)
  )
    throw notMysqlError();
  const nonce = Buffer.concat([start, body.readBytes(Math.min(nonceLength, body.left))]);
  const plugin = hasCapability(base, capabilityBits.pluginAuth)
    ? body.readText()
    : "mysql_native_password";
  return { base, extended, plugin, nonce };
}

const hasCapability = (all: number, one: number) => Math.floor(all / one) % 2 === 1;

/** Returns the capabilities of both sides. Throws TargetFailure if TLS is required but not offered. */
function negotiateCapabilities({ base, extended }: Greeting, wantsTls: boolean) {
  if (wantsTls && !hasCapability(base, capabilityBits.tls)) throw noTlsError();
  const { tls, ...others } = capabilityBits;
  const shared = Object.values(others).filter((one) => hasCapability(base, one));
  const secured = wantsTls ? [tls] : [];
  return {
    base: [...shared, ...secured].reduce((sum, one) => sum + one, 0),
    extended: hasCapability(extended, extendedMetadata) ? extendedMetadata : 0,
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
  const proof = computeProof(plugin, password, nonce);
  packets.send(
    Buffer.concat([
      opening,
      Buffer.from(`${username}\0`),
      Buffer.from([proof.length]),
      proof,
      Buffer.from(
        hasCapability(base, capabilityBits.withDatabase) ? `${database ?? defaultDatabase}\0` : "",
      ),
      Buffer.from(hasCapability(base, capabilityBits.pluginAuth) ? `${plugin}\0` : ""),
    ]),
  );
  for (let step = 0; step < maxSteps; step++) {
    const response = await packets.readNext();
    const mark = response.readUintLE(1);
    if (mark === packetMarks.ok) return;
    if (mark === packetMarks.switch) {
      plugin = response.left === 0 ? "mysql_old_password" : response.readText();
      nonce = response.readRest();
      packets.send(computeProof(plugin, password, nonce));
    } else if (mark === packetMarks.moreData && plugin === "caching_sha2_password") {
      const code = response.readUintLE(1);
      if (code === cachingSha2.isFull) await sendPassword(packets, password, nonce, isSecure);
      else if (code !== cachingSha2.isFast) throw notMysqlError();
    } else throw notMysqlError();
  }
  throw notMysqlError();
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
  const key = await packets.readNext();
  if (key.readUintLE(1) !== packetMarks.moreData) throw notMysqlError();
  packets.send(encryptPassword(key.readRest(), password, nonce));
}

const comQuery = 3;
const moreResults = 0x0008;

async function runQuery(
  packets: Packets,
  sql: string,
  wantsRows: boolean,
  hasMetadata: boolean,
): Promise<Rows> {
  packets.sendCommand(comQuery, sql);
  // A procedure ends with a result without rows, after those of its statements.
  const isCall = /^\s*call\b/i.test(sql);
  const budget = new RowBudget();
  const results: Row[][] = [];
  for (;;) {
    budget.countValues(1);
    const head = await packets.readNext();
    const mark = head.readUintLE(1);
    if (mark === packetMarks.localFile)
      throw new TargetFailure("The server requests a file of this machine, which is not sent.");
    let status: number;
    if (mark === packetMarks.ok) {
      readLength(head, head.readUintLE(1));
      readLength(head, head.readUintLE(1));
      status = head.readUintLE(2);
      if (!isCall || results.length === 0) results.push([]);
    } else {
      const columns = await readColumns(packets, readLength(head, mark), hasMetadata);
      const rows: Row[] = [];
      status = await readRows(packets, columns, budget, wantsRows ? rows : null);
      results.push(rows);
    }
    if ((status & moreResults) === 0) break;
  }
  return results.length > 1 ? results : (results[0] ?? []);
}

/** Reads a length-encoded integer: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html */
function readLength(body: ByteReader, first: number): number {
  if (first < 0xfb) return first;
  const bytes = ({ 0xfc: 2, 0xfd: 3, 0xfe: 8 } as Record<number, number>)[first];
  if (bytes === undefined) throw notMysqlError();
  if (bytes < 8) return body.readUintLE(bytes);
  const [low, high] = [body.readUintLE(4), body.readUintLE(4)];
  return high * 2 ** 32 + low;
}

const readString = (body: ByteReader) => body.readBytes(readLength(body, body.readUintLE(1)));

async function readColumns(
  packets: Packets,
  count: number,
  hasMetadata: boolean,
): Promise<MysqlColumn[]> {
  const columns: MysqlColumn[] = [];
  while (columns.length < count) columns.push(parseColumn(await packets.readNext(), hasMetadata));
  parseEndStatus(await packets.readNext());
  return columns;
}

/** Reads a column definition: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html */
function parseColumn(body: ByteReader, hasMetadata: boolean): MysqlColumn {
  for (const _part of ["catalog", "schema", "table", "original table"]) readString(body);
  const name = readString(body).toString();
  readString(body);
  // Metadata consists of pairs of a number and a text. Number 1 is the format.
  const isJson = hasMetadata && readString(body).includes("\u0001\u0004json");
  body.readBytes(1);
  const charset = body.readUintLE(2);
  const length = body.readUintLE(4);
  return { name, charset, length, isJson, type: body.readUintLE(1) };
}

function parseEndStatus(body: ByteReader): number {
  if (body.readUintLE(1) !== packetMarks.end) throw notMysqlError();
  body.readBytes(2);
  return body.readUintLE(2);
}

/** Reads all rows and appends them to `into`, unless it is null. Returns the status after the rows. */
async function readRows(
  packets: Packets,
  columns: readonly MysqlColumn[],
  budget: RowBudget,
  into: Row[] | null,
): Promise<number> {
  for (;;) {
    const body = await packets.readNext();
    const first = body.peek();
    if (first === packetMarks.end && body.left < 9) return parseEndStatus(body);
    if (into === null) continue;
    budget.countValues(columns.length + 1);
    const entries = columns.map(
      (column) => [column.name, parseValue(body, column, budget)] as const,
    );
    into.push(Object.fromEntries(entries));
  }
}

function parseValue(body: ByteReader, column: MysqlColumn, budget: RowBudget): unknown {
  const first = body.readUintLE(1);
  if (first === 0xfb) return null;
  return convertMysqlValue(column, body.readBytes(readLength(body, first)), budget);
}

function encodeUintLE(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}
