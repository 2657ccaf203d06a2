import { describe, expect, test } from "bun:test";
import { buildMessageHead } from "../../../support/response-reader.ts";
import { runCheckOfType, startListener, runUntilTimedOut } from "../../../support/check-runs.ts";
import { replyWith, startTarget } from "../../../support/target.ts";

const events = ["Content-Type: text/event-stream", "Transfer-Encoding: chunked"];
const up = { status: "up", message: expect.stringMatching(/^HTTP 200 \(OK\) in \d+ ms/) };

/** A server whose endless responses start like this and continue until the client disconnects. */
const startStream = (fields: readonly string[], ...starts: string[]) =>
  startListener((socket) => {
    const isChunked = fields.some((field) => field.endsWith("chunked"));
    const send = (data: string) =>
      void socket.write(isChunked ? `${data.length.toString(16)}\r\n${data}\r\n` : data);
    socket.once("data", () => {
      const going = setInterval(() => send("data: x\n\n"), 20);
      socket.on("close", () => clearInterval(going));
      socket.write(buildMessageHead("HTTP/1.1 200 OK", ...fields));
      for (const start of starts) send(start);
    });
  });

describe("an endless body is up once all conditions are decided, and its connection is closed:", () => {
  const streams: Record<string, string[]> = {
    "a stream of events": events,
    "audio until the end of the connection": ["Content-Type: audio/mpeg"],
    "chunks of no known type": ["Transfer-Encoding: chunked"],
    "a text until the end of the connection": ["Content-Type: text/plain"],
    "a file longer than the limit": ["Content-Length: 99999999"],
  };
  for (const [name, fields] of Object.entries(streams))
    test.concurrent(name, async () => {
      await using server = await startStream(fields, "data: ready\n\n");
      const { url } = server;
      for (const conditions of [
        {},
        { keyword: "ready" },
        { assertions: [{ source: "header", path: "X-None", op: "notExists" }] },
        { assertions: [{ source: "body", op: "contains", value: "data: x" }] },
        { steps: [{ url: "/next", keyword: "ready" }] },
      ]) {
        const found = await runCheckOfType("http", { url, ...conditions });
        expect([conditions, found.status === "up" ? "up" : found.message]).toEqual([
          conditions,
          "up",
        ]);
      }
      await server.waitUntilAllClosed();
    });

  test("a forbidden keyword is down as soon as it arrives", async () => {
    await using server = await startStream(events, "data: error\n\n");
    expect(await runCheckOfType("http", { url: server.url, keywordAbsent: "error" })).toMatchObject(
      {
        status: "down",
        message: "HTTP 200 (OK), but it has the keyword that must be absent.",
      },
    );
  });

  test("a forbidden keyword that has not arrived is undecided until the timeout", async () => {
    await using server = await startStream(events);
    const message = "Timed out while reading the response.";
    for (const conditions of [
      { keywordAbsent: "error" },
      { keyword: "missing" },
      { jsonPath: "$.a" },
    ])
      expect(
        await runUntilTimedOut(message, (timeoutMs) =>
          runCheckOfType("http", { url: server.url, ...conditions }, { timeoutMs }),
        ),
      ).toMatchObject({ status: "down", message });
  });

  test("a condition on the latency waits for the end", async () => {
    await using server = await startStream(["Transfer-Encoding: chunked"]);
    const latency = { source: "latency", op: "lessThan", value: 1_500 };
    expect(await runCheckOfType("http", { url: server.url, assertions: [latency] })).toMatchObject({
      status: "down",
      message: "HTTP 200 (OK), but assertion 1 failed: the latency in ms must be less than 1500.",
    });
    const degradedAfterMs = 1_500;
    expect(await runCheckOfType("http", { url: server.url }, { degradedAfterMs })).toMatchObject({
      status: "degraded",
    });
    await using quick = await startStream(events);
    const assertions = [{ ...latency, value: 59_000 }];
    expect(await runCheckOfType("http", { url: quick.url, assertions })).toMatchObject(up);
  });

  test("a body that breaks off is down", async () => {
    await using server = await startListener((socket) => {
      socket.once("data", () =>
        socket.end(
          `${buildMessageHead("HTTP/1.1 200 OK", "Transfer-Encoding: chunked")}5\r\nhello\r\n`,
        ),
      );
    });
    for (const conditions of [{}, { keyword: "hello" }])
      expect(await runCheckOfType("http", { url: server.url, ...conditions })).toMatchObject({
        status: "down",
        message: "The connection was closed before the response was complete.",
      });
  });
});

describe("if only the start of a body over 1 MiB was searched for a forbidden text, the message says so:", () => {
  const note = "only the first 1 MiB of the response was searched for the text that must be absent";
  const long = `${"x".repeat(1.5 * 1024 * 1024)}error`;
  const absent: Record<string, object> = {
    keywordAbsent: { keywordAbsent: "error" },
    notContains: { assertions: [{ source: "body", op: "notContains", value: "error" }] },
    notMatches: { assertions: [{ source: "body", op: "notMatches", value: "err.r" }] },
  };
  for (const [name, conditions] of Object.entries(absent))
    test(name, async () => {
      await using site = await startTarget(replyWith(200, long));
      const url = site.at();
      expect((await runCheckOfType("http", { url, ...conditions })).message).toEndWith(
        `; ${note}.`,
      );
      const steps = [{ url: "/next", ...conditions }];
      expect((await runCheckOfType("http", { url, steps })).message).toEndWith(`; ${note}.`);
      expect((await runCheckOfType("http", { url })).message).not.toContain("1 MiB");
      site.setReply(replyWith(200, "short"));
      expect((await runCheckOfType("http", { url, ...conditions })).message).not.toContain("1 MiB");
    });
});
