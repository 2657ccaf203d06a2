/** Unusual and invalid responses, read by every monitor type that reads HTTP. */
import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  runCheckOfType,
  startListener,
  type SocketHandler,
  replyOnce,
} from "../../../support/check-runs.ts";
import { buildMessageHead } from "../../../support/response-reader.ts";
import { charsets, framings, refusedFramings } from "../../../support/odd-responses.ts";

const good = /^HTTP 200 \(OK\) in \d+ ms, first byte after \d+ ms\.$/;
const farFuture = new Date(Date.now() + 400 * 86_400_000).toISOString();
let served = 0;

type Reader = {
  /** The body that the target sends. */
  body: string;
  /** Message for a good response. */
  up: RegExp;
  check: (url: string, circumstances: { port: number }) => ReturnType<typeof runCheckOfType>;
  /** Prefix of its failure messages. */
  part?: string;
};

/** All readers of an HTTP body, each with its own conditions. */
const readers: Readonly<Record<string, Reader>> = {
  "http with a keyword": {
    body: "this is fine, größe",
    up: good,
    check: (url) => runCheckOfType("http", { url, keyword: "fine, größe" }),
  },
  "http with an absent text": {
    body: "this is fine",
    up: good,
    check: (url) => runCheckOfType("http", { url, keywordAbsent: "error", keyword: "fine" }),
  },
  "http with JSON": {
    body: '{"state":"up","id":9007199254740993}',
    up: good,
    check: (url) =>
      runCheckOfType("http", {
        url,
        jsonPath: "$.state",
        jsonEquals: "up",
        assertions: [{ source: "json", path: "$.id", op: "equals", value: "9007199254740993" }],
      }),
  },
  "http with a step": {
    body: "this is fine",
    up: /^2 steps in \d+ ms, the last HTTP 200 \(OK\)\.$/,
    part: "Step 1: ",
    check: (url) =>
      runCheckOfType("http", { url, keyword: "fine", steps: [{ url: "/next", keyword: "fine" }] }),
  },
  "an access token": {
    body: '{"access_token":"abc","token_type":"bearer"}',
    up: good,
    part: "Access token: ",
    check: (url) =>
      runCheckOfType("http", {
        url,
        keyword: "abc",
        oauth2: { tokenUrl: `${url}token`, clientId: "a" },
      }),
  },
  domain: {
    body: JSON.stringify({
      ldhName: "example.org",
      events: [{ eventAction: "expiration", eventDate: farFuture }],
    }),
    up: /^The domain expires in 400 days|^The domain expires in 399 days/,
    check: (url) =>
      runCheckOfType("domain", { domain: "example.org", server: `${url}${++served}` }),
  },
  docker: {
    body: '[{"State":"running","Status":"Up 3 hours"}]',
    up: /^The container is running, responded/,
    check: (_url, { port }) =>
      runCheckOfType("docker", { container: "web", host: "127.0.0.1", port, tls: false }),
  },
};

/** Complete, and cut after each byte. */
const sendBytes = (bytes: Buffer, isCut: boolean): SocketHandler =>
  isCut
    ? (socket) =>
        void socket.setNoDelay(true).once("data", () => {
          for (const byte of bytes) socket.write(Buffer.of(byte));
          socket.end();
        })
    : replyOnce(bytes);

for (const [reader, { body, up, part = "", check: attempt }] of Object.entries(readers))
  describe(`${reader} reads a response`, () => {
    for (const [name, framing] of Object.entries(framings))
      test(name, async () => {
        const bytes = framing(Buffer.from(body));
        for (const isCut of [false, true]) {
          await using server = await startListener(sendBytes(bytes, isCut));
          expect(await attempt(server.url, server)).toMatchObject({
            status: "up",
            message: expect.stringMatching(up),
          });
        }
      });

    for (const [name, [framing, words]] of Object.entries(refusedFramings))
      test(`but not ${name}`, async () => {
        await using server = await startListener(replyOnce(framing(Buffer.from(body))));
        expect(await attempt(server.url, server)).toMatchObject({
          status: "down",
          message: `${part}${words}`,
        });
      });
  });

