/** Credentials that a type would ignore, because another field is missing, are rejected by name. */
import { expect, test } from "bun:test";
import { SmtpSettings } from "../../../src/accounts/settings/schema.ts";
import { channelKinds } from "../../../src/alerting/channels/kinds-schema.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import type { Kinds } from "../../../src/core/kinds.ts";
import { monitorKinds } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { testAppliance } from "../../support/appliance.ts";
import {
  clientCertificate,
  clientKey,
  newChannels,
  newMonitors,
  signingCanary,
} from "../../support/samples.ts";

const path = "/api/v1/monitors";

type Response = { status: number; json: { error?: { details?: { path: string }[] } } };
const readRejection = ({ status, json }: Response) => [status, json.error?.details?.[0]?.path];

/** Optional secrets of each type. */
const listOptionalSecrets = (kinds: Kinds) =>
  Object.entries(kinds).flatMap(([type, { fields, secrets }]) =>
    Object.keys(secrets)
      .filter((name) => fields[name]?.safeParse(null).success === true)
      .map((name) => [type, name] as const),
  );

/** Secrets that are used without another optional field. */
const usedAlone = {
  "http bearerToken": "the header Authorization",
  "mysql password": "its user is required",
  "postgres password": "its user is required",
  "redis password": "AUTH of the default user",
  "snmp community": "version 1 and 2c",
};

test("every optional secret of a monitor type is used, or rejected without the field that it needs", async () => {
  const { ours } = await testAppliance();
  const accepted: string[] = [];
  for (const [type, name] of listOptionalSecrets(monitorKinds)) {
    const value = name === "clientKey" ? clientKey : "secret";
    const required = newMonitors[type as keyof typeof newMonitors];
    const body = { type, name: "Target", ...required, [name]: value };
    const { status, json } = await ours.api("POST", path, { body });
    if (status === 201) accepted.push(`${type} ${name}`);
    else expect(json.error.details[0].path).toBeOneOf([name, "clientCertificate"]);
  }
  expect(accepted.sort()).toEqual(Object.keys(usedAlone).sort());
});

const usedAloneByChannels = {
  "alertmanager token": "the header Authorization",
  "dingtalk secret": "signs messages",
  "feishu secret": "signs messages",
  "ntfy token": "the header Authorization",
  "sms secret": "the gateway's preset uses it",
  "voice secret": "the gateway's preset uses it",
  "webhook secret": "signs messages",
};

test("every optional secret of a channel type is used, or rejected without the field that it needs", () => {
  const accepted: string[] = [];
  for (const [type, name] of listOptionalSecrets(channelKinds)) {
    const { secrets = {}, optional = [], others = {} } = newChannels[type] ?? {};
    const required = Object.entries(secrets).filter(([secret]) => !optional.includes(secret));
    const { fields } = channelKinds[type as keyof typeof channelKinds];
    const users = Object.keys(fields).filter((field) => /^(?:user|account|login)/i.test(field));
    const found = NewAlertChannel.safeParse({
      type,
      name: "Ops",
      ...others,
      ...Object.fromEntries(users.map((field) => [field, null])),
      ...Object.fromEntries(required),
      [name]: secrets[name] ?? signingCanary,
    });
    if (found.success) accepted.push(`${type} ${name}`);
    else expect(found.error.issues[0]?.path.join(".")).toBeOneOf([name, "username"]);
  }
  expect(accepted.sort()).toEqual(Object.keys(usedAloneByChannels).sort());
});

test("credentials that no step of a browser fills in are rejected, even after a change of the steps", async () => {
  const { ours } = await testAppliance();
  const body = { type: "browser", name: "Shop", ...newMonitors.browser };
  const send = async (fields: object) =>
    readRejection(await ours.api("POST", path, { body: { ...body, ...fields } }));
  const fill = (name: string) => `fill #user with {{ ${name} }}`;
  expect(await send({ password: "secret" })).toEqual([422, "password"]);
  expect(await send({ username: "ann", steps: ["expect {{username}}"] })).toEqual([
    422,
    "username",
  ]);
  expect(await send({ password: "secret", steps: [fill("username")] })).toEqual([422, "password"]);
  const used = { username: "ann", password: "secret", steps: [fill("username"), fill("password")] };
  const { status, json } = await ours.api("POST", path, { body: { ...body, ...used } });
  expect(status).toBe(201);
  const one = `${path}/${json.data.id}`;
  const change = async (fields: object) =>
    readRejection(await ours.api("PATCH", one, { body: fields }));
  const steps = [fill("username")];
  expect(await change({ steps, password: "secret" })).toEqual([422, "password"]);
  expect(await change({ steps, password: null })).toEqual([200, undefined]);
  expect(await change({ name: "Log-in" })).toEqual([200, undefined]);
});

test("a client key for Docker is rejected without a host or TLS, which need none", async () => {
  const { ours } = await testAppliance();
  const pair = { clientCertificate, clientKey };
  for (const fields of [{ host: null }, { host: "docker.lan", tls: false }]) {
    const body = { type: "docker", name: "Shop", ...newMonitors.docker, ...pair, ...fields };
    expect(readRejection(await ours.api("POST", path, { body }))).toEqual([422, "clientKey"]);
  }
});

