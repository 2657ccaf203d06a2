/** The SIP check: queries the capabilities of a telephone server. */
import { createLookup } from "../../../core/collections/objects.ts";
import { queryByDatagram } from "../../../core/outgoing/datagrams.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { createToken } from "../../../core/ids.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import { type CheckKind, measureElapsedMs } from "../check.ts";
import { isInRange } from "../protocols/assertions.ts";
import { converse } from "../protocols/conversation.ts";

type Settings = Parameters<CheckKind<"sip">>[0];

const notSipError = () => new TargetFailure("The response is not valid for SIP.");

/** Up when the server responds to OPTIONS with an expected status (RFC 3261 §11). */
export const checkSip: CheckKind<"sip"> = async (settings, context) => {
  const { host, port, transport } = settings;
  if (transport !== "udp")
    return converse({ ...settings, tls: transport === "tls" }, context, async (wire) => {
      const { request, callId } = buildRequest(settings);
      wire.write(request);
      return assertExpectedStatus(settings, await readFinalResponse(wire, callId));
    });
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const startedAt = performance.now();
  const response = await queryByDatagram(addresses, port, context, () => {
    const { request, callId } = buildRequest(settings);
    return {
      buildQuery: () => Buffer.from(request),
      parseResponse: (message) => toFinalResponse(parseHead(message.toString()), callId),
    };
  });
  const latencyMs = measureElapsedMs(startedAt);
  const { words, details } = assertExpectedStatus(settings, response);
  return { status: "up", message: `${words} in ${latencyMs} ms.`, latencyMs, details };
};

/**
 * Builds a request for the capabilities of a host, or of the user. `rport` asks for a response to the port of the
 * request (RFC 3581), because the appliance does not know its own address there.
 */
function buildRequest({ host, port, transport, user }: Settings) {
  const [callId, tag, branch] = [createToken(20), createToken(10), createToken(20)];
  const name = host.includes(":") ? `[${host}]` : host;
  const uri = `sip:${user === null ? "" : `${user}@`}${name}:${port}${transport === "udp" ? "" : `;transport=${transport}`}`;
  const lines = [
    `OPTIONS ${uri} SIP/2.0`,
    `Via: SIP/2.0/${transport.toUpperCase()} signalbox.invalid;branch=z9hG4bK${branch};rport`,
    "Max-Forwards: 70",
    `From: <sip:signalbox@signalbox.invalid>;tag=${tag}`,
    `To: <${uri}>`,
    `Call-ID: ${callId}`,
    "CSeq: 1 OPTIONS",
    "Contact: <sip:signalbox@signalbox.invalid>",
    "Accept: application/sdp",
    "User-Agent: Signalbox",
    "Content-Length: 0",
  ];
  return { request: `${lines.join("\r\n")}\r\n\r\n`, callId };
}

type Head = { status: number; fields: ReadonlyMap<string, string> };

/** Short forms of header fields (RFC 3261 §7.3.3). */
const longNames: Record<string, string> = createLookup({ i: "call-id", l: "content-length" });

/**
 * Parses a response without its body; null for line breaks alone, which keep a connection alive. Ignores line breaks
 * before it (RFC 3261 §7.5), and joins folded lines (§7.3.1). Throws TargetFailure.
 */
function parseHead(message: string): Head | null {
  const text = message.replace(/^[\r\n]+/, "");
  if (text === "") return null;
  const head = (text.split("\r\n\r\n", 1)[0] ?? "").replaceAll(/\r\n[ \t]+/g, " ");
  const [first = "", ...lines] = head.split("\r\n");
  const [, status] = /^SIP\/2\.0 (\d{3})(?: |$)/i.exec(first) ?? [];
  if (status === undefined) throw notSipError();
  const fields = lines.map((line): [string, string] => {
    const [name = "", ...value] = line.split(":");
    const key = name.trim().toLowerCase();
    return [longNames[key] ?? key, value.join(":").trim()];
  });
  return { status: Number(status), fields: new Map(fields) };
}

/** Null for a response to another request, and for provisional responses such as “100 Trying”. */
const toFinalResponse = (head: Head | null, callId: string): Head | null =>
  head?.fields.get("call-id") === callId && head.status >= 200 ? head : null;

async function readFinalResponse(wire: Wire, callId: string): Promise<Head> {
  for (;;) {
    const head = parseHead((await wire.readUntil("\r\n\r\n")).toString());
    if (head === null) continue;
    const length = Number(head.fields.get("content-length") ?? 0);
    if (!Number.isSafeInteger(length) || length < 0) throw notSipError();
    await wire.read(length);
    const found = toFinalResponse(head, callId);
    if (found !== null) return found;
  }
}

/** Throws TargetFailure for an unexpected status. */
function assertExpectedStatus({ expectedStatus }: Settings, { status, fields }: Head) {
  if (!expectedStatus.some((range) => isInRange(range, status)))
    throw new TargetFailure(
      `The server responded with ${status}, expected ${expectedStatus.join(" or ")}.`,
    );
  const server = fields.get("server") ?? fields.get("user-agent") ?? null;
  const details = { server: server === null ? null : excerptText(server, 100) };
  return { words: `Responded with ${status}`, details };
}