describe("a text is found, and a forbidden one detected, in", () => {
  for (const [name, { type, bytes, text }] of Object.entries(charsets))
    test(name, async () => {
      for (const filler of ["", "x".repeat(5_000)]) {
        const wide = /utf-?16/i.test(type) || /by its mark/.test(name);
        const sent = wide ? bytes : Buffer.concat([bytes, Buffer.from(filler)]);
        const response = Buffer.concat([
          Buffer.from(buildMessageHead("HTTP/1.1 200 OK", `Content-Type: ${type}`), "latin1"),
          sent,
        ]);
        for (const isCut of [false, true]) {
          await using server = await startListener(sendBytes(response, isCut));
          const { url } = server;
          const readStatus = async (fields: object) =>
            (await runCheckOfType("http", { url, ...fields })).status;
          expect(await readStatus({ keyword: text })).toBe("up");
          expect(await readStatus({ keywordAbsent: text })).toBe("down");
          const matches = { source: "body", op: "matches", value: text };
          expect(await readStatus({ assertions: [matches] })).toBe("up");
        }
      }
    });

  test("no unsupported charset, which is the reason instead", async () => {
    const response = buildMessageHead(
      "HTTP/1.1 200 OK",
      "Content-Type: text/html; charset=iso-2022-kr",
    );
    await using server = await startListener(replyOnce(response, "fine"));
    for (const fields of [{ keyword: "fine" }, { keywordAbsent: "error" }])
      expect(await runCheckOfType("http", { url: server.url, ...fields })).toMatchObject({
        status: "down",
        message: "The response has a charset that can't be decoded.",
      });
    expect(await runCheckOfType("http", { url: server.url })).toMatchObject({ status: "up" });
  });

  test("JSON in UTF-16, with and without a mark", async () => {
    for (const bytes of [
      Buffer.from('\ufeff{"a":"ä"}', "utf16le"),
      Buffer.from('{"a":"ä"}', "utf16le"),
      Buffer.from('{"a":"ä"}', "utf16le").swap16(),
    ]) {
      const type = "Content-Type: application/json";
      await using server = await startListener(
        replyOnce(buildMessageHead("HTTP/1.1 200 OK", type), bytes),
      );
      expect(
        await runCheckOfType("http", { url: server.url, jsonPath: "$.a", jsonEquals: "ä" }),
      ).toMatchObject({ status: "up" });
    }
  });
});

describe("without a body", () => {
  for (const start of ["HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified"])
    test(`${start} ends after its header, even if that announces a body`, async () => {
      for (const field of [
        "Content-Length: 7",
        "Transfer-Encoding: chunked",
        "Content-Encoding: gzip",
      ]) {
        await using server = await startListener((socket) => {
          socket.once("data", () => socket.write(buildMessageHead(start, field)));
        });
        const fields = { url: server.url, expectedStatus: ["204", "304"] };
        expect(await runCheckOfType("http", fields)).toMatchObject({ status: "up" });
      }
    });

  test("HEAD ends after the header as well", async () => {
    await using server = await startListener((socket) => {
      socket.once("data", () =>
        socket.write(buildMessageHead("HTTP/1.1 200 OK", "Content-Length: 7")),
      );
    });
    expect(await runCheckOfType("http", { url: server.url, method: "HEAD" })).toMatchObject({
      status: "up",
    });
  });
});

test("a status unknown to HTTP is named, and judged like any other", async () => {
  for (const status of [600, 700, 999]) {
    await using server = await startListener(replyOnce(buildMessageHead(`HTTP/1.1 ${status} Odd`)));
    expect(await runCheckOfType("http", { url: server.url })).toMatchObject({
      status: "down",
      message: `HTTP ${status}, expected 200-299.`,
    });
  }
});

