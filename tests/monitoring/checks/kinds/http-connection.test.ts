import { describe, expect, test } from "bun:test";
import type { SecureVersion, TLSSocket } from "node:tls";
import { createKeyOwner, exportKey } from "../../../support/certificate-builder.ts";
import { runCheckOfType, startListener } from "../../../support/check-runs.ts";
import { createDashboard } from "../../../support/dashboard.ts";
import { defineTestWith, startOpensslServer } from "../../../support/real-targets.ts";
import { canary, clientCertificate, clientKey } from "../../../support/samples.ts";
import { startSecureListener } from "../../../support/secure-listener.ts";
import { replyWith, replyWithRedirect, startTarget } from "../../../support/target.ts";

const otherKey = exportKey(createKeyOwner("other"));
const certificateFields = { clientCertificate, clientKey };

/** Responds with the client's name from its certificate. */
const replyWithClientName = (socket: TLSSocket) =>
  void socket.once("data", () => {
    const { subject } = socket.getPeerCertificate();
    const name = String(subject?.CN ?? "nobody");
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`);
  });

describe("a client certificate", () => {
  defineTestWith(
    ["openssl"],
    "is accepted by a server that requires it, and its absence is reported",
    async () => {
      for (const version of ["TLSv1.2", "TLSv1.3"] satisfies SecureVersion[]) {
        const clients = { ca: clientCertificate, required: true, version };
        await using server = await startSecureListener("good", {
          onConnect: replyWithClientName,
          clients,
        });
        const url = `https://localhost:${server.port}/`;
        const trust = { authorities: server.authority };
        expect(
          await runCheckOfType("http", { url, ...certificateFields, keyword: "probe" }, trust),
        ).toMatchObject({
          status: "up",
        });
        expect(await runCheckOfType("http", { url }, trust)).toMatchObject({
          status: "down",
          message:
            version === "TLSv1.3"
              ? "The server requires a client certificate."
              : "The server broke off the TLS handshake; it may require a client certificate.",
        });
      }
    },
  );

  test("that can't be used fails the check, and leaves no error unhandled", async () => {
    await using server = await startListener(() => {});
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    const fields = { clientCertificate, clientKey: otherKey };
    const url = `https://localhost:${server.port}/`;
    const { message } = await runCheckOfType("http", { url, ...fields });
    await Bun.sleep(0);
    process.off("unhandledRejection", note);
    expect([message, unhandled]).toEqual(["The client certificate is not the one of its key.", []]);
  });

  defineTestWith(
    ["openssl"],
    "of an authority that OpenSSL's server does not trust is rejected",
    async () => {
      for (const version of ["-tls1_2", "-tls1_3"]) {
        await using server = await startOpensslServer([
          "-Verify",
          "1",
          "-verify_return_error",
          version,
        ]);
        const outcome = await runCheckOfType("http", {
          url: server.url,
          verifyTls: false,
          ...certificateFields,
        });
        expect([version, outcome]).toMatchObject([
          version,
          {
            status: "down",
            message: "The server rejected the client certificate: it does not trust its authority.",
          },
        ]);
      }
    },
  );

  defineTestWith(["openssl"], "is used only for its origin", async () => {
    const clients = { ca: clientCertificate, required: false };
    await using otherServer = await startSecureListener("good", {
      onConnect: replyWithClientName,
      clients,
    });
    const leads = (socket: TLSSocket) =>
      void socket.once("data", () =>
        socket.end(
          `HTTP/1.1 302 Found\r\nLocation: https://localhost:${otherServer.port}/\r\nContent-Length: 0\r\n\r\n`,
        ),
      );
    await using near = await startSecureListener("good", { onConnect: leads, clients });
    const url = `https://localhost:${near.port}/`;
    const trust = { authorities: near.authority + otherServer.authority };
    for (const name of ["nobody", "probe"])
      expect(
        await runCheckOfType("http", { url, ...certificateFields, keyword: name }, trust),
      ).toMatchObject({
        status: name === "nobody" ? "up" : "down",
      });
    const direct = {
      url: `https://localhost:${otherServer.port}/`,
      ...certificateFields,
      keyword: "probe",
    };
    expect(await runCheckOfType("http", direct, trust)).toMatchObject({ status: "up" });
  });
});

