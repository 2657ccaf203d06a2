import { createServer, type IncomingHttpHeaders } from "node:http2";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

/** A health service with this status per service, or a gRPC error status. */
export const createHealthServer =
  (
    response: readonly number[],
    status: string | null = "0",
    httpStatus = 200,
    onHeaders: (headers: IncomingHttpHeaders) => void = () => {},
  ): ServeSocket =>
  (socket) => {
    const server = createServer();
    server.on("stream", (stream, headers) => {
      onHeaders(headers);
      stream.on("error", () => {});
      const requests: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => requests.push(chunk));
      stream.on("end", () => {
        const isKnown = Buffer.concat(requests).includes("shop.Orders");
        stream.respond(
          { ":status": httpStatus, "content-type": "application/grpc" },
          { waitForTrailers: true },
        );
        stream.on("wantTrailers", () =>
          stream.sendTrailers(status === null ? {} : { "grpc-status": isKnown ? status : "5" }),
        );
        stream.end(Buffer.from(response));
      });
    });
    server.emit("connection", socket);
  };

/** Settings, followed by RST_STREAM of the first stream with REFUSED_STREAM (RFC 9113 §6.4). */
const refuseStream = Buffer.from([
  0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7,
]);
/** Type, flags (END_HEADERS) and stream of the request. */
const headersHead = Buffer.from([1, 4, 0, 0, 0, 1]);
const abortStream: ServeSocket = (socket) =>
  // Not before the request, which the client can send after its settings.
  void socket.on("data", (data: Buffer) => {
    if (data.includes(headersHead)) socket.write(refuseStream);
  });

const serving = [0, 0, 0, 0, 2, 8, 1];

export const grpc: Fake = {
  transport: "tcp",
  fields: { service: "shop.Orders" },
  serve: createHealthServer(serving),
  up: "Serving, responded",
  details: { serving: "SERVING" },
  wrong: [
    [createHealthServer([0, 0, 0, 0, 2, 8, 2]), "The server reports that it is not serving."],
    [createHealthServer([0, 0, 0, 0, 0]), "The server reports that it is not serving."],
    [createHealthServer([], "12"), "The server has no health protocol."],
    // No message, and a compressed one.
    [createHealthServer([]), "The response is not valid for gRPC."],
    [createHealthServer([1, 0, 0, 0, 2, 8, 1]), "The response is not valid for gRPC."],
    [createHealthServer([0, 0, 0, 0, 2, 8]), "The response is not valid for gRPC."],
    [createHealthServer([0, 0, 0, 0, 2, 0x0b, 1]), "The response is not valid for gRPC."],
    [createHealthServer([], "13"), "The server responded with status 13."],
    [abortStream, "The server aborted the request (HTTP/2 error 7)."],
    [createHealthServer([], null, 503), "HTTP 503 (Service Unavailable), expected 200."],
    [createHealthServer(serving), "The server does not know the service.", { service: "other" }],
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for gRPC."],
  ],
  // Settings, followed by data of an unopened stream.
  flood: Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  tls: "first",
};
