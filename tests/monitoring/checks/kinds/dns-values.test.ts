import { expect, test } from "bun:test";
import {
  hasText,
  listValues,
  normalizeValue,
} from "../../../../src/monitoring/checks/kinds/dns-values.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { startDatagrams } from "../../../support/fakes/start-fake.ts";
import { startDnsmasq, defineTestWith } from "../../../support/real-targets.ts";

type RecordType = Parameters<typeof normalizeValue>[0];

test("values of records are compared by type", () => {
  const equal: [RecordType, string, string][] = [
    ["AAAA", "2001:db8::1", "2001:0DB8:0:0:0:0:0:1"],
    ["AAAA", "::ffff:192.0.2.1", "::FFFF:c000:201"],
    ["A", "192.0.2.1", " 192.0.2.1 "],
    ["CNAME", "shop.example", "SHOP.example."],
    ["CNAME", "xn--mnchen-3ya.example", "München.example."],
    ["NS", "ns1.example", "NS1.EXAMPLE"],
    ["MX", "10 mx.example", "10  MX.example."],
    ["SRV", "10 20 5060 sip.example", "10 20 05060 SIP.example."],
    ["PTR", "host.example", "Host.example."],
    ["SOA", "ns.example admin.example 1 2 3 4 5", "NS.example. admin.example.  1 2 3 4 5"],
    ["CAA", '0 issue "ca.test"', '0 ISSUE "ca.test"'],
    ["CAA", '0 issue "ca.test"', "0 issue ca.test"],
  ];
  for (const [type, one, other] of equal)
    expect([one, normalizeValue(type, one)]).toEqual([one, normalizeValue(type, other)]);
  const different: [RecordType, string, string][] = [
    ["AAAA", "2001:db8::1", "2001:db8::2"],
    ["MX", "10 mx.example", "20 mx.example"],
    ["SOA", "ns.example admin.example 1 2 3 4 5", "ns.example admin.example 2 2 3 4 5"],
    ["CAA", '0 issue "ca.test"', '0 issue "CA.test"'],
    ["TXT", "v=DKIM1; p=abcDEF", "v=DKIM1; p=ABCdef"],
    ["TXT", "Sentence.", "Sentence"],
  ];
  for (const [type, one, other] of different)
    expect(normalizeValue(type, one)).not.toBe(normalizeValue(type, other));
});

test.each([
  ["MX", "10 mx.example", "Mx.example."],
  ["SRV", "10 20 5060 sip.example", "sip.example"],
  ["SOA", "ns.example admin.example 1 2 3 4 5", "NS.example."],
] as const)(
  "%s: the name of the server is enough, as in Gatus and Uptime Kuma",
  (type, record, expected) => {
    expect(listValues(type, record)).toContain(normalizeValue(type, expected));
    expect(listValues(type, record)).toContain(normalizeValue(type, record));
    expect(listValues(type, record)).not.toContain(normalizeValue(type, "other.example"));
  },
);

test("a text is found among any number of records, in one or several strings", () => {
  const many = Array.from({ length: 200 }, (_, index) => `record-${index}`);
  expect(hasText(many, "record-199")).toBe(true);
  expect(hasText([...many, "v=spf1 ", "ip4:192.0.2.1 ", "-all"], "v=spf1 ip4:192.0.2.1 -all")).toBe(
    true,
  );
  expect(hasText(many, "record-200")).toBe(false);
  expect(hasText(["google-site-verification=abcDEF"], "google-site-verification=ABCdef")).toBe(
    false,
  );
  expect(hasText(["a", ""], "a")).toBe(true);
});

test("the root means no host in MX and SRV", async () => {
  const records = { MX: [15, [0, 0, 0]], SRV: [33, [0, 0, 0, 0, 0, 0, 0]] } as const;
  for (const [recordType, [type, data]] of Object.entries(records)) {
    const respondToQuery = (query: Buffer) =>
      Buffer.concat([
        query.subarray(0, 2),
        Buffer.from([0x85, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]),
        query.subarray(12, query.indexOf(0, 12) + 5),
        Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]),
      ]);
    await using server = await startDatagrams(respondToQuery);
    const request = { host: "shop.test", resolver: `127.0.0.1:${server.port}`, recordType };
    const value = recordType === "MX" ? "0 ." : "0 0 0 .";
    const found = await runCheckOfType("dns", { ...request, expected: [value] });
    expect([found.status, found.details]).toEqual(["up", { records: value }]);
    const other = value.replace(".", "mx.test");
    expect((await runCheckOfType("dns", { ...request, expected: [other] })).status).toBe("down");
  }
});

defineTestWith(
  ["dnsmasq"],
  "international names are looked up and compared in A-labels",
  async () => {
    const name = "xn--mnchen-3ya.test";
    await using server = await startDnsmasq(
      `--host-record=${name},192.0.2.7`,
      `--cname=www.${name},${name}`,
      ...Array.from({ length: 60 }, (_, index) => `--txt-record=many.test,Text ${index}`),
    );
    const request = async (fields: object) =>
      await runCheckOfType("dns", { resolver: `127.0.0.1:${server.port}`, ...fields });
    for (const host of ["münchen.test", "MÜNCHEN.test.", name])
      expect(await request({ host, expected: ["192.0.2.7"] })).toMatchObject({ status: "up" });
    const cname = { host: "www.münchen.test", recordType: "CNAME" };
    expect(await request({ ...cname, expected: ["München.test"] })).toMatchObject({ status: "up" });
    const many = { host: "many.test", recordType: "TXT" };
    expect(await request({ ...many, expected: ["Text 0", "Text 59"] })).toMatchObject({
      status: "up",
    });
    expect(await request({ ...many, expected: ["text 0"] })).toMatchObject({
      message: "The TXT records lack 1 of 1 expected values.",
    });
  },
);

/** A name server that returns these addresses in rotation, or only an error. */
const startNameServer = (codes: number, rotations: readonly number[][] = [[]]) => {
  let turn = 0;
  return startDatagrams((query) => {
    const addresses = rotations[turn++ % rotations.length] ?? [];
    const end = query.indexOf(0, 12) + 5;
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(0x8180 | codes, 2);
    head.writeUInt16BE(addresses.length, 6);
    head.writeUInt32BE(0, 8);
    const records = addresses.map((last) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, last]),
    );
    return Buffer.concat([head, ...records]);
  });
};

test("an error of a name server is named by its code", async () => {
  const sentences: [number, string | RegExp][] = [
    [1, "The name server did not understand the query (FORMERR)."],
    [2, "The name server failed (SERVFAIL)."],
    [4, "The name server does not support this kind of query (NOTIMP)."],
    [5, "The name server refused the query."],
  ];
  for (const [code, sentence] of sentences) {
    await using server = await startNameServer(code);
    const fields = { host: "signalbox.test", resolver: `127.0.0.1:${server.port}` };
    expect([code, (await runCheckOfType("dns", fields)).message]).toEqual([
      code,
      sentence as string,
    ]);
  }
});

test("the displayed records do not depend on their order", async () => {
  await using server = await startNameServer(0, [
    [2, 1, 3],
    [3, 2, 1],
  ]);
  const fields = { host: "signalbox.test", resolver: `127.0.0.1:${server.port}` };
  for (const _turn of [1, 2])
    expect((await runCheckOfType("dns", fields)).details).toEqual({
      records: "192.0.2.1, 192.0.2.2, 192.0.2.3",
    });
});
