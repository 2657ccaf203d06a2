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

  const rects = (count: number, name = "rect", attributes = "") =>
    `<${name} ${attributes}/>`.repeat(count);
  const dashed = (dashes = ".001", d = "M0 0H9e8", attributes = "") =>
    `<path d="${d}" stroke-dasharray="${dashes}" ${attributes}/>`;
  const long = '<path d="M0 0H9e8"/>';
  const nonScaling = 'vector-effect="non-scaling-stroke"';
  const inUserSpace = 'patternUnits="userSpaceOnUse"';
  const patterned = '<rect width="1000" height="1000" fill="url(#a)"/>';

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
    ["<style>@import 'https://evil.io'</style>", /at-rules/],
    ["<style>g{background:url(https://evil.io)}</style>", /outside/],
    ["<path style='fill:url(https://evil.io)'/>", /outside/],
    ["<style>text{text-shadow:0 0 500px red}</style><text>W</text>", /shadows/],
    ["<text style='text-shadow:0 0 500px red'>W</text>", /shadows/],
    ["", /shadows/, `${space} style="Box-Shadow:0 0 900px red"`],
    ["<g style='-webkit-filter:drop-shadow(0 0 9px red)'/>", /filters/],
    [`${rects(1_500, "marker", 'id="a"')}<marker id="a"/>`, /the id a twice/],
    [`<marker id="a"/><path marker-mid="url(#a)" d="M0 0${"z".repeat(20_000)}"/>`, /layers/],
    [`<marker id="a"/><path marker-mid="url(#a)" d="M0 0${"h.1".repeat(20_000)}"/>`, /layers/],
    [dashed(), /dashes/],
    [`<g stroke-dasharray=".001">${long}</g>`, /dashes/],
    [`<g style="stroke-dasharray:.001">${long}</g>`, /dashes/],
    [`<style>path{stroke-dasharray:.001}</style>${long}`, /dashes/],
    [`<style>path{stroke-dasharray:1%}</style>${long}`, /dashes/],
    [`<style>*{stroke-dasharray:.001}</style>${long}`, /dashes/],
    [dashed(".001", "m1e999 0"), /dashes/],
    [dashed("1", "M0 0" + "l9e8 0z".repeat(9)), /dashes/],
    [dashed("1", "M9e6 0" + "L0 0z".repeat(9)), /dashes/],
    [dashed("calc(.001px)", "M0 0H9"), /dashes/],
    [`<rect width="100%" height="1" stroke-dasharray="1"/>`, /dashes/],
    [`<path d="M0 0H9" pathLength="9e9" stroke-dasharray="1"/>`, /dashes/],
    [`<style>rect{width:9e8px}</style><rect stroke-dasharray="1"/>`, /dashes/],
    [`<g transform="scale(9e8)">${dashed("1", "M0 0H9", nonScaling)}</g>`, /dashes/],
    [
      `<marker id="a">${dashed("1", "M0 0H900")}</marker><path marker-mid="url(#a)" d="${"1 1 ".repeat(3_000)}"/>`,
      /dashes/,
    ],
    [`<pattern id="a" width=".001" height=".001" ${inUserSpace}/>${patterned}`, /patterns/],
    [`<pattern id="a" width="1e-4" height="1e-4"/>${patterned}`, /patterns/],
    [
      `<pattern id="a" width="9" height="9" patternTransform="scale(1e-4)" ${inUserSpace}/>${patterned}`,
      /patterns/,
    ],
    [
      `<pattern id="b" width="9" height="9"/><pattern id="a" href="#b" patternTransform="matrix(1e-4 0 0 1e-4 0 0)" ${inUserSpace}/>${patterned}`,
      /patterns/,
    ],
    [`<style>pattern{transform:scale(.001)}</style><pattern id="a"/>`, /patterns/],
    [`<g mask="url(#a)"><rect mask="inherit"/></g>`, /inherited/],
    [`<style>rect{clip-path:/**/inherit}</style>`, /inherited/],
    [`<g style="fill:url(#a)">${rects(1_000)}</g><pattern id="a"/>`, /layers/],
    [`<g fill="url(#a)">${rects(1_000, "rect", 'fill="inherit"')}</g><pattern id="a"/>`, /layers/],
    [
      `<style>.a{fill:url(#a)}</style>${rects(1_000, "rect", 'class="b a"')}<pattern id="a"/>`,
      /layers/,
    ],
    [
      `<style>.a{marker:url(#a)}</style><path class="a" d="${"1 1 ".repeat(20_000)}"/><marker id="a"/>`,
      /layers/,
    ],
    [`<path style="marker:url(#a)" d="${"1 1 ".repeat(20_000)}"/><marker id="a"/>`, /layers/],
    ...[
      "*{fill:url(#a)}",
      ".a>.b{fill:url(#a)}",
      ".a{x:(}.b{y:);fill:url(#a)}",
      ".a{--b:url(#a)}",
      ".a{x:'/*';fill:url(#a)}",
      ".a{fill:url(#a/*)}.b{x:*/}",
      ".a{.b{}fill:url(#a)}",
      ".a{fill:url(#a)",
      ".a{fill:url(#a)}".repeat(301),
    ].map((css): [string, RegExp] => [`<style>${css}</style>`, /few, plain rules/]),
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
      `<svg ${space}><style type="text/css">\n\t.st0{fill:#E30613;}\n\t.st1{fill:url(#a);}\n\t.st2,.st3{clip-path:url("#c");stroke-dasharray:4,2;}\n</style>${gradient}<clipPath id="c"><rect/></clipPath>${rects(300, "path", 'class="st1 st2" d="M0 0h10v10H0z"')}</svg>`,
    ],
    [
      "draw.io's light-dark()",
      `<svg ${space} style="background:light-dark(#fff, #121212)"><rect style="fill: light-dark(#ffffff, var(--ge-dark-color, #121212));"/></svg>`,
    ],
    ["dashes", `<svg ${space}>${dashed("4 2", "M0 0L100 0 100 100z")}${dashed("none")}</svg>`],
    [
      "a pattern of dots",
      `<svg ${space} viewBox="0 0 400 400"><pattern id="a" width="4" height="4" ${inUserSpace} patternTransform="rotate(45)"><circle r="1"/></pattern><rect width="400" height="400" fill="url(#a)"/></svg>`,
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
    for (const attribute of [
      `style="fill:${"url(#a ".repeat(30_000)}"`,
      `stroke-dasharray="1${" ".repeat(200_000)}x"`,
    ]) {
      const { status } = await send(svgType, `<svg ${space}><path d="M0 0H9" ${attribute}/></svg>`);
      expect(status).toBe(422);
    }
  });

  test("that is nested as deep as 256 KiB allow is refused, too", async () => {
    const { send } = await page();
    const raw = `<svg ${space}>${"<g>".repeat(37_000)}${"</g>".repeat(37_000)}</svg>`;
    expect((await send(svgType, raw)).status).toBe(422);
  });
});
