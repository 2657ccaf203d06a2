import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { buildRequestHead } from "../../src/core/outgoing/http/request.ts";
import {
  boundValues,
  fillEncoded,
  fillPlaceholders,
  fillJson,
  fillUrl,
  fillXml,
  type Scalar,
} from "../../src/core/text/placeholders.ts";
import { encodeBody } from "../../src/monitoring/checks/kinds/http-body-types.ts";

/** Possible content of a response, including characters with a meaning in the target. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom(
        "/",
        "?",
        "#",
        "&",
        "=",
        "%",
        ".",
        "\\",
        '"',
        "\r\n",
        "{",
        "}",
        "\0",
        "\ud800",
        "ä",
        "{{x}}",
        "..",
        "$&",
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join("")),
);
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const runs = { numRuns: 100 };
const origin = "http://shop.lan:8080";
const bound = (value: Scalar, limit = Infinity) => boundValues(() => value, limit, Error);

describe("any value is inserted only at its placeholder:", () => {
  test("in the path and the query of a URL", () => {
    fc.assert(
      fc.property(scalar, (value) => {
        const url = fillUrl("/a/{{x}}/b?c={{ x }}&d=1", origin, bound(value));
        const text = String(value).toWellFormed();
        if (/^(\.|\.\.)$/.test(text)) return expect(url).toBeNull();
        expect(url?.origin).toBe(origin);
        const [, ...segments] = url?.pathname.split("/") ?? [];
        expect(segments.map(decodeURIComponent)).toEqual(["a", text, "b"]);
        expect([...(url?.searchParams ?? [])]).toEqual([
          ["c", text],
          ["d", "1"],
        ]);
        expect(url?.hash).toBe("");
      }),
      runs,
    );
  });

  test("at the start of a path", () => {
    fc.assert(
      fc.property(scalar, (value) => {
        const url = fillUrl("/{{x}}/cart", origin, bound(value));
        if (url !== null)
          expect([url.origin, url.pathname.endsWith("/cart")]).toEqual([origin, true]);
      }),
      runs,
    );
  });

  test("in JSON, as a part of a text or as a value of its own type", () => {
    fc.assert(
      fc.property(scalar, (value) => {
        const json = '{"a": "<{{x}}>", "b": {{x}}, "c\\"": ["{{ x }}"]}';
        const expected = { a: `<${String(value)}>`, b: value, 'c"': [String(value)] };
        // A number can be written in several ways, and -0 is 0.
        expect(JSON.parse(fillJson(json, bound(value)))).toEqual(
          JSON.parse(JSON.stringify(expected)),
        );
      }),
      runs,
    );
  });

  test("in a form", () => {
    fc.assert(
      fc.property(scalar, (value) => {
        const field = {
          name: "a",
          value: fillPlaceholders("<{{x}}>", bound(value)),
          fileName: null,
          contentType: null,
        };
        const form = [field, { ...field, name: "b", value: "1" }];
        const { body } = encodeBody({ bodyType: "form", body: null, form });
        expect([...new URLSearchParams(body ?? "")]).toEqual([
          ["a", `<${String(value)}>`.toWellFormed()],
          ["b", "1"],
        ]);
      }),
      runs,
    );
  });

  test("in a multipart body", () => {
    fc.assert(
      fc.property(scalar, (value) => {
        const field = {
          name: "a",
          value: fillPlaceholders("{{x}}", bound(value)),
          fileName: null,
          contentType: null,
        };
        const { body, contentType } = encodeBody({
          bodyType: "multipart",
          body: null,
          form: [field],
        });
        const boundary = contentType?.split("boundary=")[1] ?? "";
        const [head, part, tail, ...more] = (body ?? "").split(`--${boundary}`);
        expect([head, tail, more]).toEqual(["", "--\r\n", []]);
        expect(part).toBe(
          `\r\nContent-Disposition: form-data; name="a"\r\n\r\n${String(value)}\r\n`,
        );
      }),
      runs,
    );
  });
});

test("a character outside Latin-1 becomes no line break in a header", () => {
  const head = buildRequestHead({
    url: new URL(origin),
    method: "GET",
    headers: { "X-A": "\u010a\u010d" },
    body: null,
  });
  expect(
    Buffer.from(head)
      .toString("latin1")
      .split("\r\n")
      .filter((line) => line.startsWith("X-A")),
  ).toHaveLength(1);
});

test("an unterminated JSON string is read once, however many quotes it has", () => {
  const quotes = '\\"'.repeat(30_000);
  expect(fillJson(`"${quotes}`, bound(0))).toBe(`"${quotes}`);
});

test("placeholders insert no more than the bound in all texts of a request together", () => {
  const value = "x".repeat(100);
  const values = bound(value, 250);
  expect(fillPlaceholders("{{a}}{{b}}", values)).toHaveLength(200);
  expect(() => fillJson('["{{a}}"]', values)).toThrow();
  for (const fill of [fillPlaceholders, fillJson, fillEncoded, fillXml])
    expect(() => fill("{{a}}".repeat(3), bound(value, 250))).toThrow();
  expect(() => fillUrl("/{{a}}?{{a}}&{{a}}", origin, bound(value, 250))).toThrow();
});
