import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Assertion,
  assertionOps,
  type AssertionSource,
} from "../../../src/monitoring/monitors/assertions-schema.ts";
import {
  buildConditions,
  findIssue,
  repeatsSecret,
  secretsOf,
} from "../../../src/monitoring/checks/protocols/assertions.ts";
import { LongNumber } from "../../../src/core/text/decimals.ts";
import type { MonitorSettings } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { NewMonitor } from "../../../src/monitoring/monitors/schema.ts";
import { runCheckOfType, createCheckContext } from "../../support/check-runs.ts";
import { canary } from "../../support/samples.ts";
import { replyWith, replyWithRedirect, startTarget, type Target } from "../../support/target.ts";

let site: Target;
beforeAll(async () => void (site = await startTarget()));
afterAll(() => site[Symbol.asyncDispose]());

type Written = Partial<Assertion>;

function parseSettings(assertions: readonly Written[], fields: object = {}) {
  const monitor = { type: "http", name: "Target", url: site.at(), assertions, ...fields };
  return NewMonitor.parse(monitor) as unknown as MonitorSettings<"http">;
}

/** Returns the failure of an assertion about a received value, or null. */
async function issue(assertion: Written, value: unknown, fields: object = {}) {
  const settings = parseSettings([assertion], fields);
  const condition = buildConditions(settings).at(-1);
  if (condition === undefined) throw new Error("There is no condition.");
  return findIssue(condition, { value }, () => secretsOf(settings), createCheckContext());
}

const isHolding = async (assertion: Written, value: unknown) =>
  (await issue(assertion, value)) === null;

describe("an assertion holds", () => {
  const at = { source: "json", path: "$.a" } as const;
  const cases: Record<
    Assertion["op"],
    [value: Assertion["value"], good: unknown[], bad: unknown[]][]
  > = {
    equals: [
      ["1", ["1"], [1, "", "11", undefined]],
      [1, [1], ["1", true, 1.5, undefined]],
      [false, [false], [0, "", null, undefined]],
      [null, [null], [undefined, 0, "null"]],
      [2 ** 53, [new LongNumber("9007199254740992.0")], [new LongNumber("9007199254740993")]],
      ["9007199254740993", [new LongNumber("9007199254740993")], [2 ** 53]],
      [0, [-0, new LongNumber("-0e5")], [new LongNumber("1e-400")]],
    ],
    notEquals: [
      ["1", [1, undefined, null], ["1"]],
      [null, [undefined, 0], [null]],
      [
        2 ** 53,
        [new LongNumber("9007199254740993")],
        [2 ** 53, new LongNumber("9007199254740992")],
      ],
    ],
    contains: [
      ["b", ["abc", ["b"]], ["B", ["abc"], 7, null, undefined]],
      [7, [[7]], [["7"], 7, "7"]],
      [2 ** 53, [[2 ** 53]], [[new LongNumber("9007199254740993")]]],
    ],
    notContains: [["b", ["B", ["abc"], undefined, 7], ["abc", ["b"]]]],
    matches: [
      ["^a+$", ["a", "aaa"], ["ab", "", undefined, null, ["a"]]],
      ["^4\\d$", [42, "42"], [402]],
      ["(?i)größe", ["GRÖSSE: größe"], ["grosse"]],
    ],
    notMatches: [["^a+$", ["ab", "", undefined, null, ["a"]], ["a", "aaa"]]],
    lessThan: [
      [10, [9, "9.5", " -3 ", "1e0"], [10, "10", "9 of 10", "", null, [1], true, undefined]],
      [5, ["1.5000000000000000", new LongNumber("1.5000000000000000")], ["5.0000000000000000"]],
      ["9007199254740993", [2 ** 53], [new LongNumber("9007199254740993")]],
    ],
    lessThanOrEqual: [
      [10, [10, 9, "10.000", "1e1"], [10.5, "10.00000000000000000001", "", undefined, {}]],
    ],
    greaterThan: [
      [10, [11, "10.5", "1e3"], [10, "abc", "0x20", "Infinity", "1_000", undefined]],
      [1, ["9007199254740993", "1764175000000000000"], ["0.99999999999999999999"]],
      [2 ** 53, [new LongNumber("9007199254740993")], [2 ** 53]],
    ],
    greaterThanOrEqual: [[10, [10, 11, "10.0"], [9, "9.99999999999999999999", null, false]]],
    exists: [[null, ["", 0, null, false, {}], [undefined]]],
    notExists: [[null, [undefined], ["", 0, null, false]]],
  };
  for (const op of assertionOps)
    test(`that ${op}`, async () => {
      for (const [value, good, bad] of cases[op]) {
        for (const received of good)
          expect([value, received, await isHolding({ ...at, op, value }, received)]).toEqual([
            value,
            received,
            true,
          ]);
        for (const received of bad)
          expect([value, received, await isHolding({ ...at, op, value }, received)]).toEqual([
            value,
            received,
            false,
          ]);
      }
    });
});

