import { expect, test } from "bun:test";
import { Oid } from "../../../../src/monitoring/monitors/fields-schema.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { createAgent, snmp, encodeTlv } from "../../../support/fakes/snmp.ts";
import { startFake } from "../../../support/fakes/start-fake.ts";
import { startSnmpAgent, defineTestWith } from "../../../support/real-targets.ts";
import { canary } from "../../../support/samples.ts";

const buildBytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");
const buildText = (value: string) => encodeTlv(4, Buffer.from(value));

/** The displayed value of an object with this BER encoding. */
async function readValue(value: Buffer, fields: object = {}) {
  await using server = await startFake(snmp, createAgent(value));
  const request = { host: "127.0.0.1", port: server.port, community: canary, ...fields };
  const { status, message, details } = await runCheckOfType("snmp", request);
  return status === "up" ? details?.["value"] : message;
}

const values: [ber: Buffer, text: string][] = [
  [buildBytes("46 01 00"), "0"],
  [buildBytes("46 03 12 d6 87"), "1234567"],
  [buildBytes("46 07 20 00 00 00 00 00 01"), "9007199254740993"],
  [buildBytes("46 08 01 23 45 67 89 ab cd ef"), "81985529216486895"],
  [buildBytes("46 08 ff ff ff ff ff ff ff ff"), "18446744073709551615"],
  [buildBytes("46 09 00 ff ff ff ff ff ff ff ff"), "18446744073709551615"],
  [buildBytes("46 09 01 ff ff ff ff ff ff ff ff"), "The response is not valid for SNMP."],
  [buildBytes("41 05 00 ff ff ff ff"), "4294967295"],
  [buildBytes("02 01 ff"), "-1"],
  [buildBytes("43 02 01 00"), "256"],
  [buildBytes("40 04 c0 00 02 01"), "192.0.2.1"],
  [buildBytes("06 03 2b 06 01"), "1.3.6.1"],
  [buildBytes("44 07 9f 78 04 40 20 00 00"), "2.5"],
  [buildBytes("44 07 9f 78 04 3d cc cc cd"), "0.1"],
  [buildBytes("44 0b 9f 79 08 3f b9 99 99 99 99 99 9a"), "0.1"],
  [buildBytes("44 05 9f 7b 02 01 00"), "256"],
  [buildBytes("44 04 9f 7a 01 ff"), "-1"],
  [buildBytes("44 02 01 02"), "01 02"],
  [buildText("München"), "München"],
  [buildText("ABCDEFG\0"), "ABCDEFG"],
  [buildText("12345678"), "12345678"],
  [buildBytes("04 06 00 1a 2b 3c 4d ff"), "00 1A 2B 3C 4D FF"],
  [buildBytes("04 08 00 00 00 00 00 00 00 01"), "00 00 00 00 00 00 00 01"],
  [buildBytes("04 08 07 ea 0b 1a 0e 05 09 00"), "2026-11-26T14:05:09.0"],
  [buildBytes("04 0b 07 ea 0b 1a 0e 05 09 03 2d 05 1e"), "2026-11-26T14:05:09.3-05:30"],
  [buildBytes("04 08 07 ea 0d 1a 0e 05 09 00"), "07 EA 0D 1A 0E 05 09 00"],
];

test("a value of any length is decoded by its type", async () => {
  for (const [ber, shown] of values)
    expect([ber.toString("hex"), await readValue(ber)]).toEqual([ber.toString("hex"), shown]);
});

test("a 64-bit counter is compared exactly", async () => {
  const ber = buildBytes("46 07 20 00 00 00 00 00 01");
  const checkAssertion = (op: string, value: string) =>
    readValue(ber, { assertions: [{ source: "body", op, value }] });
  expect(await checkAssertion("greaterThan", "9007199254740992")).toBe("9007199254740993");
  expect(await checkAssertion("equals", "9007199254740993")).toBe("9007199254740993");
  expect(await checkAssertion("equals", "9007199254740992")).toStartWith(
    "The object was read, but",
  );
});

test("an empty value does not exist", async () => {
  const checkAssertion = (op: string) =>
    readValue(buildText(""), { assertions: [{ source: "body", op }] });
  expect(await checkAssertion("exists")).toStartWith("The object was read, but");
  expect(await checkAssertion("notExists")).toBeUndefined();
});

test("the value of another object is no response", async () => {
  const [asked, other] = [
    buildBytes("2b 06 01 02 01 01 03 00"),
    buildBytes("2b 06 01 02 01 01 04 00"),
  ];
  await using server = await startFake(snmp, (request: Buffer) => {
    const response = createAgent(buildText("up"))(request);
    response?.set(other, response.indexOf(asked));
    return response;
  });
  const fields = { host: "127.0.0.1", port: server.port, community: canary };
  expect((await runCheckOfType("snmp", fields)).message).toBe(
    "The response is not valid for SNMP.",
  );
});

test("an object identifier is normalized and validated when it is saved", () => {
  expect(Oid.parse(".1.3.6.1.2.1.1.3.0")).toBe("1.3.6.1.2.1.1.3.0");
  expect(Oid.parse("1.3.6.1.4.1.4294967295")).toBe("1.3.6.1.4.1.4294967295");
  expect(Oid.parse("2.999.1")).toBe("2.999.1");
  for (const wrong of [
    "1.3.4294967296",
    "1.3.9999999999",
    "3.1",
    "1.40.1",
    "1",
    "..1.3",
    "1.3.",
    "1.03",
  ])
    expect([wrong, Oid.safeParse(wrong).success]).toEqual([wrong, false]);
});

test("a stored object identifier with a leading dot is valid", async () => {
  await using server = await startFake(snmp);
  const { runLoggedCheck } = await import("../../../support/check-runs.ts");
  const { NewMonitor } = await import("../../../../src/monitoring/monitors/schema.ts");
  const fields = { host: "127.0.0.1", port: server.port, community: canary };
  const settings = NewMonitor.parse({ type: "snmp", name: "Target", ...fields });
  const stored = { ...settings, oid: ".1.3.6.1.2.1.1.3.0" };
  expect((await runLoggedCheck("snmp", stored)).outcome.status).toBe("up");
});

defineTestWith(["snmpd"], "a real agent's counters and dates are read", async () => {
  await using server = await startSnmpAgent(canary, `${canary}-auth`, `${canary}-priv`);
  const request = { host: "127.0.0.1", port: server.port, community: canary };
  const counter = await runCheckOfType("snmp", {
    ...request,
    oid: "1.3.6.1.2.1.31.1.1.1.6.1",
    assertions: [{ source: "body", op: "matches", value: "^\\d+$" }],
  });
  expect(counter.message).toMatch(/^(Read the object|The device has no such object)/);
  const date = await runCheckOfType("snmp", { ...request, oid: "1.3.6.1.2.1.25.1.2.0" });
  if (date.status === "up")
    expect(date.details?.["value"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d/);
  else expect(date.message).toBe("The device has no such object.");
});
