/** HTTP monitors with several steps: saved values, credentials, limits and validation. */
import { describe, expect, test } from "bun:test";
import { runCheckOfType, runUntilTimedOut } from "../../../support/check-runs.ts";
import { createDashboard } from "../../../support/dashboard.ts";
import { canary } from "../../../support/samples.ts";
import {
  replyWith,
  hang,
  replyWithRedirect,
  type Reply,
  startTarget,
} from "../../../support/target.ts";

const buildJson = (body: unknown): Reply => replyWith(200, JSON.stringify(body));
const save = (name: string, path: string) => ({ name, source: "json", path });
const token = { save: [save("token", "$.token")] };

/** Result of checking a site with these responses by path, and its requests. */
async function findOutcome(
  replies: Record<string, Reply>,
  fields: object,
  circumstances: object = {},
) {
  await using site = await startTarget();
  for (const [path, reply] of Object.entries(replies)) site.setReply(reply, path);
  const outcome = await runCheckOfType(
    "http",
    { url: site.at("/first"), ...fields },
    circumstances,
  );
  return { outcome, asked: site.asked };
}

/** Runs the steps with this first response. Returns status, message and number of requests. */
async function runWithFirstReply(first: Reply, fields: object, circumstances: object = {}) {
  const { outcome, asked } = await findOutcome({ "/first": first }, fields, circumstances);
  return [outcome.status, outcome.message, asked.length];
}

test("a placeholder that is repeated thousands of times makes no request of any length", async () => {
  const fields = {
    method: "POST",
    variables: { a: "x".repeat(4_000) },
    headers: { "X-A": "{{a}}" },
  };
  for (const repeated of [
    { body: "{{a}}".repeat(70) },
    { bodyType: "json", body: JSON.stringify("{{a}}".repeat(70)) },
    { bodyType: "form", form: [{ name: "b", value: "{{a}}".repeat(70) }] },
  ])
    expect(await runWithFirstReply(replyWith(200), { ...fields, ...repeated })).toEqual([
      "down",
      "Its values have more than 262,144 characters in one request.",
      0,
    ]);
});

test("a saved number is sent as received, however long it is", async () => {
  const { asked } = await findOutcome(
    { "/first": replyWith(200, '{"id":9007199254740993,"rate":1.10e5}') },
    {
      save: [save("id", "$.id"), save("rate", "$.rate")],
      steps: [
        {
          url: "/orders/{{id}}",
          method: "POST",
          bodyType: "json",
          body: '{"id":{{id}},"text":"{{id}}","rate":{{rate}}}',
        },
      ],
    },
  );
  expect(asked[1]).toMatchObject({
    path: "/orders/9007199254740993",
    body: '{"id":9007199254740993,"text":"9007199254740993","rate":1.10e5}',
  });
});

