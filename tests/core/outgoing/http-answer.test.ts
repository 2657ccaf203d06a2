/** The parser of HTTP responses: any split of the bytes, ends, and broken connections. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readHttpResponse } from "../../../src/core/outgoing/http/response.ts";
import {
  encodeChunks,
  buildMessageHead,
  createLine,
  readResponse,
  findRefusal,
} from "../../support/response-reader.ts";

/** Random responses, as bytes and as their expected content. */
const sent = fc
  .record({
    kind: fc.constantFrom("sized", "chunked", "until close", "none"),
    status: fc.constantFrom(200, 404, 500),
    fields: fc.dictionary(
      fc.constantFrom("Server", "x-a", "ETag"),
      fc.constantFrom("", "a", "b c", "é", "a, b"),
    ),
    pieces: fc.array(
      fc.string({ unit: fc.constantFrom("a", "\r", "\n", "0", "\xff", "\0"), minLength: 1 }),
      { maxLength: 3 },
    ),
    extension: fc.constantFrom("", ";a", ' ; a="b;c"', "\t;x=1"),
    trailer: fc.constantFrom("", "Expires: never\r\nA: b\r\n"),
    interim: fc.constantFrom(
      "",
      "HTTP/1.1 100 Continue\nA: b\n\n",
      buildMessageHead("HTTP/1.1 103 Hints"),
    ),
    behind: fc.constantFrom("", "HTTP/1.1 500 No\r\n\r\n", "rubbish"),
    lineEnd: fc.constantFrom("\r\n", "\n"),
  })
  .map(({ kind, fields, pieces, extension, trailer, interim, behind, lineEnd, ...sent }) => {
    const body = pieces.join("");
    const status = kind === "none" ? 204 : sent.status;
    const headers: Record<string, string> = {
      ...fields,
      ...(kind === "sized" && { "Content-Length": String(body.length) }),
      ...(kind === "chunked" && { "Transfer-Encoding": "chunked" }),
    };
    const lines = Object.entries(headers).map((field) => field.join(": "));
    const start = [`HTTP/1.1 ${status} Reason`, ...lines, "", ""].join(lineEnd);
    const chunks = [...pieces, ""].map(
      (each) => `${each.length.toString(16)}${extension}\r\n${each}${each === "" ? "" : "\r\n"}`,
    );
    const rest = {
      sized: body + behind,
      chunked: `${chunks.join("")}${trailer}\r\n${behind}`,
      "until close": body,
      none: behind,
    }[kind];
    const expected = {
      status,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      body: kind === "none" ? "" : body,
    };
    return { bytes: interim + start + rest, expected };
  });

