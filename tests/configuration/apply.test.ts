import { describe, expect, test } from "bun:test";
import { channelKinds } from "../../src/alerting/channels/kinds-schema.ts";
import { exportConfiguration } from "../../src/configuration/export-service.ts";
import { listManagedRecords } from "../../src/configuration/managed-service.ts";
import { type SectionName, sections } from "../../src/configuration/sections-schema.ts";
import {
  dumpTables,
  addOrganization,
  testAppliance,
  type TestAppliance,
} from "../support/appliance.ts";
import type { Json } from "../support/json.ts";

const whole = {
  source: "acme",
  defaults: { monitors: { interval: 30, verifyTls: false } },
  alertChannels: {
    oncall: {
      type: "slack",
      name: "On-call",
      webhookUrl: "https://hooks.slack.com/services/T/B/x",
    },
    bot: { type: "webhook", url: "https://bot.example/in", headers: { "X-Key": "secret" } },
  },
  groups: {
    payments: { name: "Payments", color: "blue", slaTarget: 0.999, alertChannels: ["oncall"] },
  },
  monitors: {
    shop: {
      type: "http",
      name: "Shop",
      url: "https://shop.example/health",
      group: "payments",
      alertChannels: ["bot"],
      bearerToken: "token",
    },
    db: { type: "tcp", host: "db.example", port: 5432, group: "payments" },
    job: { type: "push" },
  },
  maintenanceWindows: {
    firmware: {
      title: "Firmware",
      startsAt: "2026-11-22T01:00:00Z",
      endsAt: "2026-11-22T02:00:00Z",
      monitors: ["shop"],
      groups: ["payments"],
    },
  },
  statusPages: {
    own: { default: true, title: "Acme", sections: [{ group: "payments" }] },
    partners: {
      slug: "partners",
      title: "Partners",
      visibility: "password",
      password: "open sesame",
      sections: [{ name: "Shop", monitors: [{ monitor: "shop", name: "The shop" }] }],
    },
  },
};

const path = "/api/v1/config";
const put = ({ ours }: TestAppliance, body: unknown, query = "") =>
  ours.api("PUT", `${path}${query}`, { body });

async function apply(appliance: TestAppliance, body: unknown, query = ""): Promise<Json> {
  const { status, json, text } = await put(appliance, body, query);
  if (status !== 200) throw new Error(text);
  return json.data;
}

const describeChanges = (data: Json) =>
  data.changes.map(
    (one: Json) =>
      `${one.action} ${one.section}.${one.key} ${one.fields.map((its: Json) => its.field).join(",")}`,
  );

