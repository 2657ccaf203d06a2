import { canary } from "../samples.ts";
import type { Answers, Fake } from "./fake.ts";
import { scramServer } from "./scram-server.ts";

const int = (value: number, bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const text = (value: string) => Buffer.concat([int(value.length, 2), Buffer.from(value)]);
const oneReplica = Buffer.concat([int(1, 4), int(1, 4)]);
const none = int(-1, 2);

const metadata = ({ topicError = 0, leaders = [1, 1], brokers = 1 } = {}) =>
  Buffer.concat([
    int(0, 4),
    int(brokers, 4),
    ...Array.from({ length: brokers }, () => [
      int(1, 4),
      text("kafka.lan"),
      int(9092, 4),
      none,
    ]).flat(),
    text("cluster"),
    int(1, 4),
    int(1, 4),
    int(topicError, 2),
    text("orders"),
    int(0, 1),
    int(leaders.length, 4),
    ...leaders.flatMap((leader, id) => [
      int(0, 2),
      int(id, 4),
      int(leader, 4),
      oneReplica,
      oneReplica,
    ]),
  ]);

const speaking =
  (onMetadata: Buffer, mechanismError = 0): Answers =>
  (socket) => {
    const login = scramServer("sha512", "probe", canary);
    let steps = 0;
    socket.on("data", (data: Buffer) => {
      const key = data.readInt16BE(4);
      const body = data.subarray(14 + data.readInt16BE(12));
      const answer = (part: Buffer) => {
        const whole = Buffer.concat([data.subarray(8, 12), part]);
        socket.write(Buffer.concat([int(whole.length, 4), whole]));
      };
      if (key === 3) return answer(onMetadata);
      if (key === 17) return answer(Buffer.concat([int(mechanismError, 2), int(0, 4)]));
      const message = body.subarray(4).toString();
      const said = steps++ === 0 ? login.first(message) : login.final(message);
      if (said === null) return answer(Buffer.concat([int(58, 2), none, int(0, 4)]));
      answer(Buffer.concat([int(0, 2), none, int(said.length, 4), Buffer.from(said)]));
    });
  };

export const kafka: Fake = {
  over: "tcp",
  fields: { username: "probe", password: canary, mechanism: "scram-sha-512", topic: "orders" },
  answers: speaking(metadata()),
  up: "Returned the metadata of 1 broker",
  details: { brokers: 1 },
  refused: {
    fields: { password: "other" },
    message: "The server refused the user name or the password.",
  },
  wrong: [
    [speaking(metadata(), 33), "The server does not sign in by SCRAM-SHA-512."],
    [speaking(metadata({ topicError: 3, leaders: [] })), "The topic does not exist."],
    [
      speaking(metadata({ topicError: 29, leaders: [] })),
      "The user is not authorized for the topic.",
    ],
    [speaking(metadata({ leaders: [1, -1] })), "1 of 2 partitions of the topic have no leader."],
    [speaking(metadata({ leaders: [] })), "The topic has no leader."],
    [speaking(metadata({ brokers: 0 })), "The answer is not valid for Kafka."],
    [speaking(Buffer.alloc(2)), "The answer is not valid for Kafka."],
    [
      (socket) => void socket.once("data", () => socket.write(Buffer.alloc(8))),
      "The answer is not valid for Kafka.",
    ],
  ],
  flood: int(0x1000_0000, 4),
  tls: "first",
};
