import { describe, expect, test } from "bun:test";
import { createApiKey, revokeApiKey } from "../../src/accounts/api-keys/service.ts";
import { sha256 } from "../../src/core/ids.ts";
import { type TestResponse, testAppliance, unknownId } from "../support/appliance.ts";
import { apiRoutes, buildRouteBody, fillIds } from "../support/records.ts";

const path = "/api/v1/incidents";
const wrongKey = `sbx_${"0".repeat(43)}`;

function removeId({ status, json }: TestResponse): string {
  const { requestId: _, ...error } = json.error;
  return JSON.stringify([status, error]);
}

describe("authentication", () => {
  test("a missing, malformed, wrong, revoked or expired key gets the same response", async () => {
    const { ours, time, stranger } = await testAppliance();
    const revoked = await ours.keyOf("write");
    await revokeApiKey(ours.scope, revoked.id);
    const expired = await ours.keyOf("write", 1000);
    time.now += 1000;
    const headers = [
      "Bearer",
      "Bearer ",
      "Bearer nonsense",
      `Bearer  ${ours.writeKey.key}`,
      `Bearer ${ours.writeKey.key}0`,
      `Bearer ${ours.writeKey.key.toLowerCase()}`,
      `Bearer ${wrongKey}`,
      `Bearer ${revoked.key}`,
      `Bearer ${expired.key}`,
    ];
    const expected = removeId(await stranger("GET", path));
    expect(expected).toStartWith("[401,");
    for (const Authorization of headers) {
      const response = await stranger("GET", path, { headers: { Authorization } });
      expect([Authorization, removeId(response)]).toEqual([Authorization, expected]);
      expect(response.headers.get("www-authenticate")).toBe(
        'Bearer realm="signalbox", error="invalid_token"',
      );
    }
  });

  test("the challenge names no error without credentials, and a cookie is ignored", async () => {
    const { stranger, ours } = await testAppliance();
    const Cookie = `key=${ours.writeKey.key}; Authorization=Bearer ${ours.writeKey.key}`;
    for (const headers of [{}, { Cookie }]) {
      const response = await stranger("GET", path, { headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="signalbox"');
    }
  });

  test("the scheme is accepted in any case", async () => {
    const { stranger, ours } = await testAppliance();
    for (const scheme of ["bearer", "BEARER", "bEaReR"]) {
      const headers = { Authorization: `${scheme} ${ours.writeKey.key}` };
      expect((await stranger("GET", path, { headers })).status).toBe(200);
    }
  });

  test("a recently used key stops within a second of its revocation", async () => {
    const { client, ours, time } = await testAppliance();
    const key = await ours.keyOf("read");
    expect((await client(key.key)("GET", path)).status).toBe(200);
    await revokeApiKey(ours.scope, key.id);
    time.now += 1000;
    expect((await client(key.key)("GET", path)).status).toBe(401);
  });

  test("a recently used key stops at the moment it expires", async () => {
    const { client, ours, time } = await testAppliance();
    const key = await ours.keyOf("read", 700);
    time.now += 699;
    expect((await client(key.key)("GET", path)).status).toBe(200);
    time.now += 1;
    expect((await client(key.key)("GET", path)).status).toBe(401);
  });

  test("a clock that is set back does not reactivate a revoked key", async () => {
    const { client, ours, time } = await testAppliance();
    const key = await ours.keyOf("read");
    await client(key.key)("GET", path);
    await revokeApiKey(ours.scope, key.id);
    time.now -= 3_600_000;
    expect((await client(key.key)("GET", path)).status).toBe(401);
  });

  test("a key is stored only as its SHA-256", async () => {
    const { database, ours } = await testAppliance();
    const { key } = await createApiKey(ours.scope, {
      name: "Deploy",
      scope: "write",
      expiresInMs: null,
    });
    expect(key).toMatch(/^sbx_[0-9A-Za-z]{43}$/);
    const bytes = Buffer.from(database.serialize());
    expect([bytes.includes(sha256(key)), bytes.includes(key.slice(4))]).toEqual([true, false]);
  });
});

test("a read key can only GET, and replay the past", async () => {
  const { ours } = await testAppliance();
  const reading = ["/api/v1/alerting/replay", "/api/v1/alert-sources/preview"];
  for (const route of apiRoutes) {
    const path = fillIds(route.path, unknownId);
    const { status } = await ours.reader(route.method, path, { body: buildRouteBody(route) });
    expect([route.method, path, status === 403]).toEqual([
      route.method,
      path,
      route.method !== "GET" && !reading.includes(path),
    ]);
  }
});

describe("rate limits", () => {
  test("a key has a limit per minute with Retry-After; others are not affected", async () => {
    const { ours, theirs, time } = await testAppliance({ requestsPerMinute: 2 });
    await ours.api("GET", path);
    time.now += 20_500;
    await ours.api("GET", path);
    const refused = await ours.api("GET", path);
    expect([refused.status, refused.json.error.code]).toEqual([429, "RATE_LIMITED"]);
    expect(refused.headers.get("retry-after")).toBe("40");
    expect((await ours.reader("GET", path)).status).toBe(200);
    expect((await theirs.api("GET", path)).status).toBe(200);
    time.now += 40_000;
    expect((await ours.api("GET", path)).status).toBe(200);
  });

  test("an address that guesses 600 keys a minute has to wait, without affecting valid keys or others", async () => {
    const addressOf = (request: Request) => request.headers.get("x-address") ?? "";
    const { app, ours, time } = await testAppliance({ addressOf });
    const requestParts = (key: string, address: string) =>
      app.handle(
        new Request(`http://localhost${path}`, {
          headers: { Host: "localhost", Authorization: `Bearer ${key}`, "X-Address": address },
        }),
      );
    const guesses = Array.from({ length: 600 }, () => requestParts(wrongKey, "10.0.0.1"));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401]));
    const refused = await requestParts(wrongKey, "10.0.0.1");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    expect((await requestParts(ours.writeKey.key, "10.0.0.1")).status).toBe(200);
    expect((await requestParts(wrongKey, "10.0.0.2")).status).toBe(401);
    time.now += 60_000;
    expect((await requestParts(wrongKey, "10.0.0.1")).status).toBe(401);
  });
});
