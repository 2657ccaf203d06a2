import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { TLSSocket } from "node:tls";
import { runCheckOfType, startListener } from "../../../support/check-runs.ts";
import { validDays } from "../../../support/certificates.ts";
import { startNginx, defineTestWith } from "../../../support/real-targets.ts";
import { startSecureListener } from "../../../support/secure-listener.ts";

const day = 86_400_000;
const host = "127.0.0.1";
const end = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
const latencyMs = expect.any(Number);
const details = { tlsVersion: expect.stringMatching(/^1\.[23]$/), issuer: "authority" };
/** Addresses of a name: this machine can have only one, or also one of IPv6. */
const resolved = { name: "localhost", values: expect.stringContaining("127.0.0.1") };

/** Runs the check for an organization that trusts the authority. */
const checkTrusting = (ca: string, type: string, fields: object): Promise<unknown> =>
  runCheckOfType(type, fields, { authorities: readFileSync(ca, "utf8") });

describe("with a trusted authority", () => {
  const until = /^The certificate is valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/;

  defineTestWith(
    ["nginx", "openssl"],
    "a valid certificate is up, by address and by name, also over https",
    async () => {
      await using site = await startNginx();
      const up = { status: "up", certificateExpiresAt: end, latencyMs, details };
      const port = site.goodPort;
      for (const fields of [{ host }, { host: "localhost" }, { host, serverName: "localhost" }])
        expect(await checkTrusting(site.ca, "tls", { port, ...fields })).toEqual({
          ...up,
          message: expect.stringMatching(until),
          ...(fields.host === "localhost" && { resolved }),
        });
      const url = `https://localhost:${port}/`;
      expect(await checkTrusting(site.ca, "http", { url, keyword: "Welcome" })).toEqual({
        ...up,
        message: expect.stringMatching(/^HTTP 200 \(OK\) in \d+ ms/),
        resolved,
      });
      expect(
        await checkTrusting(site.ca, "tls", { host, port, certificateExpiryDays: 60 }),
      ).toEqual({
        ...up,
        status: "degraded",
        message: expect.stringMatching(
          /^The certificate expires in \d+ days, on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/,
        ),
      });
    },
  );

  defineTestWith(
    ["nginx", "openssl"],
    "an expired certificate and one for another name are down with the reason",
    async () => {
      await using site = await startNginx();
      for (const [port, message] of [
        [site.expiredPort, "The certificate has expired."],
        [site.wrongNamePort, "The certificate is for another name."],
      ] as const) {
        expect(await checkTrusting(site.ca, "tls", { host, port })).toEqual({
          status: "down",
          message,
          certificateExpiresAt: end,
          latencyMs,
          details,
          causes: [{ kind: "certificate", value: expect.any(String) }],
        });
        const url = `https://localhost:${port}/`;
        expect(await checkTrusting(site.ca, "http", { url })).toMatchObject({
          status: "down",
          message,
        });
      }
      const named = { host, port: site.wrongNamePort, serverName: "elsewhere.test" };
      expect(await checkTrusting(site.ca, "tls", named)).toMatchObject({ status: "up" });
    },
  );
});

defineTestWith(
  ["openssl"],
  "an untrusted certificate is down, and its expiry is reported",
  async () => {
    await using server = await startSecureListener("selfSigned");
    expect(await runCheckOfType("tls", { host, port: server.port })).toEqual({
      status: "down",
      message: "The certificate is self-signed, so it is not trusted.",
      latencyMs,
      certificateExpiresAt: end,
      details: { ...details, issuer: "selfSigned" },
      causes: [{ kind: "certificate", value: expect.any(String) }],
    });
  },
);

defineTestWith(["openssl"], "the remaining days of a certificate are exact", async () => {
  const onConnect = (socket: TLSSocket) => {
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  };
  await using server = await startSecureListener("selfSigned", { onConnect });
  const url = `https://${host}:${server.port}/`;
  const readSeen = async (now: number, certificateExpiryDays: number | null = 14) =>
    runCheckOfType("http", { url, verifyTls: false, certificateExpiryDays }, { now });
  const { certificateExpiresAt = "" } = await readSeen(Date.now());
  const ends = Date.parse(certificateExpiresAt);
  const date = `${certificateExpiresAt.slice(0, 16).replace("T", " ")} UTC`;
  expect(ends).toBeGreaterThan(Date.now() + (validDays - 1) * day);
  for (const [left, sentence] of [
    [14 * day, `The certificate expires in 14 days, on ${date}.`],
    [2 * day - 1, `The certificate expires in 1 day, on ${date}.`],
    [day - 1, `The certificate expires in less than a day, on ${date}.`],
    [0, `The certificate expired on ${date}.`],
    [-day, `The certificate expired on ${date}.`],
  ] as const) {
    const found = { status: "degraded", message: sentence, certificateExpiresAt };
    expect(await readSeen(ends - left)).toMatchObject(found);
    expect(await readSeen(ends - left, null)).toMatchObject({ status: "up" });
  }
  expect(await readSeen(ends - 14 * day - 1)).toMatchObject({ status: "up", certificateExpiresAt });
  const judge = async (op: string, value?: number) => {
    const assertions = [{ source: "certificateDays", op, value }];
    const fields = { url, verifyTls: false, certificateExpiryDays: null, assertions };
    return (
      (await runCheckOfType("http", fields, { now: ends - 3 * day + 1 })).serverText ?? "holds"
    );
  };
  expect(await judge("exists")).toBe("holds");
  expect(await judge("equals", 2)).toBe("holds");
  expect(await judge("greaterThan", 2)).toEndWith(
    "the days until the certificate expires must be greater than 2, received 2.",
  );
});

test("a port that is silent or hangs up is down with a reason", async () => {
  await using silent = await startListener((socket) => void socket.resume());
  expect(
    await runCheckOfType("tls", { host, port: silent.port }, { timeoutMs: 200 }),
  ).toMatchObject({
    status: "down",
    message: "Timed out after 0.2 s while starting TLS.",
  });
  await silent.waitUntilAllClosed();
  await using rude = await startListener(
    (socket) => void socket.once("data", () => socket.destroy()),
  );
  expect(await runCheckOfType("tls", { host, port: rude.port })).toMatchObject({ status: "down" });
  await rude.waitUntilAllClosed();
});
