import type { Duplex } from "node:stream";

/** The server's side of one connection; `secure` begins TLS on it, with what was read of that, for protocols that do so by themselves. */
export type Answers = (socket: Duplex, secure: (socket: Duplex, unread?: Buffer) => Duplex) => void;

type Common = {
  /** What a monitor of this type has beyond its address, for the server to be content, secrets included. */
  fields: object;
  /** The address of the server, for types that have no `host` and `port`. */
  at?: (host: string, port: number, isSecure: boolean) => object;
  /** What the monitor says when it is up, before the time. */
  up: string | RegExp;
  /** What is worth seeing of it, whole. */
  details: object;
  /** Fields that are not let in, and what is said of it; for every type with a secret. */
  refused?: { fields: object; message: string };
};

type Stream = Common & {
  over: "tcp";
  answers: Answers;
  /** Other answers that are as good, and what is said of them. */
  alsoUp?: readonly [answers: Answers, up: string, fields?: object, details?: object][];
  /** Other answers, and what is said of them, where the monitor has these fields. */
  wrong: readonly [answers: Answers, message: string | RegExp, fields?: object][];
  /** What the server says before it is asked. */
  greeting?: Uint8Array;
  /** How an answer begins that never ends. */
  flood: string | Uint8Array;
  /** For types that know TLS: whether a connection begins with it or becomes secure later; `both` where the monitor says which. */
  tls?: "first" | "later" | "both";
};

type Reply = (message: Buffer) => Uint8Array | null;

type Datagrams = Common & {
  over: "udp";
  answers: Reply;
  wrong: readonly [answers: Reply, message: string | RegExp, fields?: object][];
};

/** What a server does with its connections. */
export type Served = Pick<Stream, "over" | "answers" | "tls"> | Pick<Datagrams, "over" | "answers">;

/** A server that a monitor's type can be tried on, as well or ill as a test wants it. */
export type Fake = Stream | Datagrams;

/** Waits for the first request and sends these bytes. */
export const says =
  (...pieces: readonly (string | Uint8Array)[]): Answers =>
  (socket) =>
    void socket.once("data", () => {
      for (const piece of pieces) socket.write(piece);
    });