describe("a WebSocket", () => {
  const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const opened = new Set<AsyncDisposable>();
  afterAll(async () => {
    for (const server of opened) await server[Symbol.asyncDispose]();
  });

  /** Result of a handshake in which the server sends these lines, including ACCEPT. */
  async function findOutcome(lines: (accept: string) => string, fields: object = {}) {
    const server = await startListener((socket) => {
      socket.once("data", (request: Buffer) => {
        const key = /Sec-WebSocket-Key: (\S+)/.exec(request.toString())?.[1] ?? "";
        const accept = createHash("sha1").update(`${key}${magic}`).digest("base64");
        socket.write(lines(accept));
      });
    });
    opened.add(server);
    const url = server.url.replace("http", "ws");
    const { status, message } = await runCheckOfType("websocket", { url, ...fields });
    return status === "up" ? "up" : message;
  }
  const buildUpgrade =
    (...others: string[]) =>
    (accept: string) =>
      buildMessageHead(
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        `Sec-WebSocket-Accept: ${accept}`,
        ...others,
      );

  test("is opened by every handshake that RFC 6455 allows", async () => {
    for (const lines of [
      buildUpgrade(),
      buildUpgrade("X-Long: first\r\n second"),
      (accept: string) => buildUpgrade()(accept).replaceAll("\r\n", "\n"),
      (accept: string) =>
        `${buildMessageHead("HTTP/1.1 103 Early Hints")}${buildUpgrade()(accept)}`,
      (accept: string) =>
        buildUpgrade()(accept)
          .replace("websocket", "WebSocket")
          .replace("Connection: Upgrade", "connection: keep-alive, upgrade"),
    ])
      expect(await findOutcome(lines)).toBe("up");
    const headers = { "sec-websocket-protocol": "chat, ticks" };
    expect(await findOutcome(buildUpgrade("Sec-WebSocket-Protocol: ticks"), { headers })).toBe(
      "up",
    );
  });

  test("is not opened by a handshake that no client may accept", async () => {
    const not = "The server does not speak WebSocket.";
    for (const change of [
      (lines: string) => lines.replace("Upgrade: websocket\r\n", ""),
      (lines: string) => lines.replace("Upgrade: websocket", "Upgrade: h2c"),
      (lines: string) => lines.replace("Upgrade: websocket", "Upgrade: websocket, h2c"),
      (lines: string) => lines.replace("Connection: Upgrade", "Connection: keep-alive"),
      (lines: string) => lines.replace("Connection: Upgrade\r\n", ""),
      (lines: string) => lines.replace("Accept: ", "Accept: x"),
      (lines: string) => lines.replace("Accept: ", "Other: "),
    ])
      expect(await findOutcome((accept) => change(buildUpgrade()(accept)))).toBe(not);
    const subprotocol = "The server chose a WebSocket subprotocol that was not offered.";
    const headers = { "Sec-WebSocket-Protocol": "chat" };
    expect(await findOutcome(buildUpgrade("Sec-WebSocket-Protocol: evil"))).toBe(subprotocol);
    for (const other of ["evil", "Chat", "chat, evil"])
      expect(await findOutcome(buildUpgrade(`Sec-WebSocket-Protocol: ${other}`), { headers })).toBe(
        subprotocol,
      );
    const deflate = { "Sec-WebSocket-Extensions": "permessage-deflate" };
    for (const headers of [{}, deflate])
      expect(
        await findOutcome(buildUpgrade("Sec-WebSocket-Extensions: permessage-deflate"), {
          headers,
        }),
      ).toBe("The server chose a WebSocket extension that was not offered.");
    expect(await findOutcome(() => buildMessageHead("HTTP/1.1 103 Hints").repeat(101))).toBe(
      "The response headers are too long.",
    );
    expect(await findOutcome(() => buildMessageHead("HTTP/1.1 700 Odd"))).toBe(
      "HTTP 700, expected 101.",
    );
    expect(await findOutcome(() => "SSH-2.0-OpenSSH_9.2\r\n")).toBe(
      "The response is not valid HTTP.",
    );
  });

  test("shows its message without characters that reorder the surrounding text", async () => {
    const text = Buffer.from("7.2\u202egpj");
    await using server = await startListener((socket) => {
      socket.once("data", (request: Buffer) => {
        const key = /Sec-WebSocket-Key: (\S+)/.exec(request.toString())?.[1] ?? "";
        socket.write(buildUpgrade()(createHash("sha1").update(`${key}${magic}`).digest("base64")));
        socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
      });
    });
    const fields = { url: server.url.replace("http", "ws"), expect: "7.2" };
    expect((await runCheckOfType("websocket", fields)).details).toMatchObject({
      message: "7.2�gpj",
    });
  });

  test("sends each header once, regardless of its case in the monitor", async () => {
    let requested = "";
    await using server = await startListener((socket) => {
      socket.once("data", (request: Buffer) => {
        requested = request.toString("latin1");
        socket.end(buildMessageHead("HTTP/1.1 404 Not Found"));
      });
    });
    const headers = { "user-agent": "probe" };
    await runCheckOfType("websocket", { url: server.url.replace("http", "ws"), headers });
    expect(requested.match(/^user-agent: .*$/gim)).toEqual(["user-agent: probe"]);
  });
});
