import type { Answers, Fake } from "./fake.ts";

const simple = [0xff, 0xff, 0xff, 0xff];
const texts = (...all: string[]) => Buffer.from(`${all.join("\0")}\0`);
const challenge = Buffer.from([1, 2, 3, 4]);
const asked = Buffer.concat([Buffer.from(simple), texts("TSource Engine Query")]);

const info = Buffer.concat([
  Buffer.from([...simple, 0x49, 17]),
  texts("Friday night", "de_dust2", "cstrike", "Counter-Strike"),
  Buffer.from([240, 0, 12, 32, 0, 0x64, 0x6c, 0, 1]),
  texts("1.0"),
]);

const goldSource = Buffer.concat([
  Buffer.from([...simple, 0x6d]),
  texts("10.0.0.9:27015", "Friday night", "crossfire", "valve", "Half-Life"),
  Buffer.from([3, 16, 47]),
]);

/** Responds only after its challenge. */
function server(answer: Buffer = info) {
  return (question: Buffer) => {
    if (question.equals(asked)) return Buffer.concat([Buffer.from([...simple, 0x41]), challenge]);
    return question.equals(Buffer.concat([asked, challenge])) ? answer : null;
  };
}

const noAnswer = "The answer is not valid for a game server.";

export const game: Fake = {
  over: "udp",
  fields: {},
  answers: server(),
  up: "12 of 32 players, answered",
  details: { name: "Friday night", players: 12, maxPlayers: 32, map: "de_dust2", version: "1.0" },
  wrong: [
    [
      () => Buffer.from([...simple, 0x41, 1, 2, 3, 4]),
      "The server does not accept the answer to its challenge.",
    ],
    [() => Buffer.from("CANARY-7f3a"), noAnswer],
    [() => Buffer.from([...simple, 0x41, 1]), noAnswer],
    [server(info.subarray(0, 20)), noAnswer],
    [server(info.subarray(0, info.indexOf("Counter-Strike") + 17)), noAnswer],
    [server(goldSource.subarray(0, -2)), noAnswer],
  ],
};

export const goldSourceGame: Fake = {
  ...game,
  answers: () => goldSource,
  up: "3 of 16 players, answered",
  details: { name: "Friday night", players: 3, maxPlayers: 16, map: "crossfire" },
};

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}

const packet = (...parts: (number[] | Buffer)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(varint(body.length)), body]);
};

const shown = (status: unknown) => {
  const json = Buffer.from(typeof status === "string" ? status : JSON.stringify(status));
  return packet([0], varint(json.length), json);
};

/** Sends this after a handshake and a status request. */
const list =
  (answer: Uint8Array): Answers =>
  (socket) => {
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const size = received[0] ?? 0;
      if (received.length < 1 + size + 2) return;
      const isAsked = received[1] === 0 && received[size] === 1;
      if (isAsked && received.subarray(1 + size).equals(Buffer.from([1, 0]))) socket.write(answer);
    });
  };

const status = {
  version: { name: "1.21", protocol: 767 },
  players: { max: 20, online: 3, sample: [] },
  description: "CANARY-7f3a",
  favicon: `data:image/png;base64,${"A".repeat(40_000)}`,
};
const notMinecraft = "The answer is not valid for a Minecraft server.";

export const minecraftGame: Fake = {
  over: "tcp",
  fields: { protocol: "minecraft" },
  answers: list(shown(status)),
  up: "3 of 20 players, answered",
  details: { players: 3, maxPlayers: 20, version: "1.21" },
  wrong: [
    [list(shown("CANARY-7f3a")), notMinecraft],
    [list(shown({ players: { online: "CANARY-7f3a", max: 1 } })), notMinecraft],
    [list(packet([7], [0])), notMinecraft],
    [list(Buffer.alloc(16, 0xff)), notMinecraft],
    [list(packet([0], varint(1_000_000), Buffer.from("{"))), "The answer is longer than 128 KiB."],
  ],
  flood: Buffer.from([...varint(2_000_000), 0, ...varint(1_999_000)]),
};
