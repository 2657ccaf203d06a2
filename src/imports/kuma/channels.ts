/** Converts notifications of Uptime Kuma to alert channels. */
import { NewAlertChannel } from "../../alerting/channels/schema.ts";
import { channelKinds } from "../../alerting/channels/kinds-schema.ts";
import { clean, isOn, jsonIn, number, orNull } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { type Converted, issueOf, text } from "../values.ts";

type Mapped = { type: string; fields: Fields; notes?: string[] };
type Result = Converted & { isTaken: boolean };

const addresses = (...lists: unknown[]) => [
  ...new Set(
    lists
      .flatMap((list) => text(list).split(/[,;]/))
      .map((one) => (/<([^<>]+)>/.exec(one)?.[1] ?? one).trim())
      .filter((one) => one !== ""),
  ),
];
const within = (value: unknown, min: number, max: number, usual: number) =>
  Math.min(
    max,
    Math.max(min, Number.isFinite(Number(value ?? NaN)) ? Math.round(Number(value)) : usual),
  );
const ignored = (config: Fields, words: Record<string, string>) => {
  const found = Object.entries(words).filter(
    ([key]) => text(config[key]) !== "" || config[key] === true,
  );
  return found.length === 0 ? [] : [`Without ${found.map(([, word]) => word).join(", ")}.`];
};

/** Converters by notification type. Other types are imported as disabled channels. */
const types: Record<string, (config: Fields) => Mapped> = {
  telegram: (c) => ({
    type: "telegram",
    fields: {
      botToken: text(c["telegramBotToken"]),
      chatId: text(c["telegramChatID"]),
      topic: number(c["telegramMessageThreadID"]) || null,
      silent: isOn(c["telegramSendSilently"]),
      ...(orNull(c["telegramServerUrl"]) !== null && {
        server: text(c["telegramServerUrl"]).replace(/\/+$/, ""),
      }),
    },
    notes: ignored(c, {
      ...(isOn(c["telegramUseTemplate"]) && { telegramTemplate: "its template" }),
      telegramProtectContent: "protection against forwarding",
    }),
  }),
  discord(c) {
    const url = URL.parse(text(c["discordWebhookUrl"]));
    if (url !== null && text(c["threadId"]) !== "")
      url.searchParams.set("thread_id", text(c["threadId"]));
    return {
      type: "discord",
      fields: { webhookUrl: url?.href ?? text(c["discordWebhookUrl"]) },
      notes: ignored(c, {
        discordUsername: "its own user name",
        discordPrefixMessage: `“${text(c["discordPrefixMessage"])}” in front`,
      }),
    };
  },
  slack: (c) => ({
    type: "slack",
    fields: { webhookUrl: text(c["slackwebhookURL"]) },
    notes: ignored(c, {
      slackusername: "its own user name",
      slackiconemo: "its icon",
      slackchannel: `the channel ${text(c["slackchannel"])}: a webhook has its own`,
      slackchannelnotify: "@channel",
    }),
  }),
  smtp: (c) => ({
    type: "email",
    fields: { to: addresses(c["smtpTo"], c["smtpCC"], c["smtpBCC"]) },
    notes: [
      ...ignored(c, {
        customSubject: "its own subject",
        customBody: "its own text",
        smtpDkimDomain: "DKIM",
      }),
      ...(text(c["smtpCC"]) + text(c["smtpBCC"]) === ""
        ? []
        : ["Those in CC and BCC get the same e-mail."]),
    ],
  }),
  webhook(c) {
    const headers = jsonIn(c["webhookAdditionalHeaders"]);
    return {
      type: "webhook",
      fields: {
        url: text(c["webhookURL"]),
        headers:
          typeof headers === "object" && headers !== null
            ? Object.fromEntries(
                Object.entries(headers).map(([name, value]) => [name, String(value)]),
              )
            : {},
      },
      notes: [
        "What it receives has another form than Uptime Kuma's: { type, timestamp, data } instead of { heartbeat, monitor, msg }. See the documentation of webhooks.",
        ...(text(c["httpMethod"]).toLowerCase() === "get" ? ["Sent with POST, not GET."] : []),
      ],
    };
  },
  teams: (c) => ({ type: "teams", fields: { webhookUrl: text(c["webhookUrl"]) } }),
  ntfy(c) {
    const way = text(c["ntfyAuthenticationMethod"]);
    return {
      type: "ntfy",
      fields: {
        server: text(c["ntfyserverurl"]) || "https://ntfy.sh",
        topic: text(c["ntfytopic"]),
        token: way === "accessToken" ? orNull(c["ntfyaccesstoken"]) : null,
        username: way === "usernamePassword" ? orNull(c["ntfyusername"]) : null,
        password: way === "usernamePassword" ? orNull(c["ntfypassword"]) : null,
        priority: within(c["ntfyPriorityDown"] ?? c["ntfyPriority"], 1, 5, 4),
      },
      notes: ignored(c, { ntfyIcon: "its icon" }),
    };
  },
  gotify: (c) => ({
    type: "gotify",
    fields: { server: text(c["gotifyserverurl"]), token: text(c["gotifyapplicationToken"]) },
    notes: ignored(c, { gotifyPriority: `its priority ${number(c["gotifyPriority"])}` }),
  }),
  pushover: (c) => ({
    type: "pushover",
    fields: {
      userKey: text(c["pushoveruserkey"]),
      apiToken: text(c["pushoverapptoken"]),
      priority: within(c["pushoverpriority"], -2, 2, 1),
    },
    notes: ignored(c, {
      pushoverdevice: `the device ${text(c["pushoverdevice"])}: all of the user get it`,
      pushoversounds: "its sound",
      pushovertitle: "its title",
      pushoverttl: "its time to live",
    }),
  }),
  PagerDuty: (c) => ({
    type: "pagerduty",
    fields: {
      routingKey: text(c["pagerdutyIntegrationKey"]),
      region: /\beu\./.test(text(c["pagerdutyIntegrationUrl"])) ? "eu" : "us",
    },
    notes:
      text(c["pagerdutyAutoResolve"]) === "resolve"
        ? []
        : ["Resolves its incidents when it is over."],
  }),
  Opsgenie: (c) => ({
    type: "opsgenie",
    fields: {
      apiKey: text(c["opsgenieApiKey"]),
      region: text(c["opsgenieRegion"]) === "eu" ? "eu" : "us",
    },
  }),
  mattermost: (c) => ({
    type: "mattermost",
    fields: { webhookUrl: text(c["mattermostWebhookUrl"]) },
    notes: ignored(c, {
      mattermostchannel: "its channel: a webhook has its own",
      mattermostusername: "its own user name",
    }),
  }),
  GoogleChat: (c) => ({
    type: "googlechat",
    fields: { webhookUrl: text(c["googleChatWebhookURL"]) },
  }),
};