describe("a monitor with steps", () => {
  test("signs in, continues with saved values, and is up after the last step", async () => {
    const { outcome, asked } = await findOutcome(
      {
        "/first": replyWith(200, JSON.stringify({ token: "a/b c", user: { id: 7 } }), {
          "set-cookie": "sid=s1; Path=/; HttpOnly",
        }),
        "/users/7?t=a%2Fb%20c": replyWith(200, '<input name="csrf" value="x\\y">'),
      },
      {
        method: "POST",
        bodyType: "form",
        form: [{ name: "password", value: "{{password}}" }],
        variables: { password: "p&w=1" },
        save: [
          save("token", "$.token"),
          save("id", "$.user.id"),
          { name: "sid", source: "header", path: "Set-Cookie", expression: "sid=([^;]*)" },
        ],
        steps: [
          {
            url: "/users/{{id}}?t={{token}}",
            headers: { Cookie: "sid={{sid}}" },
            save: [{ name: "csrf", source: "body", expression: 'name="csrf" value="([^"]*)"' }],
          },
          {
            name: "Order",
            url: "/order",
            method: "POST",
            bodyType: "json",
            body: '{"csrf": "{{csrf}}", "user": {{id}}}',
            assertions: [{ source: "body", op: "equals", value: "fine" }],
          },
        ],
      },
    );
    expect(outcome).toMatchObject({
      status: "up",
      message: expect.stringMatching(/^3 steps in \d+ ms, the last HTTP 200 \(OK\)\.$/),
    });
    expect(asked).toMatchObject([
      { method: "POST", path: "/first", body: "password=p%26w%3D1" },
      { method: "GET", path: "/users/7?t=a%2Fb%20c", headers: { cookie: "sid=s1" } },
      { path: "/order", headers: { "content-type": "application/json" } },
    ]);
    expect(JSON.parse(asked[2]?.body ?? "")).toEqual({ csrf: "x\\y", user: 7 });
  });

  test("names the step that failed, and sends no further request", async () => {
    const steps = [{ name: "Cart", url: "/cart" }, { url: "/order" }];
    const { outcome, asked } = await findOutcome({ "/cart": replyWith(500) }, { steps });
    expect([outcome.status, outcome.message]).toEqual([
      "down",
      "Step 2 (Cart): HTTP 500 (Internal Server Error), expected 200-299.",
    ]);
    expect(asked.map(({ path }) => path)).toEqual(["/first", "/cart"]);
    expect((await findOutcome({ "/first": replyWith(404) }, { steps })).outcome.message).toBe(
      "Step 1: HTTP 404 (Not Found), expected 200-299.",
    );
  });

  test("judges each step by its own conditions, like the first request", async () => {
    const buildStep = (own: object) =>
      findOutcome({ "/s": buildJson({ a: 1 }) }, { steps: [{ url: "/s", ...own }] });
    const cases: [object, string | null][] = [
      [{ keyword: '"a"' }, null],
      [{ keyword: "b" }, "but the keyword is missing"],
      [{ keywordAbsent: "a" }, "but it has the keyword that must be absent"],
      [{ jsonPath: "$.a", jsonEquals: 1 }, null],
      [{ jsonPath: "$.b" }, "but it has nothing at $.b"],
      [
        { assertions: [{ source: "json", path: "$.a", op: "lessThan", value: 1 }] },
        "but assertion 1 failed: the value at $.a must be less than 1",
      ],
      [{ expectedStatus: ["404"] }, "expected 404"],
    ];
    for (const [own, issue] of cases)
      expect([own, (await buildStep(own)).outcome.message]).toEqual([
        own,
        issue === null ? expect.stringMatching(/^2 steps in /) : `Step 2: HTTP 200 (OK), ${issue}.`,
      ]);
  });

  test("has one timeout for all of its steps", async () => {
    const message = "Step 2: Timed out while waiting for the response.";
    const steps = [{ url: "/slow" }];
    const late = await runUntilTimedOut(
      message,
      async (timeoutMs) => (await findOutcome({ "/slow": hang }, { steps }, { timeoutMs })).outcome,
    );
    expect(late.message).toBe(message);
  });

  test("reads at most 4 MiB of all responses together", async () => {
    const long = replyWith(200, "x".repeat(1024 * 1024 - 1));
    const steps = Array.from({ length: 5 }, (_, index) => ({ url: `/${index}` }));
    const replies = Object.fromEntries(steps.map(({ url }) => [url, long]));
    const { outcome, asked } = await findOutcome(replies, { steps });
    expect(outcome.message).toBe(
      "Step 6: The responses of all steps are longer than 4 MiB together.",
    );
    expect(asked).toHaveLength(6);
  });

  test("releases each response after its step", async () => {
    const reserved = { now: 0, peak: 0 };
    const memory = {
      reserve(bytes: number) {
        reserved.now += bytes;
        reserved.peak = Math.max(reserved.peak, reserved.now);
      },
      release: (bytes: number) => void (reserved.now -= bytes),
      end() {},
    };
    const long = buildJson({ token: "x", filler: "y".repeat(600 * 1024) });
    const steps = Array.from({ length: 3 }, (_, index) => ({
      url: `/${index}`,
      jsonPath: "$.token",
    }));
    const replies = Object.fromEntries(
      ["/first", ...steps.map(({ url }) => url)].map((url) => [url, long]),
    );
    const { outcome } = await findOutcome(replies, { jsonPath: "$.token", steps }, { memory });
    expect(outcome.status).toBe("up");
    expect(reserved.peak).toBeLessThan(2 * 1024 * 1024);
  });

  test("connects to no blocked step", async () => {
    await using other = await startTarget();
    const listeners = [{ host: "127.0.0.1", port: other.port }];
    const { outcome } = await findOutcome({}, { steps: [{ url: other.at("/") }] }, { listeners });
    expect(outcome).toMatchObject({
      message: "Step 2: Blocked: the target is this appliance itself.",
      isFinal: true,
    });
    expect(other.connections()).toBe(0);
  });

  test("adds up the latencies of its steps, and reports the certificate that expires first", async () => {
    const replyLate: Reply = (response) => void setTimeout(() => replyWith()(response), 60);
    const { outcome } = await findOutcome(
      { "/first": replyLate, "/a": replyLate },
      { steps: [{ url: "/a" }] },
    );
    expect(outcome.latencyMs).toBeGreaterThanOrEqual(110);
  });
});

