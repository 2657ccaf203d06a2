import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { convertEndpoint } from "../../src/imports/gatus/endpoints.ts";
import { Channels } from "../../src/imports/gatus/channels.ts";
import { Section } from "../../src/imports/gatus/section.ts";
import { runCheckOfType } from "../support/check-runs.ts";
import { replyWith, startTarget, type Target } from "../support/target.ts";

let site: Target;
beforeAll(async () => void (site = await startTarget()));
afterAll(() => site[Symbol.asyncDispose]());

const context = { channels: new Channels(new Section({}, "alerting")), readFile: async () => null };

const convert = (conditions: readonly string[], fields: object = {}) =>
  convertEndpoint(
    new Section({ name: "shop", url: site.at(), conditions, ...fields }, "endpoint"),
    context,
  );

type FakeResponse = { status?: number; body?: unknown; headers?: Record<string, string> };

/** Imports a monitor with these conditions, and returns the result of one check. */
async function checkConditions(
  conditions: readonly string[],
  { status = 200, body = "", headers }: FakeResponse,
) {
  const { monitor } = await convert(conditions);
  expect(monitor).toMatchObject({ isIncomplete: false, fields: { type: "http", paused: false } });
  site.setReply(
    replyWith(status, typeof body === "string" ? body : JSON.stringify(body), headers ?? {}),
  );
  const { type: _type, ...fields } = monitor.fields;
  return (await runCheckOfType("http", fields)).status;
}

/**
 * By the rules of Gatus' source: config/endpoint/condition.go and placeholder.go, jsonpath and
 * pattern.
 */
