import { describe, expect, test } from "bun:test";
import { getFreePort } from "../../../support/binary.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import {
  startDnsmasq,
  startSilentNameServer,
  defineTestWith,
  zone,
} from "../../../support/real-targets.ts";

describe("expected values", () => {
  async function checkCases(cases: readonly [fields: object, message: string | RegExp][]) {
    await using server = await startDnsmasq();
    const resolver = `127.0.0.1:${server.port}`;
    for (const [fields, message] of cases) {
      const found = await runCheckOfType("dns", { host: "signalbox.test", resolver, ...fields });
      expect([fields, found.message]).toEqual([
        fields,
        typeof message === "string" ? message : expect.stringMatching(message),
      ]);
    }
  }

  defineTestWith(
    ["dnsmasq"],
    "can be some of the records, in any order and notation of names",
    () =>
      checkCases([
        [{ expected: [] }, /^2 records in \d+ ms\.$/],
        [{ expected: zone.A.values.toReversed() }, /^2 records/],
        [{ expected: ["192.0.2.2"] }, /^2 records/],
        [
          { host: "SIGNALBOX.test.", recordType: "AAAA", expected: ["2001:DB8::1"] },
          /^1 record in/,
        ],
        [{ recordType: "MX", expected: ["20 MX2.signalbox.test."] }, /^2 records/],
        [{ recordType: "NS", expected: ["NS1.signalbox.test."] }, /^1 record in/],
        [
          { host: zone.CNAME.host, recordType: "CNAME", expected: ["Signalbox.test."] },
          /^1 record in/,
        ],
        [{ host: zone.CNAME.host, expected: zone.A.values }, /^2 records/],
        [
          { host: zone.SRV.host, recordType: "SRV", expected: ["10 20 5060 sip.signalbox.test."] },
          /^1 /,
        ],
        [{ recordType: "CAA", expected: ['0 issue "ca.test"'] }, /^1 record in/],
        [{ recordType: "TXT", expected: zone.TXT.values }, /^\d records? in/],
        [{ recordType: "PTR", host: zone.PTR.host, expected: ["Signalbox.test."] }, /^1 record in/],
        [{ recordType: "PTR", host: "192.0.2.1", expected: zone.PTR.values }, /^1 record in/],
        [{ recordType: "PTR", host: "2001:db8::1", expected: zone.PTR.values }, /^1 record in/],
        [{ recordType: "SOA", expected: zone.SOA.values }, /^1 record in/],
      ]),
  );

  defineTestWith(["dnsmasq"], "that are missing are counted, not shown", () =>
    checkCases([
      [{ expected: ["192.0.2.1", "192.0.2.9"] }, "The A records lack 1 of 2 expected values."],
      [
        { recordType: "MX", expected: ["10 mx2.signalbox.test"] },
        "The MX records lack 1 of 1 expected values.",
      ],
      [
        { recordType: "TXT", expected: ["v=spf1", "-all "] },
        "The TXT records lack 2 of 2 expected values.",
      ],
      [
        { recordType: "CAA", expected: ["0 issue other.test"] },
        "The CAA records lack 1 of 1 expected values.",
      ],
    ]),
  );

  defineTestWith(["dnsmasq"], "are missing without a record or a name", () =>
    checkCases([
      ...Object.keys(zone).map((recordType): [object, string] => [
        { host: "nobody.test", recordType },
        `There is no ${recordType} record for this name.`,
      ]),
      [{ host: zone.SRV.host, recordType: "AAAA" }, "There is no AAAA record for this name."],
      [{ host: "www.signalbox.test", recordType: "SRV" }, "There is no SRV record for this name."],
    ]),
  );
});

describe("a name server", () => {
  test("that is silent is down at the timeout", async () => {
    await using server = await startSilentNameServer();
    const fields = { host: "signalbox.test", resolver: `127.0.0.1:${server.port}` };
    expect(await runCheckOfType("dns", fields, { timeoutMs: 2_000 })).toMatchObject({
      status: "down",
      message: expect.stringMatching(/does not respond|^Timed out after 2 s/),
    });
  });

  test("without a listener is down before the timeout", async () => {
    const fields = { host: "signalbox.test", resolver: `127.0.0.1:${getFreePort()}` };
    expect(await runCheckOfType("dns", fields, { timeoutMs: 500 })).toMatchObject({
      status: "down",
    });
  });

  const codes: [code: number, message: string][] = [
    [2, "The name server failed (SERVFAIL)."],
    [3, "There is no A record for this name."],
    [5, "The name server refused the query."],
  ];
  for (const [code, message] of codes)
    test(`that returns code ${code}: ${message}`, async () => {
      await using server = await startNameServer((question) => {
        const response = Buffer.from(question);
        response.writeUInt16BE(0x8180 | code, 2);
        return response;
      });
      const fields = { host: "signalbox.test", resolver: `127.0.0.1:${server.port}` };
      expect(await runCheckOfType("dns", fields)).toMatchObject({ status: "down", message });
    });

  test("that returns invalid data is down", async () => {
    for (const nonsense of ["", "x", "x".repeat(600)]) {
      await using server = await startNameServer((question) =>
        Buffer.concat([question.subarray(0, 2), Buffer.from(nonsense)]),
      );
      const fields = { host: "signalbox.test", resolver: `127.0.0.1:${server.port}` };
      expect(await runCheckOfType("dns", fields, { timeoutMs: 1_000 })).toMatchObject({
        status: "down",
      });
    }
  });
});

/** A name server that responds to every question as the test sets. */
async function startNameServer(responses: (question: Buffer) => Buffer) {
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: {
      data: (socket, question, port, address) =>
        void socket.send(responses(Buffer.from(question)), port, address),
    },
  });
  return { port: socket.port, [Symbol.asyncDispose]: async () => socket.close() };
}
