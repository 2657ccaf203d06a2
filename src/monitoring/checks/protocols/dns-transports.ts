/** Sends a DNS query over UDP and TCP, over TLS (DoT, RFC 7858), or over HTTPS (DoH, RFC 8484). */
import { getServers } from "node:dns";
import { isIP } from "node:net";
import { dial } from "../../../core/outgoing/connection.ts";
import type { Address } from "../../../core/outgoing/context.ts";
import { queryByDatagram } from "../../../core/outgoing/datagrams.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { createWire, type Wire } from "../../../core/outgoing/http/wire.ts";
import { parseResolver, type Resolver } from "../../monitors/rules.ts";
import type { CheckContext } from "../check.ts";
import { connectToTarget } from "./conversation.ts";
import {
  buildQuery,
  type DnsResponse,
  invalidDnsError,
  isResponseTo,
  parseResponse,
  type RecordType,
} from "./dns-messages.ts";
import { openHttp2 } from "./http2.ts";

/** Length of the longest DNS message, and of the head of its transport. */
const maxBytes = 80 * 1024;

/** Queries the resolver; null means those of this machine. Throws TargetFailure or LocalFailure. */
export async function queryResolver(
  resolver: Resolver | null,
  name: string,
  type: RecordType,
  isUnchecked: boolean,
  context: CheckContext,
): Promise<DnsResponse> {
  const hasId = resolver?.scheme !== "https";
  const query = buildQuery(name, type, { isUnchecked, hasId });
  const send = { dns: sendPlain, tls: sendOverTls, https: sendOverHttps }[
    resolver?.scheme ?? "dns"
  ];
  const message = await send(resolver, query, context);
  if (!isResponseTo(message, query)) throw invalidDnsError();
  return parseResponse(message, type);
}

/** Queries over UDP, and over TCP if the response is truncated. */
async function sendPlain(resolver: Resolver | null, query: Buffer, context: CheckContext) {
  const { addresses, port } = await listServers(resolver, context);
  const message = await queryByDatagram(addresses, port, context, () => ({
    buildQuery: () => query,
    parseResponse: (received) => (isResponseTo(received, query) ? received : null),
  }));
  const isTruncated = ((message[2] ?? 0) & 2) !== 0;
  if (!isTruncated) return message;
  const connection = await dial(addresses, port, context);
  context.step = "waiting for the response";
  try {
    return await exchangeFramed(createWire(connection, context, maxBytes), query);
  } finally {
    connection.close();
  }
}

/** Returns the addresses of the resolver, or of this machine's resolvers at the port of the first one. */
async function listServers(resolver: Resolver | null, context: CheckContext) {
  if (resolver !== null) {
    const addresses = await context.addressesOf(resolver.host, resolver.port);
    return { addresses, port: resolver.port };
  }
  const servers = getServers().flatMap((text) => parseResolver(text) ?? []);
  const port = servers[0]?.port ?? 53;
  const addresses = servers
    .filter((server) => server.port === port)
    .map(({ host }): Address => ({ address: host, family: isIP(host) as 4 | 6, isPrivate: true }));
  return { addresses, port };
}

async function sendOverTls(resolver: Resolver | null, query: Buffer, context: CheckContext) {
  const { host, port } = resolver as Resolver;
  const connection = await connectToTarget({ host, port, tls: true }, context);
  try {
    return await exchangeFramed(createWire(connection, context, maxBytes), query);
  } finally {
    connection.close();
  }
}

/** Sends a query with its length before it, and reads a response (RFC 1035 §4.2.2). */
async function exchangeFramed(wire: Wire, query: Buffer): Promise<Buffer> {
  wire.write(Buffer.concat([Buffer.of(query.length >> 8, query.length & 0xff), query]));
  return wire.read((await wire.read(2)).readUInt16BE(0));
}

/** Queries with POST over HTTP/2, which RFC 8484 §5.2 recommends and several resolvers require. */
async function sendOverHttps(resolver: Resolver | null, query: Buffer, context: CheckContext) {
  const { host, port, path } = resolver as Resolver;
  const hello = { protocol: "h2" };
  const connection = await connectToTarget({ host, port, tls: true }, context, { hello });
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const notDohError = () => new TargetFailure("The response is not valid for DNS over HTTPS.");
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const wire = createWire(connection, context, maxBytes);
  const session = await openHttp2(
    wire,
    `https://${authority}`,
    context.signal,
    reject,
    notDohError,
  );
  const mediaType = "application/dns-message";
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    accept: mediaType,
    "content-type": mediaType,
    "content-length": query.length,
  });
  const chunks: Buffer[] = [];
  stream.on("response", ({ ":status": status = 0, "content-type": type = "" }) => {
    if (status < 200 || status > 299)
      reject(new TargetFailure(`The name server responded with HTTP ${status}.`));
    else if (!type.toLowerCase().startsWith(mediaType)) reject(notDohError());
  });
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => reject(notDohError()));
  stream.on("end", () => resolve(Buffer.concat(chunks)));
  stream.end(query);
  try {
    return await promise;
  } finally {
    session.destroy();
    connection.close();
  }
}
