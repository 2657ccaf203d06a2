/** The RabbitMQ check: opens a virtual host over AMQP, and reads the length of a queue. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import { refusalError } from "../protocols/refusal-error.ts";

type Settings = Parameters<CheckKind<"rabbitmq">>[0];

/** Class and method numbers: https://www.rabbitmq.com/amqp-0-9-1-reference */
const methods = {
  start: [10, 10],
  startOk: [10, 11],
  tune: [10, 30],
  tuneOk: [10, 31],
  open: [10, 40],
  openOk: [10, 41],
  close: [10, 50],
  openChannel: [20, 10],
  openChannelOk: [20, 11],
  closeChannel: [20, 40],
  declareQueue: [50, 10],
  declareQueueOk: [50, 11],
} as const;
type Method = readonly [number, number];

const protocolHeader = Buffer.from("AMQP\0\0\x09\x01", "latin1");
const frameEnd = 0xce;
const methodFrame = 1;
const notAmqpError = () => new TargetFailure("The response is not valid for AMQP 0-9-1.");

/**
 * Up when the broker opens the virtual host for the user. If a queue is set, it must exist and contain at most
 * `maxMessages`. Without a user, up when the broker greets.
 */
export const checkRabbitmq: CheckKind<"rabbitmq"> = (settings, context) =>
  converse(settings, context, async (wire) => {
    const broker = { wire, secrets: settings.password === null ? [] : [settings.password] };
    wire.write(protocolHeader);
    const { version, mechanisms } = readGreeting(await readReply(broker, 0, methods.start));
    if (settings.username === null) return { words: "Greeted", details: { version } };
    if (!mechanisms.includes("PLAIN"))
      throw new TargetFailure("The server offers no sign-in by password over this connection.");
    await openVirtualHost(broker, settings.username, settings);
    const queue = settings.queue === null ? null : await readQueue(broker, settings.queue);
    sendMethod(wire, 0, methods.close, encodeNumber(200, 2), encodeShort(""), Buffer.alloc(4));
    const details = { version, ...queue };
    const messages = queue?.messages ?? 0;
    if (settings.maxMessages !== null && messages > settings.maxMessages)
      return {
        status: "down",
        message: `The queue has ${messages} messages, more than ${settings.maxMessages}.`,
        details,
      };
    return { words: "Opened the virtual host", details };
  });

function readGreeting(body: Reader) {
  body.bytes(2);
  const version = findVersion(body.bytes(body.number(4)));
  const mechanisms = body.bytes(body.number(4)).toString().split(" ");
  return { version, mechanisms };
}

/** Finds the version among the server's properties: a field name and a long string (`S`). */
function findVersion(properties: Buffer): string | null {
  const name = "\x07versionS";
  const at = properties.indexOf(name, 0, "latin1");
  if (at < 0 || at + name.length + 4 > properties.length) return null;
  const start = at + name.length + 4;
  const text = properties.toString("utf8", start, start + properties.readUInt32BE(start - 4));
  return excerptText(text, 50);
}

/** A connection, and the secrets that its messages must not repeat. */
type Broker = { wire: Wire; secrets: readonly string[] };

async function openVirtualHost(
  broker: Broker,
  username: string,
  { password, virtualHost }: Pick<Settings, "password" | "virtualHost">,
) {
  const { wire } = broker;
  // Brokers close the connection without a reason unless the client understands this.
  const properties = encodeLong(
    Buffer.concat([
      encodeShort("capabilities"),
      Buffer.from("F"),
      encodeLong(
        Buffer.concat([encodeShort("authentication_failure_close"), Buffer.from("t\x01")]),
      ),
    ]),
  );
  const login = encodeLong(Buffer.from(`\0${username}\0${password ?? ""}`));
  sendMethod(
    wire,
    0,
    methods.startOk,
    properties,
    encodeShort("PLAIN"),
    login,
    encodeShort("en_US"),
  );
  const tune = await readReply(broker, 0, methods.tune);
  const [channels, frameBytes] = [tune.bytes(2), tune.bytes(4)];
  // No heartbeats: the connection lives for moments.
  sendMethod(wire, 0, methods.tuneOk, channels, frameBytes, encodeNumber(0, 2));
  sendMethod(wire, 0, methods.open, encodeShort(virtualHost), encodeShort(""), Buffer.alloc(1));
  await readReply(broker, 0, methods.openOk);
}

