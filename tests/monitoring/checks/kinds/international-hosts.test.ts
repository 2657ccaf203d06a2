import { expect, test } from "bun:test";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { Host } from "../../../../src/core/fields.ts";
import { NewMonitor } from "../../../../src/monitoring/monitors/schema.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { fakes, otherFakes } from "../../../support/fakes/all.ts";
import type { Fake } from "../../../support/fakes/fake.ts";
import { getAuthority, startFake } from "../../../support/fakes/start-fake.ts";
import { hasPrograms, defineTestWith } from "../../../support/real-targets.ts";
import { newMonitors } from "../../../support/samples.ts";

/** UTS 46 maps these full-width letters to `localhost`. A resolver would not know them. */
const wide = "ｌｏｃａｌｈｏｓｔ";
const all = [...(Object.entries(fakes) as [MonitorType, Fake][]), ...otherFakes];
const hostTypes = (Object.keys(monitorKinds) as MonitorType[]).filter(
  (type) => "host" in monitorKinds[type].fields,
);

test("each type with a host accepts an international name, and stores it as typed", () => {
  for (const type of hostTypes) {
    const host = "MÜNCHEN.example";
    const saved = NewMonitor.parse({ type, name: "Target", ...newMonitors[type], host });
    expect([type, "host" in saved && saved.host]).toEqual([type, host]);
  }
});

test("a host that is impossible in DNS is rejected when it is saved", () => {
  for (const host of ["xn--a.example", `${"é".repeat(62)}.example`, "\u{1F468}\u200D.example"])
    expect([host, Host.safeParse(host).success]).toEqual([host, host === "xn--a.example"]);
});

for (const [type, fake] of all.filter(([type]) => hostTypes.includes(type)))
  test(`${type}: an international host is looked up in A-labels`, async () => {
    await using server = await startFake(fake);
    const at = fake.at?.(wide, server.port, false) ?? { host: wide, port: server.port };
    expect(await runCheckOfType(type, { ...at, ...fake.fields })).toMatchObject({ status: "up" });
  });

test("tcp and ping: an international host is looked up in A-labels", async () => {
  await using server = await startFake(fakes.redis);
  const tcp = await runCheckOfType("tcp", { host: wide, port: server.port });
  expect(tcp.status).toBe("up");
  if (hasPrograms("ping"))
    expect((await runCheckOfType("ping", { host: wide })).message).not.toContain("exist");
});

defineTestWith(["openssl"], "the certificate is verified with the name in A-labels", async () => {
  await using server = await startFake(fakes.redis, fakes.redis.serve as never, "good", "first");
  const authorities = getAuthority();
  for (const fields of [{ host: wide }, { host: "127.0.0.1", serverName: wide }]) {
    const request = { ...fields, port: server.port, tls: true, ...fakes.redis.fields };
    expect(await runCheckOfType("redis", request, { authorities })).toMatchObject({ status: "up" });
    const outcome = await runCheckOfType("tls", { ...fields, port: server.port }, { authorities });
    expect(outcome.status).toBe("up");
  }
});
