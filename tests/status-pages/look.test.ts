import { describe, expect, test } from "bun:test";
import { pixel } from "../support/images.ts";
import { createVisitor } from "../support/visitor.ts";

const readFrameAncestors = (headers: Headers) =>
  /frame-ancestors ([^;]*)/.exec(headers.get("content-security-policy") ?? "")?.[1];

describe("the look of a page", () => {
  test("writes its colors, font, corners, layout and links; a patch keeps all other fields", async () => {
    await using visitor = await createVisitor();
    const colors = { background: "#eef2ff", surface: "#ffffff", text: null };
    await visitor.publish({ look: { colors, font: "serif", corners: "square", layout: "grid" } });
    const headerLinks = [{ label: "<Help>", url: "https://team.example/?a=1&b=2" }];
    await visitor.publish({ look: { headerLinks, header: "centered", showIcons: false } });
    const { text } = await visitor.readHtml("/status/ours");
    for (const part of [
      "--bg:light-dark(#eef2ff, #121211)",
      "--r-l:0",
      "Georgia, serif",
      'class="wrap centered grid"',
      '<a href="https://team.example/?a=1&amp;b=2" rel="noopener" dir="auto">&lt;Help&gt;</a>',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("inter-latin");
  });

  test("without uptime and icons, monitors still have the word of their state", async () => {
    await using visitor = await createVisitor();
    await visitor.ours.api("POST", "/api/v1/monitors", {
      body: { type: "push", name: "Shop", interval: 60 },
    });
    const { data } = (await visitor.ours.api("GET", "/api/v1/monitors")).json;
    const sections = [{ name: "All", monitors: [{ id: data[0].id }] }];
    await visitor.publish({ sections, look: { showUptime: false, showIcons: false } });
    const { text } = await visitor.readHtml("/status/ours");
    const row = /<li class="comp">.*?<div class="bars/s.exec(text)?.[0] ?? "";
    expect(row).toContain("Not checked yet");
    expect(row).not.toContain("<svg");
    expect(row).not.toContain("uptime");
  });
});

const interFile = "node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2";

describe("files of a page", () => {
  async function createPage() {
    const visitor = await createVisitor();
    const { data } = (await visitor.ours.api("GET", "/api/v1/status-pages")).json;
    const path = `/api/v1/status-pages/${data[0].id}`;
    const put = (name: string, type: string, raw: Uint8Array<ArrayBuffer> | string) =>
      visitor.ours.api("PUT", `${path}/${name}`, { raw, headers: { "Content-Type": type } });
    return Object.assign(visitor, { path, put });
  }

  test("a font is declared and used on the page, and served unchanged; without it nothing remains", async () => {
    await using page = await createPage();
    const bytes = await Bun.file(interFile).bytes();
    const { status, json } = await page.put("font", "font/woff2", bytes);
    expect([status, json.data.fontUrl]).toEqual([
      200,
      expect.stringMatching(/^\/status\/ours\/font\.woff2\?v=[0-9a-z]+$/),
    ]);
    await page.restart();
    const { text } = await page.readHtml("/status/ours");
    const [, sheet = ""] = /href="([^"]*font\.css[^"]*)"/.exec(text) ?? [];
    expect(text).toContain("&quot;Page font&quot;, system-ui");
    const style = await page.get(sheet);
    expect([style.type, style.headers.get("cache-control")]).toEqual([
      "text/css; charset=utf-8",
      "public, max-age=31536000, immutable",
    ]);
    const [, file = ""] = /url\("([^"]+)"\)/.exec(style.text) ?? [];
    const font = await page.get(`/status/ours/${file}`);
    expect([font.type, font.bytes]).toEqual(["font/woff2", bytes]);
    await page.ours.api("DELETE", `${page.path}/font`);
    await page.restart();
    expect((await page.readHtml("/status/ours")).text).not.toContain("Page font");
    expect((await page.get("/status/ours/font.css")).status).toBe(404);
  });

  test.each([
    ["font", "font/woff2", "wOF2", 422],
    ["font", "font/woff2", "<svg/>".repeat(20), 422],
    ["font", "font/ttf", "wOF2", 415],
    ["favicon", "image/png", "GIF89a", 422],
    ["favicon", "image/svg+xml", "<html/>", 422],
    ["favicon", "image/x-icon", "x", 415],
  ])("a %s of type %s with %p is rejected", async (name, type, raw, expected) => {
    await using page = await createPage();
    const { status, json } = await page.put(name, type, raw);
    expect(status).toBe(expected);
    if (status === 422) expect(json.error.details[0].path).toBe(name);
  });

  test("a favicon replaces the dot, and files of a restricted page are restricted", async () => {
    await using page = await createPage();
    await page.put("favicon", "image/png", pixel.png);
    await page.put("font", "font/woff2", await Bun.file(interFile).bytes());
    await page.restart();
    const { text } = await page.readHtml("/status/ours");
    expect(text).toMatch(/<link rel="icon" href="\/status\/ours\/favicon\?v=\w+"\/>/);
    await page.publish({ visibility: "password", password: "open sesame" });
    for (const path of ["favicon", "font.woff2", "font.css"])
      expect([path, (await page.get(`/status/ours/${path}`)).status]).toEqual([path, 403]);
  });

  test("an announcement is at the top of every page, as Markdown without HTML", async () => {
    await using page = await createPage();
    const text = "We **move** <script>alert(1)</script> [on Friday](https://team.example)";
    await page.publish({ look: { banner: { text, tone: "warning" } } });
    for (const path of ["", "/history", "/subscribe"]) {
      const { text } = await page.readHtml(`/status/ours${path}`);
      expect(text).toContain('class="banner degraded-soft"');
      expect(text).toContain("<strong>move</strong>");
      expect(text).not.toContain("<script>");
    }
  });
});

describe("frames on other websites", () => {
  test("are allowed only for the named origins, on every HTML page", async () => {
    await using visitor = await createVisitor();
    const read = async (path: string) =>
      readFrameAncestors((await visitor.readHtml(`/status/ours${path}`)).headers);
    const paths = ["", "/history", "/subscribe", "/embed"];
    for (const path of paths) expect([path, await read(path)]).toEqual([path, "'self'"]);
    await visitor.publish({
      look: { embedOrigins: ["https://Team.example", "http://intranet:8080"] },
    });
    for (const path of paths)
      expect([path, await read(path)]).toEqual([
        path,
        "'self' https://team.example http://intranet:8080",
      ]);
  });

  test.each([
    "*",
    "https://*.team.example",
    "https://team.example/",
    "https://a.example;script-src *",
    "https://a.example,b",
    "'unsafe-inline'",
    "data:",
  ])("the origin %p is rejected", async (origin) => {
    await using visitor = await createVisitor();
    const { data } = (await visitor.ours.api("GET", "/api/v1/status-pages")).json;
    const { status, json } = await visitor.ours.api("PATCH", `/api/v1/status-pages/${data[0].id}`, {
      body: { look: { embedOrigins: [origin] } },
    });
    expect([status, json.error?.details[0].path]).toEqual([422, "look.embedOrigins[0]"]);
  });

  test("the widget has the headline and open incidents, and no script", async () => {
    await using visitor = await createVisitor();
    await visitor.ours.api("POST", "/api/v1/incidents", {
      body: { title: "<Slow>", severity: "minor" },
    });
    const { text } = await visitor.readHtml("/status/ours/embed");
    expect(text).toContain("Some systems are affected");
    expect(text).toContain("&lt;Slow&gt;");
    expect(text).toContain('target="_blank"');
    expect(text).not.toContain("<script");
  });
});
