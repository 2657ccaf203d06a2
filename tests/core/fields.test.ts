import { describe, expect, test } from "bun:test";
import { z } from "zod";
import {
  bodySchema,
  EmailAddress,
  Headers,
  Host,
  HttpUrl,
  Id,
  idSet,
  line,
  optionalParagraphs,
  paragraphs,
  toPatchShape,
  Port,
  secret,
  Tags,
} from "../../src/core/fields.ts";

const controls = ["\u0000", "\u0007", "\r", "\u001b", "\u007f", "\u0085"];
const surrogates = ["\ud800", "a\udc00", "\udc00\ud800"];
const blanks = [" ", "\u00a0\u2003", "\u200b", "\u2060\ufeff", "\u3000"];
const buildHeader = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, "a"]));

const cases: Record<string, { field: z.ZodType; takes: unknown[]; refuses: unknown[] }> = {
  "a required line": {
    field: line(5),
    takes: ["a", " a ", "😀".repeat(5), "e\u0301", "\u200fab", "👩‍💻"],
    refuses: [
      "",
      ...blanks,
      ...controls,
      ...surrogates,
      "a\nb",
      "a\tb",
      "\u202eab",
      "abcdef",
      7,
      null,
    ],
  },
  "required paragraphs": {
    field: paragraphs(5),
    takes: ["a\nb", "\ta\n", "\u202eab", "😀\n😀\n😀", "a\r\nb"],
    refuses: ["", ...blanks, "\n\t\n", ...controls, ...surrogates, "a\rb", "a\n\rb", "abcdef"],
  },
  "optional paragraphs": {
    field: optionalParagraphs(5),
    takes: ["", "\n\n"],
    refuses: [...controls, ...surrogates, "abcdef", null],
  },
  "an id": {
    field: Id,
    takes: ["0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10", "00000000-0000-0000-0000-000000000000"],
    refuses: ["", "7", "0199a3f05c1e7cc0b1a53f2d8e6a9b10", "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b1g"],
  },
  "a port": {
    field: Port,
    takes: [1, 65_535],
    refuses: [0, -1, 65_536, 1.5, "80", Infinity, NaN],
  },
  "an http(s) URL": {
    field: HttpUrl,
    takes: [
      "http://nas",
      "HTTPS://intranet.lan:8443/a?b=c#d",
      "http://192.168.1.1/",
      "http://[fd00::1]:80/",
      "http://127.0.0.1",
      "http://bücher.example/straße",
      "http://host/@name?to=a@b.example",
      `http://h/${"x".repeat(2039)}`,
    ],
    refuses: [
      "",
      "nas",
      "//nas/path",
      "http:/nas",
      "http:nas",
      "http://",
      "http://?x",
      "http:///x",
      "http://nas:99999",
      "http://nas:port",
      "http://[fd00::1",
      "http://256.1.1.1",
      "javascript:alert(1)",
      "file:///etc/passwd",
      "data:text/plain,x",
      "ftp://nas",
      " http://nas",
      "http://nas/a b",
      "http://nas/\r\nHost: other",
      "http://nas\\@other",
      "http://nas/\u0000",
      "http://nas/\ud800",
      "http://user:pass@nas",
      "http://user@nas",
      "http://@nas",
      "http://:@nas",
      `http://h/${"x".repeat(2040)}`,
    ],
  },
  "an e-mail address": {
    field: EmailAddress,
    takes: [
      "oncall@team.example",
      "ops@xn--e1afmkfd.xn--p1ai",
      "a&b=c/d@example.test",
      "!#$%&'*+-/=?^_`{|}~@example.test",
      "root@localhost",
      "ops@nas",
      "a.b.c@3com.example",
      "a@b-c.d1",
      `${"a".repeat(64)}@team.example`,
    ],
    refuses: [
      "",
      "ops",
      "@team.example",
      "ops@",
      "ops@-nas",
      "ops@nas-",
      "ops@team..example",
      "ops@.example",
      "ops@team.example.",
      "ops@1.2.3.4",
      "ops@1",
      "ops@nas:25",
      "ops@nas/x",
      "ops@nas?x",
      "ops@nas#x",
      "ops@a%62.example",
      "a@b@team.example",
      ".a@team.example",
      "a.@team.example",
      "a..b@team.example",
      "a b@team.example",
      "a,b@team.example",
      "a@team.example\n",
      "a@te\u0000am.example",
      '"a b"@team.example',
      "Ann <ann@team.example>",
      "ä@team.example",
      `${"a".repeat(65)}@team.example`,
      `a@${"b".repeat(64)}.example`,
      `a@${"b.".repeat(126)}example`,
      `a@${"ü".repeat(63)}.example`,
      7,
      null,
    ],
  },
  "a host": {
    field: Host,
    takes: [
      "nas",
      "db.lan",
      "db.lan.",
      "_dmarc.example.org",
      "192.168.1.1",
      "::1",
      "fd00::1",
      "xn--bcher-kva.example",
      "bücher.example",
      "3com.example",
      `${"a".repeat(63)}.lan`,
    ],
    refuses: [
      "",
      " ",
      "-f",
      "nas-",
      ".lan",
      "a..b",
      "a b",
      "a/b",
      "a:80",
      "[::1]",
      "http://nas",
      "user@nas",
      "256.1.1.1",
      "1.2.3",
      "1234",
      "nas;reboot",
      "$(reboot)",
      "nas\n",
      "nas\u0000",
      "a\ud800",
      `${"a".repeat(64)}.lan`,
      "a.".repeat(127),
    ],
  },
  "request headers": {
    field: Headers,
    takes: [{}, { Accept: "" }, { "X_Team.1": "a\tb é" }, buildHeader(50), { A: "x".repeat(4096) }],
    refuses: [
      buildHeader(51),
      { "": "a" },
      { "A B": "a" },
      { "A:": "a" },
      { "A\r\n": "a" },
      { ["x".repeat(101)]: "a" },
      { A: "a\r\nB: c" },
      { A: "a\u0000" },
      { A: "€" },
      { A: "\u0085" },
      JSON.parse('{"__proto__":"a"}'),
      { A: "x".repeat(4097) },
      { A: 1 },
      { A: null },
      { accept: "a", Accept: "b" },
      { Host: "other" },
      { "content-length": "0" },
      { "TRANSFER-ENCODING": "chunked" },
      { Connection: "close" },
      [],
      null,
    ],
  },
  tags: {
    field: Tags,
    takes: [[], ["a".repeat(50)], Array.from("abcdefghij")],
    refuses: [[""], [" "], ["a".repeat(51)], Array.from("abcdefghijk"), [1], "a", null],
  },
  "a secret": {
    field: secret(),
    takes: ["x".repeat(1000), " p a s s "],
    refuses: ["", " ", "a\n", "a\u0000", "x".repeat(1001), 7],
  },
};

