import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { configurationBounds } from "../../src/core/limits.ts";
import { parseLongJson } from "../../src/http/responses/long-json.ts";
import { dumpTables, testAppliance } from "../support/appliance.ts";

const outcomeOf = async (text: string) => {
  try {
    return { value: await parseLongJson(text) };
  } catch (error) {
    const { code, details } = error as { code: string; details?: { path: string }[] };
    return { code, path: details?.[0]?.path };
  }
};

test("a long body is parsed like JSON.parse does", async () => {
  const spaced = fc.tuple(fc.json({ maxDepth: 5 }), fc.constantFrom("", " ", "\n\t"));
  await fc.assert(
    fc.asyncProperty(spaced, async ([text, space]) => {
      const around = `${space}${text}${space}`;
      expect(await outcomeOf(around)).toEqual({ value: JSON.parse(text) });
    }),
    { numRuns: 500 },
  );
});

test("input that JSON.parse rejects is rejected, wherever the error is", async () => {
  const text = JSON.stringify({
    source: "main",
    monitors: { a: { tags: ["x", null], n: -1.5e3 } },
  });
  for (let at = 0; at <= text.length; at++)
    for (const piece of ["", ",", "}", '"', "]", ":", "x", "\u0001", "\ufeff"]) {
      const broken = text.slice(0, at) + piece + text.slice(at + 1);
      let expected: Awaited<ReturnType<typeof outcomeOf>>;
      try {
        expected = { value: JSON.parse(broken) };
      } catch {
        expected = { code: "INVALID_JSON", path: undefined };
      }
      const found = await outcomeOf(broken);
      // JSON.parse accepts a repeated name.
      if ("code" in found && found.code === "VALIDATION_ERROR") continue;
      expect([broken, found]).toEqual([broken, expected]);
    }
});

test("a repeated name in an object is reported with its path", async () => {
  const places: [string, string][] = [
    ['{"a":1,"a":2}', "a"],
    ['{"a":{"b":1,"\\u0062":2}}', "a.b"],
    ['{"a":{"b":{"c":{"d":1,"d":2}}}}', "a.b.c.d"],
  ];
  for (const [text, path] of places)
    expect(await outcomeOf(text)).toEqual({ code: "VALIDATION_ERROR", path });
  expect(await parseLongJson('{"__proto__":{"a":1}}')).toEqual(JSON.parse('{"__proto__":{"a":1}}'));
});

const list = (count: number, entry: string) => `[${Array(count).fill(entry).join(",")}]`;
const buildObject = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(",")}}`;

/** Bodies that are expensive in different ways. */
const costly: Record<string, { body: string; path: string; code?: string }> = {
  "a page of 240,000 monitors": {
    body: `{"statusPages":{"main":{"sections":[{"name":"a","monitors":${list(240_000, '{"monitor":"a"}')}}]}}}`,
    path: "statusPages.main",
  },
  "two million numbers": { body: `{"monitors":{"a":${list(2_000_000, "1")}}}`, path: "monitors.a" },
  "many short lists of numbers": {
    body: `{"monitors":{"a":${list(20_000, list(100, "1"))}}}`,
    path: "monitors.a",
  },
  "an entry of many names": {
    body: `{"monitors":{"a":${buildObject(300_000, "1")}}}`,
    path: "monitors.a",
  },
  "a section of many names": {
    body: `{"monitors":${buildObject(300_000, "1")}}`,
    path: "monitors",
  },
  "a text of 8 MiB": { body: `{"monitors":{"a":"${"x".repeat(8_000_000)}"}}`, path: "monitors.a" },
  "a name of 8 MiB": { body: `{"monitors":{"${"x".repeat(8_000_000)}":1}}`, path: "monitors" },
  "eight million brackets": {
    body: `{"monitors":{"a":${"[".repeat(8_000_000)}`,
    path: "",
    code: "INVALID_JSON",
  },
  "an unterminated text": {
    body: `{"monitors":{"a":"${"x".repeat(100_000)}`,
    path: "",
    code: "INVALID_JSON",
  },
};

describe("a body of several MiB is rejected before it is parsed", () => {
  for (const [what, { body, path, code = "VALIDATION_ERROR" }] of Object.entries(costly))
    test(what, async () => {
      const lengths: number[] = [];
      const parse = JSON.parse.bind(JSON);
      const spy = spyOn(JSON, "parse").mockImplementation((text: string) => {
        lengths.push(text.length);
        return parse(text);
      });
      const outcome = await outcomeOf(body);
      spy.mockRestore();
      expect(outcome).toEqual({ code, path: path === "" ? undefined : path });
      expect(Math.max(0, ...lengths)).toBeLessThan(1_000);
    });
});

test("other requests are served while 8 MiB are parsed", async () => {
  const entry = JSON.stringify({ type: "http", name: "x".repeat(200), url: "https://a.example" });
  const body = `{"monitors":${buildObject(25_000, entry)}}`;
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await parseLongJson(body);
  isOver = true;
  expect(turns).toBeGreaterThan(3);
});

test("a configuration with an expensive entry is rejected at the entry, and nothing is stored", async () => {
  const appliance = await testAppliance();
  const before = dumpTables(appliance);
  const { body } = costly["a page of 240,000 monitors"] ?? {};
  const { status, json } = await appliance.ours.api("PUT", "/api/v1/config?dryRun", {
    raw: body ?? "",
  });
  expect([status, json.error.code]).toEqual([422, "VALIDATION_ERROR"]);
  expect(json.error.details[0].path).toBe("statusPages.main");
  expect(dumpTables(appliance)).toBe(before);
});

test("the values of all entries together have a limit", async () => {
  const body = `{"monitors":${buildObject(40, list(4_000, "[1]"))}}`;
  expect(await outcomeOf(body)).toEqual({ value: JSON.parse(body) });
  const maxParts = Math.ceil(configurationBounds.values.value / 8_001);
  expect(await outcomeOf(`{"monitors":${buildObject(maxParts + 1, list(4_000, "[1]"))}}`)).toEqual({
    code: "VALIDATION_ERROR",
    path: "body",
  });
});