describe("credentials of the monitor", () => {
  const stepFields = {
    headers: { "X-Api-Key": canary, "Content-Type": "text/own" },
    basicAuth: { username: "probe", password: canary },
  };
  const sent = `Basic ${Buffer.from(`probe:${canary}`).toString("base64")}`;

  test("are sent with steps on its own origin, unless the step has its own", async () => {
    const steps = [{ url: "/a" }, { url: "/b", headers: { authorization: "Bearer {{token}}" } }];
    const { asked } = await findOutcome(
      { "/first": buildJson({ token: "t1" }) },
      { ...stepFields, ...token, steps },
    );
    expect(asked.map(({ headers }) => [headers.authorization, headers["x-api-key"]])).toEqual([
      [sent, canary],
      [sent, canary],
      ["Bearer t1", canary],
    ]);
    expect(asked.map(({ headers }) => headers["content-type"])).toEqual([
      "text/own",
      undefined,
      undefined,
    ]);
  });

  test("are not sent to another origin, which gets only those of its step", async () => {
    await using other = await startTarget();
    const steps = [{ url: other.at("/a?t={{token}}") }];
    await findOutcome({ "/first": buildJson({ token: "t1" }) }, { ...stepFields, ...token, steps });
    expect(JSON.stringify(other.asked)).not.toContain(canary);
    expect(other.asked[0]).toMatchObject({ path: "/a?t=t1" });
    expect(other.asked[0]?.headers.authorization).toBeUndefined();
  });

  test("of OAuth 2.0 are requested once for all steps, and again after a step's 401", async () => {
    await using site = await startTarget();
    await using service = await startTarget((response) => {
      response.end(JSON.stringify({ access_token: `t${service.asked.length}`, expires_in: 600 }));
    });
    site.setReply((response) => {
      response.writeHead(response.req.headers.authorization === "Bearer t2" ? 200 : 401).end();
    }, "/b");
    const { createAccessTokenCache } =
      await import("../../../../src/core/outgoing/access-tokens.ts");
    const tokens = createAccessTokenCache();
    const fields = {
      url: site.at("/first"),
      oauth2: { tokenUrl: service.at("/token"), clientId: "probe", clientSecret: canary },
    };
    await runCheckOfType("http", fields, { tokens });
    const outcome = await runCheckOfType("http", { ...fields, steps: [{ url: "/b" }] }, { tokens });
    expect(outcome.status).toBe("up");
    expect(site.asked.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t1",
      "Bearer t1",
      "Bearer t1",
      "Bearer t2",
    ]);
    expect(service.asked).toHaveLength(2);
  });
});

