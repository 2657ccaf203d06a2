/** The MQTT check: connects to a broker, and can subscribe to a topic and judge a message. */
import { randomBytes } from "node:crypto";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import { assertAllHold, type Received, repeatsSecret } from "../protocols/assertions.ts";
import { type CheckContext, type CheckKind, measureElapsedMs } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import { parseBounded } from "../../../core/text/json.ts";
import { findValue } from "../protocols/json-path.ts";

type Settings = Parameters<CheckKind<"mqtt">>[0];

/** Packet types: https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html */
const packetTypes = { connect: 1, connack: 2, publish: 3, subscribe: 8, suback: 9, disconnect: 14 };

/** Up when the broker accepts the login and subscription, and an awaited message satisfies the assertions. */
export const checkMqtt: CheckKind<"mqtt"> = (settings, context) => {
  const startedAt = performance.now();
  return converse(settings, context, async (wire) => {
    const { topic, waitForMessage, ignoreRetained, assertions, password } = settings;
    const waits = waitForMessage || assertions.length > 0;
    if (waits && topic === null)
      throw new TargetFailure("There is no topic on which a message could arrive.");
    await connect(wire, settings);
    const arrived =
      topic === null ? null : await subscribe(wire, topic, { waits, ignoreRetained }, context);
    wire.write(encodePacket(packetTypes.disconnect, 0));
    if (arrived === null) return topic === null ? "Connected" : "Subscribed";
    const { message } = arrived;
    const listSecrets = () => [password ?? ""];
    const getReceived = ({ source, path }: { source: string; path: string | null }): Received =>
      source === "json" ? extractFromJson(message, path ?? "") : { value: message };
    await assertAllHold(assertions, getReceived, "A message arrived", listSecrets, context);
    const words = `Received a message in ${measureElapsedMs(startedAt)} ms`;
    const shownMessage =
      message === "" || repeatsSecret(message, listSecrets) ? "" : `: ${excerptText(message, 100)}`;
    return {
      status: "up",
      message: `${words}.`,
      said: `${words}${shownMessage}.`,
      details: arrived,
    };
  });
};

const notMqttError = () => new TargetFailure("The response is not valid for MQTT.");

function extractFromJson(message: string, path: string): Received {
  const json = parseBounded(message);
  if (!("unreadable" in json)) return { value: findValue(json.value, path) };
  return { unreadable: json.unreadable.replace(/^it /, "the message ") };
}

/** Failures by return code of CONNACK (§3.2.2.3). */
const refusals: Record<number, string> = {
  1: "The broker does not speak MQTT 3.1.1.",
  2: "The broker rejected the client identifier.",
  3: "The broker is not available.",
  4: "The broker rejected the user name or the password.",
  5: "The broker does not authorize the user.",
};

/** Failures by MQTT 5 reason code: https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901079 */
const refusalsOfMqtt5: Record<number, string> = {
  0x84: "The broker does not speak MQTT 3.1.1.",
  0x85: "The broker rejected the client identifier.",
  0x86: "The broker rejected the user name or the password.",
  0x87: "The broker does not authorize the user.",
  0x88: "The broker is not available.",
  0x89: "The broker is busy.",
  0x8a: "The broker has banned this client.",
};

async function connect(wire: Wire, { username, password }: Settings) {
  const hasPassword = username !== null && password !== null;
  const cleanSession = 0x02;
  const flags = cleanSession | (username === null ? 0 : 0x80) | (hasPassword ? 0x40 : 0);
  // Keep-alive of 120 s, which is longer than any check.
  const protocol = Buffer.concat([encodeText("MQTT"), Buffer.from([4, flags, 0, 120])]);
  const client = encodeText(`signalbox-${randomBytes(6).toString("hex")}`);
  const parts = [username, hasPassword ? password : null].filter((part) => part !== null);
  wire.write(encodePacket(packetTypes.connect, 0, protocol, client, ...parts.map(encodeText)));
  const { type, body } = await readPacket(wire, [packetTypes.connack]);
  const code = body[1];
  if (type !== packetTypes.connack || code === undefined) throw notMqttError();
  // A broker that supports only MQTT 5 rejects in its own, longer format.
  if (code >= 0x80 && body.length >= 3)
    throw new TargetFailure(
      refusalsOfMqtt5[code] ?? "The broker supports only MQTT 5. This check uses MQTT 3.1.1.",
    );
  if (body.length !== 2) throw notMqttError();
  if (code !== 0) throw new TargetFailure(refusals[code] ?? notMqttError().message);
}

/** Flag of messages that were published before the subscription (§3.3.1.3). */
const retainedFlag = 0x01;

/** Subscribes. With `waits`, also returns the first message, which can arrive before the confirmation; else null. */
async function subscribe(
  wire: Wire,
  topic: string,
  { waits, ignoreRetained }: { waits: boolean; ignoreRetained: boolean },
  context: CheckContext,
): Promise<{ topic: string; message: string } | null> {
  const [id, qualityOfService] = [Buffer.from([0, 1]), Buffer.from([0])];
  wire.write(encodePacket(packetTypes.subscribe, 2, id, encodeText(topic), qualityOfService));
  let arrived: { topic: string; message: string } | null = null;
  let isSubscribed = false;
  while (!isSubscribed || (waits && arrived === null)) {
    const { type, flags, body } = await readPacket(wire, [packetTypes.publish, packetTypes.suback]);
    if (type === packetTypes.suback && body.length === 3) {
      if (body[2] === 0x80) throw new TargetFailure("The broker rejected the subscription.");
      isSubscribed = true;
      context.step = "waiting for a message";
    } else if (type === packetTypes.publish && body.length >= 2) {
      if (ignoreRetained && (flags & retainedFlag) !== 0) continue;
      const end = 2 + body.readUInt16BE();
      const start = end + ((flags & 0x06) === 0 ? 0 : 2);
      arrived ??= {
        topic: body.subarray(2, end).toString(),
        message: body.subarray(start).toString(),
      };
    } else throw notMqttError();
  }
  return waits ? arrived : null;
}

/** Encodes a text of a packet, preceded by its length. */
function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function encodePacket(type: number, flags: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  let left = body.length;
  do {
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  return Buffer.concat([Buffer.from([(type << 4) | flags, ...length]), body]);
}

async function readPacket(wire: Wire, types: readonly number[]) {
  const [first = 0] = await wire.read(1);
  const type = first >> 4;
  // Checked before the length, which is arbitrary data if the server speaks another protocol.
  // The flags of CONNACK and SUBACK are 0 (§2.2.2).
  if (!types.includes(type) || (type !== packetTypes.publish && (first & 0x0f) !== 0))
    throw notMqttError();
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const [byte = 0] = await wire.read(1);
    length |= (byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) break;
    if (shift === 21) throw notMqttError();
  }
  return { type, flags: first & 0x0f, body: await wire.read(length) };
}