describe("a configuration", () => {
  test("creates channels, groups, monitors, windows and pages in one write, and changes nothing the second time", async () => {
    const appliance = await testAppliance();
    const { ours } = appliance;
    const before = dumpTables(appliance);
    const dry = await apply(appliance, whole, "?dryRun");
    expect(dry.applied).toBe(false);
    expect(dry.changes).toHaveLength(9);
    expect(dumpTables(appliance)).toBe(before);
    const first = await apply(appliance, whole);
    expect(describeChanges(first)).toEqual(describeChanges(dry));
    const listAll = async (noun: string) => (await ours.api("GET", `/api/v1/${noun}`)).json.data;
    const monitors = await listAll("monitors");
    const findByName = (name: string) => monitors.find((one: Json) => one.name === name);
    const channels = await listAll("alert-channels");
    const idOf = (name: string) => channels.find((one: Json) => one.name === name).id;
    const [group] = await listAll("monitor-groups");
    expect(group).toMatchObject({
      name: "Payments",
      slaTarget: 0.999,
      alertChannelIds: [idOf("On-call")],
    });
    expect(findByName("Shop")).toMatchObject({
      interval: 30,
      verifyTls: false,
      groupId: group.id,
      alertChannelIds: [idOf("bot")],
      secretsSet: ["bearerToken"],
    });
    expect(findByName("db")).toMatchObject({ interval: 30, alertChannelIds: [idOf("On-call")] });
    expect(findByName("job").pushUrl).toContain("/push/");
    const pages = await listAll("status-pages");
    expect(pages).toMatchObject([
      { default: true, title: "Acme", sections: [{ groupId: group.id }] },
      { slug: "partners", secretsSet: ["password"] },
    ]);
    expect(await listAll("maintenance-windows")).toMatchObject([
      { title: "Firmware", monitorIds: [findByName("Shop").id], groupIds: [group.id] },
    ]);
    const state = dumpTables(appliance);
    expect(await apply(appliance, whole)).toMatchObject({
      applied: false,
      changes: [],
      unchanged: 9,
    });
    expect(dumpTables(appliance)).toBe(state);
  });

  test("changes only differences, listed by field and without values of secrets", async () => {
    const appliance = await testAppliance();
    await apply(appliance, whole);
    const readAudit = async () =>
      (await appliance.store.query<{ action: string; fields: string | null }>(
        "select action, fields from audit_entries where organization_id = ? order by seq",
        [appliance.ours.id],
      )) as Json[];
    const before = (await readAudit()).length;
    const { text, json } = await put(
      appliance,
      replaceMonitors({
        ...whole.monitors,
        shop: { ...whole.monitors.shop, bearerToken: "other", interval: 45, alertChannels: [] },
        db: { ...whole.monitors.db, group: null },
      }),
    );
    expect(text).not.toContain("other");
    const fieldsOf = (index: number) =>
      json.data.changes[index].fields.toSorted((a: Json, b: Json) => (a.field < b.field ? -1 : 1));
    expect(
      describeChanges(json.data).map((sign: string) => sign.split(" ").slice(0, 2).join(" ")),
    ).toEqual(["update monitors.shop", "update monitors.db"]);
    expect(fieldsOf(0)).toEqual([
      { field: "alertChannels", secret: false, before: '["bot"]', after: "[]" },
      { field: "bearerToken", secret: true, before: null, after: null },
      { field: "interval", secret: false, before: "30", after: "45" },
    ]);
    expect(fieldsOf(1)).toEqual([
      { field: "group", secret: false, before: '"payments"', after: "null" },
    ]);
    const entries = (await readAudit()).slice(before);
    expect(entries.map(({ action, fields }) => [action, JSON.parse(fields).toSorted()])).toEqual([
      ["monitor.updated", ["alertChannelIds", "bearerToken", "interval"]],
      ["monitor.updated", ["groupId"]],
    ]);
    const events = await appliance.store.query<{ type: string }>(
      "select type from events where organization_id = ? order by seq desc limit 2",
      [appliance.ours.id],
    );
    expect(events.map(({ type }) => type)).toEqual(["monitor.updated", "monitor.updated"]);
  });

  test("leaves unnamed secrets, pauses and channels of a monitor unchanged; a secret does not follow another address", async () => {
    const appliance = await testAppliance();
    const { ours } = appliance;
    await apply(appliance, whole);
    const { bearerToken: _token, alertChannels: _channels, ...shop } = whole.monitors.shop;
    const [{ id }] = (await ours.api("GET", "/api/v1/monitors?q=Shop")).json.data;
    await ours.api("PATCH", `/api/v1/monitors/${id}`, { body: { paused: true, muted: true } });
    const stored = replaceMonitors({ ...whole.monitors, shop });
    expect((await apply(appliance, stored)).changes).toEqual([]);
    expect((await ours.api("GET", `/api/v1/monitors/${id}`)).json.data).toMatchObject({
      paused: true,
      muted: true,
      secretsSet: ["bearerToken"],
      alertChannelIds: [expect.any(String)],
    });
    const before = dumpTables(appliance);
    const moved = { ...shop, url: "https://evil.example/" };
    const { status, json } = await put(
      appliance,
      replaceMonitors({ ...whole.monitors, shop: moved }),
    );
    expect([status, json.error.details[0].path]).toEqual([422, "monitors.shop.bearerToken"]);
    expect(dumpTables(appliance)).toBe(before);
    const sentAgain = { ...moved, bearerToken: "for the new address" };
    await apply(appliance, replaceMonitors({ ...whole.monitors, shop: sentAgain }));
  });

  test("prunes only records of the same source, and more than a fifth of them only on request", async () => {
    const appliance = await testAppliance();
    const { ours } = appliance;
    const readNames = async () =>
      (await ours.api("GET", "/api/v1/monitors")).json.data.map((one: Json) => one.name).toSorted();
    const buildTcp = (name: string) => ({ type: "tcp", host: "db.example", port: 1, name });
    const five = Object.fromEntries(["a", "b", "c", "d", "e"].map((key) => [key, buildTcp(key)]));
    await apply(appliance, { source: "one", monitors: five });
    await apply(appliance, { source: "two", monitors: { a: buildTcp("other") } });
    await ours.api("POST", "/api/v1/monitors", { body: buildTcp("by hand") });
    const { a, b, c, ...rest } = five;
    expect((await apply(appliance, { source: "one", monitors: rest })).changes).toEqual([]);
    const before = dumpTables(appliance);
    const tooMuch = await put(appliance, { source: "one", monitors: rest }, "?prune=true");
    expect([tooMuch.status, tooMuch.json.error.message]).toEqual([
      409,
      expect.stringContaining("3 records"),
    ]);
    expect(dumpTables(appliance)).toBe(before);
    const four = { a, b, ...rest };
    expect(
      describeChanges(await apply(appliance, { source: "one", monitors: four }, "?prune=true")),
    ).toEqual(["delete monitors.c "]);
    await apply(appliance, { source: "one", monitors: rest }, "?prune=true&yes=true");
    expect(await readNames()).toEqual(["by hand", "d", "e", "other"]);
    expect(c).toBeDefined();
  });

  test("adopts records of the same name only on request, and leaves them when it no longer names them", async () => {
    const appliance = await testAppliance();
    const { ours } = appliance;
    const body = { type: "tcp", name: "Database", host: "db.example", port: 5432 };
    const { id } = (await ours.api("POST", "/api/v1/monitors", { body })).json.data;
    const document = { monitors: { db: { ...body, port: 5433 } } };
    const before = dumpTables(appliance);
    const refused = await put(appliance, document);
    expect([refused.status, refused.json.error.details[0].path]).toEqual([409, "monitors.db"]);
    expect(dumpTables(appliance)).toBe(before);
    expect(await apply(appliance, document, "?adopt=true")).toMatchObject({
      changes: [{ id, action: "adopt", fields: [{ field: "port" }] }],
    });
    expect((await ours.api("GET", `/api/v1/monitors/${id}`)).json.data.port).toBe(5433);
    expect(describeChanges(await apply(appliance, {}, "?prune=true"))).toEqual([
      "release monitors.db ",
    ]);
    expect((await ours.api("GET", `/api/v1/monitors/${id}`)).status).toBe(200);
  });

  test("detects manual changes, recreates deleted records, and ends drift", async () => {
    const appliance = await testAppliance();
    const { ours } = appliance;
    await apply(appliance, whole);
    const readDrift = async (section: SectionName) =>
      Object.fromEntries(
        (await listManagedRecords(ours.scope, { section })).map(({ key, name, drift }) => [
          key,
          name === null ? null : drift,
        ]),
      );
    const [{ id }] = (await ours.api("GET", "/api/v1/monitors?q=db")).json.data;
    await ours.api("DELETE", `/api/v1/monitors/${id}`);
    const [page] = (await ours.api("GET", "/api/v1/status-pages")).json.data;
    await ours.api("PATCH", `/api/v1/status-pages/${page.id}`, { body: { title: "By hand" } });
    const [shop] = (await ours.api("GET", "/api/v1/monitors?q=Shop")).json.data;
    const patch = { paused: true, bearerToken: "by hand", groupId: null };
    await ours.api("PATCH", `/api/v1/monitors/${shop.id}`, { body: patch });
    // The file does not contain the pause.
    expect(await readDrift("monitors")).toEqual({
      shop: ["group", "bearerToken"],
      job: [],
      db: null,
    });
    expect(await readDrift("statusPages")).toEqual({ own: ["title"], partners: [] });
    const differing = await listManagedRecords(ours.scope, { differing: "true" });
    expect(differing.map(({ section, key, name }) => [section, key, name])).toEqual([
      ["monitors", "shop", "Shop"],
      ["statusPages", "own", "By hand"],
      ["monitors", "db", null],
    ]);
    expect(describeChanges(await apply(appliance, whole))).toEqual([
      "update monitors.shop group,bearerToken",
      "create monitors.db ",
      "update statusPages.own title",
    ]);
    expect((await apply(appliance, whole)).changes).toEqual([]);
    expect(await readDrift("monitors")).toEqual({ shop: [], db: [], job: [] });
  });

  test("belongs to one organization, regardless of names in another", async () => {
    const appliance = await testAppliance();
    const { ours, theirs } = appliance;
    const { statusPages: _pages, ...document } = whole;
    await apply(appliance, document);
    const readOurs = async () => (await ours.api("GET", path)).text;
    const before = await readOurs();
    expect((await theirs.api("PUT", path, { body: document })).status).toBe(200);
    expect(
      (await theirs.api("PUT", `${path}?prune=true&yes=true`, { body: { source: "acme" } })).status,
    ).toBe(200);
    expect((await theirs.api("GET", "/api/v1/monitors")).json.meta.total).toBe(0);
    expect(await readOurs()).toBe(before);
    const wrong = await put(appliance, { organization: "theirs", ...document });
    expect([wrong.status, wrong.json.error.details[0].path]).toEqual([422, "organization"]);
  });

  test("respects the limits of its organization, completely or not at all", async () => {
    const appliance = await testAppliance({ limits: { monitors: 2 } });
    const before = dumpTables(appliance);
    const { status, json } = await put(appliance, whole);
    expect([status, json.error.message]).toEqual([409, expect.stringContaining("2 monitors")]);
    expect(dumpTables(appliance)).toBe(before);
  });

  test("with more records than the limit is not read", async () => {
    const limits = Object.fromEntries(Object.values(sections).map(({ limit }) => [limit, 2]));
    const appliance = await testAppliance({ limits });
    for (const [section, { limit }] of Object.entries(sections)) {
      const type = { monitors: "tcp", alertChannels: Object.keys(channelKinds)[0] }[section];
      const typed = type === undefined ? {} : { type };
      const put3 = await put(appliance, { [section]: { a: typed, b: typed, c: typed } }, "?dryRun");
      expect([section, put3.status, put3.json.error?.message]).toEqual([
        section,
        409,
        expect.stringContaining(`the limit ${limit}`),
      ]);
    }
  });

  test("is read one at a time per organization, and a limited number waits", async () => {
    const { appliance, app, theirs } = await testAppliance();
    // Limits are per organization, so this needs a separate one.
    const { scope } = await addOrganization(appliance, app, "Busy");
    const requests = Array.from({ length: 22 }, () => exportConfiguration(scope));
    const [answers, other] = await Promise.all([
      Promise.allSettled(requests),
      exportConfiguration(theirs.scope),
    ]);
    const refused = answers.filter((one) => one.status === "rejected");
    expect(refused.map(({ reason }) => reason.code)).toEqual(["RATE_LIMITED"]);
    expect(other.document["source"]).toBe("main");
  });

  test("can be longer than other bodies, within a limit", async () => {
    const appliance = await testAppliance();
    const monitors = Object.fromEntries(
      Array.from({ length: 400 }, (_, index) => [
        `m${index}`,
        { type: "tcp", host: "db.example", port: 1, description: "x".repeat(1_000) },
      ]),
    );
    expect(await apply(appliance, { monitors }, "?dryRun=true")).toMatchObject({ unchanged: 0 });
    expect((await put(appliance, { "x-more": "x".repeat(8 * 1024 * 1024) })).status).toBe(413);
    const list = Array.from({ length: 50_000 }, () => 0);
    const many = await put(appliance, { "x-more": Array.from({ length: 11 }, () => list) });
    expect([many.status, many.json.error.details]).toEqual([
      422,
      [{ path: "x-more", message: "must have no list of more than 5000 entries" }],
    ]);
    const elsewhere = await appliance.ours.api("POST", "/api/v1/monitors", { body: { monitors } });
    expect(elsewhere.status).toBe(413);
  });
});

