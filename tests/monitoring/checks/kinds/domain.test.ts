import { expect, test } from "bun:test";
import { checkDomain } from "../../../../src/monitoring/checks/kinds/domain.ts";
import { findRdapServer } from "../../../../src/monitoring/checks/kinds/rdap-registries.ts";
import { TargetFailure } from "../../../../src/core/outgoing/failures.ts";
import {
  runCheckOfType,
  createCheckContext,
  startListener,
  replyOnce,
} from "../../../support/check-runs.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const noon = Date.parse("2026-11-20T12:00:00.000Z");

const failing = new Error();

/** A registry that returns this expiry; null returns no response. */
async function startRegistry(expiresAt: string | Error | null) {
  const set = { expiresAt };
  const server = await startListener((socket) =>
    socket.once("data", () => {
      const { expiresAt } = set;
      if (expiresAt === null) return;
      const events = [{ eventAction: "expiration", eventDate: expiresAt }];
      const body = JSON.stringify({ ldhName: "example.org", events });
      const status = expiresAt === failing ? "503 Service Unavailable" : "200 OK";
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    }),
  );
  const request = (now: number, more: object = {}, timeoutMs = 60_000) =>
    runCheckOfType(
      "domain",
      { domain: "example.org", server: server.url, ...more },
      { now, timeoutMs },
    );
  return Object.assign(server, { request, set });
}

test("the registry is queried once a day, and each monitor's own threshold applies", async () => {
  await using server = await startRegistry("2026-12-05T00:00:00Z");
  const first = await server.request(noon);
  expect(first).toMatchObject({ status: "up", latencyMs: expect.any(Number) });
  expect(await server.request(noon + dayMs - 1)).toEqual({
    status: "down",
    message: "The domain expires in 13 days, on 2026-12-05 00:00 UTC.",
    latencyMs: null,
    details: { expiresAt: "2026-12-05T00:00:00.000Z" },
  });
  expect(await server.request(noon + hourMs, { minDays: 5 })).toMatchObject({
    status: "up",
    message: "The domain expires in 14 days, on 2026-12-05 00:00 UTC.",
    latencyMs: null,
  });
  expect(server.countAccepted()).toBe(1);
  server.set.expiresAt = "2027-12-05T00:00:00Z";
  expect(await server.request(noon + dayMs)).toMatchObject({ status: "up" });
  expect(server.countAccepted()).toBe(2);
});

test("simultaneous checks query once", async () => {
  await using server = await startRegistry("2027-12-05T00:00:00Z");
  const found = await Promise.all([1, 2, 3].map(() => server.request(noon)));
  expect(found.map(({ status }) => status)).toEqual(["up", "up", "up"]);
  expect(server.countAccepted()).toBe(1);
});

test("after a failure or a timeout the next check queries again", async () => {
  await using server = await startRegistry(failing);
  const unavailable = { status: "down", message: "HTTP 503 (Service Unavailable), expected 200." };
  expect(await server.request(noon)).toMatchObject(unavailable);
  expect(await server.request(noon)).toMatchObject(unavailable);
  expect(server.countAccepted()).toBe(2);

  await using silent = await startRegistry(null);
  expect((await silent.request(noon, {}, 200)).message).toStartWith("Timed out after 0.2 s while");
  silent.set.expiresAt = "2027-12-05T00:00:00Z";
  expect(await silent.request(noon)).toMatchObject({ status: "up" });
});

test("a registry's Retry-After is honored for up to an hour", async () => {
  for (const [status, seconds, until] of [
    [429, 600, 600_000],
    [503, 999_999, hourMs],
  ] as const) {
    await using server = await startListener(
      replyOnce(`HTTP/1.1 ${status} No\r\nRetry-After: ${seconds}\r\nContent-Length: 0\r\n\r\n`),
    );
    const fields = { domain: "example.org", server: server.url };
    for (const now of [noon, noon + until - 1])
      expect((await runCheckOfType("domain", fields, { now })).message).toStartWith(
        `HTTP ${status}`,
      );
    expect(server.countAccepted()).toBe(1);
    await runCheckOfType("domain", fields, { now: noon + until });
    expect(server.countAccepted()).toBe(2);
  }
});

