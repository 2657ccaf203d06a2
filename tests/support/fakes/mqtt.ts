import { canary } from "../samples.ts";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

const encodeField = (text: string) =>
  Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]);
const buildMqttPacket = (first: number, ...parts: readonly Buffer[]) => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return Buffer.concat([Buffer.from([first, ...size]), body]);
};
const accepted = buildMqttPacket(0x20, Buffer.from([0, 0]));
const buildSuback = (code = 0) => buildMqttPacket(0x90, Buffer.from([0, 1, code]));
const buildPublish = (message: string) =>
  buildMqttPacket(0x30, encodeField("plant/1/state"), Buffer.from(message));
const buildRetained = (message: string) =>
  buildMqttPacket(0x31, encodeField("plant/1/state"), Buffer.from(message));
const buildRepeated = (message: string) =>
  buildMqttPacket(0x32, encodeField("plant/1/state"), Buffer.from([0, 7]), Buffer.from(message));
const onMessage = '{"on":true}';

/** Has one user and responds to a subscription with these packets. */
const createMqttBroker =
  (...packets: readonly Buffer[]): ServeSocket =>
  (socket) =>
    void socket.on("data", (data: Buffer) => {
      const isSubscription = data[0] === 0x82 && data.includes(encodeField("plant/+/state"));
      if (isSubscription) for (const one of packets) socket.write(one);
      if (data[0] !== 0x10) return;
      const isKnown = data.subarray(-2 - canary.length).equals(encodeField(canary));
      const isRight = isKnown && data.includes(encodeField("probe")) && data[9] === 0xc2;
      socket.write(isRight ? accepted : buildMqttPacket(0x20, Buffer.from([0, 4])));
    });

/** Publishes this message after a subscription. */
export const createPublishingBroker = (message: string) =>
  createMqttBroker(buildSuback(), buildPublish(message));

const createRefusingBroker = (code: number) =>
  replyOnceTo(buildMqttPacket(0x20, Buffer.from([0, code])));
/** The response of a broker that supports only version 5. */
const createRefusingBroker5 = (code: number) =>
  replyOnceTo(buildMqttPacket(0x20, Buffer.from([0, code, 0])));
const invalidMqttAnswer = "The response is not valid for MQTT.";
const noAssertions = { assertions: [] };

export const mqtt: Fake = {
  transport: "tcp",
  fields: {
    username: "probe",
    password: canary,
    topic: "plant/+/state",
    assertions: [{ source: "json", path: "$.on", op: "equals", value: true }],
  },
  serve: createMqttBroker(buildSuback(), buildPublish(onMessage)),
  alsoUp: [
    [createMqttBroker(buildPublish(onMessage), buildSuback()), "Received a message"],
    [
      createMqttBroker(buildSuback(1), buildRepeated(onMessage), buildPublish('{"on":false}')),
      "Received a message",
    ],
    [createMqttBroker(buildSuback(), buildRetained(onMessage)), "Received a message"],
    [
      createMqttBroker(buildSuback(), buildRetained('{"on":false}'), buildPublish(onMessage)),
      "Received a message",
      { ignoreRetained: true },
    ],
    [createMqttBroker(), "Connected", { topic: null, ...noAssertions }],
    [createMqttBroker(buildSuback()), "Subscribed", noAssertions],
    [
      createMqttBroker(buildSuback(), buildPublish("")),
      "Received a message",
      { ...noAssertions, waitForMessage: true },
    ],
  ],
  up: "Received a message",
  details: { topic: "plant/1/state", message: onMessage },
  refused: {
    fields: { username: "other" },
    message: "The broker rejected the user name or the password.",
  },
  wrong: [
    [createRefusingBroker(1), "The broker does not speak MQTT 3.1.1."],
    [createRefusingBroker(3), "The broker is not available."],
    [createRefusingBroker(5), "The broker does not authorize the user."],
    [createRefusingBroker(99), invalidMqttAnswer],
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), invalidMqttAnswer],
    [replyOnceTo(buildMqttPacket(0x20, Buffer.from([0]))), invalidMqttAnswer],
    [replyOnceTo(Buffer.from([0x20, 0x80, 0x80, 0x80, 0x80, 0x01])), invalidMqttAnswer],
    [createMqttBroker(accepted), invalidMqttAnswer],
    [createMqttBroker(buildMqttPacket(0x30, Buffer.from([9]))), invalidMqttAnswer],
    [createMqttBroker(buildSuback(0x80)), "The broker rejected the subscription."],
    [createMqttBroker(buildSuback()), "Timed out while waiting for a message."],
    [
      createMqttBroker(buildSuback()),
      "Timed out while waiting for a message.",
      { ...noAssertions, waitForMessage: true },
    ],
    [
      createMqttBroker(buildSuback(), buildPublish('{"on":false}')),
      "A message arrived, but assertion 1 failed: the value at $.on must be true.",
    ],
    [
      createMqttBroker(buildSuback(), buildPublish(`on ${canary}`)),
      "A message arrived, but assertion 1 failed: the message is not JSON.",
    ],
    [
      createMqttBroker(buildSuback(), buildPublish(canary)),
      'A message arrived, but assertion 1 failed: the body must contain "on".',
      { assertions: [{ source: "body", op: "contains", value: "on" }] },
    ],
    [
      createMqttBroker(buildSuback(), buildRetained(onMessage)),
      "Timed out while waiting for a message.",
      { ignoreRetained: true },
    ],
    [createRefusingBroker5(0x84), "The broker does not speak MQTT 3.1.1."],
    [createRefusingBroker5(0x86), "The broker rejected the user name or the password."],
    [createRefusingBroker5(0x9f), "The broker supports only MQTT 5. Signalbox uses MQTT 3.1.1."],
    [createMqttBroker(), "There is no topic on which a message could arrive.", { topic: null }],
  ],
  flood: Buffer.from([0x20, 0xff, 0xff, 0xff, 0x7f]),
  tls: "first",
};
