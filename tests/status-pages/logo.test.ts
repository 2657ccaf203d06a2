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

  const many = (count: number, one: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => one(index)).join("");
  const rects = (count: number, attributes = "") => `<rect ${attributes}/>`.repeat(count);
  const inStyle = (css: string) => `<style>${css}</style>`;
  const drawn = '<rect width="9" height="9"/>';
  const wide = (characters: number) => `<path d="M0 0${"h1".repeat(characters / 2)}"/>`;

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
    ["<a href='https://evil.io'><path/></a>", /href other than to an #id/],
    ["<image href='https://evil.io/a.png'/>", /image/],
    ["<image href='data:image/svg+xml,x'/>", /image/],
    ["<use href='#a'/>", /use/],
    ["<svg:use xmlns:svg='http://www.w3.org/2000/svg' href='#a'/>", /svg:use/],
    [useBomb, /use/],
    ["<filter><feImage href='#a'/></filter>", /filter/],
    ["<feGaussianBlur stdDeviation='1000'/>", /feGaussianBlur/],
    ["<g filter='blur(9px)'/>", /the property filter/],
    ["<g filter='url(#a)'/>", /the property filter/],
    ["<g style='filter:blur(9px)'/>", /the property filter/],
    ["<g style='Backdrop-Filter:blur(9px)'/>", /the property backdrop-filter/],
    [`<style>rect{filter:blur(9px)}</style>${"<rect/>".repeat(2_000)}`, /filter/],
    ["<animate attributeName='href' to='javascript:alert(1)'/>", /animate/],
    ["<animateTransform/>", /animateTransform/],
    ["<animateMotion><mpath href='#a'/></animateMotion>", /animateMotion/],
    ["<set attributeName='onclick' to='alert(1)'/>", /set/],
    ["<style>@keyframes a{from{x:0}}</style>", /@keyframes/],
    ["<g onclick='alert(1)'/>", /onclick attributes/],
    ["<g ONLOAD='alert(1)'/>", /ONLOAD attributes/],
    ["", /onload attributes/, `${space} onload="alert(1)"`],
    ["<textPath href='https://evil.io/a.svg#b'/>", /href other than to an #id/],
    ["<textPath href='data:image/svg+xml,x#b'/>", /href other than to an #id/],
    ["<a href='javascript:alert(1)'/>", /href other than to an #id/],
    ["<a href='&#106;avascript:alert(1)'/>", /href other than to an #id/],
    [
      "<pattern xlink:href='//evil.io/a.svg#b' xmlns:xlink='http://www.w3.org/1999/xlink'/>",
      /pattern elements/,
    ],
    [
      "<linearGradient x:href='//evil.io/a.svg#b' xmlns:x='http://www.w3.org/1999/xlink'/>",
      /x:href other/,
    ],
    ["<g xml:base='https://evil.io/'/>", /xml:base other/],
    ["<g src='https://evil.io/'/>", /src other/],
    ["<path fill='url(https://evil.io/a.svg#b)'/>", /url\(\) other than url\(#id\)/],
    ["<path cursor='url(https://evil.io/a.cur)'/>", /url\(\) other than url\(#id\)/],
    ["<path fill='&#117;rl(https://evil.io)'/>", /url\(\) other than url\(#id\)/],
    ["<path fill='\\75rl(https://evil.io)'/>", /escapes/],
    ["<style>@import 'https://evil.io'</style>", /@import/],
    ["<style>g{background:url(https://evil.io)}</style>", /url\(\) other than url\(#id\)/],
    ["<path style='fill:url(https://evil.io)'/>", /url\(\) other than url\(#id\)/],
    ["<style>text{text-shadow:0 0 500px red}</style><text>W</text>", /(?:text|box)-shadow/],
    ["<text style='text-shadow:0 0 500px red'>W</text>", /(?:text|box)-shadow/],
    ["", /(?:text|box)-shadow/, `${space} style="Box-Shadow:0 0 900px red"`],
    ["<g style='-webkit-filter:drop-shadow(0 0 9px red)'/>", /-webkit-filter/],
    ["<path cursor='url(#a)'/>", /url\(\) in cursor/],
    ["<pattern id='a'/>", /pattern elements/],
    ["<marker id='a'/>", /marker elements/],
    ["<path stroke-dasharray='4 2'/>", /stroke-dasharray/],
    ["<path style='stroke-dasharray:.001'/>", /stroke-dasharray/],
    [inStyle("*{stroke-dasharray:1%}"), /stroke-dasharray/],
    ["<g style='all:inherit'/>", /the property all/],
    [`<g mask="url(#a)"><rect mask="inherit"/></g>`, /mask other than none and url/],
    [inStyle("rect{clip-path:/**/inherit}"), /clip-path other than/],
    [inStyle("rect{clip-path:polygon(0 0)}"), /polygon\(\) in clip-path/],
    ["<g style='fill:red;mask:url(#a),url(#b)'/>", /mask other than/],
    ["<g style='mask:var(--a)'/>", /mask other than/],
    [inStyle(`*{--a:${"x ".repeat(60)}}`), /custom properties as --a/],
    ["<g style='--a:1;--b:var(--a)var(--a)'/>", /custom properties as --b/],
    ["<g style='--a:url(#a)'/>", /url\(\) in --a/],
    [inStyle("g{background:image-set('https://evil.io' 1x)}"), /image-set\(\) in background/],
    ["<g style='width:expression(alert(1))'/>", /expression\(\) in width/],
    [inStyle("g{offset-path:url(#a)}"), /url\(\) in offset-path/],
    [inStyle("g{fill:URL( '//evil.io')}"), /url\(\)/],
    [inStyle("g{fill:rgb(url(http://evil.io))}"), /url\(\)/],
    ["<g fill='url(#a) url(http://evil.io)'/>", /url\(\)/],
    ["<g fill='url('/>", /url\(\)/],
    ["<style><![CDATA[@import 'https://evil.io']]></style>", /@import/],
    [inStyle("@font-face{src:local(x)}"), /@font-face/],
    [inStyle("@media-import 'x'; @import 'x'"), /@media-import/],
    [inStyle("@media print{@supports(x:y){g{fill:red}}}"), /@media|@supports/],
    ...[
      "g:has(a)",
      "g:nth-child(2n+1)",
      "a~g",
      "a+g",
      "[id]",
      "a b c",
      "g:not(.a)",
      "a|g",
      "g,",
    ].map((selector): [string, RegExp] => [inStyle(`${selector}{fill:red}`), /the selector/]),
    ...[
      ".a{x:(}.b{y:);filter:blur(9px)}",
      ".a{x:[}.b{y:];filter:blur(9px)}",
      ".a{.b{}fill:red}",
      ".a{fill:red",
      ".a{}}",
      "@media (a{b){.a{fill:red}}",
    ].map((css): [string, RegExp] => [inStyle(css), /other than plain|@media|the selector/]),
    // Each of these is a filter to a browser, and none to who reads strings, comments or addresses otherwise.
    ...[
      ".a{x:'/*';filter:blur(9px)}.b{x:'*/'}",
      `.a{x:"'";filter:blur(9px);y:"'"}`,
      ".a{fill:url(#a/*);filter:blur(9px);x:*/}",
      ".a{fill:url(#a;b);filter:blur(9px)}",
      ".a{fill:url(#a ');filter:blur(9px);x:'}",
      ".a{x:'\n;filter:blur(9px);y:'}",
      ".a{x:y@media print{}filter:blur(9px)}",
      ".a{FILTER/**/:/**/blur(9px)}",
      "@media (min-width:1px){.a{filter:blur(9px)}}",
      ".a{filter:none;filter:blur(9px)!important}",
    ].map((css): [string, RegExp] => [inStyle(css), /filter|url\(\)|other than plain|@media/]),
    [inStyle("a b{fill:red}".repeat(2_000)), /20000 characters/],
    ["&unknown;", /well-formed/],
    ["<g>".repeat(40) + "</g>".repeat(40), /32 deep/],
    ["<g/>".repeat(5_000), /5000 elements/],
    [wide(64_000), /64000 characters of path data/],
    [`<text><tspan>${"W".repeat(5_001)}</tspan></text>`, /5000 characters of text/],
    [many(31, (i) => `<text style="font-family:'${i}'"/>`), /30 fonts/],
    [`<radialGradient>${"<stop/>".repeat(101)}</radialGradient>`, /100 stops in radialGradient/],
    [nested("mask", 12, "mask"), /fewer layers/],
    [nested("clipPath", 12, "clip-path"), /fewer layers/],
    [
      many(
        12,
        (i) =>
          `<clipPath id="c${i}" clip-path="url(#c${i + 1})">${`<g clip-path="url(#c${i + 1})"/>`.repeat(3)}</clipPath>`,
      ),
      /fewer layers/,
    ],
    [
      `<mask id="a"><text>${"W".repeat(1_000)}</text></mask>${rects(300, 'mask="url(#a)"')}`,
      /fewer layers/,
    ],
    [
      `<path id="a" d="M0 0${"h1".repeat(9_000)}"/>${"<text><textPath href='#a'>a</textPath></text>".repeat(200)}`,
      /text on paths/,
    ],
    [many(300, (i) => `<linearGradient id="a${i}" href="#a${i + 1}"/>`), /references/],
    [
      many(80, (i) => `<mask id="a${79 - i}"><rect mask="url(#a${80 - i})"/></mask>`) +
        '<rect mask="url(#a0)"/>',
      /fewer layers|references/,
    ],
    ['<g opacity=".9">'.repeat(25).concat("</g>".repeat(25)).repeat(30), /fewer layers/],
    [inStyle("g{opacity:.9}") + "<g/>".repeat(1_000), /fewer layers/],
    [inStyle("g>*{mix-blend-mode:multiply}") + rects(1_000), /fewer layers/],
    [
      inStyle(":root{-webkit-mask:url(#a)}") + rects(1_000) + `<mask id="a">${drawn}</mask>`,
      /fewer layers|circle/,
    ],
    [
      inStyle(`.a{clip-path:url(#a)}`) +
        rects(1_000, 'class="b a"') +
        `<clipPath id="a">${rects(30)}</clipPath>`,
      /fewer layers/,
    ],
    [inStyle("rect{x:1}".repeat(1_500)) + rects(3_000), /style rules/],
    [inStyle(`rect{${"x:1;".repeat(4_000)}}`) + rects(4_900), /style rules/],
    ["<mask id='a'><rect mask='url(#a)'/></mask><rect mask='url(#a)'/>", /circle/],
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

  const publicDoctype = `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">`;
  const gradient = `<linearGradient id="a"><stop offset="0" style="stop-color:#fff"/></linearGradient>`;
  const harmless: [what: string, raw: string][] = [
    ["the public DOCTYPE", `${publicDoctype}<svg ${space}/>`],
    ["a bare DOCTYPE", `<!DOCTYPE svg><svg ${space}/>`],
    [
      "Inkscape's references in style",
      `<svg ${space}>${gradient}<clipPath id="c"><rect/></clipPath><g style="clip-path:url(#c)"><path style="fill:url(#a);fill-opacity:1;-inkscape-font-specification:'sans-serif, Normal'" d="M0 0"/></g></svg>`,
    ],
    [
      "Illustrator's classes",
      `<svg ${space}><style type="text/css">\n\t.st0{fill:#E30613;}\n\t.st1{fill:url(#a);}\n\t.st2,.st3{clip-path:url("#c");opacity:.9;}\n\t.st4{isolation:isolate}\n</style>${gradient}<clipPath id="c"><rect/></clipPath>${rects(300, 'class="st1 st2"')}</svg>`,
    ],
    [
      "draw.io's light-dark()",
      `<svg ${space} style="background:light-dark(#fff, #121212)"><rect style="fill: light-dark(#ffffff, var(--ge-dark-color, #121212));"/></svg>`,
    ],
    [
      "no dashes",
      `<svg ${space}><path stroke-dasharray="none" style="stroke-dasharray:none"/></svg>`,
    ],
    [
      "Figma's masks",
      `<svg ${space}><mask id="a" style="mask-type:luminance" maskUnits="userSpaceOnUse"><path fill="#fff"/></mask><g clip-path="url(#c)"><g mask="url(#a)">${gradient}<g opacity="0.5" style="mix-blend-mode:multiply"><path fill="url(#a)"/></g></g></g><clipPath id="c"><rect/></clipPath></svg>`,
    ],
    [
      "colours for dark screens",
      `<svg ${space}><style>/* "it's */:root{--ink:#000}path.a:hover,*,svg &gt; g{fill:var(--ink)}@media (prefers-color-scheme:dark){:root{--ink:#fff}}</style><path class="a" style="transform:translate(1px, 2px) ROTATE(3deg);font-family:'A;B{'"/></svg>`,
    ],
    ["an id twice", `<svg ${space}><g id="Path"/><g id="Path"/></svg>`],
    ["paths as long as they may be", `<svg ${space}>${wide(63_000)}</svg>`],
    [
      "a gradient of a gradient",
      `<svg ${space}>${gradient}<radialGradient id="b" href="#a"/><g fill="url(#b)" stroke="url( '#a' ) none"/></svg>`,
    ],
  ];
  test.each(harmless)("with %s is kept to the byte", async (_what, raw) => {
    const { send, kept } = await page();
    const { status, text } = await send(svgType, raw);
    expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
    expect(Buffer.from((await kept())?.bytes ?? []).toString()).toBe(raw);
  });

  test("is refused with a DOCTYPE of its own, entities, a style sheet elsewhere, or another root", async () => {
    const { send } = await page();
    const whole = [
      `<!DOCTYPE svg []><svg ${space}/>`,
      `<!DOCTYPE svg SYSTEM "https://evil.io/a.dtd"><svg ${space}/>`,
      `<!DOCTYPE svg PUBLIC "-//EVIL" "https://evil.io/a.dtd"><svg ${space}/>`,
      `<!DOCTYPE html><svg ${space}/>`,
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

  test("that takes long to read is refused before it is read", async () => {
    const { send } = await page();
    const lists = ",.a".repeat(4_000);
    for (const inner of [
      `<path style="fill:${"url(#a ".repeat(30_000)}"/>`,
      `<path style="fill:${"/*".repeat(100_000)}(${"((".repeat(10_000)}"/>`,
      `<path stroke-dasharray="1${" ".repeat(200_000)}x"/>`,
      `<path transform="${"a".repeat(200_000)}("/>`,
      `<style>.a${lists}{${"mask:url(#a);".repeat(500)}}</style>${rects(4_000, 'class="a"')}<mask id="a"/>`,
      `<style>${"@media{a{}".repeat(1_900)}</style>`,
    ]) {
      const { status } = await send(svgType, `<svg ${space}>${inner}</svg>`);
      expect([inner.slice(0, 20), status]).toEqual([inner.slice(0, 20), 422]);
    }
  });

  test("that is nested as deep as 256 KiB allow is refused, too", async () => {
    const { send } = await page();
    const raw = `<svg ${space}>${"<g>".repeat(37_000)}${"</g>".repeat(37_000)}</svg>`;
    expect((await send(svgType, raw)).status).toBe(422);
  });
});
