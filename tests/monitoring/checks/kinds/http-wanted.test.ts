import { describe, expect, test } from "bun:test";
import { runCheckOfType, startListener, replyOnce } from "../../../support/check-runs.ts";
import { canary } from "../../../support/samples.ts";
import {
  replyWith,
  hang,
  replyWithRedirect,
  type Reply,
  reset,
  startTarget,
} from "../../../support/target.ts";

/** Message of a check whose target responds like this. */
async function findOutcome(reply: Reply, fields: object = {}): Promise<string> {
  await using shop = await startTarget(reply);
  const { status, message } = await runCheckOfType("http", { url: shop.at(), ...fields });
  return `${status}: ${message.replaceAll(/\d+ ms/g, "# ms")}`;
}

const buildJson = (value: unknown) =>
  replyWith(200, JSON.stringify(value), { "content-type": "application/json" });
const upLine = "up: HTTP 200 (OK) in # ms, first byte after # ms.";
const describeIssue = (issue: string) => `down: HTTP 200 (OK), but ${issue}.`;

describe("an expected response", () => {
  const cases: [what: string, reply: Reply, fields: object, found: string][] = [
    [
      "any status of 200 to 299",
      replyWith(299),
      {},
      "up: HTTP 299 in # ms, first byte after # ms.",
    ],
    ["not another status", replyWith(404), {}, "down: HTTP 404 (Not Found), expected 200-299."],
    [
      "only the expected status",
      replyWith(200),
      { expectedStatus: ["204", "400-499"] },
      "down: HTTP 200 (OK), expected 204 or 400-499.",
    ],
    [
      "the last of an expected range",
      replyWith(499),
      { expectedStatus: ["204", "400-499"] },
      "up: HTTP 499 in # ms, first byte after # ms.",
    ],
    ["the keyword", replyWith(200, "all is fine"), { keyword: "is fine" }, upLine],
    [
      "not the keyword in another case",
      replyWith(),
      { keyword: "Fine" },
      describeIssue("the keyword is missing"),
    ],
    ["the keyword beyond ASCII", replyWith(200, "schön 😀"), { keyword: "ön 😀" }, upLine],
    ["without the forbidden word", replyWith(200, "fine"), { keywordAbsent: "error" }, upLine],
    [
      "not with it",
      replyWith(200, "no error"),
      { keywordAbsent: "error" },
      describeIssue("it has the keyword that must be absent"),
    ],
    [
      "not with both words",
      replyWith(200, "fine error"),
      { keyword: "fine", keywordAbsent: "error" },
      describeIssue("it has the keyword that must be absent"),
    ],
    [
      "no body if no condition reads it",
      replyWith(204, ""),
      {},
      "up: HTTP 204 (No Content) in # ms, first byte after # ms.",
    ],
    [
      "not an empty body",
      replyWith(200, ""),
      { keyword: "x" },
      describeIssue("the keyword is missing"),
    ],
    ["something at the path", buildJson({ a: null }), { jsonPath: "$.a" }, upLine],
    [
      "not nothing at the path",
      buildJson({ b: 1 }),
      { jsonPath: "$.a" },
      describeIssue("it has nothing at $.a"),
    ],
    [
      "the text at the path",
      buildJson({ a: ["ok"] }),
      { jsonPath: "$.a[0]", jsonEquals: "ok" },
      upLine,
    ],
    ["the number", buildJson({ a: 1.5 }), { jsonPath: "$.a", jsonEquals: 1.5 }, upLine],
    ["false", buildJson({ a: false }), { jsonPath: "$.a", jsonEquals: false }, upLine],
    [
      "not a number as text",
      buildJson({ a: "1" }),
      { jsonPath: "$.a", jsonEquals: 1 },
      describeIssue("the value at $.a is another"),
    ],
    ["the whole", buildJson("ok"), { jsonPath: "$", jsonEquals: "ok" }, upLine],
    [
      "not other text than JSON",
      replyWith(200, "<a>"),
      { jsonPath: "$.a" },
      describeIssue("it is not JSON"),
    ],
    [
      "a JSON of 256 levels",
      replyWith(200, `${"[".repeat(256)}${JSON.stringify('[["[')}${"]".repeat(256)}`),
      { jsonPath: "$[0]" },
      upLine,
    ],
    [
      "not one of 257, which is not read",
      replyWith(200, "[".repeat(257) + "]".repeat(257)),
      { jsonPath: "$" },
      describeIssue("it is nested deeper than 256 levels"),
    ],
    [
      "not half of a JSON",
      replyWith(200, '{"a":1'),
      { jsonPath: "$.a" },
      describeIssue("it is not JSON"),
    ],
    [
      "not an empty body as JSON",
      replyWith(200, ""),
      { jsonPath: "$" },
      describeIssue("it is not JSON"),
    ],
    [
      "a redirect that is not followed",
      replyWithRedirect("/other"),
      { followRedirects: false, expectedStatus: ["302"] },
      "up: HTTP 302 (Found) in # ms, first byte after # ms.",
    ],
  ];
  for (const [what, reply, fields, expected] of cases)
    test(what, async () => expect(await findOutcome(reply, fields)).toBe(expected));
});

