/** Converts notifications of Uptime Kuma to alert channels. */
import { createLookup } from "../../core/collections/objects.ts";
import { NewAlertChannel } from "../../alerting/channels/schema.ts";
import { channelKinds } from "../../alerting/channels/kinds-schema.ts";
import { toCleanLine, isOn, parseColumn, parseFields, toNumber, toTextOrNull } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { type ConvertedRecord, findBodyType, findIssue, toText } from "../values.ts";

type MappedChannel = {
  type: string;
  fields: Fields;
  notes?: string[];
  /** Why the channel is imported disabled. */
  disabled?: string;
};
type Result = ConvertedRecord & { isImportable: boolean };

const joinAddresses = (...lists: unknown[]) => [
  ...new Set(
    lists
      .flatMap((list) => toText(list).split(/[,;]/))
      .map((one) => (/<([^<>]+)>/.exec(one)?.[1] ?? one).trim())
      .filter((one) => one !== ""),
  ),
];
const clampPriority = (value: unknown, min: number, max: number, defaultPriority: number) =>
  Math.min(
    max,
    Math.max(
      min,
      Number.isFinite(Number(value ?? NaN)) ? Math.round(Number(value)) : defaultPriority,
    ),
  );
const noteIgnored = (config: Fields, words: Record<string, string>) => {
  const found = Object.entries(words).filter(
    ([key]) => toText(config[key]) !== "" || config[key] === true,
  );
  return found.length === 0 ? [] : [`Without ${found.map(([, word]) => word).join(", ")}.`];
};

/** The fields of Uptime Kuma's own JSON that receivers commonly read. */
const ownBody = `{
  "heartbeat": { "status": {{up}}, "msg": "{{message}}", "time": "{{time}}" },
  "monitor": { "name": "{{monitor}}", "url": "{{target}}" },
  "msg": "{{title}}: {{message}}"
}`;

/** Variables of Uptime Kuma's templates, and the placeholders of a webhook here. */
const variables: Readonly<Record<string, string>> = createLookup({
  msg: "{{title}}: {{message}}",
  name: "{{monitor}}",
  NAME: "{{monitor}}",
  "monitorJSON.name": "{{monitor}}",
  "monitorJSON.url": "{{target}}",
  "monitorJSON.description": "{{description}}",
  status: "{{status}}",
  STATUS: "{{status}}",
  hostnameOrURL: "{{target}}",
  HOSTNAME_OR_URL: "{{target}}",
  "heartbeatJSON.msg": "{{message}}",
  "heartbeatJSON.status": "{{up}}",
  "heartbeatJSON.time": "{{time}}",
});

