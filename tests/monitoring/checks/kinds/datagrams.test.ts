import { describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import type { Address } from "../../../../src/core/outgoing/context.ts";
import { queryByDatagram } from "../../../../src/core/outgoing/datagrams.ts";
import { checkKinds } from "../../../../src/monitoring/checks/kinds.ts";
import type { CheckKind } from "../../../../src/monitoring/checks/check.ts";
import type { MonitorType } from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { NewMonitor } from "../../../../src/monitoring/monitors/schema.ts";
import { getFreePort } from "../../../support/binary.ts";
import { runCheckOfType, createCheckContext } from "../../../support/check-runs.ts";
import { fakes, otherFakes } from "../../../support/fakes/all.ts";
import type { Fake } from "../../../support/fakes/fake.ts";
import { startDatagrams } from "../../../support/fakes/start-fake.ts";

const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === "::1"),
);
const all = [...(Object.entries(fakes) as [MonitorType, Fake][]), ...otherFakes];
const overUdp = all.flatMap(([type, fake]) =>
  fake.transport === "udp" ? [[type, fake] as const] : [],
);

test("this file covers every type over UDP", () => {
  expect(new Set(overUdp.map(([type]) => type))).toEqual(
    new Set(["snmp", "radius", "ntp", "game", "sip"]),
  );
});

const buildAddress = (text: string, family: 4 | 6): Address => ({
  address: text,
  family,
  isPrivate: true,
});

describe.each(overUdp)("%s", (type, fake) => {
  /** Runs a check of a name with these addresses. */
  async function checkAddresses(addresses: Address[], port: number) {
    const ending = new AbortController();
    const context = { ...createCheckContext(ending), addressesOf: async () => addresses };
    const settings = NewMonitor.parse({
      type,
      name: "Target",
      host: "target.lan",
      port,
      ...fake.fields,
    });
    const run = checkKinds[type as keyof typeof checkKinds] as unknown as CheckKind<MonitorType>;
    try {
      return await run(settings as never, context);
    } finally {
      ending.abort();
    }
  }

  test.skipIf(!hasIPv6)("is up at an IPv6 address", async () => {
    await using server = await startDatagrams(fake.serve, { hostname: "::1" });
    const fields = { host: "::1", port: server.port, ...fake.fields };
    expect((await runCheckOfType(type, fields)).status).toBe("up");
  });

  test.skipIf(!hasIPv6)("is down without a listener at an IPv6 address", async () => {
    const fields = { host: "::1", port: getFreePort(), ...fake.fields };
    expect((await runCheckOfType(type, fields)).message).toBe("The connection was refused.");
  });

  test("is up when the first address of a name refuses or is silent", async () => {
    await using server = await startDatagrams(fake.serve, { port: getFreePort() });
    const good = buildAddress("127.0.0.1", 4);
    const refusing = buildAddress(hasIPv6 ? "::1" : "127.0.0.2", hasIPv6 ? 6 : 4);
    expect((await checkAddresses([refusing, good], server.port)).status).toBe("up");
    await using silent = await startDatagrams(() => null, {
      hostname: "127.0.0.3",
      port: server.port,
    });
    expect((await checkAddresses([buildAddress("127.0.0.3", 4), good], silent.port)).status).toBe(
      "up",
    );
  });
});

test("if all addresses fail, the last failure counts", async () => {
  const request = queryByDatagram(
    [buildAddress("127.0.0.2", 4), buildAddress("127.0.0.1", 4)],
    getFreePort(),
    createCheckContext(),
    () => ({ buildQuery: () => Buffer.from("?"), parseResponse: () => null }),
  );
  expect(await request.catch((error: NodeJS.ErrnoException) => error.code)).toBe("ECONNREFUSED");
});
