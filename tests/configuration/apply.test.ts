import { describe, expect, test } from "bun:test";
import { dump, testAppliance, type TestAppliance } from "../support/appliance.ts";
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
  groups: { payments: { name: "Payments", color: "blue", alertChannels: ["oncall"] } },
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

async function applied(appliance: TestAppliance, body: unknown, query = ""): Promise<Json> {
  const { status, json, text } = await put(appliance, body, query);
  if (status !== 200) throw new Error(text);
  return json.data;
}

const signs = (data: Json) =>
  data.changes.map(
    (one: Json) =>
      `${one.action} ${one.section}.${one.key} ${one.fields.map((its: Json) => its.field).join(",")}`,
  );

describe("a configuration", () => {
  test("becomes channels, groups, monitors, windows and pages in one write; again it is nothing", async () => {
    const appliance = await testAppliance();
    const { ours } = appliance;
    const before = dump(appliance);
    const dry = await applied(appliance, whole, "?dryRun=true");
    expect(dry.applied).toBe(false);
    expect(dry.changes).toHaveLength(9);
    expect(dump(appliance)).toBe(before);
    const first = await applied(appliance, whole);
    expect(signs(first)).toEqual(signs(dry));
    const all = async (noun: string) => (await ours.api("GET", `/api/v1/${noun}`)).json.data;
    const monitors = await all("monitors");
    const named = (name: string) => monitors.find((one: Json) => one.name === name);
    const channels = await all("alert-channels");
    const idOf = (name: string) => channels.find((one: Json) => one.name === name).id;
    const [group] = await all("monitor-groups");
    expect(group).toMatchObject({ name: "Payments", alertChannelIds: [idOf("On-call")] });
    expect(named("Shop")).toMatchObject({
      interval: 30,
      verifyTls: false,
      groupId: group.id,
      alertChannelIds: [idOf("bot")],
      secretsSet: ["bearerToken"],
    });
    expect(named("db")).toMatchObject({ interval: 30, alertChannelIds: [idOf("On-call")] });
    expect(named("job").pushUrl).toContain("/push/");
    const pages = await all("status-pages");
    expect(pages).toMatchObject([
      { default: true, title: "Acme", sections: [{ groupId: group.id }] },
      { slug: "partners", secretsSet: ["password"] },
    ]);
    expect(await all("maintenance-windows")).toMatchObject([
      { title: "Firmware", monitorIds: [named("Shop").id], groupIds: [group.id] },
    ]);
    const state = dump(appliance);
    expect(await applied(appliance, whole)).toMatchObject({
      applied: false,
      changes: [],
      unchanged: 9,
    });
    expect(dump(appliance)).toBe(state);
  });
});