/** Converts a notification to a channel; disabled if it can't be converted. Never throws. */
export function channelOf(row: Fields): Result {
  const { config, unread } = recordReads((jsonIn(row["config"]) ?? {}) as Fields);
  const type = text(config["type"]);
  const common = {
    name: clean(text(row["name"])).slice(0, 255) || `Notification ${text(row["id"])}`,
    enabled: isOn(row["active"] ?? true),
    default: isOn(row["is_default"]),
    incidents: false,
  };
  const mapped = types[type]?.(config);
  if (mapped !== undefined && mapped.type in channelKinds) {
    const fields = { type: mapped.type, ...common, ...mapped.fields };
    const issue = issueOf(NewAlertChannel, fields);
    if (issue === null)
      return {
        fields,
        notes: [...(mapped.notes ?? []), ...unread()],
        isIncomplete: false,
        isTaken: true,
      };
    return standIn(common, issue, type);
  }
  if (type === "apprise")
    return standIn(
      common,
      "Uptime Kuma runs Apprise itself, here an Apprise server is needed: enter its address, and the same Apprise URLs",
      type,
    );
  return standIn(
    common,
    `there is no channel type ${type} here; an Apprise server may reach it`,
    type,
  );
}

/** Keys that are expected but not read here. The mail server is imported once for all notifications. */
const otherKeys =
  /^(?:id|name|type|userId|active|isDefault|applyExisting|smtp(?:Host|Port|Secure|Username|Password|From))$/;

/** Tracks which keys of a configuration are read. `unread` lists the other keys that have a value. */
function recordReads(original: Fields) {
  const read = new Set<string>();
  const config = new Proxy(original, {
    get(target, key) {
      read.add(String(key));
      return target[String(key)];
    },
  });
  const unread = () => {
    const names = Object.entries(original)
      .filter(([key]) => !read.has(key) && !otherKeys.test(key))
      .filter(([, value]) => !["", "0", "false", "null", "undefined"].includes(String(value)))
      .map(([key]) => clean(key).slice(0, 100));
    return names.length === 0 ? [] : [`Not imported: ${names.slice(0, 50).join(", ")}.`];
  };
  return { config, unread };
}

/** Returns a disabled channel with a placeholder address, which an administrator must complete. */
function standIn(common: Fields, why: string, type: string): Result {
  const fields = {
    ...common,
    type: "apprise",
    server: "http://apprise.invalid",
    key: type.replace(/[^-\w]/g, "-").slice(0, 128) || "unknown",
    name: text(common["name"]),
    enabled: false,
    default: false,
  };
  const isTaken = issueOf(NewAlertChannel, fields) === null;
  return {
    fields,
    notes: [`${isTaken ? "Disabled" : "Not taken"}: ${why}.`],
    isIncomplete: true,
    isTaken,
  };
}

/** Returns the mail server of the first e-mail notification, and a hint if others differ. */
export function mailServerOf(rows: readonly Fields[]): { smtp: Fields | null; hints: string[] } {
  const servers = rows
    .map((row) => ({ name: text(row["name"]), config: (jsonIn(row["config"]) ?? {}) as Fields }))
    .filter(({ config }) => config["type"] === "smtp");
  const [first, ...others] = servers;
  if (first === undefined) return { smtp: null, hints: [] };
  const { config } = first;
  const port = number(config["smtpPort"]) || 25;
  const hosts = new Set(servers.map((one) => text(one.config["smtpHost"])));
  return {
    smtp: {
      host: text(config["smtpHost"]),
      port,
      // Without `secure`, Uptime Kuma uses STARTTLS if offered, and falls back to no encryption.
      tls: isOn(config["smtpSecure"]) ? "tls" : port === 587 ? "starttls" : "none",
      user: orNull(config["smtpUsername"]),
      password: orNull(config["smtpPassword"]),
      from: (orNull(config["smtpFrom"]) ?? "").replaceAll('"', ""),
    },
    hints:
      others.length > 0 && hosts.size > 1
        ? [
            `All e-mails go through one mail server, ${text(config["smtpHost"])}; Uptime Kuma had ${[...hosts].join(", ")}.`,
          ]
        : [],
  };
}