const page = (slug: string, hosts: string[] = []) => ({ slug, title: slug, hosts });
const host = "status.example.org";
const moves: [what: string, before: object, after: object][] = [
  [
    "two pages that exchange slugs",
    { a: page("one"), b: page("two") },
    { a: page("two"), b: page("one") },
  ],
  [
    "a slug that moves along",
    { a: page("one"), b: page("two") },
    { a: page("two"), b: page("three") },
  ],
  [
    "a new page with the slug of a renamed one",
    { b: page("two") },
    { a: page("two"), b: page("three") },
  ],
  [
    "a host that moves to an earlier page",
    { a: page("one"), b: page("two", [host]) },
    { a: page("one", [host]), b: page("two") },
  ],
  [
    "a new page with the host of another one",
    { b: page("two", [host]) },
    { a: page("one", [host]), b: page("two") },
  ],
];

for (const [what, before, after] of moves)
  test(`a configuration applies ${what}`, async () => {
    const appliance = await testAppliance();
    await apply(appliance, { statusPages: before });
    await apply(appliance, { statusPages: after });
    const { json } = await appliance.ours.api("GET", "/api/v1/status-pages");
    const pages = json.data.filter((one: Json) => !one.default);
    const bySlug = (one: { slug: string; hosts: string[] }) => [one.slug, one.hosts];
    expect(new Set(pages.map(bySlug))).toEqual(new Set(Object.values(after).map(bySlug)));
    expect(await apply(appliance, { statusPages: after })).toMatchObject({ changes: [] });
  });

