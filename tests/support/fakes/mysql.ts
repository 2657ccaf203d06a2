import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { canary } from "../samples.ts";
import type { ServeSocket, Fake } from "./fake.ts";

/** https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html */
export function buildMysqlPacket(
  sequence: number,
  ...parts: readonly (string | readonly number[] | Uint8Array)[]
): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as Buffer)));
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, body]);
}

export const salt = "abcdefghijklmnopqrst";
/** Capability flag: the greeting names a plugin. */
export const pluginAuth = 0x80000;
const ssl = 0x0800;
/** Supported capabilities: long passwords, a database, protocol 4.1 and its passwords. */
export const offeredCapabilities = 0x0001 + 0x0008 + 0x0200 + 0x8000 + ssl;

/** Protocol version 10. */
export const buildGreeting = (offered: number, plugin = "mysql_native_password") =>
  buildMysqlPacket(
    0,
    [10],
    "8.0.99\0",
    [1, 0, 0, 0],
    salt.slice(0, 8),
    [0, offered & 0xff, (offered >> 8) & 0xff, 33, 2, 0, offered >> 16, 0, 21],
    Buffer.alloc(10),
    `${salt.slice(8)}\0`,
    `${plugin}\0`,
  );
const greeting = buildGreeting(offeredCapabilities);

const hashSha1 = (...parts: readonly (string | Uint8Array)[]) => {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

function scramblePassword(password: string): Buffer {
  const stage = hashSha1(password);
  const mask = hashSha1(salt, hashSha1(stage));
  return Buffer.from(stage.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

export const buildOk = (sequence: number) => buildMysqlPacket(sequence, [0, 0, 0, 2, 0, 0, 0]);
const buildError = (sequence: number, code: number, state: string, text: string) =>
  buildMysqlPacket(sequence, [0xff, code & 0xff, code >> 8], `#${state}${text}`);
const encodeMysqlText = (value: string) =>
  Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
const buildColumn = (name: string, type: number) =>
  Buffer.concat([
    ...["def", "", "", "", name, ""].map(encodeMysqlText),
    Buffer.from([0x0c, 33, 0, 11, 0, 0, 0, type, 0, 0, 0, 0, 0]),
  ]);
const eof = [0xfe, 0, 0, 2, 0];
const eofBeforeMore = [0xfe, 0, 0, 0x0a, 0];
export const buildRows = (value: string, name = "n", type = 3, end = eof) =>
  Buffer.concat([
    buildMysqlPacket(1, [1]),
    buildMysqlPacket(2, buildColumn(name, type)),
    buildMysqlPacket(3, eof),
    buildMysqlPacket(4, encodeMysqlText(value)),
    buildMysqlPacket(5, end),
  ]);
/** The rows of a procedure, and its final result without rows. */
export const buildProcedureResult = (value: string) =>
  Buffer.concat([buildRows(value, "n", 3, eofBeforeMore), buildOk(6)]);

const versionRows = buildRows("11.8.2-MariaDB", "version", 0xfd);

/** Supports TLS, one user with a password, and any query. */
export const createMysqlServer =
  (onQuery: Buffer, onLogin?: Buffer, first = greeting): ServeSocket =>
  (socket, secure) => {
    const replyTo = (data: Buffer) =>
      data.includes("SET ") ? buildOk(1) : data.includes("version()") ? versionRows : onQuery;
    const replyToPackets = (line: Duplex) =>
      line.on("data", (data: Buffer) => {
        const sequence = data[3] ?? 0;
        if (data.length >= 36 && sequence === 1 && (data.readUInt16LE(4) & ssl) !== 0) {
          line.removeAllListeners("data");
          replyToPackets(secure(line, data.subarray(36)));
        } else if (sequence === 0) line.write(replyTo(data));
        else if (data.includes(scramblePassword(canary)))
          line.write(onLogin ?? buildOk(sequence + 1));
        else line.write(buildError(sequence + 1, 1045, "28000", "Access denied"));
      });
    replyToPackets(socket);
    socket.write(first);
  };

export const mysql: Fake = {
  transport: "tcp",
  fields: {
    username: "probe",
    password: canary,
    query: "SELECT 42 AS n",
    assertions: [{ source: "json", path: "$[0].n", op: "equals", value: 42 }],
  },
  greeting,
  serve: createMysqlServer(buildRows("42")),
  up: "Answered the query",
  details: { version: "11.8.2-MariaDB" },
  refused: {
    fields: { password: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [
      createMysqlServer(buildRows("42"), buildOk(2), buildGreeting(offeredCapabilities & ~ssl)),
      "The server does not offer TLS.",
      { tls: true },
    ],
    [
      (socket) => void socket.write(buildError(0, 1040, "08004", "Too many connections")),
      "The server has no connection left.",
    ],
    [
      createMysqlServer(buildRows("42"), buildError(2, 1049, "42000", "Unknown database")),
      "The database does not exist, or is closed to the user.",
    ],
    [
      createMysqlServer(buildError(1, 1064, "42000", `near ${canary}`)),
      "The server does not understand the query.",
    ],
    [
      createMysqlServer(buildError(1, 1999, "HY000", "odd")),
      "The server responded with error 1999.",
    ],
    [
      createMysqlServer(buildRows("7")),
      "The query was answered, but assertion 1 failed: the value at $[0].n must be 42.",
    ],
    [
      (socket) => void socket.write(buildMysqlPacket(0, [9], "3.21\0")),
      "The response is not valid for MySQL.",
    ],
  ],
  flood: greeting,
  tls: "later",
};
