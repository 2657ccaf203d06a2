/** Addresses that checks and alerts must not connect to, in every notation. */
import { describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import {
  isLoopback,
  isPrivate,
  type Listener,
  describeListeners,
  parseDenied,
  parseRange,
  createTargetGuard,
} from "../../src/core/security/target-guard.ts";

const idleGuard = createTargetGuard(() => []);
const issueOf = (address: string) => idleGuard.findIssue(address, 80);

const blocked: Record<string, string[]> = {
  "a link-local address, where cloud machines keep their credentials": [
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
  ],
  "a link-local address": ["fe80::", "fe80::1", "febf:ffff::1", "fe80::1%eth0"],
  "no address of a host": ["0.0.0.0", "0.255.255.255", "::"],
  "a multicast address": ["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff::1"],
  "the broadcast address": ["255.255.255.255"],
  "the metadata service of a cloud": [
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
  ],
};

describe("a check or an alert must not connect to", () => {
  for (const [what, addresses] of Object.entries(blocked))
    test(what, () => {
      for (const address of addresses)
        expect([address, issueOf(address)]).toEqual([address, `is ${what}`]);
    });

  test("any of these on any port, or by ping", () => {
    for (const [what, addresses] of Object.entries(blocked))
      for (const address of addresses)
        for (const port of [null, 1, 443, 65_535])
          expect(idleGuard.findIssue(address, port)).toBe(`is ${what}`);
  });

  test("one of these IPv4 addresses in IPv6 notation: mapped, compatible or NAT64", () => {
    const hidden = Object.values(blocked)
      .flat()
      .filter((address) => address.includes(".") && !address.startsWith("0."));
    for (const address of hidden)
      for (const form of ["::ffff:", "::", "64:ff9b::", "::FFFF:", "0:0:0:0:0:ffff:"])
        expect([form + address, issueOf(form + address)]).toEqual([
          form + address,
          issueOf(address),
        ]);
    expect(issueOf("::ffff:a9fe:a9fe")).toBe(issueOf("169.254.169.254"));
    expect(issueOf("::ffff:0:0")).toBe("is no address of a host");
  });

  /** Every way in which IPv6 carries an IPv4 address, from the defining documents. */
  const carriers: Record<string, (a: number, b: number, c: number, d: number) => string> = {
    "mapped (RFC 4291)": (...v4) => `::ffff:${v4.join(".")}`,
    "compatible (RFC 4291)": (...v4) => `::${v4.join(".")}`,
    "translated (RFC 2765)": (...v4) => `::ffff:0:${v4.join(".")}`,
    "NAT64 (RFC 6052)": (...v4) => `64:ff9b::${v4.join(".")}`,
    "local NAT64, /96 (RFC 8215)": (...v4) => `64:ff9b:1:abcd::${v4.join(".")}`,
    "local NAT64, /96 of zeros": (...v4) => `64:ff9b:1::${v4.join(".")}`,
    "local NAT64, /64": (a, b, c, d) =>
      `64:ff9b:1:abcd:${formatHex(0, a)}:${formatHex(b, c)}:${formatHex(d, 0)}:0`,
    "local NAT64, /56": (a, b, c, d) =>
      `64:ff9b:1:${formatHex(0xab, a)}:${formatHex(0, b)}:${formatHex(c, d)}::`,
    "local NAT64, /48": (a, b, c, d) =>
      `64:ff9b:1:${formatHex(a, b)}:${formatHex(0, c)}:${formatHex(d, 0)}::`,
    "6to4 (RFC 3056)": (a, b, c, d) => `2002:${formatHex(a, b)}:${formatHex(c, d)}::1`,
    "Teredo's server (RFC 4380)": (a, b, c, d) =>
      `2001:0:${formatHex(a, b)}:${formatHex(c, d)}:0:1:fefe:fefe`,
    "Teredo's client": (a, b, c, d) =>
      `2001:0:102:304:0:1:${formatHex(a ^ 255, b ^ 255)}:${formatHex(c ^ 255, d ^ 255)}`,
    "ISATAP (RFC 5214)": (...v4) => `2001:4860::5efe:${v4.join(".")}`,
    "ISATAP, globally unique": (...v4) => `2001:4860::200:5efe:${v4.join(".")}`,
  };
  const formatHex = (high: number, low: number) => (high * 256 + low).toString(16);
  const buildParts = (address: string) =>
    address.split(".").map(Number) as [number, number, number, number];

  for (const [what, carry] of Object.entries(carriers))
    test(`one of these IPv4 addresses carried in IPv6: ${what}; other carried addresses are allowed`, () => {
      for (const address of ["169.254.169.254", "224.0.0.1", "168.63.129.16", "255.255.255.255"]) {
        const carried = carry(...buildParts(address));
        expect([carried, issueOf(carried)]).toEqual([carried, issueOf(address)]);
      }
      const listeningGuard = createTargetGuard(() => [{ host: "0.0.0.0", port: 3210 }]);
      expect(listeningGuard.findIssue(carry(127, 0, 0, 1), 3210)).toBe("is this appliance itself");
      expect(isLoopback(carry(127, 0, 0, 1))).toBe(true);
      for (const address of ["8.8.8.8", "10.1.2.3", "127.0.0.1"])
        expect([address, issueOf(carry(...buildParts(address)))]).toEqual([address, null]);
      expect([isPrivate(carry(10, 1, 2, 3)), isPrivate(carry(8, 8, 8, 8))]).toEqual([true, false]);
      const closed = createTargetGuard(() => [], { denied: [{ range: ["10.1.0.0", 16] }] });
      expect(closed.findIssue(carry(10, 1, 2, 3), 80)).toBe("is denied by --deny-target");
    });

  test("one of these in any notation", () => {
    for (const form of ["FE80::1", "fe80:0:0:0:0:0:0:1", "fe80:0000::0001", "[fe80::1]"])
      expect([form, issueOf(form)]).toEqual([form, "is a link-local address"]);
    expect(issueOf("fd00:0ec2:0:0:0:0:0:0254")).toBe("is the metadata service of a cloud");
    expect(issueOf("0:0:0:0:0:0:0:0")).toBe("is no address of a host");
  });
});

test("this machine, the LAN and the internet are allowed", () => {
  for (const address of [
    "127.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.100.100.201",
    "169.253.255.255",
    "169.255.0.0",
    "168.63.129.17",
    "1.0.0.0",
    "223.255.255.255",
    "fd00::1",
    "fd00:ec2::253",
    "fe7f::1",
    "fec0::1",
    "2001:db8::1",
  ])
    expect([address, issueOf(address)]).toEqual([address, null]);
});

describe("the appliance's own listeners", () => {
  const ownReason = "is this appliance itself";
  const runGuarded = (host: string, address: string, port: number | null = 3210) =>
    createTargetGuard(() => [{ host, port: 3210 }]).findIssue(address, port);
  const ours = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ address }) => !address.startsWith("fe80:"))
    .map(({ address }) => address);

  test("on every address are rejected on each address of this machine", () => {
    for (const host of ["0.0.0.0", "::"])
      for (const address of [...ours, "127.0.0.1", "127.1.2.3", "::ffff:127.0.0.1"])
        expect([host, address, runGuarded(host, address)]).toEqual([host, address, ownReason]);
    expect(runGuarded("::", "::1")).toBe(ownReason);
  });

  test("on another machine are rejected on each address that it reports", () => {
    const ownReason = "is this appliance itself";
    const [everywhere, one] = describeListeners([
      { host: "0.0.0.0", port: 3210 },
      { host: "10.1.1.7", port: 8080 },
    ]);
    expect([everywhere?.addresses?.toSorted(), one]).toEqual([
      expect.arrayContaining(ours.toSorted()),
      { host: "10.1.1.7", port: 8080 },
    ]);
    const other = { host: "0.0.0.0", port: 3210, addresses: ["192.0.2.7"] };
    const guard = createTargetGuard(() => [other]);
    expect(["192.0.2.7", "127.0.0.1"].map((one) => guard.findIssue(one, 3210))).toEqual([
      ownReason,
      ownReason,
    ]);
    expect(guard.findIssue("192.0.2.7", 3211)).toBeNull();
    expect(guard.findIssue("192.0.2.8", 3210)).toBeNull();
  });

  test("on one address are rejected there, in any notation", () => {
    const pairs: [host: string, address: string][] = [
      ["127.0.0.1", "127.0.0.1"],
      ["127.0.0.1", "::ffff:7f00:1"],
      ["192.168.1.5", "::ffff:192.168.1.5"],
      ["::1", "::1"],
      ["::1", "0:0:0:0:0:0:0:1"],
      ["localhost", "127.0.0.1"],
      ["localhost", "::1"],
    ];
    for (const [host, address] of pairs)
      expect([host, address, runGuarded(host, address)]).toEqual([host, address, ownReason]);
    expect(runGuarded("192.168.1.5", "127.0.0.1")).toBeNull();
    expect(runGuarded("127.0.0.1", "192.168.1.5")).toBeNull();
  });

  test("are rejected there even if the host has another notation of the address", () => {
    for (const [host, address] of [
      ["2001:DB8::1", "2001:db8::1"],
      ["0:0:0:0:0:0:0:1", "::1"],
      ["::ffff:127.0.0.1", "127.0.0.1"],
    ] as const)
      expect([host, address, runGuarded(host, address)]).toEqual([host, address, ownReason]);
  });

  test("are only these ports: other programs and pings of the same machine are allowed", () => {
    for (const host of ["0.0.0.0", "127.0.0.1", "localhost"]) {
      expect(runGuarded(host, "127.0.0.1", 3211)).toBeNull();
      expect(runGuarded(host, "127.0.0.1", null)).toBeNull();
    }
    expect(runGuarded("0.0.0.0", "192.0.2.77")).toBeNull();
  });

  test("are known once they listen", () => {
    const listeners: Listener[] = [];
    const guard = createTargetGuard(() => listeners);
    expect(guard.findIssue("127.0.0.1", 3210)).toBeNull();
    listeners.push({ host: "127.0.0.1", port: 3210 }, { host: "127.0.0.1", port: 8080 });
    expect([3210, 8080].map((port) => guard.findIssue("127.0.0.1", port))).toEqual([
      ownReason,
      ownReason,
    ]);
  });
});

