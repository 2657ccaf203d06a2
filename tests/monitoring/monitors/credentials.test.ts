import { expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { newMonitors } from "../../support/samples.ts";

const path = "/api/v1/monitors";
const types = ["smtp", "imap", "pop3", "mqtt", "mongodb", "kafka", "rabbitmq", "ldap"] as const;

test("a password without a username is rejected, because the check would not sign in", async () => {
  const { ours } = await testAppliance();
  const refusal = ({ status, json }: Awaited<ReturnType<typeof ours.api>>) => [
    status,
    json.error?.details?.[0]?.path,
  ];
  for (const type of types) {
    const fields = { type, name: "Target", ...newMonitors[type] };
    const alone = await ours.api("POST", path, {
      body: { ...fields, password: "secret" },
    });
    expect([type, ...refusal(alone)]).toEqual([type, 422, "password"]);
    const both = { ...fields, username: "probe", password: "secret" };
    const { status, json } = await ours.api("POST", path, { body: both });
    expect([type, status]).toEqual([type, 201]);
    const one = `${path}/${json.data.id}`;
    expect(refusal(await ours.api("PATCH", one, { body: { username: null } }))).toEqual([
      422,
      "password",
    ]);
    const cleared = await ours.api("PATCH", one, { body: { username: null, password: null } });
    expect([type, cleared.status]).toEqual([type, 200]);
  }
  const ldap = { type: "ldap", name: "Directory", ...newMonitors.ldap, username: "cn=probe" };
  expect(refusal(await ours.api("POST", path, { body: ldap }))).toEqual([422, "username"]);
  const snmp = { type: "snmp", name: "Switch", ...newMonitors.snmp, snmpVersion: "3" };
  const priv = { ...snmp, username: "probe", privPassword: "privately" };
  expect(refusal(await ours.api("POST", path, { body: priv }))).toEqual([422, "privPassword"]);
  const redis = { type: "redis", name: "Cache", ...newMonitors.redis };
  for (const own of [{ username: "guest" }, { password: "secret" }])
    expect((await ours.api("POST", path, { body: { ...redis, ...own } })).status).toBe(201);
});
