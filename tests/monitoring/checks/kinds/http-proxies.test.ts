import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { getFreePort } from "../../../support/binary.ts";
import {
  runCheckOfType,
  startListener,
  replyOnce,
  runUntilTimedOut,
} from "../../../support/check-runs.ts";
import {
  startMicrosocks,
  startSecureTinyproxy,
  startTinyproxy,
} from "../../../support/real-proxies.ts";
import { defineTestWith } from "../../../support/real-targets.ts";
import { canary } from "../../../support/samples.ts";
import { startSecureListener } from "../../../support/secure-listener.ts";
import { replyWith, startTarget } from "../../../support/target.ts";

const login = { proxyUsername: "probe", proxyPassword: canary };
const expectedMessage = "The proxy requires a user name and password.";
const refused = "The proxy rejected the user name or the password.";
/** An address from the documentation range: nothing is there, and it needs no DNS. */
const nowhere = "https://192.0.2.7/health";

const replyNoContent = (socket: { once: Socket["once"]; end: Socket["end"] }) =>
  void socket.once("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));

const real = [
  ["tinyproxy", startTinyproxy],
  ["microsocks", startMicrosocks],
] as const;

describe.each(real)("through %s", (program, running) => {
  defineTestWith([program], "the target gets the same request as without it", async () => {
    await using proxy = await running();
    await using site = await startTarget(replyWith(200, "fine"));
    await using secure = await startSecureListener("good", { onConnect: replyNoContent });
    const through = { proxyUrl: proxy.url };
    const url = site.at("/health?full=1");
    expect(await runCheckOfType("http", { url, keyword: "fine", ...through })).toMatchObject({
      status: "up",
      message: expect.stringMatching(/^HTTP 200 \(OK\) in \d+ ms/),
    });
    expect(site.asked).toMatchObject([
      { method: "GET", path: "/health?full=1", headers: { host: `127.0.0.1:${site.port}` } },
    ]);
    const trust = { authorities: secure.authority };
    const at = { url: `https://localhost:${secure.port}/`, ...through };
    expect(await runCheckOfType("http", at, trust)).toMatchObject({
      status: "up",
      certificateExpiresAt: expect.any(String),
    });
    expect(await runCheckOfType("http", at)).toMatchObject({
      status: "down",
      message: "The certificate's chain is incomplete, or its authority is not trusted.",
    });
  });

  defineTestWith([program], "a user is accepted only with the right password", async () => {
    await using proxy = await running(canary);
    await using site = await startTarget();
    await using secure = await startSecureListener("good", { onConnect: replyNoContent });
    const trust = { authorities: secure.authority };
    for (const url of [site.at("/"), `https://localhost:${secure.port}/`]) {
      const at = { url, proxyUrl: proxy.url };
      expect(await runCheckOfType("http", at, trust)).toMatchObject({
        status: "down",
        message: expectedMessage,
      });
      const wrong = { ...at, ...login, proxyPassword: `${canary}x` };
      const outcome = await runCheckOfType("http", wrong, trust);
      // tinyproxy responds to a wrong password like a target would.
      const isTargets = program === "tinyproxy" && url.startsWith("http:");
      const message = isTargets ? "HTTP 401 (Unauthorized), expected 200-299." : refused;
      expect(outcome).toMatchObject({ status: "down", message });
      expect(JSON.stringify(outcome)).not.toContain(canary);
      expect(await runCheckOfType("http", { ...at, ...login }, trust)).toMatchObject({
        status: "up",
      });
    }
    const [{ headers } = { headers: {} }] = site.asked;
    expect(JSON.stringify(headers)).not.toContain("proxy-authorization");
  });

  defineTestWith(
    [program],
    "a target without a listener is down, as the proxy reports",
    async () => {
      await using proxy = await running();
      const url = `https://127.0.0.1:${getFreePort()}/`;
      const message =
        program === "tinyproxy"
          ? /^The proxy did not connect to the target: HTTP 50[0-9] \(.+\)\.$/
          : /^The target refused the connection of the proxy\.$/;
      expect(await runCheckOfType("http", { url, proxyUrl: proxy.url })).toMatchObject({
        status: "down",
        message: expect.stringMatching(message),
      });
    },
  );
});

defineTestWith(
  ["stunnel", "tinyproxy"],
  "through an HTTPS proxy, targets with and without TLS get the request",
  async () => {
    await using proxy = await startSecureTinyproxy(canary);
    await using site = await startTarget(replyWith(200, "x".repeat(300_000)));
    await using secure = await startSecureListener("good", { onConnect: replyNoContent });
    const proxied = { proxyUrl: proxy.url, ...login };
    const trust = { authorities: `${secure.authority}${proxy.authority}` };
    const plain = await runCheckOfType(
      "http",
      { url: site.at("/"), keyword: "x", ...proxied },
      trust,
    );
    expect(plain).toMatchObject({ status: "up" });
    expect(plain).not.toHaveProperty("certificateExpiresAt");
    const at = { url: `https://localhost:${secure.port}/`, ...proxied };
    expect(await runCheckOfType("http", at, trust)).toMatchObject({
      status: "up",
      certificateExpiresAt: expect.any(String),
    });
    expect(await runCheckOfType("http", { ...at, proxyPassword: "x" }, trust)).toMatchObject({
      message: refused,
    });
    const untrusted = await runCheckOfType("http", at, { authorities: secure.authority });
    expect(untrusted.message).toBe(
      "The proxy can't be reached: the certificate's chain is incomplete, or its authority is not trusted.",
    );
    const closedTarget = { ...at, url: `https://127.0.0.1:${getFreePort()}/` };
    expect((await runCheckOfType("http", closedTarget, trust)).message).toMatch(
      /^The proxy did not connect to the target: HTTP 50/,
    );
  },
);

const greets = Buffer.from([5, 0]);
const buildSocksReply = (reply: number) => Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);

