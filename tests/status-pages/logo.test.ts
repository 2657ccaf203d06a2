import { describe, expect, test } from "bun:test";
import { findFile } from "../../src/status-pages/store.ts";
import { dumpTables, type Options, testAppliance, unknownId } from "../support/appliance.ts";
import { pixel } from "../support/images.ts";
import { buildHostileLogos } from "../support/status-hostile-logos.ts";
import { createSampleRecord } from "../support/records.ts";

const svgType = "image/svg+xml";
const space = 'xmlns="http://www.w3.org/2000/svg"';

async function createPage() {
  const appliance = await testAppliance();
  const { api, id: organizationId } = appliance.ours;
  const id = await createSampleRecord(api, "status-pages", { slug: "payments" });
  const path = `/api/v1/status-pages/${id}`;
  const send = (type: string, raw: NonNullable<Options["raw"]>, headers = {}) =>
    api("PUT", `${path}/logo`, { raw, headers: { "Content-Type": type, ...headers } });
  const readStored = () => findFile(appliance.store, { organizationId, id }, "logo");
  return { ...appliance, api, path, send, readStored };
}

describe("setting", () => {
  test.each([
    ["image/png", pixel.png],
    ["image/webp", pixel.webp],
    ["IMAGE/PNG", pixel.png],
  ])("an image sent as %s is stored to the byte and has a path", async (type, bytes) => {
    const { api, path, send, readStored } = await createPage();
    const { status, json } = await send(type, bytes);
    expect(status).toBe(200);
    expect(json.data.logoUrl).toMatch(/^\/status\/payments\/logo\?v=[0-9a-z]+$/);
    expect((await api("GET", path)).json).toEqual(json);
    expect(await readStored()).toMatchObject({ type: type.toLowerCase(), bytes });
  });

  test("another image has another path, and the path follows a changed slug", async () => {
    const { api, path, send } = await createPage();
    const first = (await send("image/png", pixel.png)).json.data;
    const second = (await send("image/webp", pixel.webp)).json.data;
    expect(second.logoUrl).not.toBe(first.logoUrl);
    const renamed = await api("PATCH", path, { body: { slug: "billing" } });
    expect(renamed.json.data.logoUrl).toBe(second.logoUrl.replace("payments", "billing"));
  });

  test("removing it works, even without a logo", async () => {
    const { api, path, send, readStored } = await createPage();
    await send("image/png", pixel.png);
    for (const _ of ["removed", "was gone"]) {
      const { status, json } = await api("DELETE", `${path}/logo`);
      expect([status, json.data.logoUrl]).toEqual([200, null]);
    }
    expect(await readStored()).toBe(null);
  });

  test("a new logo is a new version, an audit row and an event", async () => {
    const { api, path, send, database } = await createPage();
    const etag = (await api("GET", path)).headers.get("etag") ?? "";
    await send("image/png", pixel.png);
    const headers = { "If-Match": etag };
    expect((await send("image/png", pixel.png, headers)).status).toBe(412);
    expect((await api("DELETE", `${path}/logo`, { headers })).status).toBe(412);
    const readRows = (table: string, columns: string) =>
      database.query(`SELECT ${columns} FROM ${table} ORDER BY rowid DESC LIMIT 1`).values();
    expect(readRows("audit_entries", "action, fields")).toEqual([
      ["status-page.updated", '["logo"]'],
    ]);
    expect(readRows("events", "type")).toEqual([["status-page.updated"]]);
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
  test.each(refused)("when %s is sent: %p", async (_what, expected, type, raw) => {
    const appliance = await createPage();
    await appliance.send("image/png", pixel.png);
    const before = dumpTables(appliance);
    const { status, json } = await appliance.send(type, raw);
    expect(status).toBe(expected);
    if (status === 422) expect(json.error.details[0].path).toBe("logo");
    expect(dumpTables(appliance)).toBe(before);
  });

  test("when the key can only read, the client is a stranger, or the page does not exist", async () => {
    const appliance = await createPage();
    const { ours, theirs, stranger, path } = appliance;
    const before = dumpTables(appliance);
    const options = { raw: pixel.png, headers: { "Content-Type": "image/png" } };
    const readStatus = async (api: typeof stranger, path: string) =>
      (await api("PUT", `${path}/logo`, options)).status;
    expect(await readStatus(ours.reader, path)).toBe(403);
    expect(await readStatus(stranger, path)).toBe(401);
    expect(await readStatus(theirs.api, path)).toBe(404);
    expect(await readStatus(ours.api, `/api/v1/status-pages/${unknownId}`)).toBe(404);
    expect(dumpTables(appliance)).toBe(before);
  });

  test("no other route accepts an image", async () => {
    const { api, path } = await createPage();
    const options = { raw: pixel.png, headers: { "Content-Type": "image/png" } };
    expect((await api("PATCH", path, options)).status).toBe(415);
    expect((await api("POST", "/api/v1/status-pages", options)).status).toBe(415);
    expect((await api("DELETE", `${path}/logo`, options)).status).toBe(415);
  });
});

describe("an SVG", () => {
  const drawn = '<rect width="9" height="9"/>';
  const accepted: [what: string, raw: NonNullable<Options["raw"]>][] = [
    [
      "an XML declaration and comments",
      `\ufeff<?xml version="1.0"?><!-- Editor --><svg ${space}/>`,
    ],
    [
      "the public DOCTYPE",
      `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "a.dtd"><svg ${space}/>`,
    ],
    ["a prefix", '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'],
    [
      "masks, filters and patterns",
      `<svg ${space}><filter id="a"/><use href="#a"/><pattern/></svg>`,
    ],
    ["an embedded image", `<svg ${space}><image href="data:image/png;base64,AA"/></svg>`],
    [
      "text in ISO-8859-1",
      new Uint8Array(Buffer.from(`<svg ${space}><text>\u00e9</text></svg>`, "latin1")),
    ],
    ["5,000 elements", `<svg ${space}>${drawn.repeat(4_999)}</svg>`],
    ...buildHostileLogos("https://evil.example"),
  ];
  test.each(accepted)("with %s is stored to the byte", async (_what, raw) => {
    const { send, readStored } = await createPage();
    const { status, text } = await send(svgType, raw);
    expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
    expect(Buffer.from((await readStored())?.bytes ?? [])).toEqual(Buffer.from(raw));
  });

  const refused: [what: string, raw: string, named: RegExp][] = [
    ["5,001 elements", `<svg ${space}>${drawn.repeat(5_000)}</svg>`, /5000 elements/],
    ["entities", `<!DOCTYPE svg [<!ENTITY a "<g/>">]><svg ${space}>&a;</svg>`, /entities/],
    ["another root", `<g ${space}/>`, /its root/],
    ["no namespace", "<svg/>", /its root/],
    ["256 KiB of nested elements", `<svg ${space}>${"<g>".repeat(37_000)}`, /5000 elements/],
  ];
  test.each(refused)("with %s is rejected with the reason", async (_what, raw, named) => {
    const { send, readStored } = await createPage();
    const { status, json } = await send(svgType, raw);
    expect([status, json.error?.details[0].path]).toEqual([422, "logo"]);
    expect(json.error.details[0].message).toMatch(named);
    expect(await readStored()).toBe(null);
  });
});
