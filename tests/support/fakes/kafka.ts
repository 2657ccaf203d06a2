import { canary } from "../samples.ts";
import type { ServeSocket, Fake } from "./fake.ts";
import { createScramServer } from "./scram-server.ts";

const encodeInt = (value: number, bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const encodeKafkaText = (value: string) =>
  Buffer.concat([encodeInt(value.length, 2), Buffer.from(value)]);
const oneReplica = Buffer.concat([encodeInt(1, 4), encodeInt(1, 4)]);
const nullText = encodeInt(-1, 2);

const buildMetadata = ({ topicError = 0, leaders = [1, 1], brokers = 1 } = {}) =>
  Buffer.concat([
    encodeInt(0, 4),
    encodeInt(brokers, 4),
    ...Array.from({ length: brokers }, () => [
      encodeInt(1, 4),
      encodeKafkaText("kafka.lan"),
      encodeInt(9092, 4),
      nullText,
    ]).flat(),
    encodeKafkaText("cluster"),
    encodeInt(1, 4),
    encodeInt(1, 4),
    encodeInt(topicError, 2),
    encodeKafkaText("orders"),
    encodeInt(0, 1),
    encodeInt(leaders.length, 4),
    ...leaders.flatMap((leader, id) => [
      encodeInt(0, 2),
      encodeInt(id, 4),
      encodeInt(leader, 4),
      oneReplica,
      oneReplica,
    ]),
  ]);

const createKafkaBroker =
  (onMetadata: Buffer, mechanismError = 0): ServeSocket =>
  (socket) => {
    const login = createScramServer("sha512", "probe", canary);
    let steps = 0;
    socket.on("data", (data: Buffer) => {
      const key = data.readInt16BE(4);
      const body = data.subarray(14 + data.readInt16BE(12));
      const sendAnswer = (part: Buffer) => {
        const whole = Buffer.concat([data.subarray(8, 12), part]);
        socket.write(Buffer.concat([encodeInt(whole.length, 4), whole]));
      };
      if (key === 3) return sendAnswer(onMetadata);
      if (key === 17)
        return sendAnswer(Buffer.concat([encodeInt(mechanismError, 2), encodeInt(0, 4)]));
      const message = body.subarray(4).toString();
      const response = steps++ === 0 ? login.answerFirst(message) : login.answerFinal(message);
      if (response === null)
        return sendAnswer(Buffer.concat([encodeInt(58, 2), nullText, encodeInt(0, 4)]));
      sendAnswer(
        Buffer.concat([
          encodeInt(0, 2),
          nullText,
          encodeInt(response.length, 4),
          Buffer.from(response),
        ]),
      );
    });
  };

export const kafka: Fake = {
  transport: "tcp",
  fields: { username: "probe", password: canary, mechanism: "scram-sha-512", topic: "orders" },
  serve: createKafkaBroker(buildMetadata()),
  up: "Returned the metadata of 1 broker",
  details: { brokers: 1 },
  refused: {
    fields: { password: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [createKafkaBroker(buildMetadata(), 33), "The server does not sign in by SCRAM-SHA-512."],
    [createKafkaBroker(buildMetadata({ topicError: 3, leaders: [] })), "The topic does not exist."],
    [
      createKafkaBroker(buildMetadata({ topicError: 29, leaders: [] })),
      "The user is not authorized for the topic.",
    ],
    [
      createKafkaBroker(buildMetadata({ leaders: [1, -1] })),
      "1 of 2 partitions of the topic have no leader.",
    ],
    [createKafkaBroker(buildMetadata({ leaders: [] })), "The topic has no leader."],
    [createKafkaBroker(buildMetadata({ brokers: 0 })), "The response is not valid for Kafka."],
    [createKafkaBroker(Buffer.alloc(2)), "The response is not valid for Kafka."],
    [
      (socket) => void socket.once("data", () => socket.write(Buffer.alloc(8))),
      "The response is not valid for Kafka.",
    ],
  ],
  flood: encodeInt(0x1000_0000, 4),
  tls: "first",
};
