import { NewAlertChannel } from "../../alerting/channels/schema.ts";
import type { NotTaken, Plan, Planned } from "../plan.ts";
import { gatusConfig, type Variables } from "./documents.ts";
import { monitorOf } from "./endpoints.ts";
import { objects } from "./values.ts";
import { type Fields, isObject } from "../../core/objects.ts";
import { text, issueOf } from "../values.ts";

/** What a Gatus has, in our words. */
export const gatusPlan = async (from: string, variables: Variables): Promise<Plan> =>
  planOf(await gatusConfig(from, variables));

function planOf(config: Fields): Plan {
  const records: Planned[] = [];
  const notTaken: NotTaken[] = [];
  const providers = isObject(config["alerting"]) ? config["alerting"] : {};
  for (const [type, settings] of Object.entries(providers)) {
    const made = isObject(settings) ? channelOf(type, settings) : { reason: "it is empty" };
    if ("reason" in made)
      notTaken.push({
        noun: "alert-channel",
        externalId: type,
        name: type,
        notes: [`Not taken: ${made.reason}.`],
      });
    else
      records.push({
        noun: "alert-channel",
        externalId: type,
        name: `Gatus ${type}`,
        fields: { ...made.fields, name: `Gatus ${type}`, incidents: false },
        links: {},
        notes: ["Also tells that an outage is over, unless Gatus was told not to."],
      });
  }
  const channels = new Set(records.map(({ externalId }) => externalId));
  const all = [
    ...objects(config["endpoints"]).map((endpoint) => ({ endpoint, isExternal: false })),
    ...objects(config["external-endpoints"]).map((endpoint) => ({ endpoint, isExternal: true })),
  ];
  for (const name of new Set(
    all.map(({ endpoint }) => text(endpoint["group"])).filter((one) => one !== ""),
  ))
    records.push({
      noun: "group",
      externalId: name,
      name,
      fields: { name, description: "", tags: [], paused: false },
      links: { alertChannelIds: [] },
      notes: [],
    });
  const seen = new Set<string>();
  for (const { endpoint, isExternal } of all) {
    const group = text(endpoint["group"]);
    const name = text(endpoint["name"]);
    const externalId = `${group}_${name}`;
    if (name === "" || seen.has(externalId)) {
      notTaken.push({
        noun: "monitor",
        externalId,
        name,
        notes: ["Not taken: it has no name of its own."],
      });
      continue;
    }
    seen.add(externalId);
    const { fields, notes, isIncomplete } = monitorOf(endpoint, isExternal, providers);
    const wanted = objects(endpoint["alerts"]).map((alert) => text(alert["type"]));
    records.push({
      noun: "monitor",
      externalId,
      name,
      fields,
      links: {
        groupId: group === "" ? [] : [group],
        alertChannelIds: [...new Set(wanted)].filter((type) => channels.has(type)),
      },
      notes,
      isIncomplete,
    });
  }
  for (const noun of [
    "suites",
    "remote",
    "announcements",
    "maintenance",
    "security",
    "ui",
    "tunneling",
  ])
    if (config[noun] !== undefined && config[noun] !== null)
      notTaken.push({
        noun: "setting",
        externalId: noun,
        name: noun,
        notes: [`Not taken: ${noun} has no equal in a file here.`],
      });
  return {
    source: "gatus",
    product: "Gatus",
    records,
    notTaken,
    hints: ["Gatus keeps its history outside its configuration, so history starts empty here."],
    smtp: null,
  };
}

function channelOf(type: string, s: Fields): { fields: Fields } | { reason: string } {
  const hook = text(s["webhook-url"]);
  const fields: Record<string, () => Fields> = {
    slack: () => ({ type: "slack", webhookUrl: hook }),
    discord: () => ({ type: "discord", webhookUrl: hook }),
    mattermost: () => ({ type: "mattermost", webhookUrl: hook }),
    googlechat: () => ({ type: "googlechat", webhookUrl: hook }),
    teams: () => ({ type: "teams", webhookUrl: hook }),
    "teams-workflows": () => ({ type: "teams", webhookUrl: hook }),
    telegram: () => ({ type: "telegram", botToken: text(s["token"]), chatId: text(s["id"]) }),
    ntfy: () => ({
      type: "ntfy",
      topic: text(s["topic"]),
      server: text(s["url"]) || "https://ntfy.sh",
      token: text(s["token"]) || null,
    }),
    gotify: () => ({ type: "gotify", server: text(s["server-url"]), token: text(s["token"]) }),
    pushover: () => ({
      type: "pushover",
      userKey: text(s["user-key"]),
      apiToken: text(s["application-token"]),
    }),
    pagerduty: () => ({ type: "pagerduty", routingKey: text(s["integration-key"]) }),
    opsgenie: () => ({ type: "opsgenie", apiKey: text(s["api-key"]) }),
    email: () => ({
      type: "email",
      to: text(s["to"])
        .split(",")
        .map((one) => one.trim()),
    }),
    custom: () => ({
      type: "webhook",
      url: text(s["url"]),
      headers: isObject(s["headers"]) ? s["headers"] : {},
    }),
  };
  const made = fields[type]?.();
  if (made === undefined)
    return { reason: `there is no channel type ${type} here; an Apprise server may reach it` };
  const reason = issueOf(NewAlertChannel, { ...made, name: type });
  return reason === null ? { fields: made } : { reason };
}
