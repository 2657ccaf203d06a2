/** Converts alerting providers of Gatus: one channel per provider and distinct override. */
import { NewAlertChannel } from "../../alerting/channels/schema.ts";
import { createLookup, type Fields, isObject } from "../../core/collections/objects.ts";
import { toLine } from "../../core/text/formatting.ts";
import type { NotTaken, PlannedRecord } from "../plan.ts";
import { findBodyType, findIssue, toText } from "../values.ts";
import { Section } from "./section.ts";

type MappedChannel = { fields: Fields; notes?: string[]; disabled?: string };

const mapWebhook =
  (type: string) =>
  (s: Section): MappedChannel => ({ fields: { type, webhookUrl: s.text("webhook-url") } });

/** Keys of the mail server, which is a setting of the organization. */
const mailServerKeys = ["from", "username", "password", "host", "port"];

/** Placeholders of Gatus, and those of a webhook here. */
const placeholders: Readonly<Record<string, string>> = createLookup({
  "[ALERT_DESCRIPTION]": "{{description}}",
  "[ENDPOINT_NAME]": "{{monitor}}",
  "[ENDPOINT_GROUP]": "{{group}}",
  "[ENDPOINT_URL]": "{{target}}",
  "[RESULT_ERRORS]": "{{message}}",
  "[RESULT_CONDITIONS]": "{{message}}",
});

const stateName = "ALERT_TRIGGERED_OR_RESOLVED";

