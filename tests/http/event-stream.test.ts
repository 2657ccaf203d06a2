import { expect, test } from "bun:test";
import { connect } from "node:net";
import {
  createEventStream,
  encodeMessage,
  type Reader,
} from "../../src/http/responses/event-stream.ts";
import { waitUntil } from "../support/poll.ts";

/** A server with one stream, and its readers. */
function startServing() {
  const readers: Reader[] = [];
  let left = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 10,
    fetch: (request) =>
      createEventStream(
        request,
        (request, seconds) => server.timeout(request, seconds),
        (reader) => {
          readers.push(reader);
          return () => void left++;
        },
      ),
  });
  return {
    server,
    readers,
    left: () => left,
    async joined(count: number) {
      await waitUntil(() => readers.length >= count);
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function open(port: number) {
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return socket;
}

test("a reader gets every message as sent, and is removed when it disconnects", async () => {
  await using result = startServing();
  const leaving = new AbortController();
  const { body } = await fetch(result.server.url, { signal: leaving.signal });
  await result.joined(1);
  result.readers[0]?.send(encodeMessage("change", { text: "two\nlines" }, "7"));
  const reader = body?.getReader();
  const expected = 'retry: 1000\n\nid: 7\nevent: change\ndata: {"text":"two\\nlines"}\n\n';
  let text = "";
  while (text.length < expected.length)
    text += new TextDecoder().decode((await reader?.read())?.value);
  expect(text).toBe(expected);
  leaving.abort();
  await waitUntil(() => result.left() > 0);
  result.readers[0]?.send(encodeMessage("change", {}));
  expect(result.left()).toBe(1);
});

test("a connection that does not read is closed, and delays no others", async () => {
  await using result = startServing();
  const lazy = open(result.server.port ?? 0);
  lazy.pause();
  const eager = open(result.server.port ?? 0);
  let received = 0;
  eager.on("data", (bytes) => (received += bytes.length));
  await result.joined(2);
  const message = encodeMessage("monitors", "x".repeat(100_000));
  let sent = 0;
  // The system buffers some megabytes before anything waits in our process.
  for (; result.left() === 0 && sent < 200; sent++) {
    for (const { send } of result.readers) send(message);
    await waitUntil(() => received >= sent * 100_000);
  }
  expect(sent).toBeLessThan(200);
  expect(result.left()).toBe(1);
  const ended = Promise.withResolvers<void>();
  lazy.on("close", ended.resolve).on("error", () => {});
  await Bun.sleep(2_500);
  lazy.resume();
  await ended.promise;
  eager.destroy();
});

test("a server stops once its streams are ended", async () => {
  await using result = startServing();
  const sockets = [open(result.server.port ?? 0), open(result.server.port ?? 0)];
  for (const socket of sockets) socket.resume();
  await result.joined(2);
  for (const { end } of result.readers) end();
  await result.server.stop();
  expect(result.left()).toBe(2);
});
