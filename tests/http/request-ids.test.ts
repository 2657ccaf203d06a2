import { expect, test } from "bun:test";
import { testAppliance, unknownId } from "../support/appliance.ts";
import { createSampleRecord } from "../support/records.ts";

test("every response has its own request id, which an error's body repeats", async () => {
  const { app, ours } = await testAppliance();
  const path = `/api/v1/incidents/${await createSampleRecord(ours.api, "incidents")}`;
  const etag = (await ours.api("GET", path)).headers.get("etag") ?? "";
  const json = { "Content-Type": "application/json" };
  const key = { "Idempotency-Key": "once", "Content-Length": "0" };
  const requests: [status: number, method: string, path: string, init?: RequestInit][] = [
    [200, "GET", "/healthz"],
    [200, "HEAD", "/healthz"],
    [200, "GET", "/"],
    [200, "GET", "/docs"],
    [200, "GET", "/api/v1/openapi.json"],
    [404, "GET", "/nothing"],
    [404, "GET", "/docs/nothing"],
    [405, "POST", "/healthz"],
    [200, "GET", path],
    [200, "HEAD", path],
    [304, "GET", path, { headers: { "If-None-Match": etag } }],
    [204, "OPTIONS", path],
    [400, "GET", path, { headers: { Host: "a b" } }],
    [401, "GET", path, { headers: { Authorization: "" } }],
    [404, "GET", "/api/v1/nothing"],
    [404, "GET", `/api/v1/incidents/${unknownId}`],
    [405, "PUT", path],
    [412, "DELETE", path, { headers: { "If-Match": '"0-x"' } }],
    [413, "PATCH", path, { headers: { ...json, "Content-Length": "999999" }, body: "{}" }],
    [415, "PATCH", path, { headers: { "Content-Length": "2" }, body: "{}" }],
    [422, "PATCH", path, { headers: { ...json, "Content-Length": "2" }, body: "{}" }],
    [421, "GET", "/", { headers: { Host: "evil.io" } }],
    [200, "POST", `${path}/resolve`, { headers: key }],
    [200, "POST", `${path}/resolve`, { headers: key }],
    [200, "DELETE", path],
  ];
  const ids = new Set<string>();
  for (const [expected, method, path, { headers, ...init } = {}] of requests) {
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          Host: "localhost",
          Authorization: `Bearer ${ours.writeKey.key}`,
          ...(headers as Record<string, string>),
        },
        ...init,
      }),
    );
    expect([method, path, response.status]).toEqual([method, path, expected]);
    const id = response.headers.get("x-request-id") ?? "";
    expect([method, path, id]).toEqual([method, path, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    ids.add(id);
    const text = await response.text();
    if (expected >= 400) expect(JSON.parse(text).error.requestId).toBe(id);
  }
  expect(ids.size).toBe(requests.length);
});
