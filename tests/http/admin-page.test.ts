import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { adminLanguages } from "../../src/core/admin-languages.ts";
import { adminPaths } from "../../src/http/responses/admin-page.ts";
import { testAppliance } from "../support/appliance.ts";

test("every path of the admin page returns the same page, with a policy with its own nonce", async () => {
  const { stranger } = await testAppliance();
  const nonces = new Set<string>();
  for (const path of adminPaths) {
    const { status, headers, text } = await stranger("GET", path.replace(/:\w+/, "x"));
    expect([path, status]).toEqual([path, 200]);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain("unsafe");
    const nonce = /name="csp-nonce" content="([\w-]{22})"/.exec(text)?.[1] ?? "";
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(headers.get("cache-control")).toBe("no-store");
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(adminPaths.length);
});

test.each([
  [{}, "en"],
  [{ "Accept-Language": "de-AT,de;q=0.9,en;q=0.8" }, "de"],
  [{ "Accept-Language": "fr,de;q=0.5" }, "de"],
  [{ "Accept-Language": "ja" }, "en"],
  [{ "Accept-Language": "de", Cookie: "signalbox_language=en" }, "en"],
  [{ "Accept-Language": "en", Cookie: "other=1; signalbox_language=de" }, "de"],
  [{ "Accept-Language": "de", Cookie: "signalbox_language=../../x" }, "de"],
])("with the headers %j the page is in %s", async (headers, language) => {
  const { stranger } = await testAppliance();
  for (const path of ["/", "/monitors/x"])
    expect((await stranger("GET", path, { headers })).text).toContain(`<html lang="${language}">`);
});

test.each(adminLanguages)("the first script in %s has at most 200 kB", async (language) => {
  const { stranger } = await testAppliance();
  const { text } = await stranger("GET", "/", { headers: { "Accept-Language": language } });
  const [, path = ""] = /type="module" src="([^"]+)"/.exec(text) ?? [];
  const script = readFileSync(join(import.meta.dir, "..", "..", "dist", "web", path));
  // With quality 11, the default. A proxy can send it so; Signalbox sends gzip.
  expect(brotliCompressSync(Bun.gunzipSync(script)).length).toBeLessThanOrEqual(200_000);
});

test("windows of other sites are isolated in browsers with Fetch Metadata", async () => {
  const { stranger } = await testAppliance();
  const readSent = async (headers: Record<string, string>) =>
    (await stranger("GET", "/", { headers })).headers.get("cross-origin-opener-policy");
  expect(await readSent({ "Sec-Fetch-Dest": "document" })).toBe("same-origin");
  expect(await readSent({})).toBeNull();
});

test("an unknown address is a page for a browser on our host names, and otherwise an error", async () => {
  const { stranger } = await testAppliance();
  const accepting = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const typeOf = async (path: string, headers: Record<string, string>, method = "GET") => {
    const { status, headers: sent } = await stranger(method, path, { headers });
    return [status, sent.get("content-type")?.split(";")[0]];
  };
  expect(await typeOf("/no-such-page", accepting)).toEqual([404, "text/html"]);
  for (const path of ["/api/v2", "/dashboard/none", "/assets/none.js", "/push"])
    expect([path, (await typeOf(path, accepting))[1]]).toEqual([path, "application/json"]);
  expect(await typeOf("/no-such-page", { Accept: "*/*" })).toEqual([404, "application/json"]);
  expect(await typeOf("/no-such-page", accepting, "POST")).toEqual([404, "application/json"]);
  const elsewhere = { ...accepting, Host: "elsewhere.example" };
  expect((await typeOf("/no-such-page", elsewhere))[1]).toBe("application/json");
});

test("browsers cache the page's files for a year, and get all of them gzipped", async () => {
  const { stranger } = await testAppliance();
  const { text } = await stranger("GET", "/");
  const named = text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g);
  const files = new Set([...named].map(([, path = ""]) => path));
  expect(files.size).toBe(6);
  const types = {
    css: "text/css",
    js: "text/javascript",
    png: "image/png",
    svg: "image/svg",
    woff2: "font/woff2",
  };
  for (const path of files)
    for (const accepted of ["gzip, deflate, br, zstd", "identity"]) {
      const { status, headers } = await stranger("GET", path, {
        headers: { "Accept-Encoding": accepted },
      });
      expect([path, status, headers.get("content-encoding")]).toEqual([path, 200, "gzip"]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("etag")).toBeNull();
      const type = types[path.split(".").pop() as keyof typeof types];
      expect([path, headers.get("content-type")]).toEqual([path, expect.stringContaining(type)]);
    }
});

test("browsers can install the page, and check for a new service worker at each start", async () => {
  const { stranger } = await testAppliance();
  const read = async (path: string, type: string) => {
    const { status, headers, text } = await stranger("GET", path);
    expect([path, status]).toEqual([path, 200]);
    expect(headers.get("content-type")).toStartWith(type);
    return { headers, text };
  };
  const page = await read("/", "text/html");
  expect(page.text).toContain('<link rel="manifest" href="/manifest.webmanifest" />');
  expect(page.headers.get("content-security-policy")).toContain("manifest-src 'self'");
  const manifest = await read("/manifest.webmanifest", "application/manifest+json");
  const { scope, display, icons } = JSON.parse(manifest.text) as {
    scope: string;
    display: string;
    icons: { src: string; type: string }[];
  };
  expect([scope, display]).toEqual(["/", "standalone"]);
  for (const { src, type } of icons) await read(src, type);
  const worker = await read("/service-worker.js", "text/javascript");
  expect(worker.headers.get("cache-control")).toBe("no-cache");
  // It stores nothing, and changes no request of the page.
  expect(worker.text).not.toMatch(/caches|indexedDB|"fetch"|ICON_PATH/);
});
