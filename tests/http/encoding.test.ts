import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type Encoding, selectEncoding } from "../../src/http/responses/encoding.ts";
import type { Route } from "../../src/http/openapi.ts";
import { testAppliance } from "../support/appliance.ts";
import { createSampleRecord, nounOf, buildRouteQuery } from "../support/records.ts";
import { signInMember } from "../support/people.ts";
import { createVisitor } from "../support/visitor.ts";

/** Accept-Encoding, the encoding if Brotli and gzip are offered, and if only gzip is. */
const headers: [accepted: string | null, all: Encoding, gzipOnly: Encoding][] = [
  [null, "identity", "identity"],
  ["", "identity", "identity"],
  ["identity", "identity", "identity"],
  ["deflate, zstd", "identity", "identity"],
  ["gzip", "gzip", "gzip"],
  ["x-gzip", "gzip", "gzip"],
  ["GZIP, BR", "br", "gzip"],
  ["gzip, deflate, br, zstd", "br", "gzip"],
  ["br;q=0", "identity", "identity"],
  ["br;q=0, gzip", "gzip", "gzip"],
  ["br;q=0.000, *", "gzip", "gzip"],
  ["br; q=0.0 , gzip;q=0", "identity", "identity"],
  ["gzip;q=0, *", "br", "identity"],
  ["gzip;q=0.5, br;q=0.1", "gzip", "gzip"],
  ["gzip;q=0.5, br;q=0.1, identity", "identity", "identity"],
  ["identity;q=0.5, gzip;q=0.2, br;q=0.8", "br", "identity"],
  ["*", "br", "gzip"],
  ["*;q=0", "identity", "identity"],
  ["*;q=0, gzip", "gzip", "gzip"],
  ["identity;q=0", "identity", "identity"],
  ["identity;q=0, *", "br", "gzip"],
  ["brotli, gzipped", "identity", "identity"],
  ["br;q=2, gzip;q=x, ;;, q=1", "identity", "identity"],
  [`${"x,".repeat(2_000)}gzip`, "gzip", "gzip"],
];

describe("Accept-Encoding", () => {
  for (const [accepted, all, gzipOnly] of headers)
    test(`${accepted?.slice(0, 60) ?? "(not sent)"} gets ${all}, or ${gzipOnly}`, () => {
      const request = new Request("http://localhost/", {
        headers: accepted === null ? {} : { "Accept-Encoding": accepted },
      });
      expect([selectEncoding(request), selectEncoding(request, ["gzip"])]).toEqual([all, gzipOnly]);
    });
});

const decoded = {
  br: (bytes: Uint8Array) => brotliDecompressSync(bytes),
  gzip: (bytes: Uint8Array) => gunzipSync(bytes),
  identity: (bytes: Uint8Array) => bytes,
};

type Get = (path: string, headers: Record<string, string>) => Promise<Response | null>;

/** Checks that each encoding of this path has the same content, its own ETag, and is accepted. */
async function assertNegotiated(get: Get, path: string, offersBrotli: boolean) {
  const tags = new Map<string, string>();
  let content: string | null = null;
  for (const [accepted, all, gzipOnly] of headers) {
    const accepting: Record<string, string> =
      accepted === null ? {} : { "Accept-Encoding": accepted };
    const response = await get(path, accepting);
    const encoding = response?.headers.get("content-encoding") ?? "identity";
    const messages = [path, accepted, response?.status, encoding, response?.headers.get("vary")];
    const expected = offersBrotli ? all : gzipOnly;
    expect(messages).toEqual([path, accepted, 200, expected, "Accept-Encoding"]);
    const etag = response?.headers.get("etag") ?? "";
    const isNew = !tags.has(encoding);
    expect([path, tags.get(encoding) ?? etag]).toEqual([path, etag]);
    tags.set(encoding, etag);
    const bytes = new Uint8Array((await response?.arrayBuffer()) ?? []);
    const text = Buffer.from(decoded[expected](bytes)).toString("latin1");
    content ??= text;
    expect([path, text === content]).toEqual([path, true]);
    // Conditional requests depend only on the chosen encoding.
    if (!isNew) continue;
    for (const [known, status] of [
      [etag, 304],
      [`W/${etag}`, 304],
      [`"other", ${etag}`, 304],
      ["*", 304],
      ['"other"', 200],
    ] as const) {
      const again = await get(path, { ...accepting, "If-None-Match": known });
      expect([path, accepted, known, again?.status]).toEqual([path, accepted, known, status]);
    }
  }
  expect([path, new Set(tags.values()).size]).toEqual([path, offersBrotli ? 3 : 2]);
  // A client with the bytes of one encoding does not have those of another.
  const gzip = { "Accept-Encoding": "gzip", "If-None-Match": tags.get("identity") ?? "" };
  expect([path, (await get(path, gzip))?.status]).toEqual([path, 200]);
}

test("the API reference and its documents are sent in an accepted encoding", async () => {
  const { app } = await testAppliance();
  for (const path of ["/docs", "/docs/https", "/api/v1/openapi.json", "/api/v1/config.schema.json"])
    await assertNegotiated(
      (path, headers) =>
        app.handle(
          new Request(`http://localhost${path}`, { headers: { Host: "localhost", ...headers } }),
        ),
      path,
      false,
    );
});

test("all parts of the public pages are sent in an accepted encoding", async () => {
  await using visitor = await createVisitor();
  const { id } = await visitor.monitor({ name: "Shop" });
  await visitor.publish({ sections: [{ name: "All", monitors: [{ id }] }] });
  const parts = ["", ".json", "/feed.rss", "/feed.atom", "/maintenance.ics", "/history"];
  const paths = parts.map((part) => `/status/ours${part}`);
  const get: Get = async (path, headers) =>
    visitor.respondAlone(
      new Request(`http://localhost${path}`, { headers: { Host: "localhost", ...headers } }),
    );
  paths.push("/status/ours/api/v2/summary.json", `/badge/monitor/${id}/status.svg`);
  for (const path of paths) await assertNegotiated(get, path, true);
});

test("all long responses of the admin page are sent in an accepted encoding", async () => {
  const appliance = await testAppliance();
  const { cookie } = await signInMember(appliance, "owner");
  const routes = (appliance.app.routes as unknown as Route[]).filter(
    ({ method, path, hooks }) =>
      method === "GET" && path.startsWith("/dashboard/") && hooks.detail?.endpoint?.long === true,
  );
  expect(routes.length).toBeGreaterThan(5);
  for (const { path } of routes) {
    const id = path.includes(":id")
      ? await createSampleRecord(appliance.ours.api, nounOf(path))
      : "";
    await assertNegotiated(
      (path, headers) =>
        appliance.app.handle(
          new Request(`http://localhost${path.replace(":id", id)}${buildRouteQuery(path)}`, {
            headers: { Host: "localhost", Cookie: cookie, ...headers },
          }),
        ),
      path.replace(/\/$/, ""),
      false,
    );
  }
});