test("a change that leaves a password without a username is rejected, and both can be removed", async () => {
  const { ours } = await testAppliance();
  for (const type of ["smtp", "mqtt", "ldap"] as const) {
    const body = { type, name: "Target", ...newMonitors[type], username: "a", password: "secret" };
    const { json } = await ours.api("POST", path, { body });
    const one = `${path}/${json.data.id}`;
    expect(readRejection(await ours.api("PATCH", one, { body: { username: null } }))).toEqual([
      422,
      "password",
    ]);
    const cleared = await ours.api("PATCH", one, { body: { username: null, password: null } });
    expect([type, cleared.status]).toEqual([type, 200]);
  }
  const ldap = { type: "ldap", name: "Directory", ...newMonitors.ldap, username: "cn=probe" };
  expect(readRejection(await ours.api("POST", path, { body: ldap }))).toEqual([422, "username"]);
});

test("credentials of other versions of SNMP are rejected, and removed when the version changes", async () => {
  const { ours } = await testAppliance();
  const snmp = { type: "snmp", name: "Switch", ...newMonitors.snmp };
  const third = { ...snmp, snmpVersion: "3", username: "probe" };
  const cases = [
    [{ ...snmp, username: "probe" }, "username"],
    [{ ...third, community: "public" }, "community"],
    [{ ...third, privPassword: "privately" }, "privPassword"],
  ] as const;
  for (const [body, field] of cases)
    expect(readRejection(await ours.api("POST", path, { body }))).toEqual([422, field]);
  const { json } = await ours.api("POST", path, { body: { ...third, authPassword: "secretly" } });
  const change = { body: { snmpVersion: "2c" } };
  const { json: after } = await ours.api("PATCH", `${path}/${json.data.id}`, change);
  expect(after.data).toMatchObject({ username: null, secretsSet: [] });
});

test("passwords of SNMP version 3 with less than 8 characters are rejected", async () => {
  const { ours } = await testAppliance();
  const snmp = { type: "snmp", name: "Switch", ...newMonitors.snmp };
  const third = { ...snmp, snmpVersion: "3", username: "probe", authPassword: "secretly" };
  const short = { ...third, authPassword: "secret7" };
  expect(readRejection(await ours.api("POST", path, { body: short }))).toEqual([
    422,
    "authPassword",
  ]);
  const { json } = await ours.api("POST", path, { body: third });
  const body = { privPassword: "private" };
  const changed = await ours.api("PATCH", `${path}/${json.data.id}`, { body });
  expect(readRejection(changed)).toEqual([422, "privPassword"]);
});

test("the password of a mail server needs a user", () => {
  const server = { host: "mail.lan", from: "a@team.example", password: "secret" };
  const issues = SmtpSettings.safeParse(server).error?.issues.map((issue) => issue.path.join("."));
  expect(issues).toEqual(["user"]);
});

for (const { type, fields, path: name, needed } of [
  { type: "rabbitmq", fields: { queue: "orders" }, path: "queue", needed: { username: "probe" } },
  {
    type: "rabbitmq",
    fields: { username: "probe", maxMessages: 100 },
    path: "maxMessages",
    needed: { queue: "orders" },
  },
  {
    type: "mqtt",
    fields: { waitForMessage: true },
    path: "waitForMessage",
    needed: { topic: "a" },
  },
  {
    type: "mqtt",
    fields: { ignoreRetained: true },
    path: "ignoreRetained",
    needed: { topic: "a" },
  },
  {
    type: "rabbitmq",
    fields: { virtualHost: "shop" },
    path: "virtualHost",
    needed: { username: "probe" },
  },
  {
    type: "rabbitmq",
    fields: { username: "probe", number: { name: "Jobs", path: "messages" } },
    path: "number",
    needed: { queue: "orders" },
  },
  {
    type: "mqtt",
    fields: { assertions: [{ source: "body", path: null, op: "equals", value: "on" }] },
    path: "assertions",
    needed: { topic: "a" },
  },
  { type: "mqtt", fields: { number: { name: "Heat" } }, path: "number", needed: { topic: "a" } },
] as const)
  test(`${name} of ${type} is rejected without ${Object.keys(needed).join()}, because it would be ignored`, async () => {
    const { ours } = await testAppliance();
    const body = { type, name: "Target", ...newMonitors[type], ...fields };
    expect(readRejection(await ours.api("POST", path, { body }))).toEqual([422, name]);
    const { status, json } = await ours.api("POST", path, { body: { ...body, ...needed } });
    expect(status).toBe(201);
    const without = Object.fromEntries(Object.keys(needed).map((key) => [key, null]));
    expect(
      readRejection(await ours.api("PATCH", `${path}/${json.data.id}`, { body: without })),
    ).toEqual([422, name]);
  });

test("a form or a body that its bodyType would not send is rejected, also in a step", async () => {
  const { ours } = await testAppliance();
  const form = [{ name: "a", value: "b" }];
  const send = async (fields: object) => {
    const body = { type: "http", name: "Target", ...newMonitors.http, method: "POST", ...fields };
    return readRejection(await ours.api("POST", path, { body }));
  };
  expect(await send({ form })).toEqual([422, "form"]);
  expect(await send({ form, bodyType: "json" })).toEqual([422, "form"]);
  expect(await send({ body: "a=b", bodyType: "form" })).toEqual([422, "body"]);
  expect(await send({ body: "a=b", bodyType: "multipart" })).toEqual([422, "body"]);
  const step = { url: "/a", method: "POST", form };
  expect(await send({ steps: [step] })).toEqual([422, "steps[0].form"]);
  expect(await send({ form, bodyType: "form", steps: [{ ...step, bodyType: "form" }] })).toEqual([
    201,
    undefined,
  ]);
});
