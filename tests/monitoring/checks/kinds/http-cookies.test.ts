import { describe, expect, test } from "bun:test";
import { CookieJar } from "../../../../src/monitoring/checks/kinds/http-cookies.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import {
  replyWith,
  type RecordedRequest,
  replyWithRedirect,
  type Reply,
  startTarget,
} from "../../../support/target.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

/** Cookie header for a URL after another one has set these cookies. */
function readSent(setCookies: readonly string[], from: string, to: string): string | null {
  const jar = new CookieJar();
  jar.store(setCookies, new URL(from), now);
  return jar.buildHeader(new URL(to));
}

describe("a cookie is sent", () => {
  const shop = "https://shop.example/a/start";
  const cases: [what: string, cookie: string, to: string, sent: string | null][] = [
    ["to the path that it was set for", "s=1; Path=/a", "https://shop.example/a/b", "s=1"],
    ["to paths below that of the request, by default", "s=1", "https://shop.example/a/b", "s=1"],
    ["not above that", "s=1", "https://shop.example/", null],
    ["not to a path with the same beginning", "s=1; Path=/a", "https://shop.example/ab", null],
    ["everywhere by Path=/", "s=1; Path=/", "https://shop.example/other?a", "s=1"],
    ["by the default path if its Path is invalid", "s=1; Path=a", "https://shop.example/b", null],
    ["only to its own host", "s=1; Path=/", "https://www.shop.example/", null],
    ["on every port of the host", "s=1; Path=/", "https://shop.example:8443/", "s=1"],
    [
      "to hosts below its Domain",
      "s=1; Path=/; Domain=.SHOP.example",
      "https://www.shop.example/",
      "s=1",
    ],
    ["not for another Domain", "s=1; Path=/; Domain=other.example", "https://other.example/", null],
    [
      "not for a Domain below its host",
      "s=1; Path=/; Domain=www.shop.example",
      "https://www.shop.example/",
      null,
    ],
    [
      "not for a Domain with the same ending",
      "s=1; Path=/; Domain=op.example",
      "https://op.example/",
      null,
    ],
    ["not for a registry's Domain", "s=1; Path=/; Domain=example", "https://other.example/", null],
    ["not without TLS if it is Secure", "s=1; Path=/; Secure", "http://shop.example/", null],
    ["over TLS if it is Secure", "s=1; Path=/; Secure", "https://shop.example/", "s=1"],
    ["until it is deleted by Max-Age", "s=1; Path=/; Max-Age=0", "https://shop.example/", null],
    [
      "until it is deleted by Expires",
      "s=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:00 GMT",
      "https://shop.example/",
      null,
    ],
    [
      "by Max-Age, which overrides Expires",
      "s=1; Path=/; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
      "https://shop.example/",
      "s=1",
    ],
    [
      "until a two-digit year up to 2069",
      "s=1; Path=/; Expires=Wed, 31-Dec-69 23:59:59 GMT",
      "https://shop.example/",
      "s=1",
    ],
    [
      "not after a two-digit year from 1970",
      "s=1; Path=/; Expires=Thursday, 01-Jan-70 00:00:00 GMT",
      "https://shop.example/",
      null,
    ],
    [
      "not after a date with the year at its end",
      "s=1; Path=/; Expires=Thu Jan 01 00:00:00 1970",
      "https://shop.example/",
      null,
    ],
    [
      "with the last byte of its value, even if that is a no-break space in Latin-1",
      "s=voil\u00c3\u00a0 ; Path=/",
      "https://shop.example/",
      "s=voil\u00c3\u00a0",
    ],
    ["with an = in its value", 's="a=b"; Path=/', "https://shop.example/", 's="a=b"'],
    ["without a name", "alone; Path=/", "https://shop.example/", "alone"],
    [
      "byte for byte, as UTF-8 in the header",
      "s=\xc3\x9cber\xf0\x9f\x9a\xa6; Path=/",
      "https://shop.example/",
      "s=\xc3\x9cber\xf0\x9f\x9a\xa6",
    ],
    ["not with a control character", "s=a\u0001b; Path=/", "https://shop.example/", null],
    [
      "not as __Host- for a Domain",
      "__Host-s=1; Secure; Path=/; Domain=shop.example",
      "https://shop.example/",
      null,
    ],
    [
      "as __Host- for one host",
      "__Host-s=1; Secure; Path=/",
      "https://shop.example/",
      "__Host-s=1",
    ],
    ["not as __Secure- without Secure", "__Secure-s=1; Path=/", "https://shop.example/", null],
  ];
  for (const [what, cookie, to, expected] of cases)
    test(what, () => expect(readSent([cookie], shop, to)).toBe(expected));

  test("with others, the longest path first, and a newer one replaces an older", () => {
    const cookies = ["a=1; Path=/", "b=2; Path=/x", "a=3; Path=/", "c=4; Path=/"];
    expect(readSent(cookies, "https://shop.example/", "https://shop.example/x/y")).toBe(
      "b=2; a=3; c=4",
    );
    const secure = "s=1; Path=/; Secure";
    expect(readSent([secure], "http://shop.example/", "https://shop.example/")).toBeNull();
    expect(readSent(["s=1; Domain=intranet"], "http://intranet/", "http://intranet/")).toBe("s=1");
    const international = Buffer.from("s=1; Domain=münchen.example").toString("latin1");
    const www = "http://www.xn--mnchen-3ya.example/";
    expect(readSent([international], "http://xn--mnchen-3ya.example/", www)).toBe("s=1");
    expect(readSent(["s=1; Domain=1"], "http://127.0.0.1/", "http://127.0.0.1/")).toBeNull();
  });

  test("within limits: 50 of 4 KiB, 8 KiB in one request", () => {
    const many = Array.from({ length: 60 }, (_, index) => `c${index}=1`);
    const { length } = (readSent(many, "http://a.example/", "http://a.example/") ?? "").split("; ");
    expect(length).toBe(50);
    const buildLongCookie = (size: number) => `l=${"x".repeat(size)}`;
    expect(readSent([buildLongCookie(5_000)], "http://a.example/", "http://a.example/")).toBeNull();
    const three = ["a", "b", "c"].map((name) => `${name}${buildLongCookie(4_000)}`);
    const header = readSent(three, "http://a.example/", "http://a.example/") ?? "";
    expect(header.length).toBeLessThanOrEqual(8_192);
  });
});