describe("a request", () => {
  test("is as configured in the monitor, with a body of its length", async () => {
    await using shop = await startTarget();
    const fields = {
      method: "PUT",
      body: '{"größe":1}',
      headers: { "X-Team": "ops", "user-agent": "probe", Accept: "application/json" },
    };
    await runCheckOfType("http", { url: shop.at("/a%20b?c=d&e#f"), ...fields });
    const [asked] = shop.asked;
    expect(asked).toMatchObject({ method: "PUT", path: "/a%20b?c=d&e", body: fields.body });
    expect(asked?.headers).toEqual({
      host: `127.0.0.1:${shop.port}`,
      "user-agent": "probe",
      accept: "application/json",
      "accept-encoding": "gzip, deflate, br",
      "x-team": "ops",
      "content-length": "13",
      connection: "close",
    });
  });

  for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    test(`can be ${method}, without a body`, async () => {
      await using shop = await startTarget();
      expect(await runCheckOfType("http", { url: shop.at(), method })).toMatchObject({
        status: "up",
      });
      expect(shop.asked).toMatchObject([{ method, body: "" }]);
      const needsLength = ["POST", "PUT", "PATCH"].includes(method);
      expect(shop.asked[0]?.headers["content-length"]).toBe(needsLength ? "0" : undefined);
    });

  test("carries credentials unchanged, and overrides a contradicting header", async () => {
    await using shop = await startTarget();
    const headers = { AUTHORIZATION: "other" };
    const basicAuth = { username: "probe", password: "pa:ß" };
    await runCheckOfType("http", { url: shop.at(), headers, basicAuth });
    await runCheckOfType("http", { url: shop.at(), headers, bearerToken: "tokén" });
    await runCheckOfType("http", { url: shop.at(), headers });
    const sent = shop.asked.map(({ headers: { authorization = "" } }) => authorization);
    expect(sent).toEqual([
      `Basic ${Buffer.from("probe:pa:ß").toString("base64")}`,
      `Bearer ${Buffer.from("tokén").toString("latin1")}`,
      "other",
    ]);
  });

  test("that is large arrives complete", async () => {
    await using shop = await startTarget();
    const body = "ü".repeat(64 * 1024);
    await runCheckOfType("http", { url: shop.at(), method: "POST", body });
    expect(shop.asked[0]?.body === body).toBe(true);
  });
});

describe("no message contains text of the target:", () => {
  const replies: Record<string, Reply> = {
    "its body": replyWith(200, canary),
    "its body of JSON": buildJson({ [canary]: canary }),
    "its reason": (response) => void response.writeHead(500, canary).end(),
    "its headers": replyWith(404, "", { "x-a": canary, "content-type": canary }),
    "its coding": replyWith(200, "x", { "content-encoding": canary }),
    "the target of its redirect": replyWithRedirect(`http://${canary}.invalid/${canary}`),
    "the target of its redirect to another scheme": replyWithRedirect(`ftp://${canary}/`),
    "the closed target of its redirect": replyWithRedirect(`http://127.0.0.1:1/${canary}`),
    "its address": hang,
    "a reset": reset,
  };
  const asks = [
    {},
    { keyword: "missing" },
    { keywordAbsent: canary },
    { jsonPath: "$.status" },
    { bearerToken: canary, headers: { "X-Key": canary }, expectedStatus: ["201"] },
  ];
  for (const [name, reply] of Object.entries(replies))
    test(name, async () => {
      await using shop = await startTarget(reply);
      for (const fields of asks) {
        const settings = { url: shop.at(`/${canary}`), ...fields };
        const { message } = await runCheckOfType("http", settings, { timeoutMs: 200 });
        expect(message).not.toContain(canary);
      }
    });

  test("input that is not HTTP", async () => {
    await using shop = await startListener(replyOnce(`${canary} ${canary}\r\n\r\n`));
    const { message } = await runCheckOfType("http", { url: shop.url });
    expect(message).toBe("The response is not valid HTTP.");
  });
});
