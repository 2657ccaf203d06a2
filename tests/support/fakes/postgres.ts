import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { canary } from "../samples.ts";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

/** A message of https://www.postgresql.org/docs/current/protocol-message-formats.html */
export function buildPostgresMessage(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

export const encodeNumber = (value: number, bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};

const buildError = (code: string, text: string) =>
  buildPostgresMessage("E", `SFATAL\0VFATAL\0C${code}\0M${text}\0\0`);
export const readyMessage = buildPostgresMessage("Z", "I");
export const buildColumn = (name: string, type: number) =>
  Buffer.concat([
    Buffer.from(`${name}\0`),
    encodeNumber(0, 4),
    encodeNumber(0, 2),
    encodeNumber(type, 4),
    encodeNumber(4, 2),
    encodeNumber(-1, 4),
    encodeNumber(0, 2),
  ]);
const column = buildColumn("n", 23);
export const buildDataRow = (...values: string[]) =>
  buildPostgresMessage(
    "D",
    encodeNumber(values.length, 2),
    ...values.flatMap((value) => [encodeNumber(value.length, 4), value]),
  );
const rows = Buffer.concat([
  buildPostgresMessage("T", encodeNumber(1, 2), column),
  buildDataRow("42"),
  buildPostgresMessage("C", "SELECT 1\0"),
  readyMessage,
]);

/** Server parameters, as text. */
const parameterMessages = Buffer.concat([
  buildPostgresMessage(
    "T",
    encodeNumber(2, 2),
    buildColumn("version", 25),
    buildColumn("role", 25),
  ),
  buildDataRow("17.2 (Debian 17.2-1)", "standby"),
  buildPostgresMessage("C", "SELECT 1\0"),
  readyMessage,
]);

const sslRequest = 80_877_103;

const salt = "salt";
const hashMd5 = (text: string) => createHash("md5").update(text).digest("hex");
const passwordProof = `md5${hashMd5(hashMd5(`${canary}probe`) + salt)}`;

/** Supports TLS, one user with SCRAM, and any query. */
const createPostgresServer =
  (onQuery: Buffer): ServeSocket =>
  (socket, secure) => {
    const replyToMessages = (line: Duplex) =>
      line.on("data", (data: Buffer) => {
        if (data.length === 8 && data.readInt32BE(4) === sslRequest) {
          line.removeAllListeners("data").write("S");
          replyToMessages(secure(line));
        } else if (data[0] === 0) line.write(buildPostgresMessage("R", encodeNumber(5, 4), salt));
        else if (data.toString("latin1", 0, 1) === "p")
          line.write(
            data.includes(`${passwordProof}\0`)
              ? Buffer.concat([buildPostgresMessage("R", encodeNumber(0, 4)), readyMessage])
              : buildError("28P01", "password authentication failed"),
          );
        else line.write(data.includes("server_version") ? parameterMessages : onQuery);
      });
    replyToMessages(socket);
  };

export const postgres: Fake = {
  transport: "tcp",
  fields: {
    username: "probe",
    password: canary,
    query: "SELECT 42 AS n",
    assertions: [{ source: "json", path: "$[0].n", op: "equals", value: 42 }],
  },
  serve: createPostgresServer(rows),
  up: "Answered the query",
  details: { version: "17.2 (Debian 17.2-1)", role: "standby" },
  refused: {
    fields: { password: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [replyOnceTo("N"), "The server does not offer TLS.", { tls: true }],
    [replyOnceTo("?"), "The response is not valid for PostgreSQL.", { tls: true }],
    [replyOnceTo("SE"), "The server sent unencrypted data after TLS began.", { tls: true }],
    [
      replyOnceTo(buildError("3D000", "no database")),
      "The database does not exist, or is closed to the user.",
    ],
    [replyOnceTo(buildError("57P03", "starting up")), "The server is starting or shutting down."],
    [
      createPostgresServer(
        Buffer.concat([buildError("42703", `no column ${canary}`), readyMessage]),
      ),
      "The server does not understand the query.",
    ],
    [
      createPostgresServer(Buffer.concat([buildError("XX000", "internal"), readyMessage])),
      "The server responded with error XX000.",
    ],
    [
      createPostgresServer(
        Buffer.concat([
          buildPostgresMessage("T", encodeNumber(1, 2), column),
          buildDataRow("7"),
          buildPostgresMessage("C", "SELECT 1\0"),
          readyMessage,
        ]),
      ),
      "The query was answered, but assertion 1 failed: the value at $[0].n must be 42.",
    ],
    [
      replyOnceTo(buildPostgresMessage("R", encodeNumber(99, 4))),
      "The response is not valid for PostgreSQL.",
    ],
  ],
  // A notice of 256 MB.
  flood: Buffer.concat([Buffer.from("N"), encodeNumber(0x1000_0000, 4)]),
  tls: "later",
};
