import { expect, test } from "bun:test";
import { adminPaths } from "../../src/http/admin-page.ts";
import { testAppliance } from "../support/appliance.ts";

test("every path of the admin page answers the same page, under a policy with its own nonce", async () => {
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

test("what the page loads is kept for ever and comes as the browser can read it", async () => {
  const { stranger } = await testAppliance();
  const { text } = await stranger("GET", "/");
  const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(files).toHaveLength(5);
  for (const path of files) {
    for (const [accepted, encoding] of [
      ["gzip, deflate, br, zstd", "br"],
      ["gzip", "gzip"],
      ["identity", null],
    ] as const) {
      const { status, headers } = await stranger("GET", path ?? "", {
        headers: { "Accept-Encoding": accepted },
      });
      // Fonts are compressed already.
      const wanted = path?.endsWith(".woff2") === true && encoding === "br" ? "gzip" : encoding;
      expect([path, status, headers.get("content-encoding")]).toEqual([path, 200, wanted]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    }
  }
});
