import { expect, test } from "bun:test";
import { revokeApiKey } from "../../src/accounts/api-keys/service.ts";
import { exportInMemory } from "../../src/configuration/export-service.ts";
import { type Client, testAppliance } from "../support/appliance.ts";
import { findErrorCode } from "../support/error-code.ts";
import { waitUntil } from "../support/poll.ts";

const path = "/api/v1/config";

/** Monitors as an earlier version could store them: 65 kB each. */
async function createLarge(count: number) {
  const appliance = await testAppliance();
  const { api, id } = appliance.ours;
  await api("POST", "/api/v1/alert-channels", {
    body: { type: "ntfy", name: "On-call", server: "https://ntfy.example", topic: "t", token: "x" },
  });
  for (let index = 0; index < count; index++)
    await api("POST", "/api/v1/monitors", {
      body: {
        type: "http",
        name: `Shop ${index}`,
        url: "https://a.example",
        bearerToken: "secret",
      },
    });
  appliance.database
    .query(
      "UPDATE monitors SET settings = json_set(settings, '$.body', ?) WHERE organization_id = ?",
    )
    .run("x".repeat(65_000), id);
  return appliance;
}

const read = (api: Client, headers = {}) => api("GET", path, { headers });

test("a configuration with very large monitors is streamed completely, with a stable ETag", async () => {
  const world = await createLarge(80);
  const { api } = world.ours;
  const [one, other] = await Promise.all([read(api), read(api)]);
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(one.text.length).toBeGreaterThan(4_000_000);
  expect(other.text).toBe(one.text);
  const { document, secrets } = one.json.data;
  expect(Object.keys(document)).toEqual(["source", "alertChannels", "monitors", "statusPages"]);
  expect(Object.keys(document.monitors)).toHaveLength(80);
  expect(document.monitors["shop-7"]).toMatchObject({ name: "Shop 7", body: "x".repeat(65_000) });
  expect(secrets).toHaveLength(81);
  expect(secrets).toContainEqual({
    path: ["monitors", "shop-7", "bearerToken"],
    variable: "SHOP_7_BEARER_TOKEN",
  });
  // The command line on the data of this machine writes files, not a response.
  expect(JSON.parse(JSON.stringify(await exportInMemory(world.ours.scope)))).toEqual(one.json.data);
  const etag = one.headers.get("etag") ?? "";
  expect(other.headers.get("etag")).toBe(etag);
  expect((await read(api, { "If-None-Match": etag })).status).toBe(304);
  // The ETag works as a precondition of a write.
  const put = (tag: string) =>
    api("PUT", `${path}?dryRun`, {
      body: { source: "main", groups: { a: { name: "A" } } },
      headers: { "If-Match": tag },
    });
  expect((await put(etag)).status).toBe(200);
  await api("POST", "/api/v1/monitor-groups", { body: { name: "B" } });
  expect((await put(etag)).status).toBe(412);
});

test("it equals one that fits into memory", async () => {
  const { ours, database } = await createLarge(80);
  const long = (await read(ours.api)).json.data;
  database.query("UPDATE monitors SET settings = json_set(settings, '$.body', null)").run();
  const short = (await read(ours.api)).json.data;
  for (const monitor of Object.values<{ body?: string }>(long.document.monitors))
    delete monitor.body;
  expect(long).toEqual(short);
});

test("it is cut off when the key is revoked while it is sent", async () => {
  const { ours, app } = await createLarge(80);
  const key = await ours.keyOf("read");
  const response = await app.handle(
    new Request(`http://localhost${path}`, {
      headers: { Host: "localhost", Authorization: `Bearer ${key.key}` },
    }),
  );
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect((await reader.read()).done).toBe(false);
  await revokeApiKey(ours.scope, key.id);
  const revokedAt = performance.now();
  await waitUntil(() => performance.now() - revokedAt > 300);
  expect(await findErrorCode(reader.read())).toBe("UNAUTHORIZED");
});

test("few very large monitors are read at a time", async () => {
  const { ours, app } = await createLarge(80);
  const response = await app.handle(
    new Request(`http://localhost${path}`, {
      headers: { Host: "localhost", Authorization: `Bearer ${ours.readKey.key}` },
    }),
  );
  const lengths: number[] = [];
  for await (const chunk of response.body ?? []) lengths.push((chunk as Uint8Array).length);
  expect(lengths.length).toBeGreaterThan(10);
  expect(Math.max(...lengths)).toBeLessThan(1_000_000);
});
