/** The MQTT check: connects to a broker, and can subscribe to a topic and judge a message. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import { assertAllHold, type Received, repeatsSecret } from "../protocols/assertions.ts";
import { type CheckContext, type CheckKind, measureElapsedMs } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import {
  connectToBroker,
  encodePacket,
  encodeText,
  notMqttError,
  packetTypes,
  readPacket,
} from "../protocols/mqtt.ts";
import { parseBounded } from "../../../core/text/json.ts";
import { findValue } from "../protocols/json-path.ts";

/** Up when the broker accepts the login and subscription, and an awaited message satisfies the assertions. */
export const checkMqtt: CheckKind<"mqtt"> = (settings, context) => {
  const startedAt = performance.now();
  return converse(settings, context, async (wire) => {
    const { topic, waitForMessage, ignoreRetained, assertions, number, password } = settings;
    const waits = waitForMessage || assertions.length > 0 || number !== null;
    if (waits && topic === null)
      throw new TargetFailure("There is no topic on which a message could arrive.");
    await connectToBroker(wire, settings);
    const arrived =
      topic === null
        ? null
        : await subscribeToTopic(wire, topic, { waits, ignoreRetained }, context);
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
      serverText: `${words}${shownMessage}.`,
      details: arrived,
      measured: getReceived({
        source: number?.path == null ? "body" : "json",
        path: number?.path ?? null,
      }),
    };
  });
};

function extractFromJson(message: string, path: string): Received {
  const json = parseBounded(message);
  if (!("unreadable" in json)) return { value: findValue(json.value, path) };
  return { unreadable: json.unreadable.replace(/^it /, "the message ") };
}

/** Flag of messages that were published before the subscription (§3.3.1.3). */
const retainedFlag = 0x01;

/** Subscribes. With `waits`, also returns the first message, which can arrive before the confirmation; else null. */
async function subscribeToTopic(
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