describe("an allowed range", () => {
  const createAllowing = (...ranges: string[]) =>
    createTargetGuard(() => [{ host: "0.0.0.0", port: 3210 }], {
      allowed: ranges.map((text) => parseRange(text) ?? ["203.0.113.0", 32]),
    });

  test("allows the addresses within it, in every notation, and no others", () => {
    const guard = createAllowing("169.254.10.0/24", "fe80::/64");
    for (const address of ["169.254.10.0", "169.254.10.255", "::ffff:169.254.10.7", "fe80::1"])
      expect([address, guard.findIssue(address, 80)]).toEqual([address, null]);
    for (const address of ["169.254.11.0", "169.254.9.255", "169.254.169.254", "fe80:0:0:1::1"])
      expect([address, guard.findIssue(address, 80)]).not.toEqual([address, null]);
  });

  test("also allows our own listener within it", () => {
    expect(createAllowing("127.0.0.1/32").findIssue("127.0.0.1", 3210)).toBeNull();
    expect(createAllowing("127.0.0.1/32").findIssue("127.0.0.2", 3210)).toBe(
      "is this appliance itself",
    );
  });

  test("of one family allows nothing of the other", () => {
    expect(createAllowing("0.0.0.0/0").findIssue("fe80::1", 80)).toBe("is a link-local address");
    expect(createAllowing("fe80::/10").findIssue("169.254.169.254", 80)).not.toBeNull();
  });

  test("is an address and the length of its prefix", () => {
    expect(parseRange("169.254.10.0/24")).toEqual(["169.254.10.0", 24]);
    expect(parseRange("0.0.0.0/0")).toEqual(["0.0.0.0", 0]);
    expect(parseRange("10.0.0.1/32")).toEqual(["10.0.0.1", 32]);
    expect(parseRange("fe80::/128")).toEqual(["fe80::", 128]);
  });

  for (const text of [
    "",
    "/",
    "/8",
    "10.0.0.0",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/8.5",
    "10.0.0.0/1e1",
    "10.0.0.0/ 8",
    " 10.0.0.0/8",
    "10.0.0/8",
    "10.0.0.0/255.0.0.0",
    "10.0.0.0/8/9",
    "::/129",
    "fe80::",
    "intranet.lan/24",
  ])
    test(`is not “${text}”`, () => expect(parseRange(text)).toBeNull());
});

