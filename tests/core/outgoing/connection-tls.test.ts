import { describe, expect, test } from "bun:test";
import type { TLSSocket } from "node:tls";
import type { Address } from "../../../src/core/outgoing/context.ts";
import { dial } from "../../../src/core/outgoing/connection.ts";
import type { MonitorType } from "../../../src/monitoring/monitors/kinds-schema.ts";
import {
  listConnections,
  knowsConnections,
  runCheckOfType,
  startListener,
  waitUntilClosed,
} from "../../support/check-runs.ts";
import { readAll, createDialContext, findReason } from "../../support/dial-context.ts";
import { defineTestWith } from "../../support/real-targets.ts";
import { startSecureListener } from "../../support/secure-listener.ts";

const first: Address = { address: "127.0.0.1", family: 4, isPrivate: true };
const second: Address = { address: "127.0.0.2", family: 4, isPrivate: true };

describe("over TLS", () => {
  const name = { name: "localhost" };
  const certificate = { certificateExpiresAt: expect.stringMatching(/^\d{4}-.*Z$/) };

  defineTestWith(
    ["openssl"],
    "an address that accepts the connection and then stays silent does not delay the next",
    async () => {
      const { context, end } = createDialContext();
      await using silent = await startListener((socket) => void socket.resume());
      await using server = await startSecureListener("selfSigned", {
        ...second,
        port: silent.port,
      });
      const connection = await dial([first, second], silent.port, context, { name: "localhost" });
      expect(connection.secured?.certificateExpiresAt).toBeString();
      expect(silent.countAccepted()).toBe(1);
      end();
      await silent.waitUntilAllClosed();
      await server.waitUntilAllClosed();
    },
  );

  defineTestWith(["openssl"], "a certificate's expiry is reported, and its error", async () => {
    const issues = {
      good: "The certificate's chain is incomplete, or its authority is not trusted.",
      selfSigned: "The certificate is self-signed, so it is not trusted.",
    } as const;
    const issuers = { good: "authority", selfSigned: "selfSigned" };
    for (const [which, issue] of Object.entries(issues)) {
      const { context, end } = createDialContext();
      await using server = await startSecureListener(which as keyof typeof issues);
      const { secured } = await dial([first], server.port, context, name);
      expect(secured).toEqual({
        ...certificate,
        issue,
        expires: "certificate",
        version: "1.3",
        issuer: issuers[which as keyof typeof issues],
        fingerprint: expect.stringMatching(/^[0-9A-F:]{95}$/),
      });
      end();
      await server.waitUntilAllClosed();
    }
  });

  defineTestWith(["openssl"], "the protocol is negotiated by ALPN", async () => {
    const { context, end } = createDialContext();
    await using server = await startSecureListener("good", {
      protocols: ["http/1.1", "h2"],
      onConnect: (socket) => void socket.end(String(socket.alpnProtocol)),
    });
    const readProtocol = async (protocol?: string) =>
      readAll(
        await dial([first], server.port, context, { ...name, ...(protocol && { protocol }) }),
      );
    expect([await readProtocol("h2"), await readProtocol()]).toEqual(["h2", "false"]);
    end();
  });

  defineTestWith(["openssl"], "large writes arrive completely, too", async () => {
    const { context, end } = createDialContext();
    let received = 0;
    const pauseReading = (socket: TLSSocket) =>
      void socket.on("data", (chunk: Buffer) => {
        received += chunk.length;
        socket.pause();
        setImmediate(() => socket.resume());
        if (chunk.includes("!")) socket.end("thanks");
      });
    await using server = await startSecureListener("selfSigned", { onConnect: pauseReading });
    const connection = await dial([first], server.port, context, name);
    connection.write(Buffer.alloc(4 * 1024 * 1024, "a"));
    connection.write("!");
    expect(await readAll(connection)).toBe("thanks");
    expect(received).toBe(4 * 1024 * 1024 + 1);
    end();
  });

  defineTestWith(
    ["openssl"],
    "the end of its check closes it, even if the other side does not read",
    async () => {
      if (!knowsConnections) return;
      const { context, end } = createDialContext();
      await using server = await startSecureListener("selfSigned", {
        onConnect: (socket) => void socket.pause(),
      });
      const connection = await dial([first], server.port, context, name);
      connection.write("GET / HTTP/1.1\r\n\r\n");
      expect(listConnections(server.port)).toHaveLength(1);
      end();
      await waitUntilClosed(server.port);
    },
  );

  test("a port that speaks another protocol, hangs up or resets yields a reason", async () => {
    const reasons: [answers: (bytes: unknown) => string | null, reason: string][] = [
      [() => "HTTP/1.1 400 Bad Request\r\n\r\n", "No TLS connection could be established."],
      [() => "\x15\x03\x03\x00\x02\x02\x50", "No TLS connection could be established."],
      [
        () => "\x15\x03\x03\x00\x02\x02\x28",
        "The server broke off the TLS handshake: it shares no cipher suite, curve or kind of certificate with this appliance, which has no DHE and no RC4.",
      ],
      [() => null, "The connection was closed before the response was complete."],
    ];
    for (const [answers, reason] of reasons) {
      const { context, end } = createDialContext();
      await using server = await startListener((socket) => {
        socket.once("data", (bytes) => socket.end(answers(bytes) ?? "", "latin1"));
      });
      expect(await findReason(dial([first], server.port, context, name))).toBe(reason);
      end();
      await server.waitUntilAllClosed();
    }
  });

  defineTestWith(
    ["openssl"],
    "HTTP/1.1 is offered by ALPN, because servers of several protocols choose by it",
    async () => {
      const offers: unknown[] = [];
      await using server = await startSecureListener("selfSigned", {
        protocols: ["smp/1", "http/1.1"],
        onConnect: (socket) => {
          offers.push(socket.alpnProtocol);
          socket.end("HTTP/1.1 204 No Content\r\n\r\n");
        },
      });
      const { port } = server;
      const host = "127.0.0.1";
      const types: [MonitorType, object][] = [
        ["http", { url: `https://${host}:${port}/`, verifyTls: false }],
        ["websocket", { url: `wss://${host}:${port}/`, verifyTls: false }],
        ["docker", { host, port, container: "shop", verifyTls: false }],
      ];
      for (const [type, fields] of types) await runCheckOfType(type, fields);
      expect(offers).toEqual(types.map(() => "http/1.1"));
    },
  );

  defineTestWith(["openssl"], "a server that speaks only HTTP/2 is named so", async () => {
    const check = (url: string) => runCheckOfType("http", { url, verifyTls: false });
    await using server = await startSecureListener("selfSigned", { protocols: ["h2"] });
    expect(await check(`https://127.0.0.1:${server.port}/`)).toMatchObject({
      message:
        "The server does not speak the protocol of this check over TLS (ALPN): it may speak only HTTP/2.",
    });
    await using plain = await startListener((socket) =>
      socket.end(Buffer.from("000006040000000000000401000000", "hex")),
    );
    expect(await check(plain.url)).toMatchObject({
      message: "The server speaks only HTTP/2. This check uses HTTP/1.1.",
    });
  });

  defineTestWith(["openssl"], "the key exchange can use P-521", async () => {
    const { context, end } = createDialContext();
    await using server = await startSecureListener("selfSigned", { curve: "P-521" });
    const connection = await dial([first], server.port, context, name);
    expect(connection.secured?.version).toBe("1.3");
    end();
  });
});