const cases: [conditions: string[], up: FakeResponse[], down: FakeResponse[]][] = [
  [["[STATUS] == 200"], [{ status: 200 }], [{ status: 204 }, { status: 500 }]],
  [["[STATUS] >= 200"], [{ status: 200 }, { status: 503 }], []],
  [["[STATUS] >= 200", "[STATUS] <= 299"], [{ status: 299 }], [{ status: 300 }, { status: 404 }]],
  [["[STATUS] == 204", "[STATUS] < 300"], [{ status: 204 }], [{ status: 200 }]],
  [["[STATUS] > 199", "[STATUS] != 204"], [{ status: 205 }], [{ status: 204 }]],
  [["[STATUS] == pat(2*)"], [{ status: 202 }], [{ status: 302 }, { status: 420 }]],
  [["[STATUS] != any(500, 503)"], [{ status: 502 }, { status: 200 }], [{ status: 503 }]],
  [["200 == [STATUS]"], [{ status: 200 }], [{ status: 201 }]],
  [["300 > [STATUS]"], [{ status: 200 }], [{ status: 300 }]],
  [["[status] == 0xC8"], [{ status: 200 }], [{ status: 201 }]],
  // Gatus parses everything after the operator as a number, which fails and yields 0.
  [["[STATUS] >= 300 && [STATUS] < 400"], [{ status: 200 }], []],
  [["[BODY] == pat(ok*)"], [{ body: "ok" }, { body: "ok, thanks\n" }], [{ body: "not ok at all" }]],
  [["[BODY] == pat(*ok)"], [{ body: "not ok\n" }], [{ body: "ok then" }]],
  [["[BODY] == pat(ok)"], [{ body: " ok\n" }], [{ body: "okay" }, { body: "not ok" }]],
  [["[BODY] == pat(*ok*)"], [{ body: "not ok at all" }], [{ body: "fine" }]],
  [["[BODY] == pat(*a?c*)"], [{ body: "xxabcxx" }], [{ body: "xxacxx" }]],
  [["[BODY] == pat(*[0-9]*)"], [{ body: "build 7" }], [{ body: "build" }]],
  [["[BODY] == pat(*one*two*)"], [{ body: "one\nand two" }], [{ body: "two one" }]],
  // Gatus removes the slashes of pattern and body.
  [
    ["[BODY] == pat(*</html>*)"],
    [{ body: "<html></html>" }, { body: "<html>" }],
    [{ body: "<body>" }],
  ],
  [["[BODY] != pat(*error*)"], [{ body: "fine" }], [{ body: "an error occurred" }]],
  [["[BODY] != pat(error*)"], [{ body: "no error" }], [{ body: "error 5" }]],
  [["[BODY] == OK"], [{ body: "OK\n" }], [{ body: "OK?" }, { body: "ok" }]],
  [["[BODY] != OK"], [{ body: "KO" }], [{ body: "OK\n" }]],
  [["[BODY] == any(UP, READY)"], [{ body: "READY\n" }], [{ body: "DOWN" }, { body: "UP READY" }]],
  [["[BODY] == 1.5 (beta)"], [{ body: "1.5 (beta)" }], [{ body: "1x5 (beta)" }]],
  [["has([BODY]) == true"], [{ body: "x" }], [{ body: "" }, { body: " \n" }]],
  [["len([BODY]) > 0"], [{ body: "x" }, { body: [1] }], [{ body: "" }, { body: [] }]],
  [["[BODY].version == 1.10"], [{ body: { version: "1.10" } }], [{ body: { version: 1.1 } }]],
  [
    ["[BODY].version == 1.5"],
    [{ body: { version: 1.5 } }, { body: { version: "1.5" } }],
    [{ body: { version: "1.50" } }],
  ],
  [
    ["[BODY].code == 0"],
    [{ body: { code: 0 } }, { body: { code: "0" } }],
    [{ body: { code: 10 } }, { body: {} }],
  ],
  [
    ["[BODY].code != 0"],
    [{ body: { code: 1 } }, { body: {} }],
    [{ body: { code: 0 } }, { body: { code: "0" } }],
  ],
  [
    ["[BODY].ok == true"],
    [{ body: { ok: true } }, { body: { ok: "true" } }],
    [{ body: { ok: false } }, { body: { ok: 1 } }],
  ],
  [
    ["[BODY].status == UP"],
    [{ body: { status: "UP" } }],
    [{ body: { status: "DOWN" } }, { body: {} }],
  ],
  [
    ["[BODY].status != DOWN"],
    [{ body: { status: "UP" } }, { body: {} }],
    [{ body: { status: "DOWN" } }],
  ],
  [
    ["[BODY].status == any(UP, 1)"],
    [{ body: { status: "UP" } }, { body: { status: 1 } }],
    [{ body: { status: 2 } }],
  ],
  [
    ["[BODY].status != any(a, b)"],
    [{ body: { status: "c" } }, { body: {} }],
    [{ body: { status: "b" } }],
  ],
  [
    ["[BODY].name == pat(shop-*)"],
    [{ body: { name: "shop-1" } }],
    [{ body: { name: "the shop-1" } }],
  ],
  [
    ["[BODY].name != pat(shop-*)"],
    [{ body: { name: "my shop-1" } }],
    [{ body: { name: "shop-1" } }],
  ],
  [
    ["[BODY].status-code == 200"],
    [{ body: { "status-code": 200 } }],
    [{ body: { "status-code": 500 } }],
  ],
  [["[BODY].a b.c$d == 1"], [{ body: { "a b": { c$d: 1 } } }], [{ body: {} }]],
  [
    ["[BODY].items[1].id == 7"],
    [{ body: { items: [{}, { id: 7 }] } }],
    [{ body: { items: [{ id: 7 }] } }],
  ],
  [["[BODY][0].id == 7"], [{ body: [{ id: 7 }] }], [{ body: [] }]],
  [
    ["[BODY].queue < 100"],
    [{ body: { queue: 99 } }, { body: { queue: "7" } }],
    [{ body: { queue: 100 } }],
  ],
  [["[BODY].queue <= 100"], [{ body: { queue: 100 } }], [{ body: { queue: 101 } }]],
  [["[BODY].queue >= 100"], [{ body: { queue: 100 } }], [{ body: { queue: 99 } }]],
  [["100 < [BODY].queue"], [{ body: { queue: 101 } }], [{ body: { queue: 100 } }]],
  [
    ["len([BODY].items) > 3"],
    [{ body: { items: [1, 2, 3, 4] } }],
    [{ body: { items: [1, 2, 3] } }, { body: {} }],
  ],
  [["len([BODY].items) == 0"], [{ body: { items: [] } }], [{ body: { items: [1] } }, { body: {} }]],
  [["len([BODY].name) == 8"], [{ body: { name: "john.doe" } }], [{ body: { name: "john" } }]],
  [["[BODY].errors == []"], [{ body: { errors: [] } }], [{ body: { errors: ["x"] } }]],
  [["has([BODY].error) == false"], [{ body: {} }], [{ body: { error: "x" } }]],
  [["has([BODY].data) == true"], [{ body: { data: 1 } }], [{ body: {} }]],
  [
    ["[HEADER].Content-Type == pat(application/json*)"],
    [{ headers: { "content-type": "application/json; charset=utf-8" } }],
    [{ headers: { "content-type": "text/html" } }],
  ],
  [["[CONNECTED] == true"], [{ status: 200 }, { status: 500 }], []],
  [["[RESPONSE_TIME] < 30s"], [{ status: 200 }], []],
  [["[RESPONSE_TIME] > 30s"], [], [{ status: 200 }]],
  [["has([STATUS]) == true", "[DNS_RCODE] != NOERROR"], [{ status: 500 }], []],
];

