import { canary } from "../samples.ts";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

const encodeNumber = (value: number, bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const encodeShort = (text: string) =>
  Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
const encodeLong = (bytes: Uint8Array) => Buffer.concat([encodeNumber(bytes.length, 4), bytes]);

function buildFrame(channel: number, group: number, method: number, ...parts: Uint8Array[]) {
  const body = Buffer.concat([encodeNumber(group, 2), encodeNumber(method, 2), ...parts]);
  return Buffer.concat([
    Buffer.from([1]),
    encodeNumber(channel, 2),
    encodeLong(body),
    Buffer.from([0xce]),
  ]);
}

const properties = Buffer.concat([
  encodeShort("version"),
  Buffer.from("S"),
  encodeLong(Buffer.from("4.1.2")),
]);
const buildStart = (mechanisms: string) =>
  buildFrame(
    0,
    10,
    10,
    Buffer.from([0, 9]),
    encodeLong(properties),
    encodeLong(Buffer.from(mechanisms)),
    encodeLong(Buffer.from("en_US")),
  );
const buildClose = (channel: number, code: number) =>
  buildFrame(
    channel,
    channel === 0 ? 10 : 20,
    channel === 0 ? 50 : 40,
    encodeNumber(code, 2),
    encodeShort("NO"),
    Buffer.alloc(4),
  );

/** Supports one user, the virtual host `shop` and the queue `orders`. `close` overrides a step's response. */
function createBroker({
  mechanisms = "AMQPLAIN PLAIN",
  close = {},
}: { mechanisms?: string; close?: Record<string, number> } = {}): ServeSocket {
  return (socket) => {
    let unread = Buffer.alloc(0);
    const handle = (step: string, frame: Buffer) => {
      const code = close[step];
      if (code !== undefined) return void socket.write(buildClose(Number(step > "20"), code));
      if (step === "10,11")
        socket.write(
          frame.includes(`\0probe\0${canary}`)
            ? buildFrame(
                0,
                10,
                30,
                encodeNumber(2047, 2),
                encodeNumber(131_072, 4),
                Buffer.alloc(2),
              )
            : buildClose(0, 403),
        );
      if (step === "10,40")
        socket.write(
          frame.includes("\x04shop") ? buildFrame(0, 10, 41, encodeShort("")) : buildClose(0, 530),
        );
      if (step === "20,10") socket.write(buildFrame(1, 20, 11, Buffer.alloc(4)));
      if (step === "50,10")
        socket.write(
          frame.includes("\x06orders\x01")
            ? buildFrame(1, 50, 11, encodeShort("orders"), encodeNumber(7, 4), encodeNumber(2, 4))
            : buildClose(1, 404),
        );
    };
    socket.on("data", (data: Buffer) => {
      unread = Buffer.concat([unread, data]);
      if (unread.toString("latin1", 0, 4) === "AMQP") {
        unread = unread.subarray(8);
        socket.write(buildStart(mechanisms));
      }
      while (unread.length >= 7) {
        const length = unread.readUInt32BE(3) + 8;
        if (unread.length < length) return;
        const frame = unread.subarray(0, length);
        unread = unread.subarray(length);
        handle(`${frame.readUInt16BE(7)},${frame.readUInt16BE(9)}`, frame);
      }
    });
  };
}

export const rabbitmq: Fake = {
  transport: "tcp",
  fields: {
    username: "probe",
    password: canary,
    virtualHost: "shop",
    queue: "orders",
    maxMessages: 10,
  },
  serve: createBroker(),
  up: "Opened the virtual host",
  alsoUp: [
    [createBroker({ mechanisms: "EXTERNAL" }), "Greeted", { username: null }, { version: "4.1.2" }],
    [createBroker(), "Opened the virtual host", { queue: null }, { version: "4.1.2" }],
  ],
  details: { version: "4.1.2", messages: 7, consumers: 2 },
  refused: {
    fields: { password: "other" },
    message: "The server rejected the user name or the password, or the user has no access.",
  },
  wrong: [
    [
      createBroker({ mechanisms: "EXTERNAL" }),
      "The server offers no sign-in by password over this connection.",
    ],
    [
      createBroker(),
      "The virtual host does not exist, or the user has no access to it.",
      { virtualHost: "other" },
    ],
    [createBroker(), "The queue does not exist.", { queue: "mails" }],
    [createBroker(), "The queue has 7 messages, more than 5.", { maxMessages: 5 }],
    [
      createBroker({ close: { "50,10": 405 } }),
      "Another connection has exclusive access to the queue.",
    ],
    [createBroker({ close: { "10,40": 320 } }), "The broker is shutting down."],
    [createBroker({ close: { "10,40": 541 } }), "The server responded with error 541."],
    [replyOnceTo("AMQP\0\x01\0\0"), "The server does not support AMQP 0-9-1."],
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for AMQP 0-9-1."],
    [replyOnceTo(buildFrame(0, 10, 10)), "The response is not valid for AMQP 0-9-1."],
    [replyOnceTo(buildFrame(0, 10, 30)), "The response is not valid for AMQP 0-9-1."],
  ],
  flood: Buffer.concat([Buffer.from([1, 0, 0]), encodeNumber(0x1000_0000, 4)]),
  tls: "first",
};