test("checks of different organizations share neither results, waits nor failures", async () => {
  await using server = await startRegistry("2027-12-05T00:00:00Z");
  const fields = { domain: "example.org", server: server.url };
  const request = (organizationId: string) =>
    runCheckOfType("domain", fields, { now: noon, organizationId });
  for (const organizationId of ["first", "second"])
    expect((await request(organizationId)).message).toContain("; the registry responded in");
  expect((await request("first")).message).not.toContain("answered");
  expect(server.countAccepted()).toBe(2);
});

test("a timed-out check fails alone: others that wait for the same response query themselves", async () => {
  await using server = await startRegistry(null);
  const hasty = server.request(noon, {}, 200);
  await server.waitUntilAccepted(1);
  const patient = [server.request(noon), server.request(noon, { minDays: 1 })];
  expect((await hasty).message).toStartWith("Timed out after 0.2 s while");
  // Then one of the others queries for both.
  server.set.expiresAt = "2027-12-05T00:00:00Z";
  expect((await Promise.all(patient)).map(({ status }) => status)).toEqual(["up", "up"]);
  expect(server.countAccepted()).toBe(2);
});

test("an aborted check and a blocked address are not failures of the registry", async () => {
  await using server = await startRegistry(null);
  const canceling = new AbortController();
  const fields = { domain: "example.org", server: server.url };
  const stopped = runCheckOfType("domain", fields, { now: noon, signal: canceling.signal });
  await server.waitUntilAccepted(1);
  canceling.abort();
  expect((await stopped).status).toBe("unknown");
  const listeners = [{ host: "127.0.0.1", port: server.port }];
  expect((await runCheckOfType("domain", fields, { now: noon, listeners })).isFinal).toBe(true);
  server.set.expiresAt = "2027-12-05T00:00:00Z";
  expect(await server.request(noon)).toMatchObject({ status: "up" });
});

test("a registry is found by the top-level domain, or must be entered", async () => {
  expect(findRdapServer("example.com")).toBe("https://rdap.verisign.com/com/v1/");
  expect(findRdapServer("example.co.uk")).toBe("https://rdap.nominet.uk/uk/");
  expect(findRdapServer("example.org")).toBe("https://rdap.publicinterestregistry.org/rdap/");
  expect(findRdapServer("example.shop")).toBe("https://rdap.gmoregistry.net/rdap/");
  expect(findRdapServer("example.fr")).toBe("https://rdap.nic.fr/");
  const requests: string[] = [];
  const context = createCheckContext();
  context.addressesOf = async (host) => {
    requests.push(host);
    throw new TargetFailure("The host name was not found in DNS.");
  };
  const settings = { domain: "bücher.example", minDays: 14, server: null };
  const failure = await Promise.resolve(checkDomain(settings, context)).catch(String);
  expect(failure).toContain("The registry's RDAP server is not known: enter it.");
  expect(requests).toEqual(["rdap.nic.example"]);
});

test("states and events are recognized in the spelling of EPP, and in any case", async () => {
  const eventDate = "2027-12-05T00:00:00Z";
  const check = async (status: string[], eventAction: string) => {
    const body = JSON.stringify({ status, events: [{ eventAction, eventDate }] });
    await using server = await startListener(
      replyOnce(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    );
    const fields = { domain: "example.org", server: server.url };
    return (await runCheckOfType("domain", fields, { now: noon })).message;
  };
  const deleted = "The domain is about to be deleted.";
  expect(await check(["pendingDelete"], "expiration")).toBe(deleted);
  expect(await check(["Pending Delete"], "Expiration")).toBe(deleted);
  expect(await check(["active"], "registrar expiration")).toStartWith("The domain expires in 379");
});
