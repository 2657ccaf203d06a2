import { describe, expect, test } from "bun:test";
import { readHttpResponse } from "../../../src/core/outgoing/http/response.ts";
import { buildMessageHead, createLine, findRefusal } from "../../support/response-reader.ts";

describe("invalid HTTP is rejected", () => {
  const ok = "HTTP/1.1 200 OK";
  const coded = buildMessageHead(ok, "Transfer-Encoding: chunked");
  const invalid: Record<string, string> = {
    "another protocol": "SSH-2.0-OpenSSH_9.2\r\n",
    "HTTP/2": buildMessageHead("HTTP/2 200 OK"),
    "HTTP/0.9": "<html></html>",
    "lower case": buildMessageHead("http/1.1 200 OK"),
    "a status of two digits": buildMessageHead("HTTP/1.1 20 OK"),
    "a status of four digits": buildMessageHead("HTTP/1.1 2000 OK"),
    "a status below 100": buildMessageHead("HTTP/1.1 099 OK"),
    "a signed status": buildMessageHead("HTTP/1.1 +20 OK"),
    "a NUL in the reason": buildMessageHead("HTTP/1.1 200 O\0K"),
    "a CR in the reason": buildMessageHead("HTTP/1.1 200 O\rK"),
    "a blank before the first field": buildMessageHead(ok, " Server: x"),
    "a NUL in a value": buildMessageHead(ok, "Server: a\0b"),
    "a NUL in a name": buildMessageHead(ok, "Ser\0ver: b"),
    "a CR in a value": buildMessageHead(ok, "Server: a\rb"),
    "two lengths": buildMessageHead(ok, "Content-Length: 1", "Content-Length: 2"),
    "two lengths in one field": buildMessageHead(ok, "Content-Length: 1, 2"),
    "a negative length": buildMessageHead(ok, "Content-Length: -1"),
    "an empty length": buildMessageHead(ok, "Content-Length:"),
    "a length of hexadecimal digits": buildMessageHead(ok, "Content-Length: 0x5"),
    "a length that is too large": buildMessageHead(ok, `Content-Length: ${"9".repeat(16)}`),
    "a negative chunk size": `${coded}-5\r\nhello\r\n`,
    "an empty chunk size": `${coded}\r\nhello\r\n`,
    "a chunk size that is no number": `${coded}xyz\r\nhello\r\n`,
    "a chunk size with 0x": `${coded}0x5\r\nhello\r\n`,
    "a chunk size that is too large": `${coded}${"f".repeat(13)}\r\nhello\r\n`,
    "a chunk longer than its size": `${coded}2\r\nhello\r\n`,
    "an endless chunk size": `${coded}${"0".repeat(5_000)}`,
    "an endless chunk extension": `${coded}5;${"a".repeat(5_000)}`,
    "chunks with extensions longer than their data": `${coded}${`1;${"a".repeat(1_000)}\r\nx\r\n`.repeat(100)}`,
    "an endless trailer": `${coded}0\r\nA: ${"a".repeat(5_000)}`,
  };
  for (const [name, bytes] of Object.entries(invalid))
    test(name, async () => {
      const { connection, state, ending, arrive } = createLine();
      const reading = readHttpResponse(connection, "GET").then((response) =>
        response.read(() => {}),
      );
      const message = reading.then(
        () => "read",
        (error: Error) => error.message,
      );
      arrive(Buffer.from(bytes, "latin1"));
      const closedAtOnce = state.closed;
      ending.resolve();
      expect([await message, closedAtOnce]).toEqual(["The response is not valid HTTP.", true]);
    });

  test("a header longer than 64 KiB, in one field, in many, or without an end", async () => {
    const tooLong = "The response headers are too long.";
    const many = Array.from({ length: 5_000 }, (_, index) => `X-${index}: ${index} and more`);
    for (const bytes of [
      buildMessageHead(ok, `A: ${"a".repeat(70_000)}`),
      buildMessageHead(ok, ...many),
      `${ok}\r\nA: ${"a".repeat(70_000)}`,
    ])
      for (const cuts of [[], Array.from(bytes, (_, at) => at).filter((at) => at % 1_000 === 0)])
        expect(await findRefusal(bytes, { cuts, stays: true })).toBe(tooLong);
    for (const endless of [
      `${coded}0\r\n${"A: a\r\n".repeat(20_000)}`,
      buildMessageHead("HTTP/1.1 100 Continue").repeat(101),
    ])
      expect(await findRefusal(endless, { stays: true })).toBe(tooLong);
    expect(
      await findRefusal(
        buildMessageHead("HTTP/1.1 102 Processing").repeat(100) + buildMessageHead(ok),
      ),
    ).toBe("read as 200");
    const short = buildMessageHead(ok, `A: ${"a".repeat(60_000)}`, "Content-Length: 0");
    expect(await findRefusal(short)).toBe("read as 200");
  });
});
