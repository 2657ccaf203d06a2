/** DNS queries of our own: encrypted resolvers, DNSSEC state, DNSKEY, and assertions about records. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TargetFailure } from "../../../../src/core/outgoing/failures.ts";
import {
  buildQuery,
  isResponseTo,
  parseResponse,
} from "../../../../src/monitoring/checks/protocols/dns-messages.ts";
import { getFreePort } from "../../../support/binary.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { defineTestWith, startDnsmasq, startUnbound, zone } from "../../../support/real-targets.ts";

const host = "signalbox.test";
const fast = { source: "latency", op: "lessThan", value: 60_000 };

describe("unbound", () => {
  defineTestWith(["unbound"], "returns the same records over DNS, TLS and HTTPS", async () => {
    await using server = await startUnbound();
    const resolvers = [
      `127.0.0.1:${server.port}`,
      `tls://localhost:${server.tlsPort}`,
      `https://127.0.0.1:${server.httpsPort}/dns-query`,
    ];
    for (const resolver of resolvers)
      for (const [recordType, { host: name, values }] of Object.entries(zone)) {
        const fields = { host: name, recordType, resolver, expected: values, assertions: [fast] };
        const trust = { authorities: server.authority };
        expect([resolver, await runCheckOfType("dns", fields, trust)]).toEqual([
          resolver,
          expect.objectContaining({
            status: "up",
            details: { records: values.toSorted().join(", "), dnssec: "Insecure" },
          }),
        ]);
      }
  });

  defineTestWith(["unbound"], "with an unknown certificate or path is down", async () => {
    await using server = await startUnbound();
    const trust = { authorities: server.authority };
    const at = (resolver: string) => ({ host, resolver });
    for (const scheme of ["tls", "https"]) {
      const port = scheme === "tls" ? server.tlsPort : server.httpsPort;
      expect(
        await runCheckOfType(
          "dns",
          at(`${scheme}://localhost:${port}/`.replace(/^(tls.*)\/$/, "$1")),
        ),
      ).toMatchObject({
        status: "down",
        message: "The certificate's chain is incomplete, or its authority is not trusted.",
      });
    }
    expect(
      await runCheckOfType("dns", at(`https://localhost:${server.httpsPort}/other`), trust),
    ).toMatchObject({ status: "down", message: "The name server responded with HTTP 404." });
    expect(
      await runCheckOfType(
        "dns",
        { ...at(`tls://localhost:${server.tlsPort}`), recordType: "DNSKEY" },
        trust,
      ),
    ).toMatchObject({ status: "down", message: "There is no DNSKEY record for this name." });
  });
});

defineTestWith(["dnsmasq"], "a DNSKEY record is compared without its spaces", async () => {
  await using server = await startDnsmasq(`--dns-rr=${host},48,0101030dAABBCCDD`);
  const fields = { host, recordType: "DNSKEY", resolver: `127.0.0.1:${server.port}` };
  expect(
    await runCheckOfType("dns", { ...fields, expected: ["257 3 13 qrvM 3Q=="] }),
  ).toMatchObject({ status: "up", details: { records: "257 3 13 qrvM3Q==" } });
});

const rcodes = { servfail: 2, nxdomain: 3 };
const bits = { authentic: 0x20, unchecked: 0x10 };

/** A resolver that responds over UDP with flags and one A record of 300 s, or with an error code. */
async function startResolver(
  respond: (isUnchecked: boolean) => { rcode?: number; flags?: number },
  port = 0,
) {
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(from, message, port, address) {
        const query = Buffer.from(message);
        const { rcode = 0, flags = 0 } = respond((query.readUInt16BE(2) & bits.unchecked) !== 0);
        const head = Buffer.from(query.subarray(0, query.length - 11));
        head.writeUInt16BE(0x8180 | flags | rcode, 2);
        head.writeUInt16BE(rcode === 0 ? 1 : 0, 6);
        head.writeUInt16BE(0, 10);
        const record = Buffer.from("c00c000100010000012c0004c0000201", "hex");
        from.send(rcode === 0 ? Buffer.concat([head, record]) : head, port, address);
      },
    },
  });
  const resolver = `127.0.0.1:${socket.port}`;
  return { resolver, [Symbol.asyncDispose]: async () => socket.close() };
}