const tcp = { type: "tcp", host: "db.example", port: 5432 };
const policies = { p: { name: "Night" } };
const conflicts: [what: string, before: object, after: object, message: RegExp][] = [
  [
    "a monitor that depends on itself",
    {},
    { monitors: { a: { ...tcp, dependsOn: ["a"] } } },
    /makes a cycle/,
  ],
  [
    "a group that depends on its member",
    {},
    { groups: { g: { dependsOn: ["a"] } }, monitors: { a: { ...tcp, group: "g" } } },
    /makes a cycle/,
  ],
  [
    "two pages with a slug",
    {},
    { statusPages: { a: page("one"), b: page("one") } },
    /uses this slug/,
  ],
  [
    "two pages with a host",
    {},
    { statusPages: { a: page("one", [host]), b: page("two", [host]) } },
    /hosts belongs/,
  ],
  ["a slug of another organization", {}, { statusPages: { a: page("theirs") } }, /uses this slug/],
  [
    "two default policies",
    {},
    { escalationPolicies: { a: { default: true }, b: { default: true } } },
    /At most one escalation policy/,
  ],
  [
    "a removed policy that a monitor still has",
    {
      escalationPolicies: policies,
      groups: { g: { escalationPolicy: "p" } },
      monitors: { a: { ...tcp, group: "g" } },
    },
    { groups: { g: {} }, monitors: { a: { ...tcp, group: "g" } } },
    /^The escalation policy is used by the monitor a\. Remove it there first\.$/,
  ],
];

