import { describe, expect, test } from "bun:test";
import { logoOf } from "../../src/status-pages/store.ts";
import { dump, type Options, testAppliance, unknownId } from "../support/appliance.ts";
import { pixel } from "../support/images.ts";
import { made } from "../support/records.ts";

const svgType = "image/svg+xml";
const space = 'xmlns="http://www.w3.org/2000/svg"';

async function page() {
  const appliance = await testAppliance();
  const { api, id: organizationId } = appliance.ours;
  const id = await made(api, "status-pages", { slug: "payments" });
  const path = `/api/v1/status-pages/${id}`;
  const send = (type: string, raw: NonNullable<Options["raw"]>, headers = {}) =>
    api("PUT", `${path}/logo`, { raw, headers: { "Content-Type": type, ...headers } });
  const kept = () => logoOf(appliance.store, { organizationId, id });
  return { ...appliance, api, path, send, kept };
}

describe("setting", () => {
  test.each([
    ["image/png", pixel.png],
    ["image/webp", pixel.webp],
    ["IMAGE/PNG", pixel.png],
  ])("an image sent as %s is kept to the byte and has a path", async (type, bytes) => {
    const { api, path, send, kept } = await page();
    const { status, json } = await send(type, bytes);
    expect(status).toBe(200);
    expect(json.data.logoUrl).toMatch(/^\/status\/payments\/logo\?v=[0-9a-z]+$/);
    expect((await api("GET", path)).json).toEqual(json);
    expect(await kept()).toMatchObject({ type: type.toLowerCase(), bytes });
  });

  test("another image has another path, and a slug that changes takes the path along", async () => {
    const { api, path, send } = await page();
    const first = (await send("image/png", pixel.png)).json.data;
    const second = (await send("image/webp", pixel.webp)).json.data;
    expect(second.logoUrl).not.toBe(first.logoUrl);
    const renamed = await api("PATCH", path, { body: { slug: "billing" } });
    expect(renamed.json.data.logoUrl).toBe(second.logoUrl.replace("payments", "billing"));
  });

  test("removing it leaves none, and removing none is fine", async () => {
    const { api, path, send, kept } = await page();
    await send("image/png", pixel.png);
    for (const _ of ["removed", "was gone"]) {
      const { status, json } = await api("DELETE", `${path}/logo`);
      expect([status, json.data.logoUrl]).toEqual([200, null]);
    }
    expect(await kept()).toBe(null);
  });

  test("a new logo is a new version, an audit row and an event", async () => {
    const { api, path, send, database } = await page();
    const etag = (await api("GET", path)).headers.get("etag") ?? "";
    await send("image/png", pixel.png);
    const headers = { "If-Match": etag };
    expect((await send("image/png", pixel.png, headers)).status).toBe(412);
    expect((await api("DELETE", `${path}/logo`, { headers })).status).toBe(412);
    const rows = (table: string, columns: string) =>
      database.query(`SELECT ${columns} FROM ${table} ORDER BY rowid DESC LIMIT 1`).values();
    expect(rows("audit_entries", "action, fields")).toEqual([["status-page.updated", '["logo"]']]);
    expect(rows("events", "type")).toEqual([["status-page.updated"]]);
  });
});

describe("the old logo stays", () => {
  const big = new Uint8Array(256 * 1024 + 1);
  big.set(pixel.png);
  const refused: [what: string, status: number, type: string, raw: NonNullable<Options["raw"]>][] =
    [
      ["one byte more than 256 KiB", 413, "image/png", big],
      ["JSON", 415, "application/json", "{}"],
      ["a GIF", 415, "image/gif", "GIF89a"],
      ["a form", 415, "multipart/form-data; boundary=x", "--x--"],
      ["no type at all", 415, "", pixel.png],
      ["a PNG as WebP", 422, "image/webp", pixel.png],
      ["a WebP as PNG", 422, "image/png", pixel.webp],
      ["an SVG as PNG", 422, "image/png", pixel.svg],
      ["HTML as SVG", 422, svgType, "<!doctype html><p>Hello"],
      ["a PNG as SVG", 422, svgType, pixel.png],
      ["nothing", 422, "image/png", ""],
      ["UTF-16", 422, svgType, new Uint8Array(Buffer.from(`<svg ${space}/>`, "utf16le"))],
    ];
  test.each(refused)("where %s is sent: %p", async (_what, expected, type, raw) => {
    const appliance = await page();
    await appliance.send("image/png", pixel.png);
    const before = dump(appliance);
    const { status, json } = await appliance.send(type, raw);
    expect(status).toBe(expected);
    if (status === 422) expect(json.error.details[0].path).toBe("logo");
    expect(dump(appliance)).toBe(before);
  });

  test("where a read key sends one, nobody does, or the page is not there", async () => {
    const appliance = await page();
    const { ours, theirs, stranger, path } = appliance;
    const before = dump(appliance);
    const options = { raw: pixel.png, headers: { "Content-Type": "image/png" } };
    const status = async (api: typeof stranger, path: string) =>
      (await api("PUT", `${path}/logo`, options)).status;
    expect(await status(ours.reader, path)).toBe(403);
    expect(await status(stranger, path)).toBe(401);
    expect(await status(theirs.api, path)).toBe(404);
    expect(await status(ours.api, `/api/v1/status-pages/${unknownId}`)).toBe(404);
    expect(dump(appliance)).toBe(before);
  });

  test("and no other route takes an image", async () => {
    const { api, path } = await page();
    const options = { raw: pixel.png, headers: { "Content-Type": "image/png" } };
    expect((await api("PATCH", path, options)).status).toBe(415);
    expect((await api("POST", "/api/v1/status-pages", options)).status).toBe(415);
    expect((await api("DELETE", `${path}/logo`, options)).status).toBe(415);
  });
});

