/** Client address, scheme and host behind trusted and untrusted proxies. */
import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import fc from "fast-check";
import { parseConfig } from "../../src/config.ts";
import { originOf } from "../../src/http/request.ts";
import { parseTrustedProxy } from "../../src/http/access/trusted-proxies.ts";
import { createProxies } from "../support/appliance.ts";

type Headers = Record<string, string>;

/** Client address and URL that we derive from a request of this peer. */
function readSeen(
  trusted: string[],
  peer: string,
  headers: Headers,
  url = "http://10.0.0.2:3210/x?y",
) {
  const { host } = new URL(url);
  const request = new Request(url, { headers: { Host: host, ...headers } });
  const { addressOf, restoreSentRequest: asSent } = createProxies(trusted, () => peer);
  const sent = asSent(request);
  expect([sent.method, sent.url.replace(/^.*?:\/\/[^/]*/, "")]).toEqual(["GET", "/x?y"]);
  expect(sent.url).toStartWith(originOf(sent));
  return { address: addressOf(sent), origin: originOf(sent), isSame: sent === request };
}

const local = ["127.0.0.1", "::1", "10.0.0.0/24"];
const direct = "http://10.0.0.2:3210";

/** X-Forwarded-For as sent by a trusted proxy, and the address derived from it. */
const lists: [forwardedFor: string | undefined, address: string][] = [
  ["203.0.113.9", "203.0.113.9"],
  ["198.51.100.1, 203.0.113.9", "203.0.113.9"],
  ["198.51.100.1,203.0.113.9 , 10.0.0.7", "203.0.113.9"],
  ["203.0.113.9, 10.0.0.7, 10.0.0.8", "203.0.113.9"],
  ["10.0.0.9, 10.0.0.8", "10.0.0.9"],
  ["203.0.113.9,,", "203.0.113.9"],
  [", 203.0.113.9", "203.0.113.9"],
  ["203.0.113.9:4711", "203.0.113.9"],
  ["2001:db8::7", "2001:db8::7"],
  ["2001:DB8::7", "2001:db8::7"],
  ["[2001:db8::7]", "2001:db8::7"],
  ["[2001:db8::7]:443", "2001:db8::7"],
  ["fe80::1%eth0", "fe80::1"],
  ["[fe80::1%25eth0]:443", "fe80::1"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["::FFFF:cb00:7109", "203.0.113.9"],
  ["0:0:0:0:0:ffff:203.0.113.9", "203.0.113.9"],
  ["203.0.113.9, ::ffff:10.0.0.7", "203.0.113.9"],
  // Other notations of IPv4 in IPv6 are not trusted.
  ["203.0.113.9, 2002:0a00:0007::1", "2002:0a00:0007::1"],
  ["203.0.113.9, 64:ff9b::10.0.0.7", "64:ff9b::10.0.0.7"],
  // Entries to the left of an invalid address are ignored.
  ["203.0.113.9, unknown", "127.0.0.1"],
  ["203.0.113.9, _hidden, 10.0.0.7", "10.0.0.7"],
  ["203.0.113.9, unix:, 10.0.0.7", "10.0.0.7"],
  ["203.0.113.9 198.51.100.1", "127.0.0.1"],
  ["010.0.0.1", "127.0.0.1"],
  ["203.0.113", "127.0.0.1"],
  ["203.0.113.9:", "127.0.0.1"],
  ["203.0.113.9:99999999", "127.0.0.1"],
  ["[203.0.113.9", "127.0.0.1"],
  ["2001:db8::7::1", "127.0.0.1"],
  ["<script>", "127.0.0.1"],
  ["", "127.0.0.1"],
  [",", "127.0.0.1"],
  [undefined, "127.0.0.1"],
];

test("the client is the last address of X-Forwarded-For that is not a trusted proxy", () => {
  for (const [forwardedFor, address] of lists) {
    const headers: Headers = { "X-Forwarded-Proto": "http" };
    if (forwardedFor !== undefined) headers["X-Forwarded-For"] = forwardedFor;
    expect([forwardedFor, readSeen(local, "127.0.0.1", headers).address]).toEqual([
      forwardedFor,
      address,
    ]);
  }
});

test("hundreds of entries are handled like any list", () => {
  const repeatEntry = (entry: string) => Array.from({ length: 900 }, () => entry).join(", ");
  const buildHeaders = (list: string) => ({ "X-Forwarded-For": list });
  const { address } = readSeen(
    local,
    "127.0.0.1",
    buildHeaders(`${repeatEntry("198.51.100.1")}, 203.0.113.9`),
  );
  expect(address).toBe("203.0.113.9");
  const ownHeaders = buildHeaders(`203.0.113.9, ${repeatEntry("10.0.0.7")}`);
  expect(readSeen(local, "127.0.0.1", ownHeaders).address).toBe("203.0.113.9");
  expect(readSeen(local, "127.0.0.1", buildHeaders(repeatEntry("x"))).address).toBe("127.0.0.1");
});

test("a proxy that connects over a socket is trusted with `unix:`", () => {
  const headers = { "X-Forwarded-For": "198.51.100.1, 203.0.113.9, unix:" };
  expect(readSeen(["127.0.0.1", "unix:"], "127.0.0.1", headers).address).toBe("203.0.113.9");
  expect(readSeen(["127.0.0.1"], "127.0.0.1", headers).address).toBe("127.0.0.1");
  // A peer without an address has disconnected and did not use a socket.
  expect(readSeen(["127.0.0.1", "unix:"], "", headers)).toEqual({
    address: "",
    origin: direct,
    isSame: true,
  });
});

/** Headers of a trusted proxy, and the origin derived from them. */
const origins: [headers: Headers, origin: string][] = [
  [{ "X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.example" }, "https://a.example"],
  [
    { "X-Forwarded-Proto": "HTTPS", "X-Forwarded-Host": "A.example:8443" },
    "https://A.example:8443",
  ],
  [{ "X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.example:443" }, "https://a.example"],
  [{ "X-Forwarded-Proto": "http", "X-Forwarded-Host": "a.example:80" }, "http://a.example"],
  [{ "X-Forwarded-Proto": "http", "X-Forwarded-Host": "a.example:443" }, "http://a.example:443"],
  [{ "X-Forwarded-Host": "[2001:db8::7]:8080" }, "http://[2001:db8::7]:8080"],
  [{ "X-Forwarded-Proto": "https" }, "https://10.0.0.2:3210"],
  [{ "X-Forwarded-Proto": "wss", "X-Forwarded-Host": "a.example" }, "http://a.example"],
  [{ "X-Forwarded-Proto": "javascript", "X-Forwarded-Host": "a b" }, direct],
  [{ "X-Forwarded-Host": "a.example/x" }, direct],
  [{ "X-Forwarded-Host": "user@a.example" }, direct],
  [{ "X-Forwarded-Host": "1.2.3.4.5" }, direct],
  [{ "X-Forwarded-Host": "a.example:99999" }, direct],
  [{ "X-Forwarded-Host": "" }, direct],
  // From a list, only the entry of the nearest proxy counts.
  [
    { "X-Forwarded-Host": "evil.io, a.example", "X-Forwarded-Proto": "http,https" },
    "https://a.example",
  ],
  // Or the entry before it, if that proxy saw the client.
  [
    {
      "X-Forwarded-For": "203.0.113.9, 10.0.0.7",
      "X-Forwarded-Host": "evil.io, a.example, inner.lan",
      "X-Forwarded-Proto": "http, https, http",
    },
    "https://a.example",
  ],
  [
    {
      "X-Forwarded-For": "203.0.113.9, 10.0.0.7",
      "X-Forwarded-Host": "a.example",
      "X-Forwarded-Proto": "https",
    },
    "https://a.example",
  ],
  [{ Forwarded: 'for=198.51.100.1;proto=https;host="evil.io"' }, direct],
];

test("scheme and host are those that the client requested", () => {
  for (const [headers, origin] of origins)
    expect([headers, readSeen(local, "127.0.0.1", headers).origin]).toEqual([headers, origin]);
});

test("headers of an untrusted peer are ignored, and all of them without --trust-proxy", () => {
  const strangers: [trusted: string[], peer: string][] = [
    [local, "203.0.113.9"],
    [local, "10.0.1.1"],
    [local, "::ffff:7f00:2"],
    [local, "2002:7f00:1::1"],
    [[], "127.0.0.1"],
    [[], "203.0.113.9"],
  ];
  const all = [
    ...lists.map(([list = ""]) => ({ "X-Forwarded-For": list })),
    ...origins.map(([one]) => one),
  ];
  for (const [trusted, peer] of strangers)
    for (const headers of all)
      expect([peer, headers, readSeen(trusted, peer, headers)]).toEqual([
        peer,
        headers,
        { address: peer, origin: direct, isSame: true },
      ]);
});

test("a request of a trusted proxy without forwarding headers is its own", () => {
  for (const peer of ["127.0.0.1", "::1", "10.0.0.255"])
    expect(readSeen(local, peer, {})).toEqual({ address: peer, origin: direct, isSame: true });
});

const address = fc
  .oneof(fc.ipV4(), fc.ipV6())
  .filter((one) => !one.includes(".") || !one.includes(":"));
type Hop = { address: string; scheme: string; host: string };
const anything = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."aA1.:,[] \t;=\"'%_/".split("")) }),
  address,
);

