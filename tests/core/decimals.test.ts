import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  compareDecimals,
  parseExactNumber,
  isDecimal,
  LongNumber,
} from "../../src/core/text/decimals.ts";
import { findLossyInteger, parseExactly } from "../../src/core/text/exact-json.ts";

describe("decimal numbers", () => {
  test("are compared without rounding, in any notation", () => {
    for (const [less, more] of [
      ["9007199254740992", "9007199254740993"],
      ["-9007199254740993", "-9007199254740992"],
      ["0.1", "0.10000000000000000001"],
      ["9.99", "1e1"],
      ["-1", "1e-999999"],
      ["1e-400", "1e400"],
      ["-0.5", ".25"],
      ["99", "0100."],
    ] as const) {
      expect([less, more, compareDecimals(less, more)]).toEqual([less, more, expect.any(Number)]);
      expect(compareDecimals(less, more)).toBeLessThan(0);
      expect(compareDecimals(more, less)).toBeGreaterThan(0);
    }
    for (const [one, other] of [
      ["1.5000000000000000", "1.5"],
      ["1e3", "1000"],
      ["-0", "0.0e9"],
      ["+5", " 5 "],
      ["1200E-2", "12"],
      [`1${"0".repeat(400)}`, "1e400"],
    ] as const)
      expect([one, other, compareDecimals(one, other)]).toEqual([one, other, 0]);
  });

  test("are compared like whole numbers", () => {
    const scaled = fc.tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(30));
    const writeSample = ([value, zeros]: [bigint, number]) =>
      `${value}${"0".repeat(zeros)}e-${zeros}`;
    fc.assert(
      fc.property(scaled, scaled, (one, other) => {
        const expected = one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0;
        expect(Math.sign(compareDecimals(writeSample(one), writeSample(other)))).toBe(expected);
      }),
    );
  });

  test("are distinguished from similar text", () => {
    for (const text of ["", ".", "-", "0x10", "1_000", "1,5", "Infinity", "NaN", "1e", "1 2", "e5"])
      expect([text, isDecimal(text), compareDecimals(text, "1")]).toEqual([
        text,
        false,
        Number.NaN,
      ]);
  });

  test("stay text if a double would change them", () => {
    expect(["12", "0.10", "9007199254740992", "1e3"].map(parseExactNumber)).toEqual([
      12,
      0.1,
      2 ** 53,
      1e3,
    ]);
    for (const text of ["9007199254740993", "1e400", "0.12345678901234567890", "many"])
      expect(parseExactNumber(text)).toBe(text);
  });
});

describe("JSON with long numbers", () => {
  test("preserves them, and parses everything else like JSON.parse", () => {
    const text =
      '{"id":-9007199254740993,"list":[1e400,"9007199254740993","\\"12345678901234567890"],"a":1.5,"z":-0}';
    const { id, list, ...rest } = parseExactly(text) as Record<string, unknown>;
    expect(id).toEqual(new LongNumber("-9007199254740993"));
    expect(list).toEqual([new LongNumber("1e400"), "9007199254740993", '"12345678901234567890']);
    expect(rest).toEqual({ a: 1.5, z: -0 });
    expect(JSON.stringify({ id })).toBe('{"id":-9007199254740993}');
  });

  test("preserves them also under the name __proto__", () => {
    const text = '{"__proto__":12345678901234567890,"a":{"__proto__":{"b":1e400}}}';
    expect(JSON.stringify(parseExactly(text))).toBe(text);
  });

  test("accepts only what JSON.parse accepts", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(JSON.parse(JSON.stringify(parseExactly(json)))).toEqual(JSON.parse(json));
      }),
    );
    for (const text of [
      "[1.2.3.4.5.6.7.8.9.0]",
      "[012345678901234567]",
      "[1e5",
      "[-e5]",
      "1234567890123456x",
    ])
      expect(() => parseExactly(text)).toThrow(SyntaxError);
  });

  test("names the first whole number that would be rounded", () => {
    expect(findLossyInteger('{"a":[{"b":"9007199254740993"},{"b":9007199254740993}]}')).toBe(
      "a[1].b",
    );
    expect(findLossyInteger('{"a":9007199254740992,"b":0.30000000000000004444}')).toBeNull();
  });
});
