import { describe, expect, test } from "bun:test";
import { createVisitor } from "../support/visitor.ts";

const frameAncestors = (headers: Headers) =>
  /frame-ancestors ([^;]*)/.exec(headers.get("content-security-policy") ?? "")?.[1];

describe("the look of a page", () => {
  test("writes its colors, font, corners, layout and links; a patch keeps all other fields", async () => {
    await using made = await createVisitor();
    const colors = { background: "#eef2ff", surface: "#ffffff", text: null };
    await made.publish({ look: { colors, font: "serif", corners: "square", layout: "grid" } });
    const headerLinks = [{ label: "<Help>", url: "https://team.example/?a=1&b=2" }];
    await made.publish({ look: { headerLinks, header: "centered", showIcons: false } });
    const { text } = await made.readHtml("/status/ours");
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
    await using made = await createVisitor();
    await made.ours.api("POST", "/api/v1/monitors", {
      body: { type: "push", name: "Shop", interval: 60 },
    });
    const { data } = (await made.ours.api("GET", "/api/v1/monitors")).json;
    const sections = [{ name: "All", monitors: [{ id: data[0].id }] }];
    await made.publish({ sections, look: { showUptime: false, showIcons: false } });
    const { text } = await made.readHtml("/status/ours");
    const row = /<li class="comp">.*?<div class="bars/s.exec(text)?.[0] ?? "";
    expect(row).toContain("Not checked yet");
    expect(row).not.toContain("<svg");
    expect(row).not.toContain("uptime");
  });
});

describe("frames on other websites", () => {
  test("are allowed only for the named origins, on every HTML page", async () => {
    await using made = await createVisitor();
    const read = async (path: string) =>
      frameAncestors((await made.readHtml(`/status/ours${path}`)).headers);
    const paths = ["", "/history", "/subscribe", "/embed"];
    for (const path of paths) expect([path, await read(path)]).toEqual([path, "'self'"]);
    await made.publish({
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
    await using made = await createVisitor();
    const { data } = (await made.ours.api("GET", "/api/v1/status-pages")).json;
    const { status, json } = await made.ours.api("PATCH", `/api/v1/status-pages/${data[0].id}`, {
      body: { look: { embedOrigins: [origin] } },
    });
    expect([status, json.error?.details[0].path]).toEqual([422, "look.embedOrigins[0]"]);
  });

  test("the widget has the headline and open incidents, and no script", async () => {
    await using made = await createVisitor();
    await made.ours.api("POST", "/api/v1/incidents", {
      body: { title: "<Slow>", severity: "minor" },
    });
    const { text } = await made.readHtml("/status/ours/embed");
    expect(text).toContain("Some systems are affected");
    expect(text).toContain("&lt;Slow&gt;");
    expect(text).toContain('target="_blank"');
    expect(text).not.toContain("<script");
  });
});
