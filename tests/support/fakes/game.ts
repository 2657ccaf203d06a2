import type { ServeSocket, Fake } from "./fake.ts";

const simpleHeader = [0xff, 0xff, 0xff, 0xff];
const encodeTexts = (...all: string[]) => Buffer.from(`${all.join("\0")}\0`);
const challenge = Buffer.from([1, 2, 3, 4]);
const infoRequest = Buffer.concat([Buffer.from(simpleHeader), encodeTexts("TSource Engine Query")]);

const info = Buffer.concat([
  Buffer.from([...simpleHeader, 0x49, 17]),
  encodeTexts("Friday night", "de_dust2", "cstrike", "Counter-Strike"),
  Buffer.from([240, 0, 12, 32, 0, 0x64, 0x6c, 0, 1]),
  encodeTexts("1.0"),
]);

const goldSource = Buffer.concat([
  Buffer.from([...simpleHeader, 0x6d]),
  encodeTexts("10.0.0.9:27015", "Friday night", "crossfire", "valve", "Half-Life"),
  Buffer.from([3, 16, 47]),
]);

/** Responds only after its challenge. */
function createGameServer(response: Buffer = info) {
  return (question: Buffer) => {
    if (question.equals(infoRequest))
      return Buffer.concat([Buffer.from([...simpleHeader, 0x41]), challenge]);
    return question.equals(Buffer.concat([infoRequest, challenge])) ? response : null;
  };
}

const noAnswer = "The response is not valid for a game server.";

export const game: Fake = {
  transport: "udp",
  fields: {},
  serve: createGameServer(),
  up: "12 of 32 players, responded",
  details: { name: "Friday night", players: 12, maxPlayers: 32, map: "de_dust2", version: "1.0" },
  wrong: [
    [
      () => Buffer.from([...simpleHeader, 0x41, 1, 2, 3, 4]),
      "The server does not accept the response to its challenge.",
    ],
    [() => Buffer.from("CANARY-7f3a"), noAnswer],
    [() => Buffer.from([...simpleHeader, 0x41, 1]), noAnswer],
    [createGameServer(info.subarray(0, 20)), noAnswer],
    [createGameServer(info.subarray(0, info.indexOf("Counter-Strike") + 17)), noAnswer],
    [createGameServer(goldSource.subarray(0, -2)), noAnswer],
  ],
};

export const goldSourceGame: Fake = {
  ...game,
  serve: () => goldSource,
  up: "3 of 16 players, responded",
  details: { name: "Friday night", players: 3, maxPlayers: 16, map: "crossfire" },
};

function encodeVarint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...encodeVarint(value >> 7)];
}

const buildMinecraftPacket = (...parts: (number[] | Buffer)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(encodeVarint(body.length)), body]);
};

const buildStatusPacket = (status: unknown) => {
  const json = Buffer.from(typeof status === "string" ? status : JSON.stringify(status));
  return buildMinecraftPacket([0], encodeVarint(json.length), json);
};

/** Sends this after a handshake and a status request. */
const createListServer =
  (response: Uint8Array): ServeSocket =>
  (socket) => {
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const size = received[0] ?? 0;
      if (received.length < 1 + size + 2) return;
      const isStatusQuery = received[1] === 0 && received[size] === 1;
      if (isStatusQuery && received.subarray(1 + size).equals(Buffer.from([1, 0])))
        socket.write(response);
    });
  };

const status = {
  version: { name: "1.21", protocol: 767 },
  players: { max: 20, online: 3, sample: [] },
  description: "CANARY-7f3a",
  favicon: `data:image/png;base64,${"A".repeat(40_000)}`,
};
const notMinecraft = "The response is not valid for a Minecraft server.";

export const minecraftGame: Fake = {
  transport: "tcp",
  fields: { protocol: "minecraft" },
  serve: createListServer(buildStatusPacket(status)),
  up: "3 of 20 players, responded",
  details: { players: 3, maxPlayers: 20, version: "1.21" },
  wrong: [
    [createListServer(buildStatusPacket("CANARY-7f3a")), notMinecraft],
    [
      createListServer(buildStatusPacket({ players: { online: "CANARY-7f3a", max: 1 } })),
      notMinecraft,
    ],
    [createListServer(buildMinecraftPacket([7], [0])), notMinecraft],
    [createListServer(Buffer.alloc(16, 0xff)), notMinecraft],
    [
      createListServer(buildMinecraftPacket([0], encodeVarint(1_000_000), Buffer.from("{"))),
      "The response is longer than 128 KiB.",
    ],
  ],
  flood: Buffer.from([...encodeVarint(2_000_000), 0, ...encodeVarint(1_999_000)]),
};
