import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { canary } from "../samples.ts";
import type { Answers, Fake } from "./fake.ts";

/** https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html */
export function packet(
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
export const offered = 0x0001 + 0x0008 + 0x0200 + 0x8000 + ssl;

/** Protocol version 10. */
export const greetingWith = (offered: number, plugin = "mysql_native_password") =>
  packet(
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
const greeting = greetingWith(offered);

const sha1 = (...parts: readonly (string | Uint8Array)[]) => {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

function scrambled(password: string): Buffer {
  const stage = sha1(password);
  const mask = sha1(salt, sha1(stage));
  return Buffer.from(stage.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

export const ok = (sequence: number) => packet(sequence, [0, 0, 0, 2, 0, 0, 0]);
const error = (sequence: number, code: number, state: string, text: string) =>
  packet(sequence, [0xff, code & 0xff, code >> 8], `#${state}${text}`);
const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
const column = (name: string, type: number) =>
  Buffer.concat([
    ...["def", "", "", "", name, ""].map(text),
    Buffer.from([0x0c, 33, 0, 11, 0, 0, 0, type, 0, 0, 0, 0, 0]),
  ]);
const eof = [0xfe, 0, 0, 2, 0];
export const rows = (value: string, name = "n", type = 3) =>
  Buffer.concat([
    packet(1, [1]),
    packet(2, column(name, type)),
    packet(3, eof),
    packet(4, text(value)),
    packet(5, eof),
  ]);

const about = rows("11.8.2-MariaDB", "version", 0xfd);

/** Supports TLS, one user with a password, and any query. */
const speaking =
  (onQuery: Buffer, onLogin?: Buffer, first = greeting): Answers =>
  (socket, secure) => {
    const answerTo = (data: Buffer) =>
      data.includes("SET ") ? ok(1) : data.includes("version()") ? about : onQuery;
    const hear = (line: Duplex) =>
      line.on("data", (data: Buffer) => {
        const sequence = data[3] ?? 0;
        if (data.length >= 36 && sequence === 1 && (data.readUInt16LE(4) & ssl) !== 0) {
          line.removeAllListeners("data");
          hear(secure(line, data.subarray(36)));
        } else if (sequence === 0) line.write(answerTo(data));
        else if (data.includes(scrambled(canary))) line.write(onLogin ?? ok(sequence + 1));
        else line.write(error(sequence + 1, 1045, "28000", "Access denied"));
      });
    hear(socket);
    socket.write(first);
  };

export const mysql: Fake = {
  over: "tcp",
  fields: {
    username: "probe",
    password: canary,
    query: "SELECT 42 AS n",
    assertions: [{ source: "json", path: "$[0].n", op: "equals", value: 42 }],
  },
  greeting,
  answers: speaking(rows("42")),
  up: "Answered the query",
  details: { version: "11.8.2-MariaDB" },
  refused: {
    fields: { password: "other" },
    message: "The server refused the user name or the password.",
  },
  wrong: [
    [
      speaking(rows("42"), ok(2), greetingWith(offered & ~ssl)),
      "The server does not offer TLS.",
      { tls: true },
    ],
    [
      (socket) => void socket.write(error(0, 1040, "08004", "Too many connections")),
      "The server has no connection left.",
    ],
    [
      speaking(rows("42"), error(2, 1049, "42000", "Unknown database")),
      "The database does not exist, or is closed to the user.",
    ],
    [
      speaking(error(1, 1064, "42000", `near ${canary}`)),
      "The server does not understand the query.",
    ],
    [speaking(error(1, 1999, "HY000", "odd")), "The server answered with error 1999."],
    [
      speaking(rows("7")),
      "The query was answered, but assertion 1 failed: the value at $[0].n must be 42.",
    ],
    [(socket) => void socket.write(packet(0, [9], "3.21\0")), "The answer is not valid for MySQL."],
  ],
  flood: greeting,
  tls: "later",
};