test("only the entries of trusted proxies count, with any headers of the client", () => {
  const client = fc.record({
    address: fc.constantFrom("203.0.113.9", "2001:db8::7"),
    scheme: fc.constantFrom("http", "https"),
    host: fc.constantFrom("a.example", "a.example:8443", "[2001:db8::1]:8080"),
    written: fc.record({ for: anything, proto: anything, host: anything }, { requiredKeys: [] }),
  });
  const hops = fc.array(fc.constantFrom("10.0.0.7", "10.0.0.8", "127.0.0.1", "::1"), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(client, hops, (from, proxies) => {
      const lists = { for: from.written.for, proto: from.written.proto, host: from.written.host };
      let previous: Hop = from;
      for (const proxy of proxies) {
        const add = (list: string | undefined, entry: string) =>
          list === undefined ? entry : `${list}, ${entry}`;
        lists.for = add(lists.for, previous.address);
        lists.proto = add(lists.proto, previous.scheme);
        lists.host = add(lists.host, previous.host);
        previous = { address: proxy, scheme: "http", host: "10.0.0.2:3210" };
      }
      const headers = {
        "X-Forwarded-For": lists.for ?? "",
        "X-Forwarded-Proto": lists.proto ?? "",
        "X-Forwarded-Host": lists.host ?? "",
      };
      const found = readSeen(local, previous.address, headers);
      expect([found.address, found.origin]).toEqual([
        from.address,
        `${from.scheme}://${from.host}`,
      ]);
    }),
  );
});

