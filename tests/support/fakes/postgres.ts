import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { canary } from "../samples.ts";
import { type Answers, type Fake, says } from "./fake.ts";

/** A message of https://www.postgresql.org/docs/current/protocol-message-formats.html */
export function postgresMessage(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

export const number = (value: number, bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};

const error = (code: string, text: string) =>
  postgresMessage("E", `SFATAL\0VFATAL\0C${code}\0M${text}\0\0`);
export const ready = postgresMessage("Z", "I");
export const columnCalled = (name: string, type: number) =>
  Buffer.concat([
    Buffer.from(`${name}\0`),
    number(0, 4),
    number(0, 2),
    number(type, 4),
    number(4, 2),
    number(-1, 4),
    number(0, 2),
  ]);
const column = columnCalled("n", 23);
export const row = (...values: string[]) =>
  postgresMessage(
    "D",
    number(values.length, 2),
    ...values.flatMap((value) => [number(value.length, 4), value]),
  );
const rows = Buffer.concat([
  postgresMessage("T", number(1, 2), column),
  row("42"),
  postgresMessage("C", "SELECT 1\0"),
  ready,
]);

/** Server parameters, as text. */
const about = Buffer.concat([
  postgresMessage("T", number(2, 2), columnCalled("version", 25), columnCalled("role", 25)),
  row("17.2 (Debian 17.2-1)", "standby"),
  postgresMessage("C", "SELECT 1\0"),
  ready,
]);

const sslRequest = 80_877_103;

const salt = "salt";
const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const proof = `md5${md5(md5(`${canary}probe`) + salt)}`;

/** Supports TLS, one user with SCRAM, and any query. */
const speaking =
  (onQuery: Buffer): Answers =>
  (socket, secure) => {
    const hear = (line: Duplex) =>
      line.on("data", (data: Buffer) => {
        if (data.length === 8 && data.readInt32BE(4) === sslRequest) {
          line.removeAllListeners("data").write("S");
          hear(secure(line));
        } else if (data[0] === 0) line.write(postgresMessage("R", number(5, 4), salt));
        else if (data.toString("latin1", 0, 1) === "p")
          line.write(
            data.includes(`${proof}\0`)
              ? Buffer.concat([postgresMessage("R", number(0, 4)), ready])
              : error("28P01", "password authentication failed"),
          );
        else line.write(data.includes("server_version") ? about : onQuery);
      });
    hear(socket);
  };

export const postgres: Fake = {
  over: "tcp",
  fields: {
    username: "probe",
    password: canary,
    query: "SELECT 42 AS n",
    assertions: [{ source: "json", path: "$[0].n", op: "equals", value: 42 }],
  },
  answers: speaking(rows),
  up: "Answered the query",
  details: { version: "17.2 (Debian 17.2-1)", role: "standby" },
  refused: {
    fields: { password: "other" },
    message: "The server refused the user name or the password.",
  },
  wrong: [
    [says("N"), "The server does not offer TLS.", { tls: true }],
    [says("?"), "The answer is not valid for PostgreSQL.", { tls: true }],
    [says("SE"), "The server sent unencrypted data after TLS began.", { tls: true }],
    [says(error("3D000", "no database")), "The database does not exist, or is closed to the user."],
    [says(error("57P03", "starting up")), "The server is starting or shutting down."],
    [
      speaking(Buffer.concat([error("42703", `no column ${canary}`), ready])),
      "The server does not understand the query.",
    ],
    [
      speaking(Buffer.concat([error("XX000", "internal"), ready])),
      "The server answered with error XX000.",
    ],
    [
      speaking(
        Buffer.concat([
          postgresMessage("T", number(1, 2), column),
          row("7"),
          postgresMessage("C", "SELECT 1\0"),
          ready,
        ]),
      ),
      "The query was answered, but assertion 1 failed: the value at $[0].n must be 42.",
    ],
    [says(postgresMessage("R", number(99, 4))), "The answer is not valid for PostgreSQL."],
  ],
  // A notice of 256 MB.
  flood: Buffer.concat([Buffer.from("N"), number(0x1000_0000, 4)]),
  tls: "later",
};
