/** The WebSocket check: opens a connection, and can send a message and wait for an expected message. */
import { createHash, randomBytes } from "node:crypto";
import { version } from "../../../core/assets.ts";
import { http1 } from "../../../core/outgoing/connection.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { parseList, formatStatus, readHead } from "../../../core/outgoing/http/head.ts";
import { encodeHead, formatTarget } from "../../../core/outgoing/http/request.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { portOf } from "../../../core/security/target-guard.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../protocols/conversation.ts";

type Settings = Parameters<CheckKind<"websocket">>[0];

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };
/** Appended to the key of a handshake before it is hashed (RFC 6455 §1.3). */
const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Up when the handshake succeeds and a message contains the expected text, if one is set. */
export const checkWebsocket: CheckKind<"websocket"> = (settings, context) => {
  const url = new URL(settings.url);
  const { verifyTls, certificateExpiryDays } = settings;
  const target = {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: portOf(url),
    tls: url.protocol === "wss:",
    verifyTls,
    certificateExpiryDays,
  };
  const talk = async (wire: Wire) => {
    const subprotocol = await shakeHands(wire, url, settings);
    const { send, expect } = settings;
    if (send !== null) wire.write(encodeFrame(opcodes.text, Buffer.from(send)));
    const message = expect === null ? null : await waitForText(wire, Buffer.from(expect));
    wire.write(encodeFrame(opcodes.close, Buffer.from([0x03, 0xe8])));
    return {
      words: expect === null ? "Connected" : "Answered as expected",
      details: { subprotocol, message },
    };
  };
  return converse(target, context, talk, { hello: { protocol: http1 } });
};

const notWebSocketError = () => new TargetFailure("The server does not speak WebSocket.");

/** Opens the WebSocket (RFC 6455 §4.1) and returns the subprotocol chosen by the server. */
async function shakeHands(wire: Wire, url: URL, { headers }: Settings): Promise<string | null> {
  const key = randomBytes(16).toString("base64");
  const fields = new Map<string, [name: string, value: string]>();
  const set = ([name, value]: [string, string]) => fields.set(name.toLowerCase(), [name, value]);
  set(["Host", url.host]);
  set(["User-Agent", `Signalbox/${version}`]);
  Object.entries(headers).forEach(set);
  // Not offered, because messages are read without decompression.
  fields.delete("sec-websocket-extensions");
  set(["Upgrade", "websocket"]);
  set(["Connection", "Upgrade"]);
  set(["Sec-WebSocket-Key", key]);
  set(["Sec-WebSocket-Version", "13"]);
  wire.write(encodeHead(`GET ${formatTarget(url)} HTTP/1.1`, fields.values()));
  const head = await readHead(wire);
  if (head.status !== 101) throw new TargetFailure(`${formatStatus(head.status)}, expected 101.`);
  const accept = createHash("sha1").update(`${key}${magic}`).digest("base64");
  const isAccepted =
    parseList(head.headers.get("upgrade")).join() === "websocket" &&
    parseList(head.headers.get("connection")).includes("upgrade") &&
    head.headers.get("sec-websocket-accept") === accept;
  if (!isAccepted) throw notWebSocketError();
  if (parseList(head.headers.get("sec-websocket-extensions")).length > 0)
    throw new TargetFailure("The server chose a WebSocket extension that was not offered.");
  const offered = fields.get("sec-websocket-protocol")?.[1].split(",") ?? [];
  const subprotocol = head.headers.get("sec-websocket-protocol") ?? null;
  if (subprotocol !== null && !offered.some((one) => one.trim() === subprotocol))
    throw new TargetFailure("The server chose a WebSocket subprotocol that was not offered.");
  return subprotocol;
}

/** Encodes a frame with the mask that RFC 6455 §5.3 requires of clients. */
function encodeFrame(code: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const length =
    payload.length < 126
      ? [0x80 | payload.length]
      : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([Buffer.from([0x80 | code, ...length]), mask, masked]);
}

/** Reads messages until one contains the expected text, and returns it. The wire limits the total size. */
async function waitForText(wire: Wire, wanted: Buffer): Promise<string> {
  let message: Buffer = Buffer.alloc(0);
  for (;;) {
    const [first = 0, second = 0] = await wire.read(2);
    const code = first & 0x0f;
    const shortLength = second & 0x7f;
    const length =
      shortLength < 126
        ? shortLength
        : shortLength === 126
          ? (await wire.read(2)).readUInt16BE()
          : Number((await wire.read(8)).readBigUInt64BE());
    if ((second & 0x80) !== 0 || (first & 0x70) !== 0 || (code > 2 && code < 8) || code > 10)
      throw notWebSocketError();
    const payload = await wire.read(length);
    if (code === opcodes.close)
      throw new TargetFailure("The connection was closed without the expected response.");
    if (code === opcodes.ping) wire.write(encodeFrame(opcodes.pong, payload));
    if (code > opcodes.binary) continue;
    message = code === opcodes.continuation ? Buffer.concat([message, payload]) : payload;
    if (message.includes(wanted)) return message.toString();
  }
}
