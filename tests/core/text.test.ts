import { expect, test } from "bun:test";
import {
  excerptText,
  excerptName,
  formatCount,
  formatFieldPath,
  toRemoteLine,
} from "../../src/core/text/formatting.ts";

test("a field's path is in JavaScript notation", () => {
  expect(formatFieldPath([])).toBe("");
  expect(formatFieldPath(["monitorIds", 3])).toBe("monitorIds[3]");
  expect(formatFieldPath([0, "name", "first"])).toBe("[0].name.first");
});

test("a count has separators between thousands", () => {
  const counts = [0, 7, 999, 1_000, 12_345, 999_999.6, 1_234_567];
  expect(counts.map(formatCount)).toEqual(
    counts.map((count) =>
      new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 }).format(count),
    ),
  );
});

test("an excerpt has a maximum number of code points and never splits one", () => {
  expect(excerptText("abc", 3)).toBe("abc");
  expect(excerptText("abcd", 3)).toBe("abc…");
  expect(excerptText("😀😀😀", 3)).toBe("😀😀😀");
  expect(excerptText("😀😀😀😀", 3)).toBe("😀😀😀…");
  expect(excerptText("a\n\ud800", 3)).toBe("a↵�");
  expect(excerptText("{\r\n\t1}\n\r\u001b")).toBe("{↵ 1}↵↵�");
  expect(excerptText(`a${"😀".repeat(9)}`, 3)).toBe("a😀😀…");
  expect(excerptText("x".repeat(1_000_000))).toBe(`${"x".repeat(60)}…`);
});

const misleading = [
  0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x061c,
  0x200b, 0x2028, 0x2029, 0x2060, 0x2064, 0x206f, 0xfeff, 0xad, 0xe0041,
].map((code) => String.fromCodePoint(code));

test("text from strangers can't reorder or hide the text around it", () => {
  for (const one of misleading) {
    expect([escape(one), excerptText(`7.2${one}gpj`)]).toEqual([escape(one), "7.2�gpj"]);
    expect([escape(one), toRemoteLine(`7.2${one}gpj\n`, 20)]).toEqual([escape(one), "7.2gpj "]);
  }
  for (const fine of ["שלום 7.2", "می‌خواهم", "👩‍👩‍👧", "日本"]) {
    expect(excerptText(fine)).toBe(fine);
    expect(toRemoteLine(fine, 60)).toBe(fine);
  }
});

test("a name preserves the marks of its script", () => {
  expect(excerptName("חנות\u200f Shop", 60)).toBe("חנות\u200f Shop");
  expect(excerptName("a\nb", 60)).toBe("a↵b");
});