describe("an imported condition", () => {
  for (const [conditions, up, down] of cases)
    test(`${conditions.join(" and ")} has the same meaning as in Gatus`, async () => {
      for (const one of up)
        expect([one, await checkConditions(conditions, one)]).toEqual([one, "up"]);
      for (const one of down)
        expect([one, await checkConditions(conditions, one)]).toEqual([one, "down"]);
    });

  test("on the latency is compared in milliseconds, for any unit", async () => {
    for (const [condition, op, value] of [
      ["[RESPONSE_TIME] < 0.5s", "lessThan", 500],
      ["[RESPONSE_TIME] <= 200", "lessThanOrEqual", 200],
      ["[RESPONSE_TIME] < 1m", "lessThan", 60_000],
    ]) {
      const { monitor } = await convert([String(condition)]);
      expect(monitor.fields["assertions"]).toEqual([{ source: "latency", op, value }]);
    }
  });

  test("without a status accepts any", async () => {
    const { monitor } = await convert(["[BODY] == OK"]);
    expect(monitor.fields["expectedStatus"]).toEqual(["100-999"]);
  });
});

describe("a condition that can't be checked pauses its monitor and is reported with the reason:", () => {
  const reasons: [condition: string, why: string][] = [
    ["[STATUS] == ", "no status satisfies it"],
    ["[STATUS] > 599", "HTTP has no status above 599"],
    ["[BODY].a == [BODY].b", "compares two parts of a response"],
    ["age([HEADER].Last-Modified) < 10m", "calls age()"],
    ["[BODY].tags == [a b]", "compares a list or an object as text"],
    ["[BODY].x == null", "never holds in Gatus either"],
    ["len([BODY]) > 100", "elements of a list"],
    ["[BODY][*].ok == true", "path can't be followed"],
    ["[CONTEXT].token == x", "no counterpart"],
    ["1 == 2", "never holds in Gatus either"],
    ["nonsense", "has no operator"],
    ["[IP] == pat(10.*)", "only compared with one address"],
    [`[BODY] == ${"x".repeat(3_000)}`, "more than 2000 characters"],
  ];
  for (const [condition, why] of reasons)
    test(condition.slice(0, 40), async () => {
      const { monitor } = await convert([condition]);
      const { fields, notes, isIncomplete } = monitor;
      expect({ type: fields["type"], paused: fields["paused"], isIncomplete }).toEqual({
        type: "http",
        paused: true,
        isIncomplete: true,
      });
      expect(notes[0]).toStartWith("Paused: it lacks");
      expect(notes[0]).toContain(why);
      expect(notes[0]).toContain(condition.slice(0, 30).trim());
      expect(fields["description"]).toContain(why);
    });
});

test("expressions of hostile conditions are read in time proportional to their length", async () => {
  const hostile = [
    `${"1".repeat(1_900)} < [STATUS]`,
    `pat(${"*a".repeat(900)}) == ${"a".repeat(90)}`,
    `[BODY].${"a.".repeat(900)}b == 1`,
    `[STATUS] == pat(${"[".repeat(1_500)})`,
  ];
  const { monitor } = await convert(hostile);
  expect(monitor.isIncomplete).toBe(true);
});

