import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { getFreePort } from "../support/binary.ts";
import { pixel } from "../support/images.ts";
import {
  requestBytes,
  pageParts,
  listPublicPaths,
  maskTimes,
  pollUntil,
} from "../support/status-client.ts";
import { typical } from "../support/status-scenes.ts";
import { createStatusWorld, type StatusWorld } from "../support/status-world.ts";

/** A shared machine for tests that change nothing. */
let site: StatusWorld;
const publicPort = getFreePort();
beforeAll(async () => {
  site = await createStatusWorld(typical, ["--public-port", String(publicPort)]);
});
afterAll(() => site[Symbol.asyncDispose]());

describe("a public page over the wire", () => {
  test("every format supports GET, HEAD and conditional requests", async () => {
    for (const path of listPublicPaths(site)) {
      const { response, status, bytes } = await requestBytes(site.url + path);
      expect([path, status]).toEqual([path, 200]);
      expect(bytes.length).toBeGreaterThan(0);
      const etag = response.headers.get("etag") ?? "";
      expect([path, etag]).toEqual([path, expect.stringMatching(/^"[^"]+"$/)]);
      expect([path, response.headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);

      const head = await requestBytes(site.url + path, {}, "HEAD");
      expect([path, head.status, head.bytes.length]).toEqual([path, 200, 0]);
      for (const name of ["content-type", "etag", "cache-control", "content-length"])
        expect([path, name, head.response.headers.get(name)]).toEqual([
          path,
          name,
          response.headers.get(name),
        ]);

      for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const again = await requestBytes(site.url + path, { "If-None-Match": known });
        expect([path, known, again.status, again.bytes.length]).toEqual([path, known, 304, 0]);
        expect(again.response.headers.get("etag")).toBe(etag);
      }
      const other = await requestBytes(site.url + path, { "If-None-Match": '"other"' });
      expect([path, other.status]).toEqual([path, 200]);
    }
  });

  test("gzip and Brotli decode to the uncompressed bytes", async () => {
    for (const path of listPublicPaths(site)) {
      const address = site.url + path;
      const plain = await requestBytes(address);
      const gzip = await requestBytes(address, { "Accept-Encoding": "gzip" });
      const br = await requestBytes(address, { "Accept-Encoding": "gzip, deflate, br" });
      const encodings = [plain, gzip, br].map(({ response }) =>
        response.headers.get("content-encoding"),
      );
      expect([path, ...encodings]).toEqual([path, null, "gzip", "br"]);
      expect(maskTimes(gunzipSync(gzip.bytes))).toBe(maskTimes(plain.bytes));
      expect(maskTimes(brotliDecompressSync(br.bytes))).toBe(maskTimes(plain.bytes));
      for (const { response } of [plain, gzip, br])
        expect(response.headers.get("vary")).toContain("Accept-Encoding");
      for (const refusing of ["br;q=0, gzip;q=0", "identity", "zstd"]) {
        const { response } = await requestBytes(address, { "Accept-Encoding": refusing });
        expect([path, refusing, response.headers.get("content-encoding")]).toEqual([
          path,
          refusing,
          null,
        ]);
      }
    }
  });

  test("unknown query parameters change nothing", async () => {
    const queries = [
      "?",
      "?x=1",
      "?month=2026-01",
      "?%00",
      "?a[]=<script>",
      `?${"q".repeat(4_000)}`,
    ];
    for (const part of pageParts.filter((part) => part !== "/history")) {
      const plain = await requestBytes(site.address + part);
      for (const query of queries) {
        const queried = await requestBytes(site.address + part + query);
        expect([part, query, queried.status]).toEqual([part, query, 200]);
        expect(maskTimes(queried.bytes)).toBe(maskTimes(plain.bytes));
      }
    }
    const history = await requestBytes(`${site.address}/history`);
    for (const query of ["?x=1", "?month=", "?month=2026-13", "?month=x&month=2026-01"]) {
      const queried = await requestBytes(`${site.address}/history${query}`);
      expect([query, maskTimes(queried.bytes)]).toEqual([query, maskTimes(history.bytes)]);
    }
  });

  test("only reading methods work: others change and show nothing", async () => {
    const before = await requestBytes(site.address);
    for (const path of listPublicPaths(site))
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const body = JSON.stringify({ title: "Taken over" });
        const headers = { "Content-Type": "application/json" };
        const response = await fetch(site.url + path, { method, headers, body });
        const text = await response.text();
        expect([method, path, [404, 405].includes(response.status)]).toEqual([method, path, true]);
        expect(text).not.toContain("Checkout");
      }
    expect(maskTimes((await requestBytes(site.address)).bytes)).toBe(maskTimes(before.bytes));
  });

  test("missing and hidden pages have the same 404", async () => {
    const hidden = { slug: "hidden", title: "Hidden", visibility: "hidden" };
    const { status, json } = await site.api("POST", "/api/v1/status-pages", hidden);
    expect(status).toBe(201);
    const unknown = await requestBytes(`${site.url}/status/nobody`);
    expect(unknown.status).toBe(404);
    const headersOf = ({ response }: typeof unknown) =>
      [...response.headers].filter(([name]) => !["date", "x-request-id"].includes(name));
    for (const slug of ["nobody", "hidden"])
      for (const part of [...pageParts, "/logo", `/incidents/${site.incidentIds[0]}`]) {
        const response = await requestBytes(`${site.url}/status/${slug}${part}`);
        expect([slug, part, response.status]).toEqual([slug, part, 404]);
        expect(response.bytes.equals(unknown.bytes)).toBe(true);
        expect(headersOf(response)).toEqual(headersOf(unknown));
      }
    await site.api("DELETE", `/api/v1/status-pages/${json.data.id}`);
  });

  test("a page with a password shows nothing in any format, and closes for all visitors at once", async () => {
    await using site = await createStatusWorld(typical);
    const open = listPublicPaths(site).filter((path) => path.startsWith("/status/acme"));
    for (const path of open) expect((await requestBytes(site.url + path)).status).toBe(200);
    const locked = { visibility: "password", password: "open sesame" };
    await site.api("PATCH", `/api/v1/status-pages/${site.pageId}`, locked);
    await pollUntil(site.address, (text) => !text.includes("Checkout"));
    for (const path of listPublicPaths(site)) {
      const { status, bytes } = await requestBytes(site.url + path);
      expect([path, [403, 404].includes(status)]).toEqual([path, true]);
      expect(bytes.toString()).not.toMatch(/Checkout|Payments|Slow search/);
    }
  });

  test("the first visitors after a start see the same figures in every format", async () => {
    await using site = await createStatusWorld(typical);
    const [page, json] = await Promise.all(
      ["", ".json"].map(async (part) => (await requestBytes(site.address + part)).bytes.toString()),
    );
    const monitors: { uptime: number }[] = JSON.parse(json ?? "").sections.flatMap(
      (section: { monitors: { uptime: number }[] }) => section.monitors,
    );
    const messages = [
      ...(page ?? "").matchAll(/uptime (?:of 90 days|since [^"]+?): ([\d.]+)/g),
    ].map(([, text]) => text);
    const exact = monitors.map(({ uptime }) => (Math.floor(uptime * 10_000) / 100).toFixed(2));
    expect(messages).toEqual(exact.map((text) => text.replace(/^100\.00$/, "100")));
    expect(messages).not.toContain("100");
  });
});

test("a new incident is on the page and in every feed right after its 201, and an update right after its 200", async () => {
  const publicPaths = [
    "",
    "/history",
    ".json",
    "/feed.rss",
    "/feed.atom",
    "/api/v2/incidents.json",
  ];
  // Every response is cached by now, as under load.
  for (const part of publicPaths) await requestBytes(site.address + part);
  const { status, json } = await site.api("POST", "/api/v1/incidents", {
    title: "Orders are late",
  });
  expect(status).toBe(201);
  for (const part of publicPaths)
    await pollUntil(site.address + part, (text) => text.includes("Orders are late"));
  const message = "The queue is worked off.";
  const updated = await site.api("PATCH", `/api/v1/incidents/${json.data.id}`, { message });
  expect(updated.status).toBe(200);
  for (const part of publicPaths)
    await pollUntil(site.address + part, (text) => text.includes(message));
  await site.api("DELETE", `/api/v1/incidents/${json.data.id}`);
  for (const part of publicPaths) {
    const isWithoutIncident = (text: string) => !text.includes("Orders are late");
    expect(await pollUntil(site.address + part, isWithoutIncident)).not.toContain(message);
  }
});

test("the same pages exist after a kill and a restart", async () => {
  await using site = await createStatusWorld(typical);
  const headers = { Authorization: `Bearer ${site.key}`, "Content-Type": "image/png" };
  const logoPath = `/api/v1/status-pages/${site.pageId}/logo`;
  await fetch(site.url + logoPath, { method: "PUT", headers, body: pixel.png });
  const text = await pollUntil(site.address, (text) => text.includes("/logo?v="));
  const logo = /\/status\/acme\/logo\?v=[^"]+/.exec(text)?.[0] ?? "";
  const paths = [...listPublicPaths(site), logo];
  const read = async (url: string) => {
    const responses = [];
    for (const path of paths) responses.push(await requestBytes(url + path));
    return responses;
  };
  const before = await read(site.url);
  await site.stop("SIGKILL");
  const { url } = await site.serve();
  for (const [index, { status, bytes }] of (await read(url)).entries()) {
    const path = paths[index];
    const removeAddresses = (text: string) => text.replaceAll(url, "").replaceAll(site.url, "");
    const [then, now] = [before[index]?.bytes ?? Buffer.of(), bytes].map(maskTimes);
    expect([path, status, removeAddresses(now ?? "")]).toEqual([
      path,
      200,
      removeAddresses(then ?? ""),
    ]);
  }
});

test("the public port serves only public pages, and all of them", async () => {
  const outside = `http://127.0.0.1:${publicPort}`;
  for (const path of listPublicPaths(site)) {
    const [inner, outer] = await Promise.all([
      requestBytes(site.url + path),
      requestBytes(outside + path),
    ]);
    expect([path, outer.status]).toEqual([path, 200]);
    expect(maskTimes(outer.bytes)).toBe(maskTimes(inner.bytes));
  }
  const page = (await requestBytes(site.address)).bytes.toString();
  const files = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(files).toHaveLength(3);
  for (const path of files)
    for (const at of [site.url, outside]) {
      const { status, response, bytes } = await requestBytes(at + path);
      expect([path, status, gunzipSync(bytes).length > 0]).toEqual([path, 200, true]);
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      const head = await requestBytes(at + path, {}, "HEAD");
      expect([path, head.status, head.bytes.length]).toEqual([path, 200, 0]);
    }
  const admin = (await requestBytes(`${site.url}/docs`, { "Accept-Encoding": "identity" })).bytes;
  const [script = ""] = /\/assets\/reference-\w+\.js/.exec(admin.toString()) ?? [];
  expect((await requestBytes(site.url + script, {}, "HEAD")).status).toBe(200);
  const { json } = await site.api("GET", "/api/v1/openapi.json");
  const others = [
    script,
    ...Object.keys(json.paths),
    "/healthz",
    "/metrics",
    "/docs",
    "/docs/https",
    "/api/v1",
    "/api/v1/openapi.json",
    "/push/x",
    "/status",
    "/status/",
    "/assets/",
    "/assets/public/",
    "/assets/public/none.css",
    "/assets/public/../../openapi.json",
    "/assets/public/..%2f..%2fopenapi.json",
    "/badge/monitor/x/status.svg",
  ].filter((path) => !/^\/(status|badge)\//.test(path) || path === "/status/");
  const authorization = { Authorization: `Bearer ${site.key}` };
  for (const path of others) {
    const response = await requestBytes(
      outside + path.replace(/\{[^}]+\}/g, site.pageId),
      authorization,
    );
    expect([path, response.status]).toEqual([path, 404]);
    expect(response.bytes.toString()).not.toContain("Checkout");
  }
});

describe("a custom host", () => {
  const host = "status.team.example";
  const findByName = (headers: object = {}) => ({ Host: host, ...headers });
  const goBy = (hosts: string[]) =>
    site.api("PATCH", `/api/v1/status-pages/${site.pageId}`, { hosts });
  beforeEach(() => goBy([host]));
  afterEach(() => goBy([]));

  test("has the page at / and its formats below it, while the API and /healthz still respond", async () => {
    const page = await pollUntil(
      `${site.url}/`,
      (text) => text.includes("Checkout API"),
      findByName(),
    );
    const [styles = ""] = /\/assets\/public\/status-\w+\.css/.exec(page) ?? [];
    for (const [path, type] of [
      ["/", "text/html"],
      ["/history", "text/html"],
      [`/incidents/${site.incidentIds[0]}`, "text/html"],
      ["/status.json", "application/json"],
      ["/feed.rss", "application/rss+xml"],
      ["/feed.atom", "application/atom+xml"],
      ["/api/v2/summary.json", "application/json"],
      [styles, "text/css"],
      ["/status/acme", "text/html"],
    ] as const) {
      const { status, response } = await requestBytes(site.url + path, findByName());
      expect([path, status, response.headers.get("content-type")]).toEqual([
        path,
        200,
        expect.stringContaining(type),
      ]);
    }
    const { bytes } = await requestBytes(`${site.url}/`, findByName());
    expect(bytes.toString()).toContain('href="/history"');
    expect(bytes.toString()).not.toContain("/status/acme");

    const key = { Authorization: `Bearer ${site.key}` };
    expect((await requestBytes(`${site.url}/healthz`, findByName())).status).toBe(200);
    expect((await requestBytes(`${site.url}/api/v1/incidents`, findByName(key))).status).toBe(200);
    expect((await requestBytes(`${site.url}/api/v1/incidents`, findByName())).status).toBe(401);
    for (const spelled of [host.toUpperCase(), `${host}:${site.port}`])
      expect((await requestBytes(`${site.url}/`, { Host: spelled })).bytes.toString()).toContain(
        "Checkout",
      );
  });

  test("disappears from / when the page gives the host up, and never shows another page", async () => {
    await pollUntil(`${site.url}/`, (text) => text.includes("Checkout API"), findByName());
    const stranger = await requestBytes(`${site.url}/`, { Host: "other.team.example" });
    expect(stranger.bytes.toString()).not.toContain("Checkout");
    await goBy([]);
    await pollUntil(`${site.url}/`, (text) => !text.includes("Checkout API"), findByName());
  });
});

describe("a logo", () => {
  for (const [type, bytes] of [
    ["image/png", pixel.png],
    ["image/webp", pixel.webp],
    ["image/svg+xml", pixel.svg],
  ] as const)
    test(`as ${type} is served at an address that changes with it, and can run nothing`, async () => {
      const headers = { Authorization: `Bearer ${site.key}`, "Content-Type": type };
      const path = `${site.url}/api/v1/status-pages/${site.pageId}/logo`;
      const put = await fetch(path, { method: "PUT", headers, body: bytes });
      const { data } = (await put.json()) as { data: { logoUrl: string } };
      expect([put.status, data.logoUrl]).toEqual([
        200,
        expect.stringMatching(/^\/status\/acme\/logo\?v=./),
      ]);
      await pollUntil(site.address, (text) => text.includes(`src="${data.logoUrl}"`));
      const served = await requestBytes(site.url + data.logoUrl);
      expect(served.status).toBe(200);
      if (type !== "image/svg+xml") expect(served.bytes.equals(Buffer.from(bytes))).toBe(true);
      expect(served.response.headers.toJSON()).toMatchObject({
        "content-type": type,
        "x-content-type-options": "nosniff",
        "cache-control": expect.stringContaining("immutable"),
        "content-security-policy": expect.stringContaining("sandbox"),
      });
      const gone = await fetch(path, { method: "DELETE", headers });
      expect(gone.status).toBe(200);
      await pollUntil(site.address, (text) => !text.includes("/logo"));
      expect((await requestBytes(site.url + data.logoUrl)).status).toBe(404);
    });
});