describe("a check evaluates assertions about", () => {
  const page = replyWith(201, '{"queue":120,"tags":["eu"],"note":null}', {
    "content-type": "application/json",
    "x-depth": "7",
  });
  type Case = [good: Written, bad: Written, received: string | RegExp];
  const sources: Record<Exclude<AssertionSource, "certificateDays">, Case[]> = {
    status: [
      [
        { op: "lessThan", value: 300 },
        { op: "notEquals", value: 201 },
        "the status must not be 201, received 201",
      ],
    ],
    header: [
      [
        { path: "CONTENT-Type", op: "equals", value: "application/json" },
        { path: "Content-Type", op: "matches", value: "^text/" },
        'the header Content-Type must match "^text/", received "application/json"',
      ],
      [
        { path: "X-Depth", op: "lessThan", value: 8 },
        { path: "X-Gone", op: "exists" },
        "the header X-Gone must be there, received nothing",
      ],
    ],
    body: [
      [
        { op: "contains", value: "queue" },
        { op: "contains", value: "Queue" },
        'the body must contain "Queue", received "{"queue":120,"tags":["eu"],"note":null}"',
      ],
      [
        { op: "matches", value: '"queue":1\\d\\d,' },
        { op: "notContains", value: "queue" },
        'the body must not contain "queue", received "{"queue":120,"tags":["eu"],"note":null}"',
      ],
      [
        { op: "exists" },
        { op: "equals", value: "" },
        'the body must be "", received "{"queue":120,"tags":["eu"],"note":null}"',
      ],
    ],
    json: [
      [
        { path: "$.tags", op: "contains", value: "eu" },
        { path: "$.queue", op: "lessThan", value: 100 },
        "the value at $.queue must be less than 100, received 120",
      ],
      [
        { path: "$.note", op: "equals", value: null },
        { path: "$.tags", op: "equals", value: "eu" },
        'the value at $.tags must be "eu", received a list',
      ],
      [
        { path: "$.none", op: "notExists" },
        { path: "$.none", op: "greaterThan", value: 0 },
        "the value at $.none must be greater than 0, received nothing",
      ],
    ],
    latency: [
      [
        { op: "lessThan", value: 60_000 },
        { op: "greaterThan", value: 60_000 },
        /^the latency in ms must be greater than 60000, received \d+$/,
      ],
    ],
    redirectCount: [
      [
        { op: "equals", value: 1 },
        { op: "equals", value: 0 },
        "the number of redirects must be 0, received 1",
      ],
    ],
  };
  for (const [source, cases] of Object.entries(sources))
    test(`the ${source}, and reports the failed assertion and the received value`, async () => {
      site.setReply(page, "/page");
      site.setReply(replyWithRedirect("/page"), "/");
      for (const [good, bad, received] of cases) {
        const assertions = [good, bad].map((each) => ({ source, ...each }));
        const url = site.at();
        const up = await runCheckOfType("http", { url, assertions: assertions.slice(0, 1) });
        expect([source, up.message, up.status]).toEqual([source, up.message, "up"]);
        const down = await runCheckOfType("http", { url, assertions });
        expect(down.status).toBe("down");
        const [, said = ""] =
          /^HTTP 201 \(Created\), but assertion 2 failed: (.+)\.$/s.exec(down.serverText ?? "") ??
          [];
        if (typeof received === "string") expect(said).toBe(received);
        else expect(said).toMatch(received);
        expect(down.message).toBe(`${down.serverText?.replace(/, received .*/s, "")}.`);
      }
    });

  test("JSON numbers of any length, exactly", async () => {
    site.setReply(
      replyWith(200, '{"id":9007199254740993,"sum":1.5000000000000000,"few":1e2}'),
      "/",
    );
    const stateOf = async (assertion: Written) => {
      const assertions = [{ source: "json", ...assertion }];
      const { status, serverText } = await runCheckOfType("http", { url: site.at(), assertions });
      return serverText ?? status;
    };
    const id = { path: "$.id" };
    expect(await stateOf({ ...id, op: "equals", value: 2 ** 53 })).toEndWith(
      "the value at $.id must be 9007199254740992, received 9007199254740993.",
    );
    for (const assertion of [
      { ...id, op: "equals", value: "9007199254740993" },
      { ...id, op: "greaterThan", value: 2 ** 53 },
      { ...id, op: "greaterThan", value: "9007199254740992" },
      { ...id, op: "matches", value: "^9007199254740993$" },
      { path: "$.sum", op: "equals", value: 1.5 },
      { path: "$.few", op: "equals", value: 100 },
    ] as const)
      expect([assertion, await stateOf(assertion)]).toEqual([assertion, "up"]);
    const short = { url: site.at(), jsonPath: "$.id", jsonEquals: 2 ** 53 };
    expect(await runCheckOfType("http", short)).toMatchObject({ status: "down" });
  });

  test("the remaining days of its certificate, if it has one", async () => {
    site.setReply(replyWith(), "/");
    const readText = async (op: string) => {
      const assertions = [{ source: "certificateDays", op }];
      return (await runCheckOfType("http", { url: site.at(), assertions })).serverText ?? "holds";
    };
    expect(await readText("notExists")).toBe("holds");
    expect(await readText("exists")).toEndWith("must be there, received nothing.");
  });

  test("several sources and the short forms, which are reported first", async () => {
    site.setReply(replyWith(200, "fine"), "/");
    const assertions = [{ source: "body", op: "equals", value: "other" }];
    const findOutcome = async (fields: object) =>
      (await runCheckOfType("http", { url: site.at(), assertions, ...fields })).message;
    expect(await findOutcome({ expectedStatus: ["404"] })).toBe("HTTP 200 (OK), expected 404.");
    expect(await findOutcome({ keyword: "none" })).toBe(
      "HTTP 200 (OK), but the keyword is missing.",
    );
    expect(await findOutcome({})).toBe(
      'HTTP 200 (OK), but assertion 1 failed: the body must be "other".',
    );
    const status = [{ source: "status", op: "equals", value: 404 }];
    site.setReply(replyWith(404), "/");
    const any = { url: site.at(), assertions: status, expectedStatus: ["100-599"] };
    expect(await runCheckOfType("http", any)).toMatchObject({ status: "up" });
  });
});

