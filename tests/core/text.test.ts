import { expect, test } from "bun:test";
import { excerpt, fieldPath } from "../../src/core/text.ts";

test("a field's path is written as in JavaScript", () => {
  expect(fieldPath([])).toBe("");
  expect(fieldPath(["monitorIds", 3])).toBe("monitorIds[3]");
  expect(fieldPath([0, "name", "first"])).toBe("[0].name.first");
});

test("an excerpt has at most so many code points and never ends within one", () => {
  expect(excerpt("abc", 3)).toBe("abc");
  expect(excerpt("abcd", 3)).toBe("abc…");
  expect(excerpt("😀😀😀", 3)).toBe("😀😀😀");
  expect(excerpt("😀😀😀😀", 3)).toBe("😀😀😀…");
  expect(excerpt("a\n\ud800", 3)).toBe("a��");
  expect(excerpt(`a${"😀".repeat(9)}`, 3)).toBe("a😀😀…");
  expect(excerpt("x".repeat(1_000_000))).toBe(`${"x".repeat(60)}…`);
});
