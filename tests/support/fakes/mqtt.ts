import { canary } from "../samples.ts";
import { type Answers, type Fake, says } from "./fake.ts";

const field = (text: string) => Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]);
const packet = (first: number, ...parts: readonly Buffer[]) => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return Buffer.concat([Buffer.from([first, ...size]), body]);
};
const accepted = packet(0x20, Buffer.from([0, 0]));
const subscribed = (code = 0) => packet(0x90, Buffer.from([0, 1, code]));
const published = (message: string) => packet(0x30, field("plant/1/state"), Buffer.from(message));
const retained = (message: string) => packet(0x31, field("plant/1/state"), Buffer.from(message));
const repeated = (message: string) =>
  packet(0x32, field("plant/1/state"), Buffer.from([0, 7]), Buffer.from(message));
const on = '{"on":true}';

/** Has one user and responds to a subscription with these packets. */
const broker =
  (...packets: readonly Buffer[]): Answers =>
  (socket) =>
    void socket.on("data", (data: Buffer) => {
      const isSubscription = data[0] === 0x82 && data.includes(field("plant/+/state"));
      if (isSubscription) for (const one of packets) socket.write(one);
      if (data[0] !== 0x10) return;
      const isKnown = data.subarray(-2 - canary.length).equals(field(canary));
      const isRight = isKnown && data.includes(field("probe")) && data[9] === 0xc2;
      socket.write(isRight ? accepted : packet(0x20, Buffer.from([0, 4])));
    });

/** Publishes this message after a subscription. */
export const brokerWith = (message: string) => broker(subscribed(), published(message));

const refusing = (code: number) => says(packet(0x20, Buffer.from([0, code])));
/** The response of a broker that supports only version 5. */
const refusingIn5 = (code: number) => says(packet(0x20, Buffer.from([0, code, 0])));
const not = "The answer is not valid for MQTT.";
const noAssertions = { assertions: [] };

export const mqtt: Fake = {
  over: "tcp",
  fields: {
    username: "probe",
    password: canary,
    topic: "plant/+/state",
    assertions: [{ source: "json", path: "$.on", op: "equals", value: true }],
  },
  answers: broker(subscribed(), published(on)),
  alsoUp: [
    [broker(published(on), subscribed()), "Received a message"],
    [broker(subscribed(1), repeated(on), published('{"on":false}')), "Received a message"],
    [broker(subscribed(), retained(on)), "Received a message"],
    [
      broker(subscribed(), retained('{"on":false}'), published(on)),
      "Received a message",
      { ignoreRetained: true },
    ],
    [broker(), "Connected", { topic: null, ...noAssertions }],
    [broker(subscribed()), "Subscribed", noAssertions],
    [
      broker(subscribed(), published("")),
      "Received a message",
      { ...noAssertions, waitForMessage: true },
    ],
  ],
  up: "Received a message",
  details: { topic: "plant/1/state", message: on },
  refused: {
    fields: { username: "other" },
    message: "The broker refused the user name or the password.",
  },
  wrong: [
    [refusing(1), "The broker does not speak MQTT 3.1.1."],
    [refusing(3), "The broker is not available."],
    [refusing(5), "The broker does not authorize the user."],
    [refusing(99), not],
    [says("HTTP/1.1 400 Bad Request\r\n\r\n"), not],
    [says(packet(0x20, Buffer.from([0]))), not],
    [says(Buffer.from([0x20, 0x80, 0x80, 0x80, 0x80, 0x01])), not],
    [broker(accepted), not],
    [broker(packet(0x30, Buffer.from([9]))), not],
    [broker(subscribed(0x80)), "The broker refused the subscription."],
    [broker(subscribed()), "Timed out while waiting for a message."],
    [
      broker(subscribed()),
      "Timed out while waiting for a message.",
      { ...noAssertions, waitForMessage: true },
    ],
    [
      broker(subscribed(), published('{"on":false}')),
      "A message arrived, but assertion 1 failed: the value at $.on must be true.",
    ],
    [
      broker(subscribed(), published(`on ${canary}`)),
      "A message arrived, but assertion 1 failed: the message is not JSON.",
    ],
    [
      broker(subscribed(), published(canary)),
      'A message arrived, but assertion 1 failed: the body must contain "on".',
      { assertions: [{ source: "body", op: "contains", value: "on" }] },
    ],
    [
      broker(subscribed(), retained(on)),
      "Timed out while waiting for a message.",
      { ignoreRetained: true },
    ],
    [refusingIn5(0x84), "The broker does not speak MQTT 3.1.1."],
    [refusingIn5(0x86), "The broker refused the user name or the password."],
    [refusingIn5(0x9f), "The broker supports only MQTT 5. This check uses MQTT 3.1.1."],
    [broker(), "There is no topic on which a message could arrive.", { topic: null }],
  ],
  flood: Buffer.from([0x20, 0xff, 0xff, 0xff, 0x7f]),
  tls: "first",
};