describe("the received value in a message", () => {
  const describeReceived = async (assertion: Written, value: unknown, fields: object = {}) =>
    (await issue(assertion, value, fields))?.serverText?.replace(/.*, received /s, "");

  test("is shortened to its start, on one line", async () => {
    const body = { source: "body", op: "equals", value: "x" } as const;
    expect(await describeReceived(body, `a\nb${"😀".repeat(200)}`)).toBe(
      `"a↵b${"😀".repeat(97)}…"`,
    );
  });

  test("hides values with the name of a credential", async () => {
    const hidden = "what may hold a credential and is not shown";
    for (const path of [
      "Set-Cookie",
      "WWW-Authenticate",
      "X-Auth-Token",
      "X-Api-Key",
      "Session-Id",
    ])
      expect([
        path,
        await describeReceived({ source: "header", path, op: "equals", value: "x" }, "y"),
      ]).toEqual([path, hidden]);
    for (const path of ["$.access_token", "$['api-key']", "$.user.password", "$.clientSecret"])
      expect([
        path,
        await describeReceived({ source: "json", path, op: "equals", value: "x" }, "y"),
      ]).toEqual([path, hidden]);
    const cookieExists = { source: "header", path: "Set-Cookie", op: "exists" } as const;
    expect(await describeReceived(cookieExists, undefined)).toBe("nothing");
  });

  test("hides the monitor's secrets at any position", async () => {
    const secrets = {
      bearerToken: canary,
      basicAuth: { username: "probe", password: `p${canary}"` },
      headers: { "X-Team": `h${canary}`, Accept: "application/json" },
    };
    const echo = (text: string) => replyWith(200, text, { "x-echo": text.slice(-200) });
    const pair = Buffer.from(`probe:p${canary}"`).toString("base64");
    for (const text of [canary, `Bearer ${canary}`, pair, JSON.stringify(`p${canary}"`)]) {
      site.setReply(echo(`${"x".repeat(90)}${text}`), "/echo");
      for (const assertion of [
        { source: "body", op: "contains", value: "none" },
        { source: "body", op: "equals", value: "none" },
        { source: "body", op: "matches", value: "^none" },
        { source: "header", path: "X-Echo", op: "equals", value: "none" },
      ]) {
        const fields = { ...secrets, url: site.at("/echo"), assertions: [assertion] };
        const { status, serverText } = await runCheckOfType("http", fields);
        expect([status, serverText?.replace(/.*received/, "")]).toEqual([
          "down",
          " what may hold a credential and is not shown.",
        ]);
      }
    }
    const type = {
      source: "header",
      path: "Content-Type",
      op: "equals",
      value: "text/html",
    } as const;
    expect(await describeReceived(type, "application/json", secrets)).toBe('"application/json"');
  });

  test("is visible only to the organization; public messages only name the assertion", async () => {
    site.setReply(replyWith(200, canary), "/");
    for (const op of ["equals", "matches", "contains"] as const) {
      const assertions = [{ source: "body", op, value: "x" }];
      const { message, serverText } = await runCheckOfType("http", { url: site.at(), assertions });
      expect(message).not.toContain(canary);
      expect(serverText).toContain(canary);
    }
  });
});