describe("an address instead of DNS", () => {
  defineTestWith(["openssl"], "preserves the name in TLS and the Host header", async () => {
    await using server = await startSecureListener("wrongName", {
      onConnect: (socket) =>
        void socket.once("data", (request: Buffer) => {
          const host = /^Host: (.*)\r$/im.exec(request.toString())?.[1] ?? "";
          const seen = `${host} ${socket.servername}`;
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${seen.length}\r\n\r\n${seen}`);
        }),
    });
    const trust = { authorities: server.authority };
    const url = `https://elsewhere.test:${server.port}/`;
    const keyword = `elsewhere.test:${server.port} elsewhere.test`;
    for (const connectTo of ["127.0.0.1", "localhost"])
      expect(await runCheckOfType("http", { url, connectTo, keyword }, trust)).toMatchObject({
        status: "up",
        certificateExpiresAt: expect.any(String),
      });
    const other = { url: `https://localhost:${server.port}/`, connectTo: "127.0.0.1" };
    expect(await runCheckOfType("http", other, trust)).toMatchObject({
      status: "down",
      message: "The certificate is for another name.",
    });
  });

  test("applies only to the monitor's own host, not to the target of a redirect", async () => {
    await using otherTarget = await startTarget(replyWith(200, "far"));
    await using near = await startTarget(
      replyWithRedirect(otherTarget.at("/").replace("127.0.0.1", "localhost")),
    );
    const url = `http://shop.onion:${near.port}/`;
    const fields = { url, connectTo: "127.0.0.1", keyword: "far" };
    expect(await runCheckOfType("http", fields)).toMatchObject({ status: "up" });
    expect(near.asked).toMatchObject([{ headers: { host: `shop.onion:${near.port}` } }]);
  });

  test("is blocked like any target", async () => {
    await using site = await startTarget();
    const listeners = [{ host: "127.0.0.1", port: site.port }];
    const fields = { url: `http://shop.onion:${site.port}/`, connectTo: "localhost" };
    expect(await runCheckOfType("http", fields, { listeners })).toMatchObject({
      status: "down",
      message: "Blocked: the target is this appliance itself.",
      isFinal: true,
    });
    expect(site.connections()).toBe(0);
  });
});

defineTestWith(
  ["network"],
  "only addresses of the configured family are connected to",
  async () => {
    await using site = await startTarget();
    const findOutcome = async (fields: object) => (await runCheckOfType("http", fields)).message;
    expect(await findOutcome({ url: site.at("/"), ipFamily: "4" })).toStartWith("HTTP 200 (OK)");
    expect(await findOutcome({ url: site.at("/"), ipFamily: "6" })).toBe(
      "The host is no IPv6 address.",
    );
    const named = `http://localhost:${site.port}/`;
    expect(await findOutcome({ url: named, ipFamily: "4" })).toStartWith("HTTP 200 (OK)");
    expect(site.connections()).toBe(2);
    const fields = { url: "http://192.0.2.7/", proxyUrl: site.at("/") };
    expect(await findOutcome({ ...fields, ipFamily: "6" })).toBe(
      "The proxy can't be reached: the host is no IPv6 address.",
    );
    expect(site.connections()).toBe(2);
  },
);

test("removing a proxy removes its user name and password", async () => {
  const { monitor, changeMonitor } = await createDashboard();
  const login = { proxyUsername: "probe", proxyPassword: canary };
  const { id } = await monitor({
    type: "http",
    url: "http://shop.lan/",
    proxyUrl: "http://proxy.lan",
    ...login,
  });
  const { status, json } = await changeMonitor(id, { proxyUrl: null });
  expect([status, json.data]).toMatchObject([
    200,
    { proxyUrl: null, proxyUsername: null, secretsSet: [] },
  ]);
});

test("an error does not show the proxy's password, even if the proxy returns it", async () => {
  await using proxy = await startTarget(replyWith(200, `said ${canary}`, { "X-Said": canary }));
  const login = { proxyUrl: proxy.at("/"), proxyUsername: "probe", proxyPassword: canary };
  const assertions = [{ source: "header", path: "X-Said", op: "equals", value: "other" }];
  const outcome = await runCheckOfType("http", { url: "http://192.0.2.7/", assertions, ...login });
  expect(outcome).toMatchObject({ status: "down" });
  expect(JSON.stringify(outcome)).not.toContain(canary);
  expect(proxy.asked).toMatchObject([
    {
      path: "http://192.0.2.7/",
      headers: {
        host: "192.0.2.7",
        "proxy-authorization": `Basic ${Buffer.from(`probe:${canary}`).toString("base64")}`,
      },
    },
  ]);
});
