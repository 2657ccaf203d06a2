import { describe, expect, test } from "bun:test";
import { runCheckOfType, runUntilTimedOut } from "../../support/check-runs.ts";
import {
  startDnsmasq,
  startNginx,
  startRedisServer,
  startSilentNameServer,
  defineTestWith,
  zone,
} from "../../support/real-targets.ts";

describe("nginx", () => {
  defineTestWith(
    ["nginx", "openssl"],
    "is up over http, with the content of its responses",
    async () => {
      await using site = await startNginx();
      const at = (path: string) => `http://127.0.0.1:${site.httpPort}${path}`;
      expect(await runCheckOfType("http", { url: at("/") })).toMatchObject({ status: "up" });
      expect(await runCheckOfType("http", { url: at("/moved") })).toMatchObject({ status: "up" });
      expect(
        await runCheckOfType("http", { url: at("/moved"), followRedirects: false }),
      ).toMatchObject({
        status: "down",
        message: "HTTP 301 (Moved Permanently), expected 200-299.",
      });
      expect(await runCheckOfType("http", { url: at("/missing") })).toMatchObject({
        status: "down",
        message: "HTTP 404 (Not Found), expected 200-299.",
      });
      const json = { url: at("/json"), jsonPath: "$.items[0].n", jsonEquals: 1 };
      expect(await runCheckOfType("http", json)).toMatchObject({ status: "up" });
      expect(await runCheckOfType("http", { ...json, jsonEquals: 2 })).toMatchObject({
        status: "down",
      });
      expect(await runCheckOfType("http", { url: at("/gzip") })).toMatchObject({ status: "up" });
      expect(
        await runCheckOfType("http", { url: at("/gzip"), keyword: "no such word" }),
      ).toMatchObject({
        status: "down",
        message: "HTTP 200 (OK), but the keyword is missing.",
      });
    },
  );

  const issues = [
    ["selfSignedPort", "The certificate is self-signed, so it is not trusted."],
    // The appliance does not trust the test authority, which it reports before dates and names.
    ["expiredPort", /authority|expired/],
    ["wrongNamePort", /authority|another name/],
  ] as const;
  for (const [port, issue] of issues)
    defineTestWith(
      ["nginx", "openssl"],
      `with ${port.replace("Port", "")} certificate is down, unless verification is off`,
      async () => {
        await using site = await startNginx();
        const message = issue instanceof RegExp ? expect.stringMatching(issue) : issue;
        const url = `https://localhost:${site[port]}/`;
        expect(await runCheckOfType("http", { url })).toMatchObject({ status: "down", message });
        const unverified = await runCheckOfType("http", {
          url,
          verifyTls: false,
          certificateExpiryDays: null,
        });
        expect(unverified).toMatchObject({ status: "up" });
        const found = await runCheckOfType("tls", { host: "localhost", port: site[port] });
        expect(found).toMatchObject({ status: "down", message });
        const left = Date.parse(found.certificateExpiresAt ?? "") - Date.now();
        expect(left < 0).toBe(port === "expiredPort");
      },
    );

  defineTestWith(["nginx", "openssl"], "is degraded if its certificate expires soon", async () => {
    await using site = await startNginx();
    const url = `https://localhost:${site.goodPort}/`;
    const soon = { url, verifyTls: false, certificateExpiryDays: 60 };
    expect(await runCheckOfType("http", soon)).toMatchObject({
      status: "degraded",
      message: expect.stringMatching(/^The certificate expires in \d+ days, on 20/),
    });
    expect(await runCheckOfType("http", { ...soon, certificateExpiryDays: 14 })).toMatchObject({
      status: "up",
    });
  });
});

describe("dnsmasq", () => {
  for (const [recordType, { host, values }] of Object.entries(zone))
    defineTestWith(["dnsmasq"], `returns ${recordType} records`, async () => {
      await using server = await startDnsmasq();
      const request = { host, recordType, resolver: `127.0.0.1:${server.port}` };
      const found = await runCheckOfType("dns", { ...request, expected: values });
      expect(found).toMatchObject({ status: "up" });
      expect(await runCheckOfType("dns", { ...request, expected: ["another"] })).toMatchObject({
        status: "down",
        message: `The ${recordType} records lack 1 of 1 expected values.`,
      });
      expect(await runCheckOfType("dns", { ...request, host: "nobody.test" })).toMatchObject({
        status: "down",
        message: `There is no ${recordType} record for this name.`,
      });
    });

  test("that never responds is down within the timeout", async () => {
    await using server = await startSilentNameServer();
    const request = { host: "signalbox.test", resolver: `127.0.0.1:${server.port}` };
    expect(await runCheckOfType("dns", request, { timeoutMs: 1_000 })).toMatchObject({
      status: "down",
    });
  });
});

defineTestWith(["redis-server"], "redis responds to PING only with PONG", async () => {
  await using server = await startRedisServer();
  const request = { host: "127.0.0.1", port: server.port, send: "PING\r\n" };
  expect(await runCheckOfType("tcp", { ...request, expect: "+PONG" })).toMatchObject({
    status: "up",
  });
  const message = "Timed out while waiting for the response.";
  expect(
    await runUntilTimedOut(message, (timeoutMs) =>
      runCheckOfType("tcp", { ...request, expect: "+PANG" }, { timeoutMs }),
    ),
  ).toMatchObject({ status: "down", message });
});

defineTestWith(
  ["ping", "network"],
  "the system's ping distinguishes this machine from an unused address",
  async () => {
    expect(await runCheckOfType("ping", { host: "127.0.0.1", packets: 3 })).toMatchObject({
      status: "up",
    });
    expect(await runCheckOfType("ping", { host: "240.0.0.1" }, { timeoutMs: 1_000 })).toMatchObject(
      {
        status: "down",
      },
    );
  },
);