/** Sends the next response whenever data arrives. */
const replyInOrder =
  (...responses: readonly (string | Uint8Array)[]) =>
  (socket: Socket) => {
    const left = [...responses];
    socket.on("data", () => {
      const next = left.shift();
      if (next !== undefined) socket.write(next);
    });
  };

const replyHead = (head: string) => replyOnce(`${head}\r\n\r\n`);
const noAnswer = "The proxy sent an invalid response: ";
const closed = `${noAnswer}the connection was closed before the response was complete.`;
const notSocks = "The proxy does not speak SOCKS5.";

const responses: [scheme: "http" | "socks5", (socket: Socket) => void, message: string][] = [
  [
    "http",
    replyHead("HTTP/1.1 403 Filtered"),
    "The proxy did not connect to the target: HTTP 403 (Forbidden).",
  ],
  ["http", replyHead("HTTP/1.0 407 Who are you"), expectedMessage],
  ["http", replyOnce("220 mail.lan ESMTP\r\n"), "The proxy does not speak HTTP."],
  ["http", replyOnce("HTTP/1.1 200 Fine\r\n"), closed],
  ["http", (socket) => void socket.resume().end(), closed],
  [
    "http",
    replyOnce(`HTTP/1.1 200 Fine\r\nX: ${"x".repeat(32_000)}`),
    `${noAnswer}the response is longer than 16 KiB.`,
  ],
  ["socks5", replyInOrder(Buffer.from([4, 0])), notSocks],
  ["socks5", replyInOrder("HTTP/1.1 400 Bad Request\r\n\r\n"), notSocks],
  ["socks5", replyInOrder(Buffer.from([5, 0xff])), expectedMessage],
  ["socks5", replyInOrder(Buffer.from([5, 2])), notSocks],
  ["socks5", replyInOrder(greets, Buffer.from([5, 0, 0, 9])), notSocks],
  ["socks5", replyInOrder(greets, Buffer.from([4, 0, 0, 1])), notSocks],
  ["socks5", (socket) => void socket.resume().end(), closed],
  ["socks5", replyInOrder(greets, buildSocksReply(1)), "The proxy had an internal failure."],
  [
    "socks5",
    replyInOrder(greets, buildSocksReply(2)),
    "The proxy's rules do not allow the connection.",
  ],
  [
    "socks5",
    replyInOrder(greets, buildSocksReply(3)),
    "The proxy has no route to the target's network.",
  ],
  ["socks5", replyInOrder(greets, buildSocksReply(4)), "The proxy can't reach the target."],
  [
    "socks5",
    replyInOrder(greets, buildSocksReply(5)),
    "The target refused the connection of the proxy.",
  ],
  [
    "socks5",
    replyInOrder(greets, buildSocksReply(6)),
    "The proxy's packets did not reach the target.",
  ],
  [
    "socks5",
    replyInOrder(greets, buildSocksReply(7)),
    "The proxy does not support such connections.",
  ],
  [
    "socks5",
    replyInOrder(greets, buildSocksReply(8)),
    "The proxy does not accept this kind of address.",
  ],
  ["socks5", replyInOrder(greets, buildSocksReply(99)), "The proxy answered with reply 99."],
];

test.each(responses)(
  "an invalid response of a proxy is reported: %s %#",
  async (scheme, greets, message) => {
    await using proxy = await startListener(greets);
    const proxyUrl = `${scheme}://127.0.0.1:${proxy.port}`;
    expect(await runCheckOfType("http", { url: nowhere, proxyUrl })).toMatchObject({
      status: "down",
      message,
    });
    await proxy.waitUntilAllClosed();
  },
);

