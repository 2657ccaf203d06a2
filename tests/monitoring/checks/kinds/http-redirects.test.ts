/** Redirects of HTTP checks: targets, methods, credentials and private addresses. */
import { describe, expect, test } from "bun:test";
import { checkHttp } from "../../../../src/monitoring/checks/kinds/http.ts";
import { NewMonitor } from "../../../../src/monitoring/monitors/schema.ts";
import type { TargetFailure } from "../../../../src/core/outgoing/failures.ts";
import { getFreePort } from "../../../support/binary.ts";
import { runCheckOfType, createCheckContext, startListener } from "../../../support/check-runs.ts";
import { createDashboard } from "../../../support/dashboard.ts";
import { replyWith, replyWithRedirect, startTarget } from "../../../support/target.ts";

const elsewhere = "Redirected to something that is not an http or https address.";

const bodyWithheld = "Redirected to another origin, to which the request's body is not sent.";
const onlyReads = "Redirected to another origin, to which only GET and HEAD requests are sent.";

/** A target that redirects to itself, and to another one. */
async function setUpTwo() {
  const shop = await startTarget();
  const other = await startTarget();
  return {
    shop,
    other,
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

test("an empty Location is no redirect, and the first of several counts", async () => {
  for (const [fields, status, paths] of [
    ["Location:", "302", ["/"]],
    ["Location: ", "301", ["/"]],
    ["Location: /a\r\nLocation: /a", "200", ["/", "/a"]],
    ["Location: /a\r\nlocation: /b", "200", ["/", "/a"]],
  ] as const) {
    const requests: string[] = [];
    await using shop = await startListener((socket) => {
      socket.once("data", (request: Buffer) => {
        const path = request.toString("latin1").split(" ")[1] ?? "";
        requests.push(path);
        const code = path === "/" ? (status === "200" ? "302" : status) : "200";
        socket.end(
          `HTTP/1.1 ${code} x\r\n${path === "/" ? `${fields}\r\n` : ""}Content-Length: 0\r\n\r\n`,
        );
      });
    });
    const found = await runCheckOfType("http", { url: shop.url, expectedStatus: [status] });
    expect([fields, found.status, requests]).toEqual([fields, "up", [...paths]]);
  }
});

describe("a redirect leads", () => {
  const places: [location: string, path: string][] = [
    ["/b?c=d", "/b?c=d"],
    ["b", "/a/b"],
    ["../b", "/b"],
    ["?c", "/a/start?c"],
    ["/b#fragment", "/b"],
    ["//127.0.0.1:PORT/b", "/b"],
    ["http://127.0.0.1:PORT/b", "/b"],
    ["HTTP://127.0.0.1:PORT/b", "/b"],
    ["http://user:password@127.0.0.1:PORT/b", "/b"],
    ["/caf\u00e9?x=\u00e9", "/caf%C3%A9?x=%C3%A9"],
    ["/caf%C3%A9", "/caf%C3%A9"],
    ["/voil\u00e0", "/voil%C3%A0"],
    ["/\u0420", "/%D0%A0"],
  ];
  for (const [location, path] of places)
    test(`from /a/start by ${location} to ${path}`, async () => {
      await using shop = await startTarget();
      const to = Buffer.from(location.replace("PORT", String(shop.port))).toString("latin1");
      shop.setReply(replyWithRedirect(to), "/a/start");
      expect(await runCheckOfType("http", { url: shop.at("/a/start") })).toMatchObject({
        status: "up",
      });
      expect(shop.asked.map((request) => request.path)).toEqual(["/a/start", path]);
    });

  test("to the exact bytes of its path, even if they are not UTF-8", async () => {
    await using shop = await startTarget();
    shop.setReply(replyWithRedirect("/caf\xe9?x=\xe4"), "/start");
    await runCheckOfType("http", { url: shop.at("/start") });
    expect(shop.asked.map(({ path }) => path)).toEqual(["/start", "/caf%E9?x=%E4"]);
  });

  for (const location of [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,fine",
    "ftp://127.0.0.1/",
    "http://",
    "http://a%00b/",
    "http://127.0.0.1:70000/",
    "//",
  ])
    test(`nowhere by ${location}`, async () => {
      await using shop = await startTarget(replyWithRedirect(location));
      expect(await runCheckOfType("http", { url: shop.at() })).toMatchObject({
        status: "down",
        message: elsewhere,
      });
      expect(shop.asked).toHaveLength(1);
    });

  test("at most five times", async () => {
    await using shop = await startTarget(replyWithRedirect("/"));
    expect(await runCheckOfType("http", { url: shop.at() })).toMatchObject({
      status: "down",
      message: "Redirected more than 5 times.",
    });
    expect(shop.asked).toHaveLength(6);
    for (let step = 0; step < 5; step++)
      shop.setReply(replyWithRedirect(`/${step + 1}`), `/${step}`);
    shop.setReply(replyWith(), "/5");
    expect(await runCheckOfType("http", { url: shop.at("/0") })).toMatchObject({ status: "up" });
  });

  test("nowhere without a Location, so its status counts", async () => {
    await using shop = await startTarget(replyWith(302));
    expect(await runCheckOfType("http", { url: shop.at() })).toMatchObject({
      message: "HTTP 302 (Found), expected 200-299.",
    });
  });

  test("to the response that is judged, regardless of the first response", async () => {
    await using shop = await startTarget(replyWith(200, "here"));
    shop.setReply(replyWithRedirect("/b"), "/a");
    const fields = { url: shop.at("/a"), expectedStatus: ["302"], keyword: "here" };
    expect(await runCheckOfType("http", fields)).toMatchObject({
      message: "HTTP 200 (OK), expected 302.",
    });
    expect(await runCheckOfType("http", { ...fields, expectedStatus: ["200"] })).toMatchObject({
      status: "up",
    });
  });

  test("never to a blocked address, by number or by name", async () => {
    await using shop = await startTarget();
    await using target = await startTarget();
    const listeners = [{ host: "127.0.0.1", port: target.port }];
    for (const location of [
      "http://169.254.169.254/",
      "http://[::ffff:169.254.169.254]/",
      "http://0xa9fea9fe/",
      "http://0.0.0.0/",
      `http://localhost:${target.port}/`,
      target.at(),
    ]) {
      shop.setReply(replyWithRedirect(location));
      const found = await runCheckOfType("http", { url: shop.at() }, { listeners });
      expect(found).toMatchObject({ status: "down", isFinal: true });
      expect(found.message).toStartWith("Blocked: the target is ");
    }
    expect(target.asked).toEqual([]);
  });

  test("to a closed port, which is then the reason", async () => {
    await using shop = await startTarget(replyWithRedirect(`http://127.0.0.1:${getFreePort()}/`));
    expect(await runCheckOfType("http", { url: shop.at() })).toMatchObject({
      message: "The connection was refused.",
    });
  });
});

describe("a redirect changes the request:", () => {
  const changes: [status: number, before: string, after: string][] = [
    [301, "GET", "GET"],
    [301, "HEAD", "HEAD"],
    [301, "POST", "GET"],
    [301, "PUT", "PUT"],
    [302, "POST", "GET"],
    [302, "DELETE", "DELETE"],
    [303, "GET", "GET"],
    [303, "HEAD", "HEAD"],
    [303, "POST", "GET"],
    [303, "PUT", "GET"],
    [307, "POST", "POST"],
    [307, "GET", "GET"],
    [308, "POST", "POST"],
    [308, "PATCH", "PATCH"],
  ];
  for (const [status, before, after] of changes)
    test(`${before} becomes ${after} by ${status}, with or without its body`, async () => {
      await using shop = await startTarget();
      shop.setReply(replyWithRedirect("/b", status), "/a");
      const body = before === "GET" || before === "HEAD" ? null : "sent";
      await runCheckOfType("http", { url: shop.at("/a"), method: before, body });
      expect(shop.asked).toMatchObject([
        { method: before, body: body ?? "" },
        { method: after, path: "/b", body: after === before ? (body ?? "") : "" },
      ]);
    });

  const secrets = {
    headers: { "X-Api-Key": "key", Cookie: "session" },
    bearerToken: "token",
  };

  test("the same origin gets the headers and the credentials again", async () => {
    await using shop = await startTarget();
    shop.setReply(replyWithRedirect("/b"), "/a");
    await runCheckOfType("http", { url: shop.at("/a"), ...secrets });
    for (const { headers } of shop.asked)
      expect(headers).toMatchObject({
        "x-api-key": "key",
        cookie: "session",
        authorization: "Bearer token",
      });
  });

  test("another origin gets none of them, even if it redirects back", async () => {
    await using result = await setUpTwo();
    const { shop, other } = result;
    shop.setReply(replyWithRedirect(other.at("/b")), "/a");
    other.setReply(replyWithRedirect(shop.at("/c")), "/b");
    await runCheckOfType("http", { url: shop.at("/a"), ...secrets });
    for (const { headers } of [...other.asked, ...shop.asked.slice(1)])
      expect(Object.keys(headers).toSorted()).toEqual([
        "accept",
        "accept-encoding",
        "connection",
        "host",
        "user-agent",
      ]);
    expect(shop.asked.map(({ path }) => path)).toEqual(["/a", "/c"]);
  });

  const askers = new Set(["GET", "HEAD"]);
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  const every = [301, 302, 303, 307, 308].flatMap((status) =>
    methods.flatMap((method) => [null, "secret"].map((body) => [status, method, body] as const)),
  );
  test.each(every)(
    "another origin only gets GET or HEAD without a body: %d of %s with %s",
    async (status, method, body) => {
      await using result = await setUpTwo();
      const { shop, other } = result;
      shop.setReply(replyWithRedirect(other.at("/moved"), status));
      const fields = { url: shop.at(), method, body, ...secrets };
      const found = await runCheckOfType("http", fields);
      const moved = other.asked.filter(({ path }) => path === "/moved");
      for (const request of moved) {
        expect(askers).toContain(request.method);
        expect([request.body, request.headers["content-length"]]).toEqual(["", undefined]);
      }
      const becomesGet =
        (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
      const isFollowed = becomesGet || (askers.has(method) && body === null);
      expect([found.status, moved.length]).toEqual(isFollowed ? ["up", 1] : ["down", 0]);
      if (!isFollowed) expect(found.message).toBe(body === null ? onlyReads : bodyWithheld);
    },
  );

  test("another origin does not get the body, so the check fails with that reason", async () => {
    await using result = await setUpTwo();
    const { shop, other } = result;
    shop.setReply(replyWithRedirect(other.at(), 307));
    const fields = { url: shop.at(), method: "POST", ...secrets };
    expect(await runCheckOfType("http", { ...fields, body: "secret" })).toMatchObject({
      status: "down",
      message: bodyWithheld,
    });
    expect(other.asked).toEqual([]);
    shop.setReply(replyWithRedirect(other.at(), 303));
    expect(await runCheckOfType("http", { ...fields, body: "secret" })).toMatchObject({
      status: "up",
    });
    expect(other.asked).toMatchObject([{ method: "GET", body: "" }]);
  });
});

describe("from a public address to a private one", () => {
  const blocked = "Blocked: a public address redirected to a private one.";

  /**
   * Checks a chain of redirects over these hosts, which are all on loopback. `hops` says which addresses count as
   * private.
   */
  async function followRedirects(hops: readonly (readonly string[])[], fields: object = {}) {
    await using shop = await startTarget();
    const names = hops.map((_, index) => `http://hop${index}.example:${shop.port}/${index}`);
    names.forEach(
      (name, index) => index > 0 && shop.setReply(replyWithRedirect(name), `/${index - 1}`),
    );
    const settings = NewMonitor.parse({ type: "http", name: "Shop", url: names[0], ...fields });
    const buildAddresses = (host: string) =>
      (hops[Number(/\d+/.exec(host)?.[0])] ?? []).map((kind) => ({
        address: "127.0.0.1",
        family: 4 as const,
        isPrivate: kind === "private",
      }));
    const ending = new AbortController();
    const context = {
      ...createCheckContext(ending),
      addressesOf: async (host: string) => buildAddresses(host),
    };
    const outcome = await checkHttp(settings as never, context).then(
      ({ status }) => status as string,
      (error: TargetFailure) => (error.isFinal ? error.message : `not final: ${error.message}`),
    );
    ending.abort();
    return { outcome, asked: shop.asked.map(({ path }) => path), connections: shop.connections() };
  }

  const cases: [string, string[][], reached: number][] = [
    ["to a name of the LAN", [["public"], ["private"]], 1],
    ["to a name with both", [["public"], ["private", "public"]], 1],
    ["from a name with both", [["public", "private"], ["private"]], 1],
    ["through another public name", [["public"], ["public"], ["private"]], 2],
    ["out of the LAN and back", [["private"], ["public"], ["private"]], 2],
  ];
  for (const [what, hops, reached] of cases) {
    test(`is not followed: ${what}`, async () => {
      const { outcome, asked, connections } = await followRedirects(hops);
      expect([outcome, asked.length, connections]).toEqual([blocked, reached, reached]);
    });

    test(`is followed if the monitor allows it: ${what}`, async () => {
      const { outcome, asked } = await followRedirects(hops, { followToPrivate: true });
      expect([outcome, asked.length]).toEqual(["up", hops.length]);
    });
  }

  test("other redirects are followed: private to private, private to public, public to public", async () => {
    for (const hops of [
      [["private"], ["private"]],
      [["private"], ["public"]],
      [["public"], ["public"]],
      [["private"], ["private"], ["public"], ["public"]],
    ])
      expect((await followRedirects(hops)).outcome).toBe("up");
  });

  test("a monitor that is older than the field does not allow it", async () => {
    const dashboard = await createDashboard();
    const { id } = await dashboard.monitor({
      type: "http",
      name: "Old",
      url: "http://intranet.lan/",
    });
    dashboard.database.run(
      "UPDATE monitors SET settings = json_remove(settings, '$.followToPrivate')",
    );
    expect((await dashboard.readMonitor(id)).followToPrivate).toBe(false);
    expect((await dashboard.api("GET", "/api/v1/monitors")).json.data[0].followToPrivate).toBe(
      false,
    );
    const changed = await dashboard.changeMonitor(id, { name: "New" });
    expect([changed.status, changed.json.data.followToPrivate]).toEqual([200, false]);
    const allowed = await dashboard.changeMonitor(id, { followToPrivate: true });
    expect(allowed.json.data.followToPrivate).toBe(true);
  });
});