/** Returns the placeholder for the state, with the words of the provider; null if one of them does not fit in it. */
function buildStatePlaceholder(s: Section, isUrl: boolean): string | null {
  const words = s.fields["placeholders"];
  const own = isObject(words) ? words[stateName] : null;
  if (!isObject(own)) return "{{state}}";
  const texts = ["TRIGGERED", "RESOLVED"].map((state) => toText(own[state] ?? state));
  const isFitting = isUrl ? /^[\w.~-]*$/ : /^(?:[^\s{}|"\\](?:[^{}|"\\\p{Cc}]*[^\s{}|"\\])?)?$/u;
  return texts.every((text) => isFitting.test(text)) ? `{{state|${texts.join("|")}}}` : null;
}

function convertPlaceholders(text: string, state: string): string {
  return Object.entries(placeholders).reduce(
    (all, [theirs, ours]) => all.replaceAll(theirs, ours),
    text.replaceAll(`[${stateName}]`, state),
  );
}

/** Converts a custom request. Gatus escapes no values. Here they are escaped for the format of the body. */
function mapCustom(s: Section): MappedChannel {
  const method = s.text("method").toUpperCase() || "GET";
  const [state, stateInUrl] = [buildStatePlaceholder(s, false), buildStatePlaceholder(s, true)];
  const body = convertPlaceholders(s.text("body"), state ?? "{{state}}");
  const headers = Object.entries(s.table("headers")).map(([name, value]) => [
    name,
    convertPlaceholders(value, state ?? "{{state}}"),
  ]);
  const isGet = method === "GET";
  const usesState = (text: unknown) => JSON.stringify(text ?? "").includes(`[${stateName}]`);
  const [isInUrl, isInside] = [
    usesState(s.text("url")),
    usesState([s.fields["body"], s.fields["headers"]]),
  ];
  const lacksWords = (isInUrl && stateInUrl === null) || (isInside && state === null);
  if (!lacksWords && (isInUrl || isInside))
    for (const name of ["TRIGGERED", "RESOLVED"]) s.map("placeholders").map(stateName).text(name);
  return {
    ...(lacksWords && { disabled: `its words for [${stateName}] don't fit in {{state}}` }),
    fields: {
      type: "webhook",
      url: convertPlaceholders(s.text("url"), stateInUrl ?? "{{state}}"),
      headers: Object.fromEntries(headers) as Fields,
      method,
      bodyType: findBodyType(body),
      body: isGet ? null : body,
    },
    notes: isGet && body !== "" ? ["Left out: body (a GET request has none here)."] : [],
  };
}

/** Converts a tracker, whose address contains the repository. */
function mapRepository(s: Section, type: "github" | "gitea"): MappedChannel {
  const url = URL.parse(s.text("repository-url"));
  const origin = url?.origin ?? "";
  const server =
    type === "gitea" ? origin : origin === "https://github.com" ? null : `${origin}/api/v3`;
  return {
    fields: {
      type,
      repository: (url?.pathname ?? "").replace(/^\/|\/$|\.git$/g, ""),
      token: s.text("token"),
      ...(server !== null && { server }),
    },
    notes: ["Each problem has an issue, which is closed at its end."],
  };
}

/** Functions that convert the settings of a provider, by its name. */
const providers: Readonly<Record<string, (s: Section) => MappedChannel>> = createLookup({
  slack: mapWebhook("slack"),
  discord: mapWebhook("discord"),
  mattermost: mapWebhook("mattermost"),
  googlechat: mapWebhook("googlechat"),
  teams: mapWebhook("teams"),
  "teams-workflows": mapWebhook("teams"),
  telegram: (s) => ({
    fields: {
      type: "telegram",
      botToken: s.text("token"),
      chatId: s.text("id"),
      topic: s.integer("topic-id"),
      ...(s.text("api-url") !== "" && { server: s.text("api-url").replace(/\/+$/, "") }),
    },
  }),
  ntfy: (s) => ({
    fields: {
      type: "ntfy",
      topic: s.text("topic"),
      server: s.text("url") || "https://ntfy.sh",
      token: s.text("token") || null,
      priority: s.integer("priority") ?? 3,
    },
  }),
  gotify: (s) => ({
    fields: { type: "gotify", server: s.text("server-url"), token: s.text("token") },
  }),
  pushover: (s) => ({
    fields: {
      type: "pushover",
      userKey: s.text("user-key"),
      apiToken: s.text("application-token"),
      priority: s.integer("priority") ?? 0,
    },
  }),
  pagerduty: (s) => ({ fields: { type: "pagerduty", routingKey: s.text("integration-key") } }),
  opsgenie: (s) => ({ fields: { type: "opsgenie", apiKey: s.text("api-key") } }),
  email(s) {
    // Marks the keys as read and reports invalid values. The mail server itself is built once.
    for (const key of mailServerKeys) s.text(key);
    s.integer("port");
    const to = s.text("to").split(",");
    return {
      fields: { type: "email", to: to.map((one) => one.trim()).filter((one) => one !== "") },
    };
  },
  rocketchat: mapWebhook("rocketchat"),
  webex: mapWebhook("webex"),
  matrix: (s) => ({
    fields: {
      type: "matrix",
      server: s.text("server-url") || "https://matrix-client.matrix.org",
      accessToken: s.text("access-token"),
      roomId: s.text("internal-room-id"),
    },
  }),
  signal: (s) => ({
    fields: {
      type: "signal",
      server: s.text("api-url"),
      number: s.text("number"),
      recipients: s.texts("recipients"),
    },
  }),
  zulip: (s) => ({
    fields: {
      type: "zulip",
      server: `https://${s.text("domain")}`,
      email: s.text("bot-email"),
      apiKey: s.text("bot-api-key"),
      // Zulip accepts a name or an id.
      channel: s.text("channel-id"),
      topic: s.text("topic") || "Gatus",
    },
  }),
  line(s) {
    const [to = "", ...others] = s.texts("user-ids");
    return {
      fields: { type: "line", accessToken: s.text("channel-access-token"), to },
      notes:
        others.length === 0
          ? []
          : [
              `Left out of user-ids: ${others.length} further recipients; create a channel for each.`,
            ],
    };
  },
  homeassistant: (s) => ({
    fields: { type: "homeassistant", server: s.text("url"), token: s.text("token") },
    notes: ["Fires the event signalbox_alert instead of gatus_alert; change your automations."],
  }),
  signl4: (s) => ({
    fields: {
      type: "signl4",
      webhookUrl: `https://connect.signl4.com/webhook/${encodeURIComponent(s.text("team-secret"))}`,
    },
  }),
  github: (s) => mapRepository(s, "github"),
  gitea: (s) => mapRepository(s, "gitea"),
  "incident-io": (s) => ({
    fields: { type: "incidentio", url: s.text("url"), token: s.text("auth-token") },
  }),
  sendgrid(s) {
    const to = s.text("to").split(",");
    return {
      fields: {
        type: "sendgrid",
        apiKey: s.text("api-key"),
        from: s.text("from"),
        to: to.map((one) => one.trim()),
      },
    };
  },
  custom: mapCustom,
});

/** Providers without overrides per group. */
const withoutOverrides: ReadonlySet<string> = new Set(["gotify", "pushover", "opsgenie"]);

const alertKeys = [
  "type",
  "enabled",
  "failure-threshold",
  "success-threshold",
  "minimum-reminder-interval",
  "description",
  "send-on-resolved",
];

/** Returns the reason why a provider has no equivalent; null if it has one. Newer versions of Gatus have more of them. */
const findUnsupportedReason = (type: string): string | null =>
  Object.hasOwn(providers, type)
    ? null
    : "Signalbox does not import this provider; an Apprise server may reach it";

type Channel = {
  id: string;
  name: string;
  fields: Fields;
  notes: string[];
  isIncomplete: boolean;
  /** Whether the provider sends no recovery messages. */
  hidesRecoveries: boolean;
};
type NoChannel = { reason: string; notes: string[] };
type Provider = {
  base: Fields;
  defaultAlert: Section;
  /** Overridden fields by group. */
  overrides: Map<string, Fields>;
  /** The reason why no channel is possible; null if one is. */
  reason: string | null;
};

export class Channels {
  readonly #providers = new Map<string, Provider>();
  /** Channels by provider and override. */
  readonly #channels = new Map<string, Channel | NoChannel>();
  readonly #notTaken: NotTaken[] = [];

  constructor(alerting: Section) {
    for (const type of Object.keys(alerting.fields)) {
      if (!alerting.has(type)) continue;
      this.#add(type, alerting.map(type, `provider.${type}`));
    }
  }

  #add(type: string, section: Section) {
    const defaultAlert = section.map("default-alert");
    for (const key of alertKeys) defaultAlert.value(key);
    const { "default-alert": _alert, overrides, ...base } = section.fields;
    // Marks the keys as read, because the channels report their own unsupported keys.
    for (const key of Object.keys(base)) section.value(key);
    const reason = findUnsupportedReason(type);
    if (reason === null && !withoutOverrides.has(type)) section.value("overrides");
    const provider: Provider = { base, defaultAlert, overrides: new Map(), reason };
    this.#providers.set(type, provider);
    if (reason !== null) {
      section.value("overrides");
      const keys = Object.keys(base).map((key) => toLine(key, 60));
      if (overrides !== undefined) keys.push("overrides");
      const omittedNote = keys.length === 0 ? "" : ` Left out with it: ${keys.join(", ")}.`;
      this.#leaveOut(type, toLine(type, 60), `Not imported: ${reason}.${omittedNote}`);
      return;
    }
    this.#findOrCreateChannel(type, "", type, `Gatus ${type}`, base);
    if (withoutOverrides.has(type) || !Array.isArray(overrides)) return;
    for (const { group, ...changes } of overrides.filter(isObject)) {
      const name = toText(group);
      if (provider.overrides.has(name)) continue;
      provider.overrides.set(name, changes);
      this.#findGroupChannel(type, name, provider);
    }
  }

  /** Groups with equal overrides share a channel. */
  #findGroupChannel(type: string, group: string, { base, overrides }: Provider) {
    const changes = overrides.get(group);
    return changes === undefined
      ? this.#findOrCreateChannel(type, "", type, `Gatus ${type}`, base)
      : this.#findOrCreateChannel(
          type,
          JSON.stringify(changes),
          `${type}/${group}`,
          `Gatus ${type} (${group})`,
          mergeOverride(base, changes),
        );
  }

  #leaveOut(externalId: string, name: string, ...notes: string[]) {
    this.#notTaken.push({ noun: "alert-channel", externalId, name, notes });
  }

  /** Returns the provider's channel for an override, and creates it on first use. */
  #findOrCreateChannel(
    type: string,
    changes: string,
    id: string,
    name: string,
    config: Fields,
  ): Channel | NoChannel {
    const key = `${type}#${changes}`;
    const known = this.#channels.get(key);
    if (known !== undefined) return known;
    const channel = buildChannel(type, id, toLine(name, 255), config);
    if ("reason" in channel)
      this.#leaveOut(id, toLine(name, 255), `Not imported: ${channel.reason}.`, ...channel.notes);
    else if (type === "email") channel.notes.push(...this.#listMailServerDifferences(config));
    this.#channels.set(key, channel);
    return channel;
  }

  #listMailServerDifferences(config: Fields): string[] {
    const base = this.#providers.get("email")?.base ?? {};
    const others = mailServerKeys.filter((key) => config[key] !== base[key]);
    return others.length === 0
      ? []
      : [`Left out: ${others.join(", ")} (all e-mails go through one mail server).`];
  }

  /** Alert defaults of a provider; null if the file does not configure it. */
  findDefaultAlert(type: string): Section | null {
    return this.#providers.get(type)?.defaultAlert ?? null;
  }

  /**
   * Returns the channel for an alert of this endpoint. Overrides of the alert take precedence over those of its
   * group.
   */
  findChannel(
    type: string,
    endpoint: Section,
    override: Fields,
    sendsOnResolved: boolean,
  ): { id: string } | { reason: string } {
    const provider = this.#providers.get(type);
    if (provider === undefined) return { reason: "the configuration has no such provider" };
    if (provider.reason !== null) return { reason: provider.reason };
    const group = endpoint.text("group");
    const groupChannel = this.#findGroupChannel(type, group, provider);
    const channel =
      Object.keys(override).length === 0
        ? groupChannel
        : this.#findOverriddenChannel(type, endpoint, provider, override);
    if ("reason" in channel) return { reason: channel.reason };
    if (!sendsOnResolved) channel.hidesRecoveries = true;
    return { id: channel.id };
  }

  #findOverriddenChannel(
    type: string,
    endpoint: Section,
    { base, overrides }: Provider,
    override: Fields,
  ) {
    const groupOverride = overrides.get(endpoint.text("group"));
    const config = mergeOverride(
      groupOverride === undefined ? base : mergeOverride(base, groupOverride),
      override,
    );
    const changes = JSON.stringify([groupOverride, override]);
    const id = `${type}#${Bun.hash(changes).toString(36)}`;
    const name = `Gatus ${type} (${endpoint.text("name")})`;
    return this.#findOrCreateChannel(type, changes, id, name, config);
  }

  /** Returns the planned channels. Call this after converting the endpoints, because they can create channels. */
  buildRecords(): { records: PlannedRecord[]; notTaken: NotTaken[] } {
    const records = [...this.#channels.values()].flatMap((channel): PlannedRecord[] => {
      if ("reason" in channel) return [];
      const { id, name, fields, notes, isIncomplete, hidesRecoveries } = channel;
      const recovery =
        "Also reports when an outage is over. Gatus does so only with send-on-resolved.";
      return [
        {
          noun: "alert-channel",
          externalId: id,
          name,
          fields: { ...fields, name, incidents: false },
          links: {},
          notes: [...notes, ...(hidesRecoveries ? [recovery] : [])],
          isIncomplete,
        },
      ];
    });
    return { records, notTaken: this.#notTaken };
  }

  /** Returns the mail server of the provider `email`; null if it is not configured. */
  buildMailServer(): Fields | null {
    const provider = this.#providers.get("email");
    if (provider === undefined) return null;
    const s = new Section(provider.base, "provider.email");
    const from = s.text("from");
    const port = s.integer("port") ?? 25;
    const password = s.text("password") || null;
    if (s.text("host") === "") return null;
    return {
      host: s.text("host"),
      port,
      // Gatus uses STARTTLS if the server offers it.
      tls: port === 465 ? "tls" : port === 587 ? "starttls" : "none",
      user: password === null ? null : s.text("username") || from,
      password,
      from: from.replaceAll('"', ""),
    };
  }
}