describe("a denied target", () => {
  const denied = "is denied by --deny-target";
  const createDenying = (...texts: string[]) =>
    createTargetGuard(() => [], {
      denied: texts.map((text) => parseDenied(text) ?? { name: "nothing" }),
      allowed: [["10.0.0.0", 8]],
    });

  test("is denied on every port and in every notation, even if it is also allowed", () => {
    const guard = createDenying("10.0.5.0/24", "192.0.2.1", "2001:db8:1::/48", "::ffff:192.0.2.9");
    for (const address of [
      "10.0.5.0",
      "10.0.5.255",
      "::ffff:10.0.5.7",
      "64:ff9b::a00:507",
      "192.0.2.1",
      "192.0.2.9",
      "2001:db8:1::7",
      "[2001:DB8:1:0::7]",
    ])
      for (const port of [null, 80])
        expect([address, guard.findIssue(address, port)]).toEqual([address, denied]);
    for (const address of ["10.0.4.255", "10.0.6.0", "192.0.2.2", "2001:db8:2::"])
      expect([address, guard.findIssue(address, 80)]).toEqual([address, null]);
  });

  test("can also be a name, or all names below one, in any spelling", () => {
    const guard = createDenying("db.lan", "*.Internal.lan", "*.müller.example");
    for (const name of [
      "db.lan",
      "DB.LAN",
      "db.lan.",
      "a.internal.lan",
      "a.b.INTERNAL.lan.",
      "x.xn--mller-kva.example",
    ])
      expect([name, guard.validateName(name)]).toEqual([name, denied]);
    for (const name of ["a.db.lan", "xdb.lan", "internal.lan", "ainternal.lan", "db.lan.example"])
      expect([name, guard.validateName(name)]).toEqual([name, null]);
  });

  for (const text of [
    "",
    "*",
    "*.",
    ".",
    "a b",
    "http://a.lan",
    "a.lan/24",
    "a.lan:80",
    "*.*.lan",
    "10.0.0.0/33",
    "a*.lan",
    "[::1]",
    "user@a.lan",
    "fe80::1%eth0/64",
    "*.127.1",
  ])
    test(`is not “${text}”`, () => expect(parseDenied(text)).toBeNull());
});

