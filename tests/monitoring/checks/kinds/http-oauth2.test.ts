import { describe, expect, test } from "bun:test";
import { OAuth2Server } from "oauth2-mock-server";
import { createAccessTokenCache } from "../../../../src/core/outgoing/access-tokens.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { canary } from "../../../support/samples.ts";
import {
  replyWith,
  hang,
  replyWithRedirect,
  type Reply,
  reset,
  startTarget,
} from "../../../support/target.ts";

const minute = 60_000;
const buildJson = (body: object, status = 200): Reply =>
  replyWith(status, JSON.stringify(body), { "content-type": "application/json" });
const buildToken = (
  access_token: string,
  more: object = { token_type: "Bearer", expires_in: 3600 },
) => buildJson({ access_token, ...more });

/** A site and its token service, with responses set by a test. */
async function setUpWorld(service: Reply = buildToken("first")) {
  const [site, tokenService] = [await startTarget(), await startTarget(service)];
  const tokens = createAccessTokenCache();
  const oauth2 = { tokenUrl: tokenService.at("/token"), clientId: "probe", clientSecret: canary };
  let now = Date.parse("2026-11-20T10:00:00Z");
  return {
    site,
    service: tokenService,
    later: (ms: number) => (now += ms),
    async check(own: object = {}, circumstances: object = {}, fields: object = {}) {
      const outcome = await runCheckOfType(
        "http",
        { url: site.at(), oauth2: { ...oauth2, ...own }, ...fields },
        { tokens, now, ...circumstances },
      );
      expect(JSON.stringify(outcome)).not.toContain(canary);
      return outcome;
    },
    /** Authorization headers that the site received. */
    sent: () => site.asked.map(({ headers }) => headers.authorization),
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await tokenService[Symbol.asyncDispose]();
    },
  };
}

