import { expect, test } from "bun:test";
import fc from "fast-check";
import { readQueryParameter } from "../../src/http/query-parameter.ts";

test("a query parameter has the value that URLSearchParams finds", () => {
  const text = fc.stringMatching(/^[a-c=&%+?;1-]{0,12}$/);
  fc.assert(
    fc.property(text, fc.constantFrom("a", "b", "ab"), (query, name) => {
      const request = new Request(`http://box.example/status/acme?${query}`);
      const expected = new URL(request.url).searchParams.get(name);
      expect(readQueryParameter(request, name)).toBe(expected);
    }),
    { numRuns: 2_000, examples: [["?a=+", "a"]] },
  );
  expect(readQueryParameter(new Request("http://box.example/?lang=de"), "lang")).toBe("de");
  expect(readQueryParameter(new Request("http://box.example/?l%61ng=de"), "lang")).toBe("de");
  expect(readQueryParameter(new Request("http://box.example/lang=de"), "lang")).toBeNull();
});