for (const [what, before, after, message] of conflicts)
  test(`a dry run is rejected like its apply: ${what}`, async () => {
    const appliance = await testAppliance();
    await apply(appliance, before);
    const state = dumpTables(appliance);
    const listErrors = async (query: string) => {
      const { status, json } = await put(appliance, after, query);
      const { code, message, details } = json.error;
      return { status, code, message, details };
    };
    const dry = await listErrors("?dryRun&prune&yes");
    expect(dry.message).toMatch(message);
    expect(await listErrors("?prune&yes")).toEqual(dry);
    expect(dumpTables(appliance)).toBe(state);
  });

const replaceMonitors = (monitors: object) => ({ ...whole, monitors });

const http = { type: "http", url: "https://shop.example/" };
const wrong: [what: string, document: unknown, path: string, message: RegExp][] = [
  ["an unknown section", { monitor: {} }, "monitor", /is not a field/],
  [
    "an unknown field",
    { monitors: { a: { ...http, intervall: 5 } } },
    "monitors.a.intervall",
    /is not a field/,
  ],
  [
    "a field of another type",
    { monitors: { a: { ...http, port: 5 } } },
    "monitors.a.port",
    /is not a field/,
  ],
  [
    "a read-only field",
    { monitors: { a: { ...http, status: "up" } } },
    "monitors.a.status",
    /is not a field/,
  ],
  [
    "an id instead of a key",
    { monitors: { a: { ...http, groupId: null } } },
    "monitors.a.groupId",
    /is not a field/,
  ],
  [
    "a wrong type",
    { monitors: { a: { ...http, interval: "60" } } },
    "monitors.a.interval",
    /must be a number/,
  ],
  ["an unknown type", { monitors: { a: { type: "htttp" } } }, "monitors.a.type", /must be one of/],
  ["no type", { monitors: { a: {} } }, "monitors.a.type", /is required/],
  [
    "a missing required field",
    { monitors: { a: { type: "http" } } },
    "monitors.a.url",
    /is required/,
  ],
  [
    "an unknown key",
    { monitors: { a: { ...http, group: "x" } } },
    "monitors.a.group",
    /must be the key/,
  ],
  [
    "a key of another section",
    { groups: { g: { alertChannels: ["a"] } }, monitors: { a: http } },
    "groups.g.alertChannels[0]",
    /must be the key/,
  ],
  [
    "a group with a typing error in its key",
    { groups: { payments: {} }, monitors: { a: { ...http, group: "payment" } } },
    "monitors.a.group",
    /must be the key of a record in groups of this configuration; did you mean payments\?$/,
  ],
  [
    "a channel with a typing error in its key",
    {
      alertChannels: { ops: { type: "slack", webhookUrl: "https://hooks.example/x" } },
      monitors: { a: { ...http, alertChannels: ["opps"] } },
    },
    "monitors.a.alertChannels[0]",
    /did you mean ops\?$/,
  ],
  [
    "an interval with a unit",
    { monitors: { a: { ...http, interval: "60s" } } },
    "monitors.a.interval",
    /^must be a number without a unit$/,
  ],
  ["a number as a key", { monitors: { 7: http } }, "monitors.7", /must be a key/],
  [
    "a wrong default",
    { defaults: { monitors: { interval: 1 } }, monitors: { a: http } },
    "defaults.monitors.interval",
    /at least 5/,
  ],
  [
    "a default that no record has",
    { defaults: { monitors: { colour: 1 } } },
    "defaults.monitors.colour",
    /is not a field/,
  ],
  [
    "a name that objects have",
    JSON.parse('{"__proto__": {"groups": {}}}'),
    "__proto__",
    /is not a field/,
  ],
  [
    "the id of a group on a page",
    {
      statusPages: {
        p: {
          slug: "p",
          sections: [{ name: "S", groupId: "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10" }],
        },
      },
    },
    "statusPages.p.sections[0].group",
    /must be given instead/,
  ],
  ["a list instead of a map", { monitors: [http] }, "monitors", /must be an object/],
  ["nothing instead of a map", { monitors: { a: null } }, "monitors.a", /must be an object/],
  [
    "a blocked address",
    { monitors: { a: { ...http, url: "http://169.254.169.254/" } } },
    "monitors.a.url",
    /must not be connected to/,
  ],
  [
    "impossible times",
    {
      maintenanceWindows: {
        w: { startsAt: "2026-11-22T02:00:00Z", endsAt: "2026-11-22T01:00:00Z" },
      },
    },
    "maintenanceWindows.w.endsAt",
    /must be after/,
  ],
  [
    "a password page without a password",
    { statusPages: { p: { slug: "p", visibility: "password" } } },
    "statusPages.p.password",
    /is required/,
  ],
  [
    "an unknown monitor on a page",
    { statusPages: { p: { slug: "p", sections: [{ name: "S", monitors: [{ monitor: "x" }] }] } } },
    "statusPages.p.sections[0].monitors[0].monitor",
    /must be the key/,
  ],
  [
    "two default pages",
    { statusPages: { p: { default: true }, q: { default: true } } },
    "statusPages.q.default",
    /one page alone/,
  ],
];

test("an invalid value is rejected with its path, and nothing changes", async () => {
  const appliance = await testAppliance();
  const before = dumpTables(appliance);
  for (const [what, document, at, message] of wrong) {
    const { status, json } = await put(appliance, document);
    expect([what, status, json.error?.details?.[0]]).toEqual([
      what,
      422,
      { path: at, message: expect.stringMatching(message) },
    ]);
  }
  expect(dumpTables(appliance)).toBe(before);
});