async function readQueue(broker: Broker, queue: string) {
  const { wire } = broker;
  sendMethod(wire, 1, methods.openChannel, encodeShort(""));
  await readReply(broker, 1, methods.openChannelOk);
  const passive = Buffer.from([1]);
  const reserved = encodeNumber(0, 2);
  const noArguments = Buffer.alloc(4);
  sendMethod(wire, 1, methods.declareQueue, reserved, encodeShort(queue), passive, noArguments);
  const response = await readReply(broker, 1, methods.declareQueueOk);
  response.bytes(response.number(1));
  return { messages: response.number(4), consumers: response.number(4) };
}

function encodeNumber(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

const encodeShort = (text: string) =>
  Buffer.concat([encodeNumber(Buffer.byteLength(text), 1), Buffer.from(text)]);
const encodeLong = (bytes: Buffer) => Buffer.concat([encodeNumber(bytes.length, 4), bytes]);

function sendMethod(wire: Wire, channel: number, [group, method]: Method, ...parts: Buffer[]) {
  const body = Buffer.concat([encodeNumber(group, 2), encodeNumber(method, 2), ...parts]);
  const head = Buffer.concat([Buffer.from([methodFrame]), encodeNumber(channel, 2)]);
  wire.write(Buffer.concat([head, encodeLong(body), Buffer.from([frameEnd])]));
}

/** Reads the arguments of the expected method. Throws TargetFailure if the broker closes the connection or channel. */
async function readReply({ wire, secrets }: Broker, channel: number, [group, method]: Method) {
  const head = await wire.read(7);
  // A broker that does not support this protocol version responds with a header of its own version.
  if (head.toString("latin1", 0, 4) === "AMQP")
    throw new TargetFailure("The server does not support AMQP 0-9-1.");
  const length = head.readUInt32BE(3);
  if (head[0] !== methodFrame || length < 4) throw notAmqpError();
  const frame = await wire.read(length + 1);
  if (frame[length] !== frameEnd) throw notAmqpError();
  const body = createReader(frame.subarray(0, length));
  const found = [body.number(2), body.number(2)];
  const isMethod = ([first, second]: Method) => found[0] === first && found[1] === second;
  if (isMethod(methods.close) || isMethod(methods.closeChannel)) {
    const code = body.number(2);
    const text = body.bytes(body.number(1)).toString();
    throw refusalError(
      failures[code] ?? `The server responded with error ${code}.`,
      text,
      ...secrets,
    );
  }
  if (!isMethod([group, method]) || head.readUInt16BE(1) !== channel) throw notAmqpError();
  return body;
}

/** Failures by reply code. */
const failures: Record<number, string> = {
  320: "The broker is shutting down.",
  403: "The server rejected the user name or the password, or the user has no access.",
  404: "The queue does not exist.",
  405: "Another connection has exclusive access to the queue.",
  506: "The broker lacks resources.",
  530: "The virtual host does not exist, or the user has no access to it.",
};

type Reader = ReturnType<typeof createReader>;

/** Reads the arguments of a method in order. Throws TargetFailure for a truncated method. */
function createReader(message: Buffer) {
  let at = 0;
  function readBytes(count: number): Buffer {
    if (at + count > message.length) throw notAmqpError();
    at += count;
    return message.subarray(at - count, at);
  }
  return { bytes: readBytes, number: (size: number) => readBytes(size).readUIntBE(0, size) };
}