test("a secret is recognized if the excerpt ends within it", () => {
  const secret = "s3cr3t-".repeat(200);
  const text = `${"x".repeat(390)}${secret}`;
  expect(repeatsSecret(text, () => [secret])).toBe(true);
  expect(
    repeatsSecret(`${"x".repeat(390)}${encodeURIComponent(`ä${secret}`)}`, () => [`ä${secret}`]),
  ).toBe(true);
  expect(repeatsSecret(text, () => ["other-secret", "another"])).toBe(false);
  // The secret is outside the excerpt.
  expect(repeatsSecret(`${"x".repeat(500)}${secret}`, () => [secret])).toBe(false);
  // A prefix of the secret does not count.
  expect(repeatsSecret("code s3cr", () => [secret])).toBe(false);
});

test("a secret is recognized by its visible characters", () => {
  const secret = `${"\u200b".repeat(300)}Pass word`;
  for (const text of ["x PASSWORD", "pass\u200bword", `${"\u200b".repeat(90)}Pass word`])
    expect([text, repeatsSecret(text, () => [secret])]).toEqual([text, true]);
  expect(repeatsSecret("anything", () => ["\u200b".repeat(4_000)])).toBe(false);
});

test("a secret is recognized in every encoding of a response", () => {
  const secret = `a+b & "c" 'd' <é>/`;
  const spelled = [
    secret,
    JSON.stringify({ secret }),
    encodeURIComponent(secret),
    new URLSearchParams({ secret }).toString(),
    Bun.escapeHTML(secret),
    `<a>a+b &amp; &quot;c&quot; &apos;d&apos; &lt;é&gt;/</a>`,
    Buffer.from(secret).toString("base64"),
    Buffer.from(secret).toString("hex"),
    Buffer.from(secret).toString("hex").toUpperCase(),
    secret.toUpperCase(),
    Array.from(secret).join("\0"),
    Array.from(secret).join("\u200b"),
    Array.from(secret).join(" "),
  ];
  for (const text of spelled)
    expect([text, repeatsSecret(text, () => ["none", secret])]).toEqual([text, true]);
  expect(repeatsSecret("another", () => [secret, "", "half of a pair: \ud800"])).toBe(false);
});