describe("an SVG", () => {
  test("is kept to the byte, with what editors wrote for themselves", async () => {
    const { send, kept } = await page();
    const inner = `<!-- Generator: an editor -->
      <metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></metadata>
      <sodipodi:namedview xmlns:sodipodi="urn:x" pagecolor="#fff"><g/></sodipodi:namedview>
      <defs><linearGradient id="a"><stop offset="0" stop-color="#f00"/></linearGradient>
        <linearGradient id="b" xlink:href="#a"/><clipPath id="c"><path d="M0 0"/></clipPath></defs>
      <style type="text/css"><![CDATA[.b>g{fill:#fff}]]></style>
      <path inkscape:label="Mark (@2x)" data-name="Mark (1)" d="M0 0&#10;1 1" fill="url(#b)" clip-path='url("#c")' class="b"/>
      <g transform="matrix(1 0 0 1 2 3) scale(2)" opacity=".5" style="fill:rgb(1,2,3)"/>
      <text id="t(1)">Signal &amp; Box: url(x) @import</text>`;
    const attributes = `${space} xmlns:xlink="http://www.w3.org/1999/xlink"
      xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" viewBox="0 0 9 9"`;
    const prolog = `\ufeff<?xml version="1.0" encoding="UTF-8"?><!-- Generator: an editor -->`;
    const raw = `${prolog}<svg ${attributes}>${inner}</svg>`;
    const { status, text } = await send(svgType, raw);
    expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
    expect(Buffer.from((await kept())?.bytes ?? []).toString()).toBe(raw);
  });

  const nested = (name: string, levels: number, attribute: string) =>
    Array.from(
      { length: levels },
      (_, level) =>
        `<${name} id="n${level}">${`<rect ${attribute}="url(#n${level + 1})"/>`.repeat(10)}</${name}>`,
    ).join("") + `<rect ${attribute}="url(#n0)"/>`;
  const useBomb =
    Array.from(
      { length: 12 },
      (_, level) => `<g id="g${level}">${`<use href="#g${level + 1}"/>`.repeat(10)}</g>`,
    ).join("") + `<g id="g12"><path/></g>`;
  const html = 'xmlns:h="http://www.w3.org/1999/xhtml"';

  const harmful: [inner: string, named: RegExp, attributes?: string][] = [
    ["<script>alert(1)</script>", /script/],
    ["<SCRIPT>alert(1)</SCRIPT>", /SCRIPT/],
    ['<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>', /s:script/],
    ["<metadata><script/></metadata>", /script/],
    ["<g><![CDATA[]]><script/></g>", /script/],
    ['<g xmlns="http://www.w3.org/1999/xhtml"><img src="x"/></g>', /HTML/],
    [`<h:p ${html}/>`, /HTML/],
    ['<g xmlns="http://www.w3.org/1998/Math/MathML"/>', /MathML/],
    ["<foreignObject><p>Hello</p></foreignObject>", /foreignObject/],
    ["<iframe/>", /iframe/],
    ["<a href='https://evil.io'><path/></a>", /outside/],
    ["<image href='https://evil.io/a.png'/>", /image/],
    ["<image href='data:image/svg+xml,x'/>", /image/],
    ["<use href='#a'/>", /use/],
    ["<svg:use xmlns:svg='http://www.w3.org/2000/svg' href='#a'/>", /svg:use/],
    [useBomb, /use/],
    ["<filter><feImage href='#a'/></filter>", /filter/],
    ["<feGaussianBlur stdDeviation='1000'/>", /feGaussianBlur/],
    ["<g filter='blur(9px)'/>", /filters/],
    ["<g filter='url(#a)'/>", /filters/],
    ["<g style='filter:blur(9px)'/>", /filters/],
    ["<g style='Backdrop-Filter:blur(9px)'/>", /filters/],
    [`<style>rect{filter:blur(9px)}</style>${"<rect/>".repeat(2_000)}`, /filters/],
    ["<animate attributeName='href' to='javascript:alert(1)'/>", /animate/],
    ["<animateTransform/>", /animateTransform/],
    ["<animateMotion><mpath href='#a'/></animateMotion>", /animateMotion/],
    ["<set attributeName='onclick' to='alert(1)'/>", /set/],
    ["<style>@keyframes a{from{x:0}}</style>", /at-rules/],
    ["<g onclick='alert(1)'/>", /event handlers/],
    ["<g ONLOAD='alert(1)'/>", /event handlers/],
    ["", /event handlers/, `${space} onload="alert(1)"`],
    ["<textPath href='https://evil.io/a.svg#b'/>", /outside/],
    ["<textPath href='data:image/svg+xml,x#b'/>", /outside/],
    ["<a href='javascript:alert(1)'/>", /outside/],
    ["<a href='&#106;avascript:alert(1)'/>", /outside/],
    [
      "<pattern xlink:href='//evil.io/a.svg#b' xmlns:xlink='http://www.w3.org/1999/xlink'/>",
      /outside/,
    ],
    ["<pattern x:href='//evil.io/a.svg#b' xmlns:x='http://www.w3.org/1999/xlink'/>", /outside/],
    ["<g xml:base='https://evil.io/'/>", /outside/],
    ["<g src='https://evil.io/'/>", /outside/],
    ["<path fill='url(https://evil.io/a.svg#b)'/>", /outside/],
    ["<path cursor='url(https://evil.io/a.cur)'/>", /outside/],
    ["<path fill='&#117;rl(https://evil.io)'/>", /outside/],
    ["<path fill='\\75rl(https://evil.io)'/>", /escapes/],
    ["<path style='fill:url(#a)'/>", /url\(\)/],
    ["<style>@import 'https://evil.io'</style>", /at-rules/],
    ["<style>g{background:url(https://evil.io)}</style>", /url\(\)/],
    ["<style>g{background:image-set('https://evil.io' 1x)}</style>", /fetch/],
    ["<style><![CDATA[@import 'https://evil.io']]></style>", /at-rules/],
    [`<style>${"a b{fill:red}".repeat(2_000)}</style>`, /20000 characters/],
    ["&unknown;", /well-formed/],
    ["<g>".repeat(40) + "</g>".repeat(40), /32 deep/],
    ["<g/>".repeat(5_000), /5000 elements/],
    [nested("pattern", 12, "fill"), /layers/],
    [nested("mask", 12, "mask"), /layers/],
    [nested("clipPath", 12, "clip-path"), /layers/],
    [nested("marker", 12, "marker-mid"), /layers/],
    [`<g fill="url(#a)">${"<rect/>".repeat(1_000)}</g><pattern id="a"/>`, /layers/],
    [`<path marker-mid="url(#a)" d="${"1 1 ".repeat(20_000)}"/><marker id="a"/>`, /layers/],
    ['<g opacity=".9">'.repeat(25).concat("</g>".repeat(25)).repeat(30), /layers/],
    [`<style>g{opacity:.9}</style>${"<g/>".repeat(1_000)}`, /layers/],
    ["<pattern id='a'><rect fill='url(#a)'/></pattern><rect fill='url(#a)'/>", /circle/],
    ["", /its root/, 'xmlns="http://www.w3.org/2000/xvg"'],
    ["", /its root/, ""],
  ];
  test.each(harmful)(
    "with %.60s is refused, and the reason is %p",
    async (inner, named, attributes = space) => {
      const { send, kept } = await page();
      const { status, json } = await send(svgType, `<svg ${attributes}>${inner}</svg>`);
      expect([status, json.error?.details[0].path]).toEqual([422, "logo"]);
      expect(json.error.details[0].message).toMatch(named);
      expect(await kept()).toBe(null);
    },
  );

  test("is refused with a DOCTYPE, entities, a style sheet elsewhere, or another root", async () => {
    const { send } = await page();
    const whole = [
      `<!DOCTYPE svg><svg ${space}/>`,
      `<!DOCTYPE svg [<!ENTITY a "b">]><svg ${space}>&a;</svg>`,
      `<?xml-stylesheet href="https://evil.io"?><svg ${space}/>`,
      `<g ${space}/>`,
      `<svg ${space}/><svg ${space}/>`,
      `<svg ${space}>`,
      `<?XML-Stylesheet href="a"?><svg ${space}/>`,
      `<?xml version="1.0" encoding="GBK"?><svg ${space}/>`,
      `<!DOCTYPE svg [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><svg ${space}>&c;</svg>`,
    ];
    for (const raw of whole) expect([raw, (await send(svgType, raw)).status]).toEqual([raw, 422]);
  });

  test("that is nested as deep as 256 KiB allow is refused, too", async () => {
    const { send } = await page();
    const raw = `<svg ${space}>${"<g>".repeat(37_000)}${"</g>".repeat(37_000)}</svg>`;
    expect((await send(svgType, raw)).status).toBe(422);
  });
});