describe("a saved value", () => {
  const buildNext = (own: object) => ({ ...token, steps: [{ url: "/next", ...own }] });

  test.each<[string, Reply, object, string]>([
    ["does not exist", buildJson({}), token, "there is nothing"],
    ["is an object", buildJson({ token: {} }), token, "it is a list or an object"],
    ["is not in JSON", replyWith(200, "<html>"), token, "it is not JSON"],
    ["is too long", buildJson({ token: "x".repeat(9_000) }), token, "it is longer than 8 KiB"],
    [
      "is not found",
      replyWith(200, "abc"),
      { save: [{ name: "token", source: "body", expression: "d(.)" }] },
      "its expression finds nothing",
    ],
    [
      "is a missing header",
      replyWith(200),
      { save: [{ name: "token", source: "header", path: "X-Id" }] },
      "there is nothing",
    ],
  ])("that %s makes the monitor down", async (_what, first, fields, why) => {
    expect(await runWithFirstReply(first, { ...fields, steps: [{ url: "/next" }] })).toEqual([
      "down",
      `Step 1: HTTP 200 (OK), but nothing could be saved as token: ${why}.`,
      1,
    ]);
  });

  test("can't add a header or leave its folder", async () => {
    const evil = buildJson({ token: "a\r\nX-Evil: 1" });
    expect(await runWithFirstReply(evil, buildNext({ headers: { "X-Id": "{{token}}" } }))).toEqual([
      "down",
      "Step 2: A value for the header X-Id has control characters.",
      1,
    ]);
    expect(
      await runWithFirstReply(buildJson({ token: ".." }), buildNext({ url: "/a/{{token}}/b" })),
    ).toEqual(["down", "Step 2: A value for its URL would lead to another folder.", 1]);
  });

  test("is never shown, neither if a response repeats it nor as a number", async () => {
    for (const value of ["very-secret", 4_711_4_711]) {
      const repeats = {
        "/first": buildJson({ token: value }),
        "/next": buildJson({ it: value, text: `<${value}>` }),
      };
      const conditions = [
        { source: "json", path: "$.it", op: "equals", value: "x" },
        { source: "json", path: "$.text", op: "contains", value: "?" },
        { source: "body", op: "equals", value: "x" },
      ];
      for (const condition of conditions) {
        const { outcome } = await findOutcome(repeats, buildNext({ assertions: [condition] }));
        expect(outcome.serverText).toContain("what may hold a credential and is not shown");
        expect(JSON.stringify(outcome)).not.toContain(String(value));
      }
    }
  });

  test("is not sent with a redirect to another origin", async () => {
    await using other = await startTarget();
    const replies = {
      "/first": buildJson({ token: canary }),
      "/next": replyWithRedirect(other.at("/in")),
    };
    await findOutcome(replies, buildNext({ headers: { Authorization: "Bearer {{token}}" } }));
    expect(other.asked).toHaveLength(1);
    expect(JSON.stringify(other.asked)).not.toContain(canary);
  });
});

test("without saved values, braces in the first request are sent unchanged", async () => {
  const { asked } = await findOutcome(
    {},
    { method: "POST", body: "Hello {{name}}", steps: [{ url: "/a" }] },
  );
  expect(asked[0]?.body).toBe("Hello {{name}}");
});

describe("a rejected monitor has", () => {
  const step = { url: "/next" };
  test.each<[string, object, string]>([
    ["an unknown name", { steps: [{ url: "/{{token}}" }] }, "steps[0].url"],
    [
      "a name that is saved later",
      {
        steps: [
          { ...step, body: "{{a}}" },
          { ...step, ...token },
        ],
      },
      "steps[0].body",
    ],
    [
      "a name in a form",
      { variables: { a: "1" }, bodyType: "form", form: [{ name: "x", value: "{{b}}" }] },
      "form[0].value",
    ],
    ["a duplicate name", { ...token, steps: [{ ...step, ...token }] }, "steps[0].save[0].name"],
    ["an invalid name", { save: [save("a b", "$.a")] }, "save[0].name"],
    [
      "a placeholder for the host",
      { ...token, steps: [{ url: "http://{{token}}/" }] },
      "steps[0].url",
    ],
    ["another host as a path", { steps: [{ url: "//evil.lan/" }] }, "steps[0].url"],
    ["another scheme", { steps: [{ url: "file:///etc/passwd" }] }, "steps[0].url"],
    [
      "an unprotected credential",
      { steps: [{ ...step, headers: { "X-Api-Key": canary } }] },
      "steps[0].headers",
    ],
    [
      "a line break in a header",
      { steps: [{ ...step, headers: { "X-A": "a\r\nB: c" } }] },
      "steps[0].headers",
    ],
    ["invalid JSON", { steps: [{ ...step, bodyType: "json", body: "{" }] }, "steps[0].body"],
    [
      "an invalid expression",
      { save: [{ name: "a", source: "body", expression: "(" }] },
      "save[0].expression",
    ],
    [
      "an invalid expression in a step",
      { steps: [{ ...step, assertions: [{ source: "body", op: "matches", value: "(" }] }] },
      "steps[0].assertions[0].value",
    ],
    ["too many steps", { steps: Array.from({ length: 10 }, () => step) }, "steps"],
  ])("%s", async (_what, fields, path) => {
    const { api } = await createDashboard();
    const body = { type: "http", name: "Shop", url: "http://shop.lan/", ...fields };
    const { status, json: text } = await api("POST", "/api/v1/monitors", { body });
    expect([status, text.error?.details[0].path]).toEqual([422, path]);
    expect(JSON.stringify(text)).not.toContain(canary);
  });
});
