import { createHash } from "node:crypto";
import { canary } from "../samples.ts";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

const buildFrame = (first: number, text: string) =>
  Buffer.concat([Buffer.from([first, text.length]), Buffer.from(text)]);

const subprotocols = { "Sec-WebSocket-Protocol": "ticks, chat" };

/** Accepts a handshake with the right header and responds to every message with this text. */
const createWebSocketServer =
  (...frames: readonly Buffer[]): ServeSocket =>
  (socket) => {
    socket.once("data", (head: Buffer) => {
      if (!head.includes(`X-Token: ${canary}`))
        return void socket.write("HTTP/1.1 401 Unauthorized\r\n\r\n");
      const key = /Sec-WebSocket-Key: (\S+)/.exec(head.toString())?.[1] ?? "";
      const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
      const accept = createHash("sha1")
        .update(key + magic)
        .digest("base64");
      const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}${head.includes("ticks, chat") ? "\r\nSec-WebSocket-Protocol: ticks" : ""}`;
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n\r\n`);
      socket.once("data", () => {
        for (const one of frames) socket.write(one);
      });
    });
  };

const [text, start, end, ping, close] = [0x81, 0x01, 0x80, 0x89, 0x88];
const invalidWebSocketAnswer = "The server does not speak WebSocket.";

export const websocket: Fake = {
  transport: "tcp",
  at: (host, port, isSecure) => ({ url: `${isSecure ? "wss" : "ws"}://${host}:${port}/live` }),
  fields: {
    headers: { "X-Token": canary },
    send: "ping",
    expect: "pong",
  },
  serve: createWebSocketServer(
    buildFrame(text, "hello"),
    buildFrame(ping, ""),
    buildFrame(start, "po"),
    buildFrame(end, "ng!"),
  ),
  up: "Answered as expected",
  details: { message: "pong!" },
  alsoUp: [
    [
      createWebSocketServer(),
      "Connected",
      { headers: { ...subprotocols, "X-Token": canary }, expect: null },
      { subprotocol: "ticks" },
    ],
  ],
  refused: {
    fields: { headers: { "X-Token": "other" } },
    message: "HTTP 401 (Unauthorized), expected 101.",
  },
  wrong: [
    [replyOnceTo("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "HTTP 200 (OK), expected 101."],
    [
      replyOnceTo("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: no\r\n\r\n"),
      invalidWebSocketAnswer,
    ],
    [replyOnceTo("SSH-2.0-OpenSSH\r\n"), "The response is not valid HTTP."],
    [
      createWebSocketServer(buildFrame(close, "")),
      "The connection was closed without the expected response.",
    ],
    [createWebSocketServer(buildFrame(0x85, "pong")), invalidWebSocketAnswer],
    [createWebSocketServer(buildFrame(0xc1, "pong")), invalidWebSocketAnswer],
    [
      createWebSocketServer(Buffer.from([text, 127, 0, 0, 0, 1, 0, 0, 0, 0])),
      "The response is longer than 64 KiB.",
    ],
    [createWebSocketServer(buildFrame(text, "pang")), "Timed out while waiting for the response."],
  ],
  flood: "HTTP/1.1 101 ",
  tls: "first",
};