test("organizations that share the machine have no access to loopback while they share it", () => {
  let isShared = false;
  const sharing = { isShared: () => isShared, refresh: async () => {} };
  const guard = createTargetGuard(() => [], { sharing });
  const opened = createTargetGuard(() => [], { sharing, allowed: [["127.0.0.0", 8]] });
  const buildIssues = () =>
    ["127.0.0.1", "127.9.9.9", "::1", "::ffff:7f00:1"].map((address) =>
      guard.findIssue(address, 80),
    );
  expect(new Set(buildIssues())).toEqual(new Set([null]));
  isShared = true;
  expect(new Set(buildIssues())).toEqual(
    new Set(["is this machine itself, which several organizations share"]),
  );
  for (const address of ["10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1"])
    expect([address, guard.findIssue(address, 80)]).toEqual([address, null]);
  expect([opened.findIssue("127.0.0.1", 80), opened.findIssue("::1", 80)]).toEqual([
    null,
    "is this machine itself, which several organizations share",
  ]);
  isShared = false;
  expect(new Set(buildIssues())).toEqual(new Set([null]));
});

test("an address without a public route is private", () => {
  for (const address of [
    "127.0.0.1",
    "::1",
    "10.0.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.1.1",
    "fd00::1",
    "fe80::1",
    "::ffff:10.0.0.1",
  ])
    expect([address, isPrivate(address)]).toEqual([address, true]);
  for (const address of [
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
  ])
    expect([address, isPrivate(address)]).toEqual([address, false]);
});

test("loopback is 127.0.0.0/8 and ::1, in every notation", () => {
  for (const address of ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "[::1]"])
    expect([address, isLoopback(address)]).toEqual([address, true]);
  for (const address of ["128.0.0.1", "10.0.0.1", "::2", "::", "0.0.0.0", "::ffff:10.0.0.1"])
    expect([address, isLoopback(address)]).toEqual([address, false]);
});
