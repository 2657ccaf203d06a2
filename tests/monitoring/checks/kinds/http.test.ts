import { describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { runCheckOfType } from "../../../support/check-runs.ts";
import {
  replyWith,
  replyForever,
  replyWithRedirect,
  reset,
  startTarget,
} from "../../../support/target.ts";

/** Result of checking a site with this one response. */
async function findOutcome(reply: Parameters<typeof startTarget>[0], fields: object = {}) {
  await using site = await startTarget(reply);
  const { status, message } = await runCheckOfType("http", { url: site.at(), ...fields });
  return [status, message];
}

const up = ["up", expect.stringMatching(/^HTTP 200 \(OK\) in \d+ ms, first byte after \d+ ms\.$/)];
const expectDown = (message: string) => ["down", message];
const expectIssue = (issue: string) => expectDown(`HTTP 200 (OK), but ${issue}.`);
const buildJson = (body: unknown) => replyWith(200, JSON.stringify(body));
const replyEncoded = (coding: string, body: Uint8Array) =>
  replyWith(200, body, { "content-encoding": coding });

describe("the status", () => {
  test("is up within the expected range, else down", async () => {
    expect(await findOutcome(replyWith(200))).toEqual(up);
    expect(await findOutcome(replyWith(503))).toEqual(
      expectDown("HTTP 503 (Service Unavailable), expected 200-299."),
    );
    const expectedStatus = ["401", "500-503"];
    expect((await findOutcome(replyWith(502), { expectedStatus }))[0]).toBe("up");
    expect(await findOutcome(replyWith(200), { expectedStatus })).toEqual(
      expectDown("HTTP 200 (OK), expected 401 or 500-503."),
    );
  });

  test("that never arrives has its own reason", async () => {
    expect(await findOutcome(reset)).toEqual(
      expectDown("The connection was closed before the response was complete."),
    );
  });
});

describe("the body", () => {
  test("has the keyword, and not the forbidden one", async () => {
    const reply = replyWith(200, "all is well");
    expect(await findOutcome(reply, { keyword: "is well" })).toEqual(up);
    expect(await findOutcome(reply, { keyword: "is bad" })).toEqual(
      expectIssue("the keyword is missing"),
    );
    expect(await findOutcome(reply, { keywordAbsent: "is bad" })).toEqual(up);
    expect(await findOutcome(reply, { keywordAbsent: "is well" })).toEqual(
      expectIssue("it has the keyword that must be absent"),
    );
  });

  test("is decoded with its charset", async () => {
    const reply = replyWith(200, Buffer.from("Grüße", "latin1"), {
      "content-type": "text/html; charset=iso-8859-1",
    });
    expect(await findOutcome(reply, { keyword: "Grüße" })).toEqual(up);
  });

  test("has a value at a JSON path", async () => {
    const reply = buildJson({ state: "ok", count: 3, list: [{ on: true }], none: null });
    for (const [jsonPath, jsonEquals] of [
      ["$.state", "ok"],
      ["$.count", 3],
      ["$.list[0].on", true],
      ["$['state']", null],
      ["$.none", null],
    ])
      expect(await findOutcome(reply, { jsonPath, jsonEquals })).toEqual(up);
    expect(await findOutcome(reply, { jsonPath: "$.count", jsonEquals: "3" })).toEqual(
      expectIssue("the value at $.count is another"),
    );
    expect(await findOutcome(reply, { jsonPath: "$.list[1]" })).toEqual(
      expectIssue("it has nothing at $.list[1]"),
    );
    expect(await findOutcome(replyWith(200, "<p>"), { jsonPath: "$" })).toEqual(
      expectIssue("it is not JSON"),
    );
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("is decoded from %s", async (coding, encode) => {
    expect(
      await findOutcome(replyEncoded(coding, encode("all is well")), { keyword: "well" }),
    ).toEqual(up);
    const bomb = encode(Buffer.alloc(50 * 1024 * 1024));
    expect(await findOutcome(replyEncoded(coding, bomb), { keyword: "well" })).toEqual(
      expectIssue("the first 1 MiB of the response lack the keyword"),
    );
    expect(
      await findOutcome(replyEncoded(coding, Buffer.from("no such thing")), { keyword: "well" }),
    ).toEqual(expectDown("The compressed response body is corrupt."));
  });

  test("that is endless is read up to a limit", async () => {
    expect(await findOutcome(replyForever)).toEqual(up);
    expect(await findOutcome(replyForever, { keyword: "xxx" })).toEqual(up);
    expect(await findOutcome(replyForever, { keyword: "y" })).toEqual(
      expectIssue("the first 1 MiB of the response lack the keyword"),
    );
    expect(await findOutcome(replyForever, { jsonPath: "$" })).toEqual(
      expectIssue("it is longer than the 1 MiB that are read as JSON"),
    );
  });
});

describe("the request", () => {
  test("is as configured in the monitor, with its credentials", async () => {
    await using site = await startTarget();
    await runCheckOfType("http", {
      url: site.at("/path?q=1#part"),
      method: "POST",
      headers: { "X-Team": "ops", "user-agent": "Ours" },
      body: "Grüße",
      basicAuth: { username: "robot", password: "s:3" },
    });
    expect(site.asked).toMatchObject([
      {
        method: "POST",
        path: "/path?q=1",
        body: "Grüße",
        headers: {
          host: `127.0.0.1:${site.port}`,
          "x-team": "ops",
          "user-agent": "Ours",
          "content-length": "7",
          authorization: `Basic ${btoa("robot:s:3")}`,
        },
      },
    ]);
  });

  test("keeps a token outside Latin-1 on one line", async () => {
    await using site = await startTarget();
    // U+010A would become a line break if it were cut to one byte.
    const bearerToken = "oneĊX-Injected: 1";
    await runCheckOfType("http", { url: site.at(), bearerToken });
    const [asked] = site.asked;
    expect(Object.keys(asked?.headers ?? {})).not.toContain("x-injected");
    const sent = Buffer.from(asked?.headers.authorization ?? "", "latin1").toString();
    expect(sent).toBe(`Bearer ${bearerToken}`);
  });
});

describe("a redirect", () => {
  test("is followed five times, or not at all if the monitor forbids it", async () => {
    await using site = await startTarget();
    for (let hop = 0; hop < 6; hop++) site.setReply(replyWithRedirect(`/${hop + 1}`), `/${hop}`);
    expect(await runCheckOfType("http", { url: site.at("/1") })).toMatchObject({ status: "up" });
    expect(await runCheckOfType("http", { url: site.at("/0") })).toMatchObject({
      status: "down",
      message: "Redirected more than 5 times.",
    });
    const stays = { url: site.at("/0"), followRedirects: false };
    expect(await runCheckOfType("http", stays)).toMatchObject({
      message: "HTTP 302 (Found), expected 200-299.",
    });
  });

  test("to another origin sends neither headers nor credentials, nor the body", async () => {
    await using other = await startTarget();
    await using site = await startTarget(replyWithRedirect(other.at("/there")));
    const fields = { url: site.at(), headers: { "X-Key": "k" }, bearerToken: "t" };
    expect(await runCheckOfType("http", fields)).toMatchObject({ status: "up" });
    const [asked] = other.asked;
    expect(asked?.path).toBe("/there");
    expect(asked?.headers["x-key"]).toBeUndefined();
    expect(asked?.headers.authorization).toBeUndefined();
    site.setReply(replyWithRedirect(other.at("/there"), 307));
    const post = { ...fields, method: "POST", body: "secret" };
    expect(await runCheckOfType("http", post)).toMatchObject({
      status: "down",
      message: "Redirected to another origin, to which the request's body is not sent.",
    });
    expect(other.asked).toHaveLength(1);
  });

  test("within the origin preserves everything except what its status drops", async () => {
    await using site = await startTarget();
    for (const [status, method, body] of [
      [302, "GET", ""],
      [303, "GET", ""],
      [307, "PUT", "x"],
      [308, "PUT", "x"],
    ] as const) {
      site.setReply(replyWithRedirect("/there", status), "/");
      const sent = status === 302 ? "POST" : "PUT";
      await runCheckOfType("http", {
        url: site.at("/"),
        method: sent,
        body: "x",
        bearerToken: "t",
      });
      const request = site.asked.at(-1);
      expect([status, request?.method, request?.body]).toEqual([status, method, body]);
      expect(request?.headers.authorization).toBe("Bearer t");
    }
  });

  test.each(["file:///etc/passwd", "javascript:alert(1)", "http://"])(
    "to %s is not followed",
    async (location) => {
      expect((await findOutcome(replyWithRedirect(location)))[0]).toBe("down");
    },
  );

  test("to a blocked address is down at once, without a connection", async () => {
    await using site = await startTarget(
      replyWithRedirect("http://169.254.169.254/latest/meta-data"),
    );
    const outcome = await runCheckOfType("http", { url: site.at() });
    expect(outcome).toMatchObject({ status: "down", isFinal: true });
    expect(outcome.message).toStartWith("Blocked: the target is a link-local address");
  });
});

test("the result contains no text of the target", async () => {
  const text = "CANARY-5d1c";
  const headers = { "x-said": text, "content-type": `text/${text}`, location: `/${text}` };
  const replies = [
    replyWith(500, text, headers),
    replyWith(200, text, headers),
    replyWithRedirect(`ftp://${text}/`),
    replyWith(200, text, { "content-encoding": text }),
  ];
  for (const reply of replies)
    for (const fields of [{}, { keyword: "none" }, { jsonPath: "$.a" }, { keywordAbsent: text }])
      expect(JSON.stringify(await findOutcome(reply, fields))).not.toContain(text);
});