/** Merges an override as Gatus does: empty values change nothing. */
function mergeOverride(base: Fields, changes: Fields): Fields {
  const ownChanges = Object.entries(changes).filter(([key, value]) => {
    const isEmpty =
      value === null ||
      value === "" ||
      value === "0" ||
      (isObject(value) && Object.keys(value).length === 0);
    return key !== "group" && !isEmpty;
  });
  return { ...base, ...Object.fromEntries(ownChanges) };
}

function buildChannel(type: string, id: string, name: string, config: Fields): Channel | NoChannel {
  const section = new Section(config, `provider.${type}`);
  const { fields, notes = [], disabled } = providers[type]?.(section) ?? { fields: {} };
  const all = [...notes, ...section.buildNotes()];
  const channelInput = { ...fields, ...(disabled !== undefined && { enabled: false }) };
  const issue = findIssue(NewAlertChannel, { ...channelInput, name: "Gatus" });
  if (issue !== null) {
    const empty = [
      "webhook-url",
      "token",
      "id",
      "topic",
      "to",
      "url",
      "server-url",
      "user-key",
      "application-token",
      "integration-key",
      "api-key",
    ].filter((key) =>
      key in config ? section.text(key) === "" : key === "webhook-url" && "webhookUrl" in fields,
    );
    const reason = empty.length > 0 ? `${empty.join(" and ")} is not set` : issue;
    return { reason, notes: section.buildNotes() };
  }
  return {
    id,
    name,
    fields: channelInput,
    notes: disabled === undefined ? all : [`Disabled: ${disabled}.`, ...all],
    isIncomplete: disabled !== undefined,
    hidesRecoveries: false,
  };
}
