/** The gRPC check: calls the standard health service of a server over HTTP/2. */
import { createLookup } from "../../../core/collections/objects.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { ByteReader } from "../../../core/outgoing/http/byte-reader.ts";
import { formatStatus } from "../../../core/outgoing/http/head.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import { openHttp2 } from "../protocols/http2.ts";

const servingStatus = 1;
const states = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
/** Failures by gRPC status code: https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
const refusals: Record<string, string> = createLookup({
  5: "The server does not know the service.",
  7: "The server does not allow the health check.",
  12: "The server has no health protocol.",
  14: "The server is unavailable.",
  16: "The server does not allow the health check.",
});
const notGrpcError = () => new TargetFailure("The response is not valid for gRPC.");

/** Up when the health protocol reports SERVING. https://github.com/grpc/grpc/blob/master/doc/health-checking.md */
export const checkGrpc: CheckKind<"grpc"> = (settings, context) =>
  converse(
    settings,
    context,
    async (wire) => {
      const status = await queryHealth(wire, settings, context.signal);
      const details = { serving: states[status] ?? `${status}` };
      return status === servingStatus
        ? { words: "Serving, responded", details }
        : { status: "down", message: "The server reports that it is not serving.", details };
    },
    { hello: { protocol: "h2" } },
  );

type Settings = Parameters<CheckKind<"grpc">>[0];

async function queryHealth(
  wire: Wire,
  { host, port, service, tls }: Settings,
  signal: AbortSignal,
) {
  const { constants } = await import("node:http2");
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const name = host.includes(":") ? `[${host}]` : host;
  const origin = `${tls ? "https" : "http"}://${name}:${port}`;
  const session = await openHttp2(wire, origin, signal, reject, notGrpcError);
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: "/grpc.health.v1.Health/Check",
    "content-type": "application/grpc",
    te: "trailers",
  });
  let body: Buffer = Buffer.alloc(0);
  let code: unknown;
  const readStatusHeader = (headers: Record<string, unknown>) =>
    (code = headers["grpc-status"] ?? code);
  stream.on("response", (headers) => {
    readStatusHeader(headers);
    const httpStatus = headers[":status"] ?? 0;
    // Proxies respond by HTTP alone if they can't reach the server.
    if (httpStatus !== 200 && code === undefined)
      reject(new TargetFailure(`${formatStatus(httpStatus)}, expected 200.`));
  });
  stream.on("trailers", readStatusHeader);
  stream.on("data", (chunk: Buffer) => (body = Buffer.concat([body, chunk])));
  const createStreamError = () =>
    stream.rstCode > 0
      ? new TargetFailure(`The server aborted the request (HTTP/2 error ${stream.rstCode}).`)
      : notGrpcError();
  stream.on("error", () => reject(createStreamError()));
  stream.on("end", () => {
    if (code === "0") resolve(body);
    else if (typeof code !== "string") reject(createStreamError());
    else
      reject(
        new TargetFailure(refusals[code] ?? `The server responded with status ${Number(code)}.`),
      );
  });
  stream.end(buildRequest(service ?? ""));
  try {
    return parseStatus(await promise);
  } finally {
    session.destroy();
  }
}

/** Builds a gRPC request message: the name of the service is its first field. */
function buildRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const length =
    name.length < 128 ? [name.length] : [0x80 | (name.length & 0x7f), name.length >> 7];
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...length]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Reads field 1 of a response, and skips others. Protocol Buffers omit fields with the value 0. */
function parseStatus(body: Buffer): number {
  if (body.length < messageStart || body[0] !== 0) throw notGrpcError();
  const end = messageStart + body.readUInt32BE(1);
  if (end > body.length) throw notGrpcError();
  const message = new ByteReader(body.subarray(messageStart, end), notGrpcError);
  let status = 0;
  while (message.left > 0) {
    const tag = readVarint(message);
    const wireType = tag % 8;
    if (wireType === wireTypes.varint) {
      const value = readVarint(message);
      if (tag === statusTag) status = value;
    } else if (wireType === wireTypes.bytes) message.readBytes(readVarint(message));
    else if (wireType === wireTypes.fixed64) message.readBytes(8);
    else if (wireType === wireTypes.fixed32) message.readBytes(4);
    else throw notGrpcError();
  }
  return status;
}

/** Bytes before a message: whether it is compressed, and its length. */
const messageStart = 5;
/** https://protobuf.dev/programming-guides/encoding/#structure */
const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };
const statusTag = 8;

function readVarint(message: ByteReader): number {
  for (let value = 0, scale = 1; ; scale *= 128) {
    const byte = message.readUintLE(1);
    value += (byte % 128) * scale;
    if (byte < 128) return value;
    if (scale > 2 ** 56) throw notGrpcError();
  }
}
