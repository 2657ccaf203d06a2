import { expect, test } from "bun:test";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import { dumpTables } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { newChannels } from "../../support/samples.ts";

const path = "/api/v1/alert-channels";

/** Fields of each type in the first version, as its rows contain them. */
const first: Record<string, string[]> = {
  telegram: ["chatId", "template"],
  ntfy: ["server", "topic", "template"],
  pushover: ["template"],
  pagerduty: [],
  apprise: ["server", "key", "template"],
};

test.each(Object.keys(first))(
  "a channel of type %s from an older version has the defaults of new fields",
  async (type) => {
    const dashboard = await createDashboard();
    const { secrets = {}, others = {} } = newChannels[type] ?? {};
    const { id } = await dashboard.channel({ type, ...others, ...secrets });
    const stored = Object.fromEntries(
      (first[type] ?? []).map((name) => [name, { ...others, template: null }[name]]),
    );
    dashboard.database.run("update alert_channels set settings = ? where id = ?", [
      JSON.stringify(stored),
      id,
    ]);
    const whole: Record<string, unknown> = NewAlertChannel.parse({
      type,
      name: "Old",
      ...secrets,
      ...stored,
    });
    const { status, json } = await dashboard.api("GET", `${path}/${id}`);
    const shownFields = Object.fromEntries(
      Object.entries(whole).filter(([name]) => name in json.data && name !== "name"),
    );
    expect([status, json.data]).toMatchObject([200, shownFields]);
    expect(Object.keys(shownFields)).toEqual(expect.arrayContaining(Object.keys(stored)));
    const before = dumpTables(dashboard);
    expect((await dashboard.api("GET", path)).json.data).toEqual([json.data]);
    expect(dumpTables(dashboard)).toBe(before);
    const { status: patched, json: after } = await dashboard.api("PATCH", `${path}/${id}`, {
      body: json.data,
    });
    expect([patched, after]).toEqual([200, json]);
    expect(dashboard.readSecrets("alert-channel", id)).toEqual(secrets);
    const elsewhere = { server: "http://elsewhere.lan" };
    if ("server" in whole && Object.keys(secrets).length > 0)
      expect((await dashboard.api("PATCH", `${path}/${id}`, { body: elsewhere })).status).toBe(422);
  },
);

test("an Apprise channel has a key or its own URLs, never both", async () => {
  const { api, channel, readSecrets } = await createDashboard();
  const server = "http://apprise.lan:8000";
  const urls = "mailto://ann:pw@mail.lan";
  const requestIssue = async (method: string, at: string, fields: object) => {
    const { status, json } = await api(method, at, { body: fields });
    return status < 300 ? status : json.error.details[0].path;
  };
  const apprise = { type: "apprise", name: "Apprise", server };
  expect(await requestIssue("POST", path, apprise)).toBe("key");
  expect(await requestIssue("POST", path, { ...apprise, key: "ops", urls })).toBe("urls");
  expect(await requestIssue("POST", path, { ...apprise, urls, tag: "oncall" })).toBe("tag");
  const { id } = await channel({ ...apprise, urls });
  const at = `${path}/${id}`;
  expect(await requestIssue("PATCH", at, { urls: null })).toBe("key");
  expect(await requestIssue("PATCH", at, { key: "ops" })).toBe("urls");
  expect(await requestIssue("PATCH", at, { server: "http://elsewhere.lan" })).toBe("urls");
  expect(await requestIssue("PATCH", at, { key: "ops", urls: null, tag: "oncall" })).toBe(200);
  expect(readSecrets("alert-channel", id)).toEqual({});
});

test("an ntfy channel has a token or a user name with its password", async () => {
  const { api, channel, readSecrets } = await createDashboard();
  const requestIssue = async (method: string, at: string, fields: object) => {
    const { status, json } = await api(method, at, { body: fields });
    return status < 300 ? status : json.error.details[0].path;
  };
  const ntfy = { type: "ntfy", name: "ntfy", server: "http://ntfy.lan", topic: "alerts" };
  const login = { username: "phil", password: "mypass" };
  expect(await requestIssue("POST", path, { ...ntfy, username: "phil" })).toBe("password");
  expect(await requestIssue("POST", path, { ...ntfy, password: "mypass" })).toBe("username");
  expect(await requestIssue("POST", path, { ...ntfy, ...login, token: "tk" })).toBe("token");
  expect(await requestIssue("POST", path, { ...ntfy, ...login, username: "a:b" })).toBe("username");
  const { id } = await channel({ ...ntfy, ...login });
  const at = `${path}/${id}`;
  expect(await requestIssue("PATCH", at, { token: "tk" })).toBe("token");
  expect(await requestIssue("PATCH", at, { server: "http://elsewhere.lan" })).toBe("password");
  expect(await requestIssue("PATCH", at, { server: "http://ntfy.lan/under", topic: "other" })).toBe(
    200,
  );
  expect(await requestIssue("PATCH", at, { token: "tk", username: null, password: null })).toBe(
    200,
  );
  expect(readSecrets("alert-channel", id)).toEqual({ token: "tk" });
});
