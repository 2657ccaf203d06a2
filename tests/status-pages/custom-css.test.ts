/** CSS of people on public pages: what is rejected, what remains, and where it is used. */
import { expect, test } from "bun:test";
import { compileCss } from "../../src/status-pages/custom-css.ts";
import { createVisitor } from "../support/visitor.ts";

const read = async (css: string) => {
  try {
    return await compileCss(css);
  } catch (error) {
    return (error as { details: { path: string; message: string }[] }).details[0];
  }
};

test.each([
  ["an import", '@import "https://evil.example/a.css";', "@import"],
  ["an escaped import", '@\\69mport "https://evil.example/a.css";', "must not use @"],
  ["an address", ".hero { background: url(https://evil.example/a.png) }", "url()"],
  ["a quoted address", '.hero { background: url("//evil.example") }', "url"],
  ["an escaped address", ".hero { background: u\\72l(//evil.example) }", "can't be read"],
  ["an address in a variable", ":root { --a: url(//evil.example) }", "url"],
  ["an image set", '.hero { background: image-set("//evil.example" 1x) }', "image-set()"],
  ["another source", '.hero { background: src("//evil.example") }', "src()"],
  ["a font", '@font-face { font-family: a; src: url("//evil.example") }', "@font-face"],
  ["a namespace", '@namespace "http://www.w3.org/1999/xhtml";', "@namespace"],
  ["a fixed overlay", "body::after { position: fixed; inset: 0; z-index: 9 }", "position"],
  ["an escaped overlay", "body { p\\6fsition: fixed }", "must not set"],
  ["a hidden form", "form { display: none !important }", "display"],
  ["an invisible form", "form { opacity: 0 }", "opacity"],
  ["a hidden link", ".updates { visibility: hidden }", "visibility"],
  ["a moved element", ".hero { transform: translateY(-400px) }", "transform"],
  ["text", '.updates::after { content: "Call us" }', "content"],
  ["a layer above", ".hero { z-index: 99 }", "z-index"],
  ["an unclosed string", '.hero { font-family: "a\n }', "can't be read"],
  ["text of another language", "</style><script>alert(1)</script>", "can't be read"],
  ["old script", ".hero { width: expression(alert(1)) }", "must not"],
  ["a binding", ".hero { -moz-binding: url(//evil.example) }", "-moz-binding"],
  ["deep blocks", `${"@media all {".repeat(5_000)}`, "deeper"],
  ["deep parentheses", `.a { color: ${"(".repeat(9_000)}`, "deeper"],
])("%s is rejected by name", async (_what, css, named) => {
  expect(await read(css)).toMatchObject({
    path: "look.css",
    message: expect.stringContaining(named),
  });
});

test("colors, fonts, spacing and media queries are kept, without comments", async () => {
  const css = `/* Ours */
    :root { --accent: light-dark(#a00, #f88) }
    .hero, .inc:first-child > header { border: 2px solid var(--accent); padding: calc(1px + 2%) }
    @media (max-width: 600px) { .hero { background: linear-gradient(#fff, oklch(0.9 0.1 20)) } }`;
  expect(await read(css)).toBe(
    ":root{--accent:light-dark(#a00,#f88)}.hero,.inc:first-child>header{border:2px solid var(--accent);padding:calc(1px + 2%)}@media (max-width:600px){.hero{background:linear-gradient(#fff,oklch(0.9 0.1 20))}}",
  );
  expect(await read(" \n")).toBeNull();
});

test("the CSS is a file of its own on the page, but never on the page with the form", async () => {
  await using visitor = await createVisitor();
  const css = ".hero { border: 2px solid red }";
  await visitor.publish({ look: { css } });
  const { text, headers } = await visitor.readHtml("/status/ours");
  const [, sheet = ""] = /href="([^"]*style\.css[^"]*)"/.exec(text) ?? [];
  expect(headers.get("content-security-policy")).toContain("style-src 'self';");
  const file = await visitor.get(sheet);
  expect([file.type, file.text]).toEqual([
    "text/css; charset=utf-8",
    ".hero{border:2px solid red}",
  ]);
  expect((await visitor.readHtml("/status/ours/subscribe")).text).not.toContain("style.css");
  expect((await visitor.defaultPage())["look"]).toMatchObject({ css });
  await visitor.publish({ look: { css: "" } });
  expect((await visitor.readHtml("/status/ours")).text).not.toContain("style.css");
});

test("CSS over the limit or with a rejected part changes nothing, also in a preview", async () => {
  await using visitor = await createVisitor();
  const { id } = await visitor.defaultPage();
  const path = `/api/v1/status-pages/${id}`;
  const send = async (css: string) =>
    (await visitor.ours.api("PATCH", path, { body: { look: { css } } })).status;
  expect(await send("a{}".repeat(7_000))).toBe(422);
  expect(await send(" ".repeat(1024 * 1024))).toBe(413);
  expect(await send("form { display: none }")).toBe(422);
  expect((await visitor.get("/status/ours/style.css")).status).toBe(404);
});

test("a configuration applies CSS too, also to a new page, and rejects hostile CSS", async () => {
  await using visitor = await createVisitor();
  const apply = (css: string) =>
    visitor.ours.api("PUT", "/api/v1/config", {
      body: {
        source: "main",
        statusPages: { styled: { slug: "styled", title: "Styled", look: { css } } },
      },
    });
  for (const color of ["red", "green"]) {
    await apply(`.hero { color: ${color} }`);
    await visitor.restart();
    expect((await visitor.get("/status/styled/style.css")).text).toBe(`.hero{color:${color}}`);
  }
  expect((await apply("form { display: none }")).status).toBe(422);
});
