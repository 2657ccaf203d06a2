/** The gRPC check: calls the standard health service of a server over HTTP/2. */
import { createLookup } from "../../../core/collections/objects.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
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

async function queryHealth(wire: Wire, { host, service, tls }: Settings, signal: AbortSignal) {
  const { constants } = await import("node:http2");
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const name = host.includes(":") ? `[${host}]` : host;
  const origin = `${tls ? "https" : "http"}://${name}`;
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
    if (headers[":status"] !== 200) reject(notGrpcError());
  });
  stream.on("trailers", readStatusHeader);
  stream.on("data", (chunk: Buffer) => (body = Buffer.concat([body, chunk])));
  stream.on("error", () => reject(notGrpcError()));
  stream.on("end", () => {
    if (code === "0") resolve(parseStatus(body));
    else if (typeof code !== "string") reject(notGrpcError());
    else
      reject(
        new TargetFailure(refusals[code] ?? `The server responded with status ${Number(code)}.`),
      );
  });
  stream.end(buildRequest(service ?? ""));
  try {
    return await promise;
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

/** Reads the first field of a response. Protocol Buffers omit fields with the value 0. */
function parseStatus(body: Buffer): number {
  const [compressed, ...rest] = body;
  if (compressed !== 0 || rest.length < 4) throw notGrpcError();
  return body[5] === 0x08 ? (body[6] ?? 0) : 0;
}