describe("the same response is read for any split of its bytes", () => {
  test("in pieces of any size or byte by byte, read at once or late", async () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 40 });
    const everywhere = Array.from({ length: 1_000 }, (_, at) => at);
    await fc.assert(
      fc.asyncProperty(sent, cuts, fc.boolean(), async ({ bytes, expected }, cuts, late) => {
        expect(await readResponse(bytes, { cuts, late })).toEqual(expected);
        expect(await readResponse(bytes, { cuts: everywhere, late })).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("any input is a response or rejected, and never an internal error", async () => {
    const valid =
      buildMessageHead("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") +
      encodeChunks("abc") +
      "0\r\n\r\n";
    const changed = fc
      .tuple(fc.nat(valid.length - 1), fc.nat(255), fc.boolean())
      .map(([at, byte, insert]) => {
        const bytes = Buffer.from(valid, "latin1");
        const added = Buffer.from([byte]);
        return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(insert ? at : at + 1)]);
      });
    const noise = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const known =
      /^read as [1-9]\d\d$|^The response is not valid HTTP\.$|before the response was complete\.$/;
    await fc.assert(
      fc.asyncProperty(fc.oneof(changed, noise), async (bytes) => {
        expect(await findRefusal(bytes)).toMatch(known);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a response ends", () => {
  const ends: [name: string, bytes: string, method: string, body: string][] = [
    [
      "with its head, to HEAD",
      buildMessageHead("HTTP/1.1 200 OK", "Content-Length: 5") + "hello",
      "HEAD",
      "",
    ],
    [
      "with its head, chunked or not, to HEAD",
      buildMessageHead("HTTP/1.1 200 OK", "Transfer-Encoding: chunked"),
      "HEAD",
      "",
    ],
    [
      "with its head when it is 204",
      buildMessageHead("HTTP/1.1 204 No", "Content-Length: 5") + "hello",
      "GET",
      "",
    ],
    [
      "with its head when it is 304",
      buildMessageHead("HTTP/1.1 304 No", "Content-Length: 5"),
      "GET",
      "",
    ],
    [
      "with its head when nothing follows",
      buildMessageHead("HTTP/1.1 200 OK", "Content-Length: 0"),
      "GET",
      "",
    ],
    [
      "after its length",
      buildMessageHead("HTTP/1.1 200 OK", "Content-Length: 5") + "hello, world",
      "GET",
      "hello",
    ],
    [
      "after its length, given twice with the same value",
      buildMessageHead("HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 2") + "ok",
      "GET",
      "ok",
    ],
    [
      "after its last chunk",
      buildMessageHead("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") +
        encodeChunks("he", "llo") +
        "0\r\n\r\nmore",
      "GET",
      "hello",
    ],
    [
      "after its chunks, regardless of its Content-Length",
      buildMessageHead("HTTP/1.1 200 OK", "Content-Length: 1", "Transfer-Encoding: Chunked") +
        encodeChunks("hello") +
        "000\r\n\r\n",
      "GET",
      "hello",
    ],
  ];
  for (const [name, bytes, method, body] of ends)
    test(`${name}, even if the connection stays open`, async () => {
      expect((await readResponse(bytes, { method, stays: true })).body).toBe(body);
    });

  test("with the connection if nothing else marks the end, even after an unknown coding", async () => {
    expect((await readResponse(buildMessageHead("HTTP/1.0 200 OK") + "old")).body).toBe("old");
    expect(
      (await readResponse(buildMessageHead("HTTP/1.1 200 OK", "Transfer-Encoding: gzip") + "??"))
        .body,
    ).toBe("??");
  });
});

test("fields of one name are joined, spaces around values dropped, an empty reason is accepted", async () => {
  const bytes = buildMessageHead("HTTP/1.1 200", "A: 1", "a:\t2 ", "B:", "Content-Length: 0");
  const { headers } = await readResponse(bytes);
  expect(headers).toEqual({ a: "1, 2", b: "", "content-length": "0" });
  expect((await readResponse(buildMessageHead("HTTP/1.0 599 ", "__proto__: x"))).status).toBe(599);
});

test("blanks around values are dropped, and no other bytes", async () => {
  const { headers } = await readResponse(
    buildMessageHead("HTTP/1.1 200", "A:\t \xc3\xa0 \t", "B: \xa0\x85", " \xa0"),
  );
  expect(headers).toEqual({ a: "\xc3\xa0", b: "\xa0\x85 \xa0" });
});

test("leading zeros of a chunk size are ignored", async () => {
  const coded = buildMessageHead("HTTP/1.1 200 OK", "Transfer-Encoding: chunked");
  const zeros = "0".repeat(15);
  expect((await readResponse(`${coded}${zeros}5\r\nhello\r\n${zeros}0\r\n\r\n`)).body).toBe(
    "hello",
  );
});

test("up to a hundred interim responses can precede the final one", async () => {
  const interims = buildMessageHead("HTTP/1.1 100 Continue").repeat(100);
  const bytes = `${interims}${buildMessageHead("HTTP/1.1 204 No Content")}`;
  expect((await readResponse(bytes)).status).toBe(204);
  expect((await readResponse(bytes, { cuts: [1_003] })).status).toBe(204);
});

describe("a connection that ends too early yields no response", () => {
  const whole = [
    buildMessageHead("HTTP/1.1 100 Continue") +
      buildMessageHead("HTTP/1.1 200 OK", "Content-Length: 5") +
      "hello",
    buildMessageHead("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") +
      encodeChunks("hel", "lo") +
      "0\r\nA: b\r\n\r\n",
  ];
  for (const bytes of whole)
    test(`cut anywhere: ${JSON.stringify(bytes)}`, async () => {
      for (let length = 0; length < bytes.length; length++)
        expect([length, await findRefusal(bytes.slice(0, length))]).toEqual([
          length,
          "The connection was closed before the response was complete.",
        ]);
      expect((await readResponse(bytes)).body).toBe("hello");
    });

  test("and one that breaks yields the reason, also within a body that ends with the connection", async () => {
    for (const bytes of ["", "HTTP/1.1 2", `${buildMessageHead("HTTP/1.1 200 OK")}half`]) {
      const { connection, ending, arrive } = createLine();
      const reading = readHttpResponse(connection, "GET").then((response) =>
        response.read(() => {}),
      );
      const message = reading.then(
        () => "read",
        (error: Error) => error.message,
      );
      arrive(Buffer.from(bytes));
      ending.reject(new Error("broken"));
      expect(await message).toBe("broken");
    }
  });
});

test("the memory of received data is released after the reader has used it, not before", async () => {
  const { connection, arrive } = createLine();
  const allocateBytes = (text: string) => {
    const bytes = Buffer.allocUnsafeSlow(text.length);
    bytes.write(text, "latin1");
    return bytes;
  };
  const reading = readHttpResponse(connection, "GET");
  const [first, early, late] = [buildMessageHead("HTTP/1.1 200 OK") + "a", "bc", "d"].map(
    allocateBytes,
  );
  if (!first || !early || !late) throw new Error("Three pieces.");
  arrive(first);
  const response = await reading;
  arrive(early);
  expect([first.length, early.length]).not.toContain(0);
  let body = "";
  void response.read((chunk) => void (body += chunk.toString("latin1")));
  arrive(late);
  expect([body, late.length]).toEqual(["abcd", 0]);
});
