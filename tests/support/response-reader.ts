/** Feeds bytes to the parser of HTTP responses, in any pieces. */
import type { Connection } from "../../src/core/outgoing/connection.ts";
import { readHttpResponse } from "../../src/core/outgoing/http/response.ts";

/** The test's side of a connection. */
export function createLine() {
  const ending = Promise.withResolvers<void>();
  const state = { closed: false };
  let take: (chunk: Buffer) => void = () => {};
  const connection: Connection = {
    secured: null,
    write: () => {},
    read(taker) {
      take = taker;
      return ending.promise;
    },
    pause() {},
    resume() {},
    secure: async () => connection,
    close: () => void (state.closed = true),
  };
  return { connection, state, ending, arrive: (bytes: Buffer) => take(bytes) };
}

type ReadResponse = { status: number; headers: Record<string, string>; body: string };
type ReadOptions = {
  method?: string;
  /** Byte offsets at which the response is split. */
  cuts?: readonly number[];
  /** Whether the body is read only after all of it has arrived. */
  late?: boolean;
  /** Whether the connection stays open. */
  stays?: boolean;
};

/** Reads a response from these bytes. */
export async function readResponse(
  bytes: string | Buffer,
  { method = "GET", cuts = [], late = false, stays = false }: ReadOptions = {},
): Promise<ReadResponse> {
  const all = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
  const { connection, ending, arrive } = createLine();
  const answering = readHttpResponse(connection, method);
  const pieces: Buffer[] = [];
  const readBody = async () => {
    const response = await answering;
    await response.read((chunk) => void pieces.push(Buffer.from(chunk)));
    return response;
  };
  const beginning = late ? answering : readBody();
  // It can fail before a caller awaits it.
  beginning.catch(() => {});
  const edges = [...new Set([0, ...cuts, all.length])].filter((at) => at <= all.length);
  edges.sort((a, b) => a - b);
  for (const [index, from] of edges.entries()) {
    arrive(Buffer.from(all.subarray(from, edges[index + 1] ?? from)));
    // Let the reader of the head run.
    await Promise.resolve();
  }
  if (!stays) ending.resolve();
  const { status, headers } = await (late ? readBody() : beginning);
  const body = Buffer.concat(pieces).toString("latin1");
  return { status, headers: Object.fromEntries(headers), body };
}

/** The reason of a rejected response, or the parsed response. */
export const findRefusal = (bytes: string | Buffer, way: ReadOptions = {}) =>
  readResponse(bytes, way).then(
    ({ status }) => `read as ${status}`,
    (error: Error) => error.message,
  );

/** The header of a response or a request. */
export const buildMessageHead = (...lines: string[]) => `${lines.join("\r\n")}\r\n\r\n`;
/** These chunks in chunked coding, without the empty last chunk. */
export const encodeChunks = (...chunks: string[]) =>
  chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