for (const [name, { field, takes, refuses }] of Object.entries(cases))
  test(`${name} is stored exactly as sent, or rejected`, () => {
    for (const value of takes) expect([value, field.safeParse(value).data]).toEqual([value, value]);
    for (const value of refuses)
      expect([value, field.safeParse(value).success]).toEqual([value, false]);
  });

describe("sets", () => {
  test("duplicates are merged after counting, in the order of their first occurrence", () => {
    expect(Tags.parse(["b", "a", "b", "A"])).toEqual(["b", "a", "A"]);
    const [a, b] = ["0199a3f0-0000-7000-8000-00000000000a", "0199a3f0-0000-7000-8000-00000000000b"];
    expect(idSet(3).parse([b, a, b])).toEqual([b, a]);
    expect(idSet(2).safeParse([b, a, b]).success).toBe(false);
  });
});

describe("a patch", () => {
  const fields = {
    name: line(5),
    color: z.enum(["gray", "red"]).default("gray"),
    note: z.string().nullable().default(null),
  };

  test("adds no defaults, and accepts the same values as creation", () => {
    const Patch = z.strictObject(toPatchShape(fields));
    expect(Patch.parse({})).toEqual({});
    expect(Patch.parse({ color: "red", note: null })).toEqual({ color: "red", note: null });
    for (const value of [{ name: "" }, { name: null }, { color: null }, { other: 1 }])
      expect([value, Patch.safeParse(value).success]).toEqual([value, false]);
  });

  test("read-only fields are dropped with any value; others are not", () => {
    const Body = bodySchema(["id", "createdAt"], z.strictObject(toPatchShape(fields)));
    expect(Body.parse({ id: 7, createdAt: null, name: "a" })).toEqual({ name: "a" });
    for (const value of [{ ID: 1 }, [], null, "id", 7])
      expect([value, Body.safeParse(value).success]).toEqual([value, false]);
  });
});

test("the international domain of an e-mail address is stored in ASCII, any other address as sent", () => {
  expect(EmailAddress.parse("Ops@Müller.example")).toBe("Ops@xn--mller-kva.example");
  expect(EmailAddress.parse("a@почта.рф")).toBe("a@xn--80a1acny.xn--p1ai");
  expect(EmailAddress.parse("Ops@NAS.Example")).toBe("Ops@NAS.Example");
});
