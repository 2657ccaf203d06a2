import { describe, expect, test } from "bun:test";
import {
  createOwnBytesResponse,
  createTransferLimit,
  largeFrom,
} from "../../src/http/responses/large-bodies.ts";
import { createRequestHandler } from "../../src/http/listener.ts";
import { createRequestMetrics } from "../../src/http/request-metrics.ts";
import { dumpTables, testAppliance, unknownId } from "../support/appliance.ts";

const path = "/api/v1/incidents";
const limit = 256 * 1024;
const slow = JSON.stringify({ title: "Slow" });

/** A body of exactly this size. */
function bodyOf(bytes: number): string {
  const padding = " ".repeat(bytes - slow.length);
  return slow + padding;
}

describe("media type", () => {
  const types: [type: string, status: number][] = [
    ["application/json", 201],
    ["APPLICATION/JSON", 201],
    ["application/json; charset=utf-8", 201],
    ['application/json;charset="UTF-8"', 201],
    ["", 415],
    ["text/plain", 415],
    ["application/jsonx", 415],
    ["application/json-patch+json", 415],
    ["application/json; charset=latin1", 415],
    ["application/json, text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
    ["multipart/form-data; boundary=x", 415],
  ];
  test.each(types)("a body sent as %p gets %p", async (type, expected) => {
    const { ours } = await testAppliance();
    const headers = { "Content-Type": type };
    expect((await ours.api("POST", path, { raw: slow, headers })).status).toBe(expected);
  });

  test("a compressed body is rejected", async () => {
    const { ours } = await testAppliance();
    const send = async (coding: string) =>
      (await ours.api("POST", path, { raw: slow, headers: { "Content-Encoding": coding } })).status;
    expect([await send("identity"), await send("gzip"), await send("br")]).toEqual([201, 415, 415]);
  });

  test("a POST without a body needs no content type; it accepts an empty object and no fields", async () => {
    const { ours } = await testAppliance();
    const { json } = await ours.api("POST", path, { body: { title: "Slow" } });
    const resolve = `${path}/${json.data.id}/resolve`;
    expect((await ours.api("POST", resolve)).status).toBe(200);
    expect((await ours.api("POST", resolve, { body: {} })).status).toBe(200);
    expect((await ours.api("POST", resolve, { body: { status: "monitoring" } })).status).toBe(422);
    const headers = { "Content-Type": "text/plain" };
    expect((await ours.api("POST", resolve, { raw: "{}", headers })).status).toBe(415);
  });
});

describe("length", () => {
  test("256 KiB are accepted, one byte more is not", async () => {
    const { ours } = await testAppliance();
    const send = async (bytes: number) =>
      (await ours.api("POST", path, { raw: bodyOf(bytes) })).status;
    expect([await send(limit), await send(limit + 1)]).toEqual([201, 413]);
  });

  test("a body without a length is read up to 256 KiB", async () => {
    const { app, ours } = await testAppliance();
    async function stream(text: string, endless = false) {
      let cancelled = false;
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from(text));
          if (!endless) controller.close();
        },
        pull: (controller) => controller.enqueue(Buffer.alloc(64 * 1024, " ")),
        cancel: () => void (cancelled = true),
      });
      const response = await app.handle(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: {
            Host: "localhost",
            Authorization: `Bearer ${ours.writeKey.key}`,
            "Content-Type": "application/json",
            "Transfer-Encoding": "chunked",
          },
          body,
        }),
      );
      return [response.status, cancelled];
    }
    expect(await stream(bodyOf(limit))).toEqual([201, false]);
    expect(await stream(bodyOf(limit + 1))).toEqual([413, false]);
    expect(await stream(slow, true)).toEqual([413, true]);
  });
});

test("a handler that reads any body gets nothing of one that is too long or has no length", async () => {
  const { appliance, proxies } = await testAppliance();
  const handle = createRequestHandler(
    {
      log: appliance.log,
      tls: null,
      proxies,
      requests: createRequestMetrics(),
      transfers: createTransferLimit(),
    },
    async (request) => {
      const { length } = await request.bytes();
      return new Response(String(length));
    },
  );
  async function read(header: Record<string, string>) {
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.alloc(64 * 1024, " ")),
      cancel: () => void (cancelled = true),
    });
    const headers = { Host: "localhost", ...header };
    const request = new Request("http://localhost/", { method: "POST", headers, body });
    return [await (await handle(request)).text(), cancelled];
  }
  expect(await read({ "Content-Length": String(limit + 1) })).toEqual(["0", true]);
  expect(await read({ "Content-Length": "10000000000" })).toEqual(["0", true]);
  expect((await read({ "Transfer-Encoding": "chunked" }))[0]).toBe("0");
});

