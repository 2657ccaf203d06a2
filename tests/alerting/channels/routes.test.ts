import { beforeAll, describe, expect, test } from "bun:test";
import { channelKinds, type ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { messageKinds } from "../../../src/alerting/channels/routing-schema.ts";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { canary, newChannels } from "../../support/samples.ts";

const path = "/api/v1/alert-channels";

/** Services for programs have a fixed format and no template. */
const takesTemplate = (type: string) => "template" in channelKinds[type as ChannelType].fields;

describe("each type", () => {
  /** An appliance for tests that look only at their own channel. */
  let shared: Awaited<ReturnType<typeof createDashboard>>;
  beforeAll(async () => {
    shared = await createDashboard();
  });

  for (const [type, { secrets, optional = [], others }] of Object.entries(newChannels)) {
    test(`${type} is read as it was sent, without its secrets, which are encrypted`, async () => {
      const dashboard = await createDashboard();
      const { api, readSecrets } = dashboard;
      const { status, headers, json } = await api("POST", path, {
        body: { type, name: "On-call", ...others, ...secrets },
        headers: { "Idempotency-Key": "once" },
      });
      const { id } = json.data;
      expect([status, headers.get("location")]).toEqual([201, `${path}/${id}`]);
      expect(json.data).toEqual({
        id: expect.any(String),
        type,
        name: "On-call",
        enabled: true,
        default: false,
        incidents: true,
        notifyOn: [...messageKinds],
        quietHours: null,
        ...(takesTemplate(type) && { template: null }),
        ...others,
        secretsSet: Object.keys(secrets),
        lastDeliveryAt: null,
        lastError: null,
        createdAt: "2026-11-20T10:00:00.000Z",
        updatedAt: "2026-11-20T10:00:00.000Z",
      });
      expect((await api("GET", `${path}/${id}`)).json).toEqual(json);
      expect((await api("GET", path)).json.data).toEqual([json.data]);
      expect(readSecrets("alert-channel", id)).toEqual(secrets);
      expect(dumpTables(dashboard)).not.toContain(canary);
    });

    test(`${type}: a GET response can be sent back, and preserves every secret`, async () => {
      const { api, channel, readSecrets } = shared;
      const { id } = await channel({ type, ...others, ...secrets });
      const { json } = await api("GET", `${path}/${id}`);
      const { status, json: after } = await api("PATCH", `${path}/${id}`, { body: json.data });
      expect([status, after]).toEqual([200, json]);
      expect(readSecrets("alert-channel", id)).toEqual(secrets);
    });

    for (const [name, value] of Object.entries(secrets))
      test(`${type}: ${name} ${optional.includes(name) ? "can be absent or cleared" : "is required and can't be cleared"}, and can be changed`, async () => {
        const { api, channel, readSecrets } = shared;
        const { [name]: _absent, ...rest } = secrets;
        const incomplete = { type, name: "On-call", ...others, ...rest };
        const without = await api("POST", path, { body: incomplete });
        const { id } = await channel({ ...incomplete, [name]: value });
        const changed = `${value.slice(0, -1)}B`;
        await api("PATCH", `${path}/${id}`, { body: { [name]: changed } });
        expect(readSecrets("alert-channel", id)).toEqual({ ...secrets, [name]: changed });
        const cleared = await api("PATCH", `${path}/${id}`, { body: { [name]: null } });
        if (optional.includes(name)) {
          expect([without.status, cleared.status]).toEqual([201, 200]);
          expect(without.json.data.secretsSet).toEqual(Object.keys(rest));
          expect(cleared.json.data.secretsSet).toEqual(Object.keys(rest));
          expect(readSecrets("alert-channel", id)).toEqual(rest);
        } else {
          for (const response of [without, cleared])
            expect([response.status, response.json.error.details[0].path]).toEqual([422, name]);
          expect(readSecrets("alert-channel", id)).toEqual({ ...secrets, [name]: changed });
        }
      });
  }
});

describe("invalid values", () => {
  const wrong: Record<string, [field: string, ...values: unknown[]][]> = {
    webhook: [
      ["name", null, "", "\u00a0", "x".repeat(256)],
      ["enabled", null, 1],
      ["default", null, "true"],
      ["url", null, "", "javascript:alert(1)", "file:///etc/passwd", "http://a:b@bot.lan"],
      ["secret", "", "a\nb", "x".repeat(1001), "s3cret", "whsec_", "whsec_c2hvcnQ=", canary],
      ["headers", null, { "X-Team": "a\r\nb" }, { "X-Team": "{{nothing}}" }],
      ["method", null, "DELETE", "get"],
      ["body", "{ {{title}}", "{{nothing}}", "x".repeat(10_001)],
      ["chatId", "7"],
    ],
    email: [
      ["to", null, [], "a@b.example", Array.from({ length: 51 }, () => "a@b.example")],
      ["to[1]", ["a@b.example", "nobody"], ["a@b.example", "a@b.example\r\nBcc: c@d.example"]],
    ],
    slack: [["webhookUrl", "", "chat.example/hooks", "ftp://chat.example"]],
    telegram: [
      ["chatId", null, "", "a\nb"],
      ["topic", 0, -1, 1.5, "7", 2 ** 31],
      ["silent", null, 1],
      ["server", null, "telegram.lan", "ftp://telegram.lan"],
    ],
    ntfy: [
      ["server", null, "ntfy.lan"],
      ["topic", null, "", "a/b", "a\n", 7, "x".repeat(65)],
      ["priority", null, 0, 6, "4"],
      ["tags", null, ["x".repeat(51)].flatMap(() => Array.from({ length: 11 }, String))],
      ["token", ""],
    ],
    pushover: [
      ["priority", null, -3, 3, "high"],
      ["retry", null, 29, 10_801],
      ["expire", null, 29, 10_801],
    ],
    pagerduty: [["region", null, "EU", "uk"]],
    opsgenie: [["region", null, "EU", "uk"]],
    jsm: [["region", "us"]],
    apprise: [["key", null, "", "x".repeat(201)]],
  };
  for (const [type, fields] of Object.entries(wrong))
    test(`${type}: each is rejected with its field, on creation and in a patch, and changes nothing`, async () => {
      const appliance = await createDashboard();
      const { api, channel } = appliance;
      const { secrets, others } = newChannels[type] ?? { secrets: {}, others: {} };
      const needed = { type, name: "On-call", ...others, ...secrets };
      const { id } = await channel(needed);
      const before = dumpTables(appliance);
      for (const [field, ...values] of fields)
        for (const value of values) {
          const change = { [field.replace(/\[.*/, "")]: value };
          const responses = [
            await api("POST", path, { body: { ...needed, ...change } }),
            await api("PATCH", `${path}/${id}`, { body: change }),
          ];
          for (const { status, json } of responses)
            expect([field, value, status, json.error?.details[0].path]).toEqual([
              field,
              value,
              422,
              field,
            ]);
        }
      expect(dumpTables(appliance)).toBe(before);
    });

  test("the type must exist, and can't be changed", async () => {
    const appliance = await createDashboard();
    const { api, channel } = appliance;
    const { id } = await channel();
    const { status, json } = await api("POST", path, { body: { type: "fax", name: "Fax" } });
    expect([status, json.error.details]).toEqual([
      422,
      [{ path: "type", message: `must be one of: ${Object.keys(channelKinds).join(", ")}` }],
    ]);
    const before = dumpTables(appliance);
    const changed = await api("PATCH", `${path}/${id}`, {
      body: { type: "slack", webhookUrl: "https://chat.example" },
    });
    expect([changed.status, changed.json.error.details[0].path]).toEqual([422, "type"]);
    expect(dumpTables(appliance)).toBe(before);
  });
});

describe("a default channel", () => {
  test("is attached to every monitor created later, enabled or not, and to no earlier one", async () => {
    const { api, channel, monitor, readMonitor, group } = await createDashboard();
    const earlier = await monitor();
    const [own, joined] = [(await channel()).id, (await channel()).id];
    const first = (await channel({ default: true, enabled: false })).id;
    const second = (await channel({ default: true })).id;
    expect((await monitor()).alertChannelIds).toEqual([first, second]);
    const groupId = (await group({ alertChannelIds: [joined, second] })).id;
    const result = await monitor({ alertChannelIds: [own], groupId });
    expect(result.alertChannelIds).toEqual([own, first, second, joined]);
    expect(await readMonitor(result.id)).toEqual(result);
    expect((await readMonitor(earlier.id)).alertChannelIds).toEqual([]);
    await api("PATCH", `${path}/${first}`, { body: { default: false } });
    expect((await monitor()).alertChannelIds).toEqual([second]);
  });

  test("of another organization is attached to none of ours", async () => {
    const { theirs, monitor } = await createDashboard();
    await theirs.api("POST", path, {
      body: { type: "email", name: "Theirs", default: true, to: ["a@b.example"] },
    });
    expect((await monitor()).alertChannelIds).toEqual([]);
  });
});

describe("deleting", () => {
  test("a deleted channel is removed from its monitors and groups, whose ETags change", async () => {
    const { api, channel, monitor, readMonitor, group, readGroupById, readEtag, isStale } =
      await createDashboard();
    const [gone, kept] = [(await channel()).id, (await channel()).id];
    const users = { alertChannelIds: [gone, kept] };
    const others = { alertChannelIds: [kept] };
    const [used, other] = [await monitor(users), await monitor(others)];
    const [usedGroup, otherGroup] = [await group(users), await group(others)];
    const paths = [
      `/api/v1/monitors/${used.id}`,
      `/api/v1/monitor-groups/${usedGroup.id}`,
      `/api/v1/monitors/${other.id}`,
      `/api/v1/monitor-groups/${otherGroup.id}`,
    ];
    const before = await Promise.all(paths.map(readEtag));
    const { status, json } = await api("DELETE", `${path}/${gone}`);
    expect([status, json]).toEqual([200, { data: { deleted: true } }]);
    expect((await api("GET", `${path}/${gone}`)).status).toBe(404);
    const after = await Promise.all(paths.map(readEtag));
    expect(after.map((etag, index) => etag === before[index])).toEqual([false, false, true, true]);
    const stale = paths.map((path, index) => isStale(path, before[index] ?? null));
    expect(await Promise.all(stale)).toEqual([true, true, false, false]);
    expect((await readMonitor(used.id)).alertChannelIds).toEqual([kept]);
    expect((await readGroupById(usedGroup.id)).alertChannelIds).toEqual([kept]);
  });

  test("an unknown channel, and one of another organization, is 404 and changes nothing", async () => {
    const appliance = await createDashboard();
    const { api, channel, theirs } = appliance;
    const { id } = await channel();
    const before = dumpTables(appliance);
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { body: { name: "Taken" } } : {};
      expect((await theirs.api(method, `${path}/${id}`, body)).status).toBe(404);
      expect((await api(method, `${path}/${unknownId}`, body)).status).toBe(404);
    }
    expect((await theirs.api("GET", path)).json).toEqual({ data: [] });
    expect(dumpTables(appliance)).toBe(before);
  });
});

test("channels are listed newest first, all on one page", async () => {
  const { api, channel, time } = await createDashboard();
  const names = Array.from({ length: 25 }, (_, index) => `Channel ${index}`);
  for (const name of names) {
    await channel({ name });
    time.now += 1;
  }
  const { json } = await api("GET", path);
  expect(json.data.map(({ name }: { name: string }) => name)).toEqual(names.toReversed());
});

test("every write adds an audit row and an event, a rejected one neither", async () => {
  const { api, channel, database } = await createDashboard();
  const { id } = await channel();
  await api("PATCH", `${path}/${id}`, { body: { enabled: false } });
  await api("PATCH", `${path}/${id}`, { body: { enabled: "no" } });
  await api("DELETE", `${path}/${id}`);
  const expected = ["alert-channel.created", "alert-channel.updated", "alert-channel.deleted"];
  const readColumn = (sql: string) => database.query(sql).values().flat();
  expect(readColumn("SELECT type FROM events WHERE type LIKE 'alert-channel.%'")).toEqual(expected);
  expect(
    readColumn("SELECT action FROM audit_entries WHERE action LIKE 'alert-channel.%'"),
  ).toEqual(expected);
});

describe("an SMS channel", () => {
  const twilio = {
    type: "sms",
    name: "Phone",
    preset: "twilio",
    account: "AC1",
    secret: canary,
    from: "+4915112345678",
    to: "+491701234567",
  };
  const custom = { type: "sms", name: "Modem", preset: "custom", to: "+491701234567" };
  const url = "http://sms.lan/send?to={{to}}";

  test.each([
    ["to", { ...twilio, to: "0170 1234567" }, "must be a phone number with + and its country code"],
    ["to", { ...twilio, to: "+49 170 1234567" }, "must be a phone number with + and its country"],
    ["from", { ...twilio, from: "A name that is too long" }, "must be a phone number such as"],
    ["from", { ...twilio, from: null }, "is required"],
    ["account", { ...twilio, account: null }, "is required"],
    ["secret", { ...twilio, secret: null }, "is required"],
    ["url", { ...twilio, url: "http://sms.lan" }, "must be null with preset twilio"],
    ["headers", { ...twilio, headers: { "X-Key": "a" } }, "must be absent with preset twilio"],
    ["method", { ...twilio, method: "GET" }, "must be absent with preset twilio"],
    ["account", { ...twilio, preset: "seven" }, "must be null with preset seven"],
    ["preset", { ...twilio, preset: "acme" }, "must be one of: twilio, vonage"],
    ["maxParts", { ...twilio, maxParts: 11 }, "must be at most 10"],
    ["dailyLimit", { ...twilio, dailyLimit: 0 }, "must be at least 1"],
    ["url", custom, "is required"],
    ["url", { ...custom, url: "http://{{to}}.lan" }, "must not have a placeholder before its path"],
    ["url", { ...custom, url: "http://sms.lan/{{text }}{{x}}" }, "must"],
    ["body", { ...custom, url, body: '{ "text": {{text}' }, "must be JSON"],
    ["body", { ...custom, url, body: "{{phone}}", bodyType: "text" }, "must use no other"],
    ["body", { ...custom, url, body: "{}", method: "GET" }, "must be null with method GET"],
    ["headers", { ...custom, url, headers: { A: "{{b}}" } }, "must use no other placeholders"],
    ["jsonPath", { ...custom, url, jsonEquals: "ok" }, "is required where jsonEquals is given"],
  ])("names %s in %j", async (path, body, message) => {
    const { api } = await createDashboard();
    for (const [route, more] of [
      ["/api/v1/alert-channels", {}],
      ["/api/v1/contact-methods", { personId: unknownId }],
    ] as const) {
      const { status, json } = await api("POST", route, { body: { ...body, ...more } });
      expect([status, json.error.details[0].path]).toEqual([422, path]);
      expect(json.error.details[0].message).toContain(message);
    }
  });

  test("changes its gateway with a new secret, and keeps only the fields that the new one uses", async () => {
    const { api, channel, readSecrets } = await createDashboard();
    const { id } = await channel({ ...custom, url, secret: canary, headers: { "X-Key": canary } });
    const change = (body: object) => api("PATCH", `${path}/${id}`, { body });
    const { account, from } = twilio;
    const moved = await change({ preset: "twilio", account, from });
    expect([moved.status, moved.json.error.details[0].path]).toEqual([422, "secret"]);
    const ignored = await change({ preset: "twilio", account, from, secret: "b", method: "PUT" });
    expect([ignored.status, ignored.json.error.details[0].path]).toEqual([422, "method"]);
    const changed = await change({ preset: "twilio", account, from, secret: "b" });
    expect([changed.status, changed.json.data]).toMatchObject([200, { url: null, headers: {} }]);
    expect(readSecrets("alert-channel", id)).toEqual({ secret: "b" });
  });
});