describe("--trust-proxy", () => {
  test("accepts addresses, ranges and `unix:`, and rejects values that trust everyone", () => {
    expect(parseTrustedProxy("10.0.5.0/24")).toEqual(["10.0.5.0", 24]);
    expect(parseTrustedProxy("10.0.5.1")).toEqual(["10.0.5.1", 32]);
    expect(parseTrustedProxy("::1")).toEqual(["::1", 128]);
    expect(parseTrustedProxy("::ffff:10.0.5.1")).toEqual(["10.0.5.1", 32]);
    expect(parseTrustedProxy("unix:")).toBe("unix:");
    for (const wrong of [
      "",
      "0.0.0.0/0",
      "::/0",
      "proxy.lan",
      "10.0.5.1:80",
      "[::1]",
      "10.0.5.0/33",
    ])
      expect([wrong, parseTrustedProxy(wrong)]).toEqual([wrong, null]);
  });

  test("is a repeatable flag, and a variable with commas", () => {
    const flags = { trustProxy: ["127.0.0.1", "fd00::/8"] };
    const expectedRanges = [
      ["127.0.0.1", 32],
      ["fd00::", 8],
    ] as const;
    expect(parseConfig(flags, {}).trustProxy).toEqual([...expectedRanges]);
    const variable = { SIGNALBOX_TRUST_PROXY: "127.0.0.1, fd00::/8" };
    expect(parseConfig({}, variable).trustProxy).toEqual([...expectedRanges]);
    expect(parseConfig({}, {}).trustProxy).toEqual([]);
    expect(() => parseConfig({ trustProxy: ["proxy.lan"] }, {})).toThrow("--trust-proxy");
  });
});

describe("an untrusted proxy on this machine", () => {
  function listHints(trusted: string[], ...requests: [peer: string, headers: Headers][]) {
    const logged: string[] = [];
    let peer = "";
    const log = { warn: (line: string) => void logged.push(line) };
    const { restoreSentRequest: asSent } = createProxies(trusted, () => peer, log);
    for (const [from, headers] of requests) {
      peer = from;
      asSent(new Request(`${direct}/`, { headers: { Host: "10.0.0.2:3210", ...headers } }));
    }
    return logged;
  }
  const forwarded = { "X-Forwarded-For": "203.0.113.9" };

  test("is logged once, with the flag that trusts it", () => {
    const found = listHints(
      [],
      ["127.0.0.1", forwarded],
      ["127.0.0.1", forwarded],
      ["::1", forwarded],
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("--trust-proxy 127.0.0.1");
    expect(listHints(["10.0.0.7"], ["::1", forwarded])[0]).toContain("--trust-proxy ::1");
  });

  test("is not logged for requests from elsewhere", () => {
    expect(listHints([], ["203.0.113.9", forwarded], ["127.0.0.1", {}], ["", forwarded])).toEqual(
      [],
    );
    expect(listHints(["127.0.0.1"], ["127.0.0.1", forwarded])).toEqual([]);
  });
});

test("address, scheme and host are read in few files, and all use the client's request", async () => {
  // A listener's handler passes on the request that `asSent` returns; lower layers see no other.
  const readers: [what: RegExp, files: string[]][] = [
    [/\brequestIP\b/, ["src/app.ts", "src/handlers.ts", "src/http/listener.ts"]],
    [/["'`](x-)?forwarded(-\w+)?["'`]/i, ["src/http/access/trusted-proxies.ts"]],
    [/\bx-real-ip\b/i, []],
    [
      /\.get\("host"\)/i,
      [
        "src/http/access/host-guard.ts",
        "src/http/access/trusted-proxies.ts",
        "src/http/request.ts",
        "src/status-pages/site/hosts.ts",
      ],
    ],
    [/\brestoreSentRequest\b/, ["src/http/access/trusted-proxies.ts", "src/http/listener.ts"]],
  ];
  const root = join(import.meta.dir, "..", "..");
  const files = [...new Glob("src/**/*.{ts,tsx}").scanSync(root)].toSorted();
  const texts = await Promise.all(files.map((file) => Bun.file(join(root, file)).text()));
  for (const [what, expected] of readers)
    expect([what, files.filter((_, index) => what.test(texts[index] ?? ""))]).toEqual([
      what,
      expected,
    ]);
});