describe("cookies of one check", () => {
  const listCookies = (requests: readonly RecordedRequest[]) =>
    requests.map(({ headers }) => headers.cookie ?? null);
  /** Accepts requests with the cookie, and redirects all others to the same address with it. */
  const requireCookie =
    (cookie: string): Reply =>
    (response) => {
      const has = response.req.headers.cookie?.includes(cookie) === true;
      (has
        ? replyWith()
        : replyWith(302, "", {
            location: response.req.url ?? "",
            "set-cookie": `${cookie}; Path=/`,
          }))(response);
    };

  test("are sent on its redirects, and forgotten after it", async () => {
    await using shop = await startTarget(requireCookie("s=1"));
    for (let checks = 0; checks < 2; checks++)
      expect(await runCheckOfType("http", { url: shop.at() })).toMatchObject({ status: "up" });
    expect(listCookies(shop.asked)).toEqual([null, "s=1", null, "s=1"]);
  });

  test("are sent after a login by POST", async () => {
    await using shop = await startTarget(replyWith(401));
    shop.setReply(replyWith(303, "", { location: "/home", "set-cookie": "s=1; Path=/" }), "/login");
    shop.setReply(
      (response) =>
        (response.req.headers.cookie === "s=1" ? replyWith() : replyWith(401))(response),
      "/home",
    );
    const login = { url: shop.at("/login"), method: "POST", body: "a=b" };
    expect(await runCheckOfType("http", login)).toMatchObject({ status: "up" });
  });

  test("are sent in its steps, and not to other hosts", async () => {
    await using shop = await startTarget(replyWith(200, "", { "set-cookie": "s=1; Path=/" }));
    await using other = await startTarget();
    const elsewhere = other.at().replace("127.0.0.1", "localhost");
    const steps = [{ url: "/next" }, { url: elsewhere }, { url: "/last" }];
    await runCheckOfType("http", { url: shop.at(), steps });
    expect(listCookies(shop.asked)).toEqual([null, "s=1", "s=1"]);
    expect(listCookies(other.asked)).toEqual([null]);
    shop.setReply(replyWith(302, "", { location: elsewhere, "set-cookie": "s=2; Path=/" }));
    await runCheckOfType("http", { url: shop.at() });
    expect(listCookies(other.asked)).toEqual([null, null]);
  });

  test("are added to a Cookie header of the monitor, whose names take precedence", async () => {
    await using shop = await startTarget(replyWithRedirect("/next"));
    shop.setReply(replyWith(302, "", { location: "/next", "set-cookie": "own=2" }), "/");
    shop.setReply(replyWith(302, "", { location: "/last", "set-cookie": "s=1; Path=/" }), "/next");
    shop.setReply(replyWith(), "/last");
    await runCheckOfType("http", { url: shop.at(), headers: { cookie: "own=1" } });
    expect(listCookies(shop.asked)).toEqual(["own=1", "own=1", "own=1; s=1"]);
  });

  test("are not shown if the response repeats them", async () => {
    const cookie = "session=8f14e45fceea167a";
    await using shop = await startTarget(
      replyWith(200, `you are ${cookie}`, { "set-cookie": cookie }),
    );
    const assertions = [{ source: "body", op: "contains", value: "none" }];
    const { serverText } = await runCheckOfType("http", { url: shop.at(), assertions });
    expect(serverText).toEndWith("received what may hold a credential and is not shown.");
  });
});

describe("a redirect that changes the method to GET", () => {
  for (const [status, method] of [
    [301, "POST"],
    [302, "POST"],
    [303, "POST"],
    [303, "PUT"],
    [303, "DELETE"],
  ] as const)
    test(`drops the header fields of the body: ${method} by ${status}`, async () => {
      await using shop = await startTarget(replyWithRedirect("/b", status));
      shop.setReply(replyWith(), "/b");
      const headers = { "content-LANGUAGE": "en", "X-Team": "ops" };
      const body = { bodyType: "json", body: "{}" };
      await runCheckOfType("http", { url: shop.at(), method, headers, ...body });
      const after = shop.asked[1];
      expect([after?.method, after?.headers["x-team"]]).toEqual(["GET", "ops"]);
      expect(
        Object.keys(after?.headers ?? {}).filter((name) => name.startsWith("content-")),
      ).toEqual([]);
    });
});
