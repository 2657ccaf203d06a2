import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findValue } from "../../../src/monitoring/checks/protocols/json-path.ts";
import { JsonPath } from "../../../src/monitoring/monitors/assertions-schema.ts";

const response = {
  status: "ok",
  count: 0,
  ready: false,
  nothing: null,
  items: [{ state: "up", "odd.key": 1 }, { state: "down" }, ["nested", [7]]],
  naïve_名: "letters of any script",
  "kebab-key": "kebab",
  "": { "": "empty names" },
  "it's": 1,
  'say "hi"': 2,
  "a[0].b": "looks like a path",
  length: 3,
};

const found: [path: string, value: unknown][] = [
  ["$", response],
  ["$.status", "ok"],
  ["$.count", 0],
  ["$.ready", false],
  ["$.nothing", null],
  ["$.items[0].state", "up"],
  ["$.items[1]['state']", "down"],
  ['$["items"][0]["odd.key"]', 1],
  ["$.items[2][1][0]", 7],
  ["$.naïve_名", "letters of any script"],
  ["$.kebab-key", "kebab"],
  ["$['']['']", "empty names"],
  [`$["it's"]`, 1],
  [`$['say "hi"']`, 2],
  ["$['a[0].b']", "looks like a path"],
  ["$.length", 3],
];

describe("a JSON path", () => {
  for (const [path, value] of found)
    test(`${path} leads to its value`, () => expect(findValue(response, path)).toEqual(value));

  for (const path of [
    "$.missing",
    "$.status.length",
    "$.status[0]",
    "$.items[3]",
    "$.items.length",
    "$.items['0']",
    "$.items[0][0]",
    "$.nothing.more",
    "$.count[0]",
    "$.toString",
    "$.constructor",
    "$.__proto__",
    "$.items.map",
  ])
    test(`${path} is undefined`, () => expect(findValue(response, path)).toBeUndefined());

  test("a path that ends with .length() counts elements, characters and members", () => {
    const json = { list: [1, [2], 3], text: "größe", empty: [], object: { a: 1, b: 2 }, no: null };
    expect(findValue(json, "$.list.length()")).toBe(3);
    expect(findValue(json, "$.list[1].length()")).toBe(1);
    expect(findValue(json, "$.empty.length()")).toBe(0);
    expect(findValue(json, "$.text.length()")).toBe(5);
    expect(findValue(json, "$.object.length()")).toBe(2);
    expect(findValue(json, "$.length()")).toBe(5);
    for (const path of ["$.no.length()", "$.missing.length()", "$.list[0].length()"])
      expect(findValue(json, path)).toBeUndefined();
    expect(findValue({ length: 7 }, "$.length")).toBe(7);
    expect(JsonPath.safeParse("$.items.length()").success).toBe(true);
    for (const path of ["$.length().a", "$.a()", "length()"])
      expect(JsonPath.safeParse(path).success).toBe(false);
  });

  test("does not find inherited properties", () => {
    expect(findValue(JSON.parse('{"__proto__": {"state": "up"}}'), "$.__proto__.state")).toBe("up");
    expect(findValue(JSON.parse('{"a": 1}'), "$.__proto__")).toBeUndefined();
  });

  test("into a scalar is undefined, and $ is the value itself", () => {
    for (const json of [null, 1, "text", true]) {
      expect(findValue(json, "$")).toBe(json);
      expect(findValue(json, "$.a")).toBeUndefined();
      expect(findValue(json, "$[0]")).toBeUndefined();
    }
  });

  test("reaches every value of any JSON", () => {
    const name = fc
      .string({ unit: "grapheme", maxLength: 4 })
      .filter((text) => !/['\\\p{Cc}]/u.test(text) && text !== "__proto__");
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(null, true, 0, "text"),
        fc.array(tie("json"), { maxLength: 3 }),
        fc.dictionary(name, tie("json"), { maxKeys: 3 }),
      ),
    }));
    const buildPlaces = (value: unknown, path: string): [string, unknown][] => [
      [path, value],
      ...(typeof value !== "object" || value === null
        ? []
        : Object.entries(value).flatMap(([key, inner]) =>
            buildPlaces(inner, path + (Array.isArray(value) ? `[${key}]` : `['${key}']`)),
          )),
    ];
    fc.assert(
      fc.property(json, (json) => {
        for (const [path, value] of buildPlaces(json, "$"))
          expect(findValue(json, path)).toEqual(value);
      }),
    );
  });
});
