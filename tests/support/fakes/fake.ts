import type { Duplex } from "node:stream";

/**
 * The server's side of one connection. `secure` starts TLS on it, with bytes already read, for
 * protocols that start TLS themselves.
 */
export type ServeSocket = (
  socket: Duplex,
  secure: (socket: Duplex, unread?: Buffer) => Duplex,
) => void;

type Common = {
  /** Fields besides the address with which the server accepts the monitor, secrets included. */
  fields: object;
  /** The address of the server, for types that have no `host` and `port`. */
  at?: (host: string, port: number, isSecure: boolean) => object;
  /** The message of the result when up, before the latency. */
  up: string | RegExp;
  /** Complete details of the result. */
  details: object;
  /** Rejected fields and the expected message, for every type with a secret. */
  refused?: { fields: object; message: string };
};

type Stream = Common & {
  transport: "tcp";
  serve: ServeSocket;
  /** Other good responses and their messages. */
  alsoUp?: readonly [serve: ServeSocket, up: string, fields?: object, details?: object][];
  /** Other responses and their messages for a monitor with these fields. */
  wrong: readonly [serve: ServeSocket, message: string | RegExp, fields?: object][];
  /** Greeting of the server. */
  greeting?: Uint8Array;
  /** Start of an endless response. */
  flood: string | Uint8Array;
  /**
   * For types with TLS: whether a connection starts with it or becomes secure later; `both` if the
   * monitor decides.
   */
  tls?: "first" | "later" | "both";
};

type Reply = (message: Buffer) => Uint8Array | null;

type Datagrams = Common & {
  transport: "udp";
  serve: Reply;
  wrong: readonly [serve: Reply, message: string | RegExp, fields?: object][];
};

/** Connection handler of a server. */
export type ServedFake =
  Pick<Stream, "transport" | "serve" | "tls"> | Pick<Datagrams, "transport" | "serve">;

/** A server for one monitor type with scripted behavior. */
export type Fake = Stream | Datagrams;

/** Waits for the first request and sends these bytes. */
export const replyOnceTo =
  (...pieces: readonly (string | Uint8Array)[]): ServeSocket =>
  (socket) =>
    void socket.once("data", () => {
      for (const piece of pieces) socket.write(piece);
    });