describe("other types check", () => {
  const importAll = async (url: string, conditions: string[], fields: object = {}) =>
    (await convert(conditions, { url, ...fields })).monitor;

  test.each(
    ["tcp", "tls", "starttls", "ssh", "grpc", "grpcs"].flatMap((scheme) =>
      [21, 22, 25, 80, 443, 8080].map((port) => [scheme, port] as const),
    ),
  )("%s at the port %i of the URL", async (scheme, port) => {
    const ssh = { username: "", password: "" };
    const { fields } = await importAll(`${scheme}://a.example:${port}`, ["[CONNECTED] == true"], {
      ssh,
    });
    expect(fields).toMatchObject({ host: "a.example", port, paused: false });
  });

  test("[CONNECTED] == false as an inverted monitor", async () => {
    const monitor = await importAll("tcp://closed.example:23", ["[CONNECTED] == false"]);
    expect(monitor).toMatchObject({
      isIncomplete: false,
      fields: { type: "tcp", inverted: true, paused: false },
    });
    const imported = await importAll("http://closed.example", [
      "[CONNECTED] == false",
      "[BODY] == OK",
    ]);
    expect(imported).toMatchObject({ isIncomplete: true, fields: { paused: true } });
  });

  test("WebSockets and gRPC", async () => {
    expect(
      await importAll(
        "wss://probe:pw@chat.example/ws",
        ["[CONNECTED] == true", "[BODY] == pat(*pong*)"],
        {
          body: "ping",
          headers: { "X-Team": "core" },
          client: { insecure: "yes" },
        },
      ),
    ).toMatchObject({
      isIncomplete: false,
      fields: {
        type: "websocket",
        url: "wss://chat.example/ws",
        send: "ping",
        expect: "pong",
        verifyTls: false,
        headers: { "X-Team": "core", Authorization: "Basic cHJvYmU6cHc=" },
      },
    });
    expect(
      await importAll("grpcs://api.example:443", [
        "[CONNECTED] == true",
        "[BODY].status == SERVING",
      ]),
    ).toMatchObject({
      isIncomplete: false,
      fields: { type: "grpc", host: "api.example", port: 443, tls: true },
    });
    expect(
      await importAll("grpc://api.example:50051", ["[BODY].status == NOT_SERVING"]),
    ).toMatchObject({
      isIncomplete: true,
      fields: { type: "grpc", port: 50_051, tls: false, paused: true },
    });
  });

  test("text over TCP", async () => {
    expect(
      await importAll("tcp://cache.example:6379", ["[BODY] == pat(*PONG*)"], { body: "PING\r\n" }),
    ).toMatchObject({
      isIncomplete: false,
      fields: { type: "tcp", send: "PING\r\n", expect: "PONG" },
    });
  });

  test("DNS for records, not only for the response code", async () => {
    const dns = { "query-name": "example.org", "query-type": "A" };
    const notesOf = async (condition: string) =>
      (await convert([condition], { url: "9.9.9.9", dns })).monitor.notes.join();
    expect(await notesOf("[DNS_RCODE] == NOERROR")).toContain(
      "Also down if the name has no such record",
    );
    expect(await notesOf("[BODY] == 192.0.2.1")).toBe("");
  });

  test("DNS with a resolver by name, which needs its address", async () => {
    const dns = { "query-name": "example.org.", "query-type": "MX" };
    const byName = await importAll("dns.example", ["[DNS_RCODE] == NOERROR"], { dns });
    expect(byName).toMatchObject({
      isIncomplete: true,
      fields: { type: "dns", host: "example.org", recordType: "MX", resolver: null, paused: true },
    });
    expect(byName.notes.join()).toContain("lacks the IP address of its name server dns.example");
    for (const [url, resolver] of [
      ["9.9.9.9:5353", "9.9.9.9:5353"],
      ["[2620:fe::fe]:53", "[2620:fe::fe]:53"],
      ["2620:fe::fe", "2620:fe::fe"],
    ])
      expect((await importAll(url ?? "", [], { dns })).fields["resolver"]).toBe(resolver);
  });

  test("the address and the domain of a host with monitors of their own", async () => {
    const { monitor, parts } = await convert(
      ["[STATUS] == 200", "[IP] == 192.0.2.7", "[DOMAIN_EXPIRATION] > 720h"],
      { url: "https://acme.example/health" },
    );
    expect(monitor).toMatchObject({ isIncomplete: false, fields: { type: "http", paused: false } });
    expect(parts.map(({ fields }) => fields)).toMatchObject([
      {
        type: "dns",
        name: "shop: address",
        host: "acme.example",
        recordType: "A",
        expected: ["192.0.2.7"],
      },
      { type: "domain", name: "shop: domain", domain: "acme.example", minDays: 30 },
    ]);
    expect(monitor.notes.join()).toContain("“shop: address” checks the address of its host");
  });

  test("an unsupported type is imported as the closest one, paused", async () => {
    for (const url of ["udp://game.example:27015", "sctp://core.example:38412"]) {
      const monitor = await importAll(url, ["[CONNECTED] == true"]);
      expect(monitor).toMatchObject({ isIncomplete: true, fields: { type: "tcp", paused: true } });
      expect(monitor.notes[0]).toContain(`the scheme ${url.slice(0, url.indexOf(":"))}`);
    }
  });
});