/** Converts a Liquid template; null if it has tags, filters or other variables. */
function convertTemplate(template: string): string | null {
  if (template.includes("{%")) return null;
  let isKnown = true;
  const text = template.replace(/\{\{-?\s*([^{}]*?)\s*-?\}\}/g, (_, written: string) => {
    const name = written.replace(/\[["'](\w+)["']\]/g, ".$1");
    if (Object.hasOwn(variables, name)) return variables[name] ?? "";
    isKnown = false;
    return "";
  });
  return isKnown ? text : null;
}

function mapWebhook(c: Fields): MappedChannel {
  const url = toText(c["webhookURL"]);
  const headerColumn = parseColumn(c["webhookAdditionalHeaders"]);
  const headers =
    typeof headerColumn === "object" && headerColumn !== null
      ? Object.fromEntries(
          Object.entries(headerColumn).map(([name, value]) => [name, String(value)]),
        )
      : {};
  const kind = toText(c["webhookContentType"]);
  const template = toText(c["webhookCustomBody"]);
  if (toText(c["httpMethod"]).toLowerCase() === "get")
    return {
      type: "webhook",
      fields: {
        url: `${url}${url.includes("?") ? "&" : "?"}msg={{title}}`,
        headers,
        method: "GET",
      },
      notes: ["Sends only msg, without heartbeat and monitor."],
    };
  const body = kind === "custom" ? convertTemplate(template) : ownBody;
  if (body === null)
    return {
      type: "webhook",
      fields: { url, headers },
      disabled:
        "its body has tags, filters or variables that have no equivalent; write the body again",
    };
  return {
    type: "webhook",
    fields: { url, headers, bodyType: findBodyType(body), body },
    notes:
      kind === "custom"
        ? []
        : [
            `Sends status, msg and time of heartbeat, name and url of monitor, and msg, as Uptime Kuma does${kind === "form-data" ? ", but as JSON instead of form data" : ""}.`,
          ],
  };
}

/** Converts a notification through a mail service, whose keys start with a prefix. */
function mapMail(type: string, prefix: string, c: Fields): MappedChannel {
  const [to, cc, bcc] = ["To", "Cc", "Bcc"].map((name) => c[`${prefix}${name}Email`]);
  return {
    type,
    fields: {
      apiKey: toText(c[`${prefix}ApiKey`]),
      from: toText(c[`${prefix}FromEmail`]).trim(),
      to: joinAddresses(to, cc, bcc),
    },
    notes: [
      ...noteIgnored(c, {
        [`${prefix}Subject`]: "its own subject",
        [`${prefix}FromName`]: "its sender's name",
      }),
      ...(toText(cc) + toText(bcc) === "" ? [] : ["Recipients in CC and BCC get the same mail."]),
    ],
  };
}

/** Converters by notification type. Other types are imported as disabled channels. */
const types: Record<string, (config: Fields) => MappedChannel> = createLookup({
  telegram: (c) => ({
    type: "telegram",
    fields: {
      botToken: toText(c["telegramBotToken"]),
      chatId: toText(c["telegramChatID"]),
      topic: toNumber(c["telegramMessageThreadID"]) || null,
      silent: isOn(c["telegramSendSilently"]),
      ...(toTextOrNull(c["telegramServerUrl"]) !== null && {
        server: toText(c["telegramServerUrl"]).replace(/\/+$/, ""),
      }),
    },
    notes: noteIgnored(c, {
      ...(isOn(c["telegramUseTemplate"]) && { telegramTemplate: "its template" }),
      telegramProtectContent: "protection against forwarding",
    }),
  }),
  discord(c) {
    const url = URL.parse(toText(c["discordWebhookUrl"]));
    if (url !== null && toText(c["threadId"]) !== "")
      url.searchParams.set("thread_id", toText(c["threadId"]));
    return {
      type: "discord",
      fields: { webhookUrl: url?.href ?? toText(c["discordWebhookUrl"]) },
      notes: noteIgnored(c, {
        discordUsername: "its own user name",
        discordPrefixMessage: `“${toText(c["discordPrefixMessage"])}” in front`,
      }),
    };
  },
  slack: (c) => ({
    type: "slack",
    fields: { webhookUrl: toText(c["slackwebhookURL"]) },
    notes: noteIgnored(c, {
      slackusername: "its own user name",
      slackiconemo: "its icon",
      slackchannel: `the channel ${toText(c["slackchannel"])}: a webhook has its own`,
      slackchannelnotify: "@channel",
    }),
  }),
  smtp: (c) => ({
    type: "email",
    fields: { to: joinAddresses(c["smtpTo"], c["smtpCC"], c["smtpBCC"]) },
    notes: [
      ...noteIgnored(c, {
        customSubject: "its own subject",
        customBody: "its own text",
        smtpDkimDomain: "DKIM",
      }),
      ...(toText(c["smtpCC"]) + toText(c["smtpBCC"]) === ""
        ? []
        : ["Recipients in CC and BCC get the same e-mail."]),
    ],
  }),
  webhook: mapWebhook,
  teams: (c) => ({ type: "teams", fields: { webhookUrl: toText(c["webhookUrl"]) } }),
  ntfy(c) {
    const authentication = toText(c["ntfyAuthenticationMethod"]);
    return {
      type: "ntfy",
      fields: {
        server: toText(c["ntfyserverurl"]) || "https://ntfy.sh",
        topic: toText(c["ntfytopic"]),
        token: authentication === "accessToken" ? toTextOrNull(c["ntfyaccesstoken"]) : null,
        username: authentication === "usernamePassword" ? toTextOrNull(c["ntfyusername"]) : null,
        password: authentication === "usernamePassword" ? toTextOrNull(c["ntfypassword"]) : null,
        priority: clampPriority(c["ntfyPriorityDown"] ?? c["ntfyPriority"], 1, 5, 4),
      },
      notes: noteIgnored(c, { ntfyIcon: "its icon" }),
    };
  },
  gotify: (c) => ({
    type: "gotify",
    fields: { server: toText(c["gotifyserverurl"]), token: toText(c["gotifyapplicationToken"]) },
    notes: noteIgnored(c, { gotifyPriority: `its priority ${toNumber(c["gotifyPriority"])}` }),
  }),
  pushover: (c) => ({
    type: "pushover",
    fields: {
      userKey: toText(c["pushoveruserkey"]),
      apiToken: toText(c["pushoverapptoken"]),
      priority: clampPriority(c["pushoverpriority"], -2, 2, 1),
    },
    notes: noteIgnored(c, {
      pushoverdevice: `the device ${toText(c["pushoverdevice"])}: all devices of the user receive it`,
      pushoversounds: "its sound",
      pushovertitle: "its title",
      pushoverttl: "its time to live",
    }),
  }),
  PagerDuty: (c) => ({
    type: "pagerduty",
    fields: {
      routingKey: toText(c["pagerdutyIntegrationKey"]),
      region: /\beu\./.test(toText(c["pagerdutyIntegrationUrl"])) ? "eu" : "us",
    },
    notes:
      toText(c["pagerdutyAutoResolve"]) === "resolve"
        ? []
        : ["Resolves its incidents when it is over."],
  }),
  Opsgenie: (c) => ({
    type: "opsgenie",
    fields: {
      apiKey: toText(c["opsgenieApiKey"]),
      region: toText(c["opsgenieRegion"]) === "eu" ? "eu" : "us",
    },
  }),
  mattermost: (c) => ({
    type: "mattermost",
    fields: { webhookUrl: toText(c["mattermostWebhookUrl"]) },
    notes: noteIgnored(c, {
      mattermostchannel: "its channel: a webhook has its own",
      mattermostusername: "its own user name",
    }),
  }),
  matrix: (c) => ({
    type: "matrix",
    fields: {
      server: toText(c["homeserverUrl"]),
      accessToken: toText(c["accessToken"]),
      roomId: toText(c["internalRoomId"]),
    },
    notes: noteIgnored(c, {
      ...(isOn(c["matrixUseTemplate"]) && { matrixTemplate: "its template" }),
    }),
  }),
  signal: (c) => ({
    type: "signal",
    fields: {
      server: toText(c["signalURL"]).replace(/\/v2\/send\/*$/, ""),
      number: toText(c["signalNumber"]),
      recipients: joinAddresses(c["signalRecipients"]),
    },
  }),
  "rocket.chat": (c) => ({
    type: "rocketchat",
    fields: { webhookUrl: toText(c["rocketwebhookURL"]) },
    notes: noteIgnored(c, {
      rocketchannel: `the channel ${toText(c["rocketchannel"])}: a webhook has its own`,
      rocketusername: "its own user name",
      rocketiconemo: "its icon",
      rocketbutton: "its link",
    }),
  }),
  nextcloudtalk: (c) => ({
    type: "nextcloudtalk",
    fields: {
      server: toText(c["host"]),
      conversation: toText(c["conversationToken"]),
      botSecret: toText(c["botSecret"]),
    },
    notes: noteIgnored(c, {
      sendSilentUp: "silent recoveries",
      sendSilentDown: "silent outages",
    }),
  }),
  line: (c) => ({
    type: "line",
    fields: { accessToken: toText(c["lineChannelAccessToken"]), to: toText(c["lineUserID"]) },
  }),
  Feishu: (c) => ({ type: "feishu", fields: { webhookUrl: toText(c["feishuWebHookUrl"]) } }),
  DingDing: (c) => ({
    type: "dingtalk",
    fields: { webhookUrl: toText(c["webHookUrl"]), secret: toTextOrNull(c["secretKey"]) },
    notes: noteIgnored(c, { mentioning: "its mentions" }),
  }),
  WeCom: (c) => ({
    type: "wecom",
    fields: {
      webhookUrl: `https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=${encodeURIComponent(toText(c["weComBotKey"]))}`,
    },
  }),
  pushbullet: (c) => ({
    type: "pushbullet",
    fields: { accessToken: toText(c["pushbulletAccessToken"]) },
  }),
  HomeAssistant: (c) => ({
    type: "homeassistant",
    fields: {
      server: toText(c["homeAssistantUrl"]).trim(),
      token: toText(c["longLivedAccessToken"]),
      service: toTextOrNull(c["notificationService"]) ?? "notify",
    },
  }),
  SIGNL4: (c) => ({ type: "signl4", fields: { webhookUrl: toText(c["webhookURL"]) } }),
  Splunk: (c) => ({
    type: "splunkoncall",
    fields: { webhookUrl: toText(c["splunkRestURL"]) },
    notes: noteIgnored(c, {
      splunkSeverity: "its severity, which follows from the kind of alert",
      splunkAutoResolve: "its choice at the end: incidents are resolved",
      pagerdutyIntegrationKey: "its routing key: the URL has its own",
    }),
  }),
  SendGrid: (c) => mapMail("sendgrid", "sendgrid", c),
  brevo: (c) => mapMail("brevo", "brevo", c),
  Brevo: (c) => mapMail("brevo", "brevo", c),
  Resend: (c) => mapMail("resend", "resend", c),
  GoogleChat: (c) => ({
    type: "googlechat",
    fields: { webhookUrl: toText(c["googleChatWebhookURL"]) },
  }),
});

/** Converts a notification to a channel; disabled if it can't be converted. Never throws. */
export function convertChannel(row: Fields): Result {
  const { config, unread } = recordReads(parseFields(row["config"]));
  const type = toText(config["type"]);
  const common = {
    name: toCleanLine(toText(row["name"]), 255) || `Notification ${toText(row["id"])}`,
    enabled: isOn(row["active"] ?? true),
    default: isOn(row["is_default"]),
    incidents: false,
  };
  const mapped = types[type]?.(config);
  if (mapped !== undefined && mapped.type in channelKinds) {
    const isDisabled = mapped.disabled !== undefined;
    const fields = {
      type: mapped.type,
      ...common,
      ...(isDisabled && { enabled: false }),
      ...mapped.fields,
    };
    const issue = findIssue(NewAlertChannel, fields);
    if (issue === null)
      return {
        fields,
        notes: [
          ...(mapped.disabled === undefined ? [] : [`Disabled: ${mapped.disabled}.`]),
          ...(mapped.notes ?? []),
          ...unread(),
        ],
        isIncomplete: mapped.disabled !== undefined,
        isImportable: true,
      };
    return createPlaceholder(common, issue, type);
  }
  if (type === "apprise")
    return createPlaceholder(
      common,
      "Uptime Kuma runs Apprise itself, Signalbox needs an Apprise server: enter its address, and the same Apprise URLs",
      type,
    );
  return createPlaceholder(
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
  const readFields = new Set<string>();
  const config = new Proxy(original, {
    get(target, key) {
      readFields.add(String(key));
      return target[String(key)];
    },
  });
  const listUnread = () => {
    const names = Object.entries(original)
      .filter(([key]) => !readFields.has(key) && !otherKeys.test(key))
      .filter(([, value]) => !["", "0", "false", "null", "undefined"].includes(String(value)))
      .map(([key]) => toCleanLine(key, 100));
    return names.length === 0 ? [] : [`Not imported: ${names.slice(0, 50).join(", ")}.`];
  };
  return { config, unread: listUnread };
}

/** Returns a disabled channel with a placeholder address, which an administrator must complete. */
function createPlaceholder(common: Fields, why: string, type: string): Result {
  const fields = {
    ...common,
    type: "apprise",
    server: "http://apprise.invalid",
    key: type.replace(/[^-\w]/g, "-").slice(0, 128) || "unknown",
    name: toText(common["name"]),
    enabled: false,
    default: false,
  };
  const isImportable = findIssue(NewAlertChannel, fields) === null;
  return {
    fields,
    notes: [`${isImportable ? "Disabled" : "Not imported"}: ${why}.`],
    isIncomplete: true,
    isImportable,
  };
}

/** Returns the mail server of the first e-mail notification, and a hint if others differ. */
export function findMailServer(rows: readonly Fields[]): { smtp: Fields | null; hints: string[] } {
  const servers = rows
    .map((row) => ({
      name: toText(row["name"]),
      config: parseFields(row["config"]),
    }))
    .filter(({ config }) => config["type"] === "smtp");
  const [first, ...others] = servers;
  if (first === undefined) return { smtp: null, hints: [] };
  const { config } = first;
  const port = toNumber(config["smtpPort"]) || 25;
  const hosts = new Set(servers.map((one) => toText(one.config["smtpHost"])));
  return {
    smtp: {
      host: toText(config["smtpHost"]),
      port,
      // Without `secure`, Uptime Kuma uses STARTTLS if offered, and falls back to no encryption.
      tls: isOn(config["smtpSecure"]) ? "tls" : port === 587 ? "starttls" : "none",
      user: toTextOrNull(config["smtpUsername"]),
      password: toTextOrNull(config["smtpPassword"]),
      from: (toTextOrNull(config["smtpFrom"]) ?? "").replaceAll('"', ""),
    },
    hints:
      others.length > 0 && hosts.size > 1
        ? [
            `All e-mails go through one mail server, ${toText(config["smtpHost"])}; Uptime Kuma had ${[...hosts].join(", ")}.`,
          ]
        : [],
  };
}