describe("JSON", () => {
  const buildNested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const buildWithTitle = (title: string) => `{"title":${title}}`;
  const buildBytes = (...parts: (string | number[])[]) =>
    new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  const bodies: [what: string, raw: string | Uint8Array<ArrayBuffer>, status: number][] = [
    ["nothing", "", 400],
    ["half an object", "{", 400],
    ["a trailing comma", '{"title":"Slow",}', 400],
    ["two values", `${slow}{}`, 400],
    ["NaN", buildWithTitle("NaN"), 400],
    ["a raw line break in a text", buildWithTitle('"a\nb"'), 400],
    ["invalid UTF-8", buildBytes('{"title":"', [0xff], '"}'), 400],
    ["an overlong encoding", buildBytes('{"title":"', [0xc0, 0xaf], '"}'), 400],
    ["a surrogate encoded as UTF-8", buildBytes('{"title":"', [0xed, 0xa0, 0x80], '"}'), 400],
    ["UTF-16", new Uint8Array(Buffer.from(slow, "utf16le")), 400],
    ["33 levels", buildNested(33), 400],
    ["60 KB of opening brackets", "[".repeat(60_000), 400],
    ["60 KB of opening braces", '{"a":'.repeat(12_000), 400],
    ["32 levels", buildNested(32), 422],
    ["null", "null", 422],
    ["a list", "[]", 422],
    ["a text", '"title"', 422],
    ["a lone surrogate as an escape", buildWithTitle('"\\ud800"'), 422],
    ["a prototype", '{"title":"Slow","__proto__":{"severity":"major"}}', 422],
    ["5,001 entries, more than any list can have", buildWithTitle(`[${"1,".repeat(5000)}1]`), 422],
    ["brackets inside a text", buildWithTitle(`"${"[".repeat(100)}"`), 201],
    ["an escaped quotation mark before brackets", buildWithTitle(`"\\"${"[".repeat(100)}"`), 201],
    ["a pair of surrogates as escapes", buildWithTitle('"\\ud83d\\ude00"'), 201],
    ["a byte order mark, ignored as RFC 8259 §8.1 allows", `\ufeff${slow}`, 201],
  ];
  test.each(bodies)("%s", async (_what, raw, expected) => {
    const appliance = await testAppliance();
    const before = dumpTables(appliance);
    const { status, json } = await appliance.ours.api("POST", path, { raw });
    expect(status).toBe(expected);
    if (expected === 400) expect(json.error.code).toBe("INVALID_JSON");
    if (expected !== 201) expect(dumpTables(appliance)).toBe(before);
  });

  test("an error names at most 20 fields, shortens their names and never repeats a value", async () => {
    const { ours } = await testAppliance();
    const fields = Array.from({ length: 50 }, (_, index) => [`field${index}`, "PASSWORD"]);
    const body = { ["n".repeat(5000)]: "PASSWORD", ...Object.fromEntries(fields), title: 7 };
    const { status, json, text } = await ours.api("POST", path, { body });
    expect(status).toBe(422);
    expect(json.error.details).toHaveLength(20);
    expect(text).not.toContain("PASSWORD");
    expect(text.length).toBeLessThan(5000);
  });

  test("a list with too many entries is named by its whole path", async () => {
    const { ours } = await testAppliance();
    const long = Array.from({ length: 5_001 }, () => 1);
    for (const [body, path] of [
      [{ title: "x", impacts: [{ monitorId: long }] }, "impacts[0].monitorId"],
      [{ title: "x", translations: { de: { message: [[], long] } } }, "translations.de.message[1]"],
      [{ monitorIds: long }, "monitorIds"],
      [long, "body"],
    ] as const) {
      const { status, json } = await ours.api("POST", "/api/v1/incidents", { body });
      expect([status, json.error.details[0].path]).toEqual([422, path]);
    }
  });

  test("a malformed id is an invalid value in a body and an unknown record in a path", async () => {
    const { ours } = await testAppliance();
    const body = { title: "Slow", monitorId: "7" };
    expect((await ours.api("POST", path, { body })).status).toBe(422);
    for (const id of ["7", `${unknownId}x`, "%00", "..%2f", "%F0%9F%98%80", "'"])
      expect([id, (await ours.api("GET", `${path}/${id}`)).status]).toEqual([id, 404]);
  });
});

test("without memory for a large response, clients repeat a read but not a write, which was carried out", async () => {
  const { appliance, proxies } = await testAppliance();
  const { log } = appliance;
  const transfers = createTransferLimit(0);
  const handle = createRequestHandler(
    { log, tls: null, proxies, requests: createRequestMetrics(), transfers },
    () => createOwnBytesResponse(new Uint8Array(largeFrom), {}),
  );
  async function send(method: string) {
    const headers = { Host: "localhost" };
    const response = await handle(new Request("http://localhost/", { method, headers }));
    const { error } = (await response.json()) as { error: { message: string } };
    return [response.status, response.headers.get("retry-after"), error.message];
  }
  expect(await send("GET")).toEqual([503, "2", expect.stringContaining("Try again")]);
  expect(await send("POST")).toEqual([503, null, expect.stringContaining("was carried out")]);
});