const hangs: [scheme: "http" | "socks5", (socket: Socket) => void, step: string][] = [
  ["http", (socket) => void socket.resume(), "waiting for the proxy"],
  ["http", replyInOrder("HTTP/1.1 200 Fine\r\n"), "waiting for the proxy"],
  ["http", replyInOrder("HTTP/1.1 200 Fine\r\n\r\n"), "starting TLS"],
  ["socks5", (socket) => void socket.resume(), "waiting for the proxy"],
  ["socks5", replyInOrder(greets), "waiting for the proxy"],
  ["socks5", replyInOrder(greets, buildSocksReply(0).subarray(0, 7)), "waiting for the proxy"],
  ["socks5", replyInOrder(greets, buildSocksReply(0)), "starting TLS"],
];

test("the timeout of a check also applies to a proxy, and closes its connection", async () => {
  const findOutcome = async ([scheme, greets, step]: (typeof hangs)[number]) => {
    await using proxy = await startListener(greets);
    const proxyUrl = `${scheme}://127.0.0.1:${proxy.port}`;
    const expected = `Timed out while ${step}.`;
    const { message } = await runUntilTimedOut(expected, (timeoutMs) =>
      runCheckOfType("http", { url: nowhere, proxyUrl }, { timeoutMs }),
    );
    await proxy.waitUntilAllClosed();
    return [message, expected];
  };
  for (const [message, expected] of await Promise.all(hangs.map(findOutcome)))
    expect(message).toBe(expected ?? "");
});

test("an unreachable proxy is distinguished from an unreachable target", async () => {
  const { message } = await runCheckOfType("http", {
    url: nowhere,
    proxyUrl: `http://127.0.0.1:${getFreePort()}`,
  });
  expect(message).toBe("The proxy can't be reached: the connection was refused.");
});

defineTestWith(
  ["network"],
  "a proxy is blocked like any target, and so is the target behind it",
  async () => {
    await using proxy = await startListener(() => {});
    const listeners = [{ host: "127.0.0.1", port: proxy.port }];
    const proxyUrl = `http://localhost:${proxy.port}`;
    expect(await runCheckOfType("http", { url: nowhere, proxyUrl }, { listeners })).toMatchObject({
      status: "down",
      message: "Blocked: the proxy is this appliance itself.",
      isFinal: true,
    });
    for (const host of ["169.254.169.254", "[::ffff:169.254.169.254]", "localhost"]) {
      const outcome = await runCheckOfType(
        "http",
        { url: `http://${host}:81/`, proxyUrl },
        { listeners: [{ host: "127.0.0.1", port: 81 }] },
      );
      expect(outcome).toMatchObject({
        status: "down",
        message: expect.stringMatching(/^Blocked: the target is /),
      });
    }
    expect(proxy.countAccepted()).toBe(0);
  },
);

/** The bytes of the SOCKS request after version, command and zero. */
async function captureSocksRequest(url: string, login: object = {}): Promise<Buffer[]> {
  const received: Buffer[] = [];
  const hasLogin = Object.keys(login).length > 0;
  const texts = [
    ...(hasLogin ? [Buffer.from([5, 2]), Buffer.from([1, 0])] : [greets]),
    buildSocksReply(0),
  ];
  await using proxy = await startListener((socket) => {
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    replyInOrder(...texts, "HTTP/1.1 204 No Content\r\n\r\n")(socket);
  });
  const proxyUrl = `socks5://127.0.0.1:${proxy.port}`;
  expect(await runCheckOfType("http", { url, proxyUrl, ...login })).toMatchObject({ status: "up" });
  return received;
}

test("a SOCKS proxy gets the name or the address and the port according to RFC 1928", async () => {
  const connect = (kind: number, address: Uint8Array | string, port: number) =>
    Buffer.concat([
      Buffer.from([5, 1, 0, kind]),
      Buffer.from(address as string),
      Buffer.from([port >> 8, port & 0xff]),
    ]);
  // Such a name is never looked up in DNS (RFC 7686).
  const name = "shop.onion";
  const cases: [url: string, request: Buffer][] = [
    [`http://${name}/`, connect(3, `${String.fromCharCode(name.length)}${name}`, 80)],
    [`http://${name}.:8080/`, connect(3, `${String.fromCharCode(name.length)}${name}`, 8080)],
    ["http://192.0.2.7:65535/", connect(1, Buffer.from([192, 0, 2, 7]), 65535)],
    [
      "http://[2001:db8::7]/",
      connect(4, Buffer.from("20010db8000000000000000000000007", "hex"), 80),
    ],
  ];
  for (const [url, request] of cases) {
    const [methods, asked] = await captureSocksRequest(url);
    expect([methods, asked]).toEqual([Buffer.from([5, 1, 0]), request]);
  }
});

test("a SOCKS proxy gets the user and the password according to RFC 1929", async () => {
  const [methods, signIn] = await captureSocksRequest("http://192.0.2.7/", {
    proxyUsername: "žofie",
    proxyPassword: "word",
  });
  expect(methods).toEqual(Buffer.from([5, 2, 0, 2]));
  expect(signIn).toEqual(
    Buffer.concat([
      Buffer.from([1, 6]),
      Buffer.from("žofie"),
      Buffer.from([4]),
      Buffer.from("word"),
    ]),
  );
});