describe("the DNSSEC state", () => {
  const check = async (respond: Parameters<typeof startResolver>[0], fields: object = {}) => {
    await using server = await startResolver(respond);
    return await runCheckOfType("dns", {
      host,
      resolver: server.resolver,
      requireDnssec: true,
      ...fields,
    });
  };

  test("is secure if the resolver has verified the signatures", async () => {
    const assertions = [{ source: "json", path: "$.dnssec", op: "equals", value: "secure" }];
    expect(await check(() => ({ flags: bits.authentic }), { assertions })).toMatchObject({
      status: "up",
      details: { dnssec: "Secure", records: "192.0.2.1" },
    });
  });

  test("is insecure without the AD bit, and down if it is required", async () => {
    expect((await check(() => ({}))).message).toStartWith("The resolver has not verified DNSSEC");
    const assertions = [{ source: "json", path: "$.dnssec", op: "equals", value: "insecure" }];
    expect(await check(() => ({}), { requireDnssec: false, assertions })).toMatchObject({
      status: "up",
    });
  });

  test("is bogus if only the query without validation succeeds", async () => {
    const respond = (isUnchecked: boolean) => (isUnchecked ? {} : { rcode: rcodes.servfail });
    expect((await check(respond)).message).toBe(
      "DNSSEC is bogus: the resolver found that the signatures of the name are not valid.",
    );
  });

  test("is unknown if the name server fails either way, or has no such name", async () => {
    expect((await check(() => ({ rcode: rcodes.servfail }))).message).toBe(
      "The name server failed (SERVFAIL).",
    );
    expect((await check(() => ({ rcode: rcodes.nxdomain }))).message).toBe(
      "There is no A record for this name.",
    );
  });
});

test.each([
  [{ source: "json", path: "$.ttl", op: "equals", value: 300 }, "up"],
  [{ source: "json", path: "$.ttl", op: "greaterThan", value: 300 }, "down"],
  [{ source: "json", path: "$.values", op: "contains", value: "192.0.2.1" }, "up"],
  [{ source: "json", path: "$.values.length()", op: "equals", value: 1 }, "up"],
  [{ source: "body", op: "matches", value: "^192\\.0\\.2\\." }, "up"],
  [{ source: "body", op: "contains", value: "198.51" }, "down"],
])("the assertion %j makes the monitor %s", async (assertion, status) => {
  await using server = await startResolver(() => ({}));
  const fields = { host, resolver: server.resolver, assertions: [assertion] };
  expect<string>((await runCheckOfType("dns", fields)).status).toBe(status);
});

test("a truncated response is requested again over TCP", async () => {
  const port = getFreePort();
  await using udp = await startResolver(() => ({ flags: 0x0200 }), port);
  using tcp = Bun.listen({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(socket, message) {
        const head = Buffer.from(message.subarray(2, message.length - 11));
        head.writeUInt16BE(0x8180, 2);
        head.writeUInt16BE(2, 6);
        head.writeUInt16BE(0, 10);
        const record = Buffer.from("c00c000100010000012c0004c0000201", "hex");
        const reply = Buffer.concat([head, record, record]);
        socket.write(Buffer.concat([Buffer.of(0, reply.length), reply]));
      },
    },
  });
  const fields = { host, resolver: udp.resolver, assertions: [fast] };
  expect((await runCheckOfType("dns", fields)).message).toStartWith("2 records");
  tcp.stop(true);
});

test("any bytes are a response or a failure of the target", () => {
  const query = buildQuery(host, "A");
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 80 }),
      fc.constantFrom("A", "AAAA", "TXT", "SOA", "CAA", "MX", "DNSKEY", "SRV", "NS"),
      fc.nat(600),
      (bytes, type, code) => {
        const head = Buffer.from(query.subarray(0, query.length - 11));
        head.writeUInt16BE(0x8180, 2);
        head.writeUInt16BE(2, 6);
        const record = Buffer.from([0xc0, 12, code >> 8, code & 0xff, 0, 1, 0, 0, 0, 1]);
        const message = Buffer.concat([head, record, bytes]);
        expect(isResponseTo(message, query)).toBe(true);
        try {
          parseResponse(message, type);
        } catch (error) {
          expect(error).toBeInstanceOf(TargetFailure);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test("names that many records share are bounded, so that they can't grow to hundreds of megabytes", () => {
  const read = (name: Buffer) => {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 6);
    const record = Buffer.from("0000020001000000000000", "hex");
    record.writeUInt16BE(name.length, 9);
    return parseResponse(Buffer.concat([head, record, name]), "NS").records[0]?.value;
  };
  const label = Buffer.concat([Buffer.of(63), Buffer.alloc(63, "a")]);
  const longest = Buffer.concat([label, label, label, Buffer.of(61), Buffer.alloc(61, "a")]);
  expect(read(Buffer.concat([longest, Buffer.of(0)]))?.length).toBe(253);
  expect(() => read(Buffer.concat([longest, longest, label, Buffer.of(0)]))).toThrow(TargetFailure);
});
