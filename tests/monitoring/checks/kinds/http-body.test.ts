import { describe, expect, test } from "bun:test";
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from "node:zlib";
import {
  runCheckOfType,
  startListener,
  replyOnce,
  runUntilTimedOut,
} from "../../../support/check-runs.ts";
import { replyWith, replyForever, type Reply, startTarget } from "../../../support/target.ts";

const mib = 1024 * 1024;
const broken = "The compressed response body is corrupt.";
const lacks = "HTTP 200 (OK), but the first 1 MiB of the response lack the keyword.";
const found = expect.stringMatching(/^HTTP 2\d\d \(.*\) in \d+ ms, first byte after \d+ ms\.$/);

async function runAndReadMessage(
  reply: Reply,
  fields: object = { keyword: "hello" },
): Promise<string> {
  await using shop = await startTarget(reply);
  return (await runCheckOfType("http", { url: shop.at(), ...fields })).message;
}

const replyEncoded = (coding: string, body: string | Uint8Array, status = 200) =>
  replyWith(status, body, { "content-encoding": coding });

describe("a compressed body is decompressed:", () => {
  const text = `${"filler ".repeat(5_000)}hello`;
  for (const [coding, compress] of [
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["GZIP", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const) {
    test(`${coding}, complete`, async () => {
      expect(await runAndReadMessage(replyEncoded(coding, compress(text)))).toEqual(found);
      expect(
        await runAndReadMessage(replyEncoded(coding, compress('{"a":1}')), { jsonPath: "$.a" }),
      ).toEqual(found);
      expect(await runAndReadMessage(replyEncoded(coding, compress("bye")))).toContain(
        "the keyword is missing",
      );
    });

    test(`${coding}, cut or changed, is broken`, async () => {
      const whole = compress(text);
      expect(
        await runAndReadMessage(replyEncoded(coding, whole.subarray(0, whole.length / 2))),
      ).toBe(broken);
      expect(await runAndReadMessage(replyEncoded(coding, "plain text"))).toBe(broken);
    });

    test(`${coding}, byte by byte`, async () => {
      const bytes = compress(text);
      await using shop = await startListener((socket) => {
        socket.setNoDelay(true).once("data", () => {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\n\r\n`);
          for (const byte of bytes) socket.write(Buffer.of(byte));
          socket.end();
        });
      });
      expect((await runCheckOfType("http", { url: shop.url, keyword: "hello" })).message).toEqual(
        found,
      );
    });
  }

  test("unchanged if it was not compressed", async () => {
    for (const coding of ["identity", ""])
      expect(await runAndReadMessage(replyEncoded(coding, "hello"))).toEqual(found);
  });

  test("to nothing if there is no body", async () => {
    const absent = { keywordAbsent: "hello" };
    expect(await runAndReadMessage(replyEncoded("gzip", "", 204), absent)).toEqual(found);
    expect(await runAndReadMessage(replyEncoded("gzip", ""), absent)).toEqual(found);
    const head = { method: "HEAD" };
    expect(await runAndReadMessage(replyEncoded("gzip", gzipSync("hello")), head)).toEqual(found);
  });

  test("not at all with a coding that was not requested", async () => {
    const unknown = "The response body has an encoding that is not supported.";
    for (const coding of ["constructor", "__proto__", "hello"])
      expect([coding, await runAndReadMessage(replyEncoded(coding, "hello"))]).toEqual([
        coding,
        unknown,
      ]);
    for (const coding of ["zstd", "compress"])
      for (const list of [coding, `gzip, ${coding}`])
        expect(await runAndReadMessage(replyEncoded(list, "hello"))).toBe(
          `The response body has the encoding ${coding}, which is not supported.`,
        );
  });

  test("only if a condition reads it", async () => {
    for (const coding of ["gzip", "zstd", "constructor"])
      expect(await runAndReadMessage(replyEncoded(coding, "no gzip"), {})).toEqual(found);
  });
});

describe("at most 1 MiB of a body is read:", () => {
  const buildLongBody = (at: number) => `${"x".repeat(at)}hello${"x".repeat(2 * mib)}`;

  test("a keyword counts within it", async () => {
    expect(await runAndReadMessage(replyWith(200, buildLongBody(mib - 5)))).toEqual(found);
    expect(await runAndReadMessage(replyWith(200, buildLongBody(mib - 4)))).toBe(lacks);
    expect(await runAndReadMessage(replyEncoded("gzip", gzipSync(buildLongBody(mib - 5))))).toEqual(
      found,
    );
    expect(
      await runAndReadMessage(replyEncoded("br", brotliCompressSync(buildLongBody(mib - 4)))),
    ).toBe(lacks);
  });

  test("JSON of that length is parsed, a longer one is not", async () => {
    const jsonOf = (length: number) => JSON.stringify("x".repeat(length - 2));
    const path = { jsonPath: "$" };
    expect(await runAndReadMessage(replyWith(200, jsonOf(mib)), path)).toEqual(found);
    expect(await runAndReadMessage(replyWith(200, jsonOf(mib + 1)), path)).toBe(
      "HTTP 200 (OK), but it is longer than the 1 MiB that are read as JSON.",
    );
  });

  test("an endless stream is a valid response", async () => {
    await using shop = await startTarget(replyForever);
    expect(await runCheckOfType("http", { url: shop.at() })).toMatchObject({ status: "up" });
    expect((await runCheckOfType("http", { url: shop.at(), keyword: "hello" })).message).toBe(
      lacks,
    );
    expect(await runCheckOfType("http", { url: shop.at(), keywordAbsent: "hello" })).toMatchObject({
      status: "up",
    });
  });

  test("a compression bomb is not decompressed beyond it", async () => {
    const zeros = Buffer.alloc(256 * mib);
    const quick = { [constants.BROTLI_PARAM_QUALITY]: 1 };
    const bombs = {
      gzip: gzipSync(zeros),
      deflate: deflateSync(zeros),
      br: brotliCompressSync(zeros, { params: quick }),
    };
    for (const [coding, bomb] of Object.entries(bombs)) {
      const before = process.memoryUsage().rss;
      expect(await runAndReadMessage(replyEncoded(coding, bomb))).toBe(lacks);
      expect(process.memoryUsage().rss - before).toBeLessThan(100 * mib);
    }
  });

  test("a compressed stream that decompresses to nothing ends there, too", async () => {
    const empty = Buffer.concat(Array.from({ length: 10_000 }, () => Buffer.of(0, 0, 0, 255, 255)));
    await using shop = await startListener((socket) => {
      const writeMore = () => {
        while (!socket.destroyed && socket.write(empty));
      };
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
        socket.write(Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3));
        socket.on("drain", writeMore);
        writeMore();
      });
    });
    expect((await runCheckOfType("http", { url: shop.url, keyword: "hello" })).message).toBe(lacks);
  });

  test("an endless gzip stream is not read beyond it", async () => {
    await using shop = await startTarget((response) => {
      const gzip = createGzip();
      const piece = Buffer.alloc(64 * 1024, "x");
      const writeMore = () => {
        while (!response.destroyed && gzip.write(piece));
      };
      response.writeHead(200, { "content-encoding": "gzip" });
      gzip.on("drain", writeMore).pipe(response);
      response.on("close", () => gzip.destroy());
      writeMore();
    });
    expect((await runCheckOfType("http", { url: shop.at(), keyword: "hello" })).message).toBe(
      lacks,
    );
  });
});

describe("a text", () => {
  test("is found across any split, also within a character", async () => {
    const word = "größe 😀";
    const bytes = Buffer.from(`a${word}z`);
    for (let at = 1; at < bytes.length; at++) {
      const cut = [bytes.subarray(0, at), bytes.subarray(at)];
      const chunks = cut.map((each) =>
        Buffer.concat([Buffer.from(`${each.length.toString(16)}\r\n`), each, Buffer.from("\r\n")]),
      );
      const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      await using shop = await startListener(replyOnce(head, ...chunks, "0\r\n\r\n"));
      expect((await runCheckOfType("http", { url: shop.url, keyword: word })).message).toEqual(
        found,
      );
    }
  });

  test("is decoded with the charset of its Content-Type, or else as UTF-8", async () => {
    const latin = Buffer.from("größe", "latin1");
    for (const type of [
      "text/plain; charset=iso-8859-1",
      'text/plain; charset="ISO-8859-1"',
      "text/plain;charset=latin1",
      "text/html; charset=windows-1252",
    ])
      expect(
        await runAndReadMessage(replyWith(200, latin, { "content-type": type }), {
          keyword: "größe",
        }),
      ).toEqual(found);
    for (const type of ["text/plain", "text/plain; charset=utf-8", "text/plain; charset=x"]) {
      const headers = { "content-type": type };
      expect(
        await runAndReadMessage(replyWith(200, "größe", headers), { keyword: "größe" }),
      ).toEqual(found);
      expect(
        await runAndReadMessage(replyWith(200, latin, headers), { keyword: "größe" }),
      ).toContain("missing");
    }
  });
});

test("a truncated body is down, even if it contains the keyword", async () => {
  const start = "HTTP/1.1 200 OK\r\n";
  for (const bytes of [
    `${start}Content-Length: 10\r\n\r\nhello`,
    `${start}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
  ])
    for (const fields of [{}, { keyword: "hello" }]) {
      await using shop = await startListener(replyOnce(bytes));
      expect(await runCheckOfType("http", { url: shop.url, ...fields })).toMatchObject({
        status: "down",
        message: "The connection was closed before the response was complete.",
      });
    }
});

test("a body that does not arrive is down at the timeout", async () => {
  await using shop = await startListener((socket) => {
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"));
  });
  const message = "Timed out while reading the response.";
  expect(
    await runUntilTimedOut(message, (timeoutMs) =>
      runCheckOfType("http", { url: shop.url }, { timeoutMs }),
    ),
  ).toMatchObject({ status: "down", message });
});