describe("a monitor with OAuth 2.0 client credentials", () => {
  test("gets a token from a real OAuth 2.0 server, once", async () => {
    const server = new OAuth2Server();
    await server.issuer.keys.generate("ES256");
    await server.start(0, "localhost");
    const grants: object[] = [];
    server.service.on("beforeResponse", (_response, { body }) => void grants.push(body));
    await using result = await setUpWorld();
    const iss = server.issuer.url ?? "";
    const tokenFields = { tokenUrl: `${iss}/token`, scope: "read", audience: "shop" };
    expect((await result.check(tokenFields)).status).toBe("up");
    expect((await result.check(tokenFields)).status).toBe("up");
    await server.stop();
    expect(grants).toEqual([{ grant_type: "client_credentials", scope: "read", audience: "shop" }]);
    const [first, second] = result.sent();
    expect(second).toBe(first);
    const [, claims = ""] = (first ?? "").replace("Bearer ", "").split(".");
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      iss,
      scope: "read",
    });
  });

  test("authenticates in a header, or in the body", async () => {
    await using result = await setUpWorld(buildToken("first", { expires_in: 0 }));
    await result.check({ clientId: "a b:ü", clientSecret: "p+/%=ß" });
    await result.check({ clientId: "a b:ü", clientAuthentication: "body" });
    await result.check({ clientSecret: null, clientAuthentication: "body" });
    const [inHeader, inBody, open] = result.service.asked;
    // RFC 6749 appendix B: form encoding first, then Basic.
    const pair = Buffer.from("a+b%3A%C3%BC:p%2B%2F%25%3D%C3%9F").toString("base64");
    expect(inHeader).toMatchObject({
      method: "POST",
      headers: {
        authorization: `Basic ${pair}`,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: "grant_type=client_credentials",
    });
    expect(inBody?.headers.authorization).toBeUndefined();
    expect(Object.fromEntries(new URLSearchParams(inBody?.body))).toEqual({
      grant_type: "client_credentials",
      client_id: "a b:ü",
      client_secret: canary,
    });
    expect(open?.body).toBe("grant_type=client_credentials&client_id=probe");
    expect(result.sent()).toEqual(Array.from({ length: 3 }, () => "Bearer first"));
  });

  test("caches its token until shortly before it expires, and requests another after a change", async () => {
    await using result = await setUpWorld();
    await result.check();
    result.later(58 * minute);
    await result.check();
    expect(result.service.asked).toHaveLength(1);
    result.later(1.5 * minute);
    await result.check();
    expect(result.service.asked).toHaveLength(2);
    await result.check({ clientSecret: "another" });
    expect(result.service.asked).toHaveLength(3);
  });

  test.each([
    ["no expiry", {}, 4 * minute, 6 * minute],
    ["a short expiry", { expires_in: 20 }, 15_000, 5_000],
    ["an expiry as text", { expires_in: "600" }, 8 * minute, 2 * minute],
  ])("caches a token with %s", async (_what, more, good, bad) => {
    await using result = await setUpWorld(buildToken("first", more));
    await result.check();
    result.later(good);
    await result.check();
    expect(result.service.asked).toHaveLength(1);
    result.later(bad);
    await result.check();
    expect(result.service.asked).toHaveLength(2);
  });

  test("requests a token once for several waiting checks", async () => {
    await using result = await setUpWorld(hang);
    const checks = [result.check(), result.check(), result.check()];
    await result.service.waitUntilRequested(1);
    result.service.release(buildToken("shared"));
    expect((await Promise.all(checks)).map(({ status }) => status)).toEqual(["up", "up", "up"]);
    expect(result.service.asked).toHaveLength(1);
    expect(result.sent()).toEqual(["Bearer shared", "Bearer shared", "Bearer shared"]);
  });

  test("requests its own token if the requesting check is aborted", async () => {
    await using result = await setUpWorld(hang);
    const stop = new AbortController();
    const stopped = result.check({}, { signal: stop.signal });
    await result.service.waitUntilRequested(1);
    const waiting = result.check();
    stop.abort();
    expect((await stopped).status).toBe("unknown");
    await result.service.waitUntilRequested(2);
    result.service.release(buildToken("second"));
    expect((await waiting).status).toBe("up");
    expect(result.sent()).toEqual(["Bearer second"]);
  });

  test("requests a new token once when the site rejects the cached one", async () => {
    await using result = await setUpWorld();
    await result.check();
    result.service.setReply(buildToken("second"));
    result.site.setReply((response) => {
      const isNew = response.req.headers.authorization === "Bearer second";
      response.writeHead(isNew ? 200 : 401).end();
    });
    expect((await result.check()).status).toBe("up");
    expect(result.sent().slice(1)).toEqual(["Bearer first", "Bearer second"]);
    result.site.setReply(replyWith(401));
    expect((await result.check()).message).toBe("HTTP 401 (Unauthorized), expected 200-299.");
    expect([result.service.asked.length, result.site.asked.length]).toEqual([3, 5]);
  });

  test("does not request another when the site rejects a new one", async () => {
    await using result = await setUpWorld();
    result.site.setReply(replyWith(401));
    expect((await result.check()).message).toBe("HTTP 401 (Unauthorized), expected 200-299.");
    expect([result.service.asked.length, result.site.asked.length]).toEqual([1, 1]);
  });

  test("sends its token to no other origin", async () => {
    await using result = await setUpWorld();
    await using elsewhere = await startTarget(replyWith(401));
    result.site.setReply(replyWithRedirect(elsewhere.at("/in")));
    await result.check();
    await result.check();
    expect(elsewhere.asked.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
    ]);
    expect(result.service.asked).toHaveLength(1);
  });

  test("does not show its token if the response repeats it", async () => {
    await using result = await setUpWorld(buildToken("very-secret"));
    result.site.setReply(replyWith(200, "you are very-secret"));
    const assertions = [{ source: "body", op: "equals", value: "x" }];
    const outcome = await result.check({}, {}, { assertions });
    expect(outcome.serverText).toContain("what may hold a credential and is not shown");
    expect(JSON.stringify(outcome)).not.toContain("very-secret");
  });

  test("measures its target without the time of the token request", async () => {
    let heldMs = 0;
    await using result = await setUpWorld((response) => {
      const since = performance.now();
      setTimeout(() => {
        heldMs = performance.now() - since;
        buildToken("first")(response);
      }, 200);
    });
    const startedAt = performance.now();
    const { latencyMs } = await result.check();
    expect(Number(latencyMs) - 1).toBeLessThanOrEqual(performance.now() - startedAt - heldMs);
  });

  test.each<[string, Reply, string]>([
    [
      "rejects the client",
      buildJson({ error: "invalid_client", error_description: canary }, 401),
      "HTTP 401 (Unauthorized), the client id or its secret is not accepted.",
    ],
    [
      "rejects the scope",
      buildJson({ error: "invalid_scope" }, 400),
      "HTTP 400 (Bad Request), the scope is not accepted.",
    ],
    ["fails", replyWith(503, canary), "HTTP 503 (Service Unavailable), no token was given."],
    ["redirects", replyWithRedirect("/elsewhere"), "HTTP 302 (Found), no token was given."],
    [
      "returns something else",
      replyWith(200, `<html>${canary}`),
      "HTTP 200 (OK), but the response is not JSON.",
    ],
    [
      "omits the token",
      buildJson({ token: canary }),
      "HTTP 200 (OK), but the response has no access token.",
    ],
    [
      "returns an unusable token",
      buildToken("a\r\nX-Evil: 1"),
      "HTTP 200 (OK), but the access token can't be sent in a header.",
    ],
    [
      "returns another token type",
      buildToken("a", { token_type: "DPoP" }),
      "HTTP 200 (OK), but the token is of another type than Bearer.",
    ],
    [
      "returns too much",
      replyWith(200, "x".repeat(65 * 1024)),
      "The response is longer than 64 KiB.",
    ],
    ["hangs up", reset, "The connection was closed before the response was complete."],
  ])("is down with a message if the service %s", async (_what, reply, message) => {
    await using result = await setUpWorld(reply);
    expect(await result.check()).toMatchObject({
      status: "down",
      message: `Access token: ${message}`,
    });
    expect(result.site.asked).toEqual([]);
  });

  test("is down if the timeout passes during the token request", async () => {
    await using result = await setUpWorld(hang);
    expect((await result.check({}, { timeoutMs: 200 })).message).toStartWith(
      "Access token: Timed out after 0.2 s while ",
    );
    result.service.disconnect();
  });

  test("connects to no blocked token URL", async () => {
    await using result = await setUpWorld();
    const listeners = [{ host: "127.0.0.1", port: result.service.port }];
    expect(await result.check({}, { listeners })).toMatchObject({
      status: "down",
      message: "Access token: Blocked: the target is this appliance itself.",
      isFinal: true,
    });
    expect([result.service.connections(), result.site.connections()]).toEqual([0, 0]);
  });
});
