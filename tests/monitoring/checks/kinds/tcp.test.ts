import { describe, expect, test } from "bun:test";
import { getFreePort } from "../../../support/binary.ts";
import {
  runCheckOfType,
  startListener,
  type SocketHandler,
  runUntilTimedOut,
  waitUntilClosed,
} from "../../../support/check-runs.ts";

const kib = 1024;

async function findOutcome(onConnect: SocketHandler, fields: object, timeoutMs = 60_000) {
  await using server = await startListener(onConnect);
  const target = { host: "127.0.0.1", port: server.port, ...fields };
  return await runCheckOfType("tcp", target, { timeoutMs });
}

const stayIdle: SocketHandler = (socket) => void socket.resume();
const echo: SocketHandler = (socket) => void socket.pipe(socket);

describe("a port is up", () => {
  test("when it accepts the connection, if nothing more is expected", async () => {
    expect(await findOutcome(stayIdle, {})).toEqual({
      status: "up",
      message: expect.stringMatching(/^Connected in \d+ ms\.$/),
      latencyMs: expect.any(Number),
    });
  });

  test("when it sends the expected text, at once or after input", async () => {
    const up = {
      status: "up" as const,
      message: expect.stringMatching(/^Answered as expected in \d+ ms\.$/),
      latencyMs: expect.any(Number),
    };
    expect(
      await findOutcome((socket) => void socket.write("220 mail\r\n"), { expect: "220 " }),
    ).toEqual(up);
    expect(await findOutcome(echo, { send: "PING\r\nü", expect: "G\r\nü" })).toEqual(up);
    expect(await findOutcome((socket) => void socket.end("bye"), { expect: "bye" })).toEqual(up);
  });

  test("when the expected text arrives in any pieces", async () => {
    const text = "some ünexpected wörds";
    const bytes = Buffer.from(text);
    for (let at = 1; at < bytes.length; at++) {
      const onConnect: SocketHandler = (socket) => {
        socket.setNoDelay(true).write(bytes.subarray(0, at));
        setImmediate(() => socket.write(bytes.subarray(at)));
      };
      expect(await findOutcome(onConnect, { expect: text })).toMatchObject({ status: "up" });
    }
  });

  test("when the expected text ends the first 64 KiB", async () => {
    const onConnect: SocketHandler = (socket) =>
      void socket.write(`${"x".repeat(64 * kib - 4)}pong`);
    expect(await findOutcome(onConnect, { expect: "pong" })).toMatchObject({ status: "up" });
  });
});

describe("a port is down", () => {
  test("without a listener", async () => {
    expect(await runCheckOfType("tcp", { host: "127.0.0.1", port: getFreePort() })).toMatchObject({
      status: "down",
      message: "The connection was refused.",
    });
  });

  const cases: [what: string, onConnect: SocketHandler, message: string][] = [
    [
      "when it closes without the expected text",
      (socket) => void socket.end("pon"),
      "The connection was closed without the expected response.",
    ],
    [
      "when it resets the connection",
      (socket) => void socket.once("data", () => socket.resetAndDestroy()),
      "The connection was closed before the response was complete.",
    ],
    [
      "when it sends something else and waits",
      (socket) => void socket.write("-ERR\r\n"),
      "Timed out while waiting for the response.",
    ],
    [
      "when it sends other data without end",
      (socket) => {
        const piece = "x".repeat(16 * kib);
        const writeMore = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on("drain", writeMore);
        writeMore();
      },
      "The first 64 KiB of the response do not contain the expected text.",
    ],
  ];
  for (const [what, onConnect, message] of cases)
    test(what, async () => {
      const fields = { send: "ping\r\n", expect: "pong" };
      const outcome = await runUntilTimedOut(message, (timeoutMs) =>
        findOutcome(onConnect, fields, timeoutMs),
      );
      expect(outcome).toMatchObject({ status: "down", message, latencyMs: null });
    });
});

test("every check closes its connection, regardless of its result", async () => {
  for (const fields of [{}, { expect: "220" }, { expect: "nothing" }]) {
    await using server = await startListener(
      (socket) => void socket.resume().write("220 mail\r\n"),
    );
    const to = { host: "127.0.0.1", port: server.port, ...fields };
    const isInVain = "expect" in fields && fields.expect === "nothing";
    const { status } = await runCheckOfType("tcp", to, isInVain ? { timeoutMs: 200 } : {});
    expect(status).toBe(isInVain ? "down" : "up");
    await server.waitUntilAllClosed();
    await waitUntilClosed(server.port);
  }
});
