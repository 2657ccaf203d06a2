/** The channel types whose receivers are programs. */
import { t } from "../../../core/text/texts.ts";
import { z } from "zod";
import {
  createStrengthCheck,
  fixedDestination,
  isSameHost,
  isSameOrigin,
  isSameValue,
  toAsciiName,
} from "../../../core/security/destinations.ts";
import {
  Headers,
  Host,
  HttpUrl,
  limitPlaceholders,
  line,
  nullable,
  optionalParagraphs,
  Port,
  secret,
  SigningSecret,
} from "../../../core/fields.ts";
import { formatPlaceholders } from "../../../core/text/formatting.ts";
import { webhookBodyTypes, webhookPlaceholders } from "../webhook-rules.ts";
import { defineChannelKind, describeServer, template } from "./kind-schema.ts";

/** Returns the endpoint of a topic: https://docs.aws.amazon.com/general/latest/gr/sns.html */
export function findSnsOrigin(topicArn: string): string {
  const [, partition = "", , region = ""] = topicArn.split(":");
  return `https://sns.${region}.amazonaws.${snsDomains.get(partition) ?? "com"}`;
}

const snsDomains: ReadonlyMap<string, string> = new Map([
  ["aws-cn", "com.cn"],
  ["aws-eusc", "eu"],
]);

const syslogTransports = ["udp", "tcp", "tls"] as const;

/** Facilities by their codes (RFC 5424 §6.2.1). */
export const syslogFacilities = [
  "kern",
  "user",
  "mail",
  "daemon",
  "auth",
  "syslog",
  "lpr",
  "news",
  "uucp",
  "cron",
  "authpriv",
  "ftp",
  "ntp",
  "audit",
  "alert",
  "clock",
  "local0",
  "local1",
  "local2",
  "local3",
  "local4",
  "local5",
  "local6",
  "local7",
] as const;

const buildAddress = (scheme: string, host: string, port: number) =>
  `${scheme}://${host.includes(":") ? `[${host}]` : toAsciiName(host)}:${port}`;

export const programKinds = {
  webhook: defineChannelKind({
    name: "Webhook",
    summary: t("Signed JSON, or your own text, to any URL"),
    help: t(
      "Sends a POST request with JSON, as described by Standard Webhooks. With a secret, each request is signed. With a body of your own, it can talk to any HTTP interface.",
    ),
    fields: {
      // With placeholders, it is not in the format "uri".
      url: limitPlaceholders(HttpUrl, webhookPlaceholders).meta({
        format: undefined,
        example: "http://bot.lan/alerts",
      }),
      secret: nullable(SigningSecret),
      headers: Headers.default({}),
      method: z.enum(["POST", "PUT", "PATCH", "GET"]).default("POST"),
      bodyType: z.enum(webhookBodyTypes).default("json").meta({
        description: "Format of `body`, for which placeholders are escaped.",
      }),
      body: nullable(limitPlaceholders(optionalParagraphs(10_000), webhookPlaceholders)).meta({
        description: `Body of the request, instead of Signalbox's own JSON. With GET it must be null, and no body is sent. Placeholders, also in \`url\` and \`headers\`: ${formatPlaceholders(
          webhookPlaceholders,
        )
          .map((name) => `\`${name}\``)
          .join(
            " ",
          )}. \`{{state}}\` is TRIGGERED or RESOLVED, or has your words: \`{{state|down|up}}\`. \`{{up}}\` is 0 during an outage and otherwise 1, and \`{{key}}\` is the same from the start of a problem to its end.`,
        example: '{ "text": "{{title}}: {{message}}" }',
      }),
    },
    labels: {
      url: { label: "URL", placeholder: "http://bot.lan/alerts", mono: true },
      method: {
        label: t("Method"),
        options: { POST: "POST", PUT: "PUT", PATCH: "PATCH", GET: "GET" },
      },
      bodyType: {
        label: t("Body format"),
        hint: t("Placeholders are escaped for it."),
        options: { json: "JSON", form: t("Form: name=value&…"), xml: "XML", text: t("Text") },
      },
      body: {
        label: t("Body"),
        hint: t(
          "Leave empty for Signalbox’s own JSON. Placeholders also work in the URL and in headers.",
        ),
        placeholder: '{ "text": "{{title}}: {{message}}" }',
        long: true,
        mono: true,
      },
      secret: {
        label: t("Secret"),
        hint: t("Signs each request: whsec_ and the Base64 of 24 to 64 bytes."),
        placeholder: "whsec_…",
      },
      headers: { label: t("Headers") },
    },
    secrets: { secret: { url: isSameOrigin }, "headers.*": { url: isSameOrigin } },
    address: "url",
    unused: ({ method }) => (method === "GET" ? ["bodyType", "body"] : []),
  }),
  sns: defineChannelKind({
    name: "AWS SNS",
    summary: t("Publishes to a topic"),
    help: t(
      "Create an IAM user that may only sns:Publish to the topic, and an access key for it. Messages have the attributes type and severity, for filter policies.",
    ),
    fields: {
      topicArn: z
        .string()
        .regex(
          /^arn:aws[a-z-]*:sns:[a-z0-9-]{1,30}:\d{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$/,
          "must be the ARN of a topic",
        )
        .meta({ example: "arn:aws:sns:eu-central-1:123456789012:alerts" }),
      accessKeyId: line(128),
      secretAccessKey: secret(),
      template,
    },
    labels: {
      topicArn: {
        label: t("Topic ARN"),
        placeholder: "arn:aws:sns:eu-central-1:123456789012:alerts",
        mono: true,
      },
      accessKeyId: { label: t("Access key ID"), mono: true },
      secretAccessKey: { label: t("Secret access key") },
    },
    // Only a signature is sent, never the secret.
    secrets: { secretAccessKey: fixedDestination },
    address: ({ topicArn }) => findSnsOrigin(topicArn),
  }),
  mqtt: defineChannelKind({
    name: "MQTT",
    summary: t("Publishes to a topic of a broker"),
    help: t(
      "Publishes each message as JSON, for example for Home Assistant, Node-RED or a signal tower. The broker must confirm it (QoS 1).",
    ),
    fields: {
      host: Host,
      port: Port.default(1883),
      tls: z.boolean().default(false).meta({
        description: "Whether the connection is encrypted, usually on port 8883.",
      }),
      username: nullable(line(255)),
      password: nullable(secret()),
      topic: line(1000)
        .refine((topic) => !/[+#]/.test(topic), "must have no wildcards: + and # are for receivers")
        .default("signalbox/alerts"),
      retain: z.boolean().default(false).meta({
        description: "Whether the broker stores the last message for clients that connect later.",
      }),
      template,
    },
    labels: {
      host: { label: t("Host"), placeholder: "broker.lan", mono: true },
      port: { label: t("Port") },
      tls: { label: "TLS", hint: t("Usually on port 8883.") },
      username: { label: t("User name") },
      password: { label: t("Password") },
      topic: { label: t("Topic"), mono: true },
      retain: {
        label: t("Retain the last message"),
        hint: t("For clients that connect later."),
      },
    },
    secrets: {
      password: { host: isSameHost, port: isSameValue, tls: createStrengthCheck(false, true) },
    },
    address: ({ host, port, tls }) => buildAddress(tls ? "mqtts" : "mqtt", host, port),
  }),
  syslog: defineChannelKind({
    name: "Syslog",
    summary: t("A line in the log of a syslog server"),
    help: t(
      "Sends messages in the format of RFC 5424 to rsyslog, syslog-ng, Graylog or a SIEM. UDP confirms nothing: with TCP or TLS, Signalbox notices when the server is down.",
    ),
    fields: {
      host: Host,
      port: Port.default(514),
      transport: z.enum(syslogTransports).default("udp").meta({
        description:
          "`udp`, `tcp` with octet counting (RFC 6587), or `tls` (RFC 5425), usually on port 6514.",
      }),
      facility: z.enum(syslogFacilities).default("local0"),
      template,
    },
    labels: {
      host: { label: t("Host"), placeholder: "logs.lan", mono: true },
      port: { label: t("Port") },
      transport: {
        label: t("Transport"),
        options: { udp: "UDP", tcp: "TCP", tls: "TLS" },
        hint: t("TLS is usually on port 6514. UDP confirms nothing."),
      },
      facility: {
        label: t("Facility"),
        options: Object.fromEntries(syslogFacilities.map((name) => [name, name])),
      },
    },
    address: ({ host, port, transport }) => buildAddress(transport, host, port),
  }),
  apprise: defineChannelKind({
    name: "Apprise",
    summary: t("A hundred more services"),
    help: t(
      "Requires an Apprise API server. Save the URLs of your services there under a key and enter the key here, or enter the URLs here.",
    ),
    fields: {
      server: HttpUrl,
      key: nullable(
        z.string().regex(/^[-_A-Za-z0-9]{1,128}$/, "must have 1 to 128 letters, digits, - or _"),
      ).meta({
        description:
          "The configuration key of services that are saved on the server, instead of `urls`.",
      }),
      tag: nullable(line(200)).meta({
        description:
          "Only services with these tags: `a, b` means either, `a b` means both. Null for all services of the key.",
      }),
      urls: nullable(secret(4_000)).meta({
        writeOnly: true,
        description: "Apprise URLs, separated by commas, instead of a `key`.",
      }),
      template,
    },
    labels: {
      server: describeServer("http://apprise.lan:8000"),
      key: { label: t("Configuration key"), hint: t("Leave empty if you enter URLs."), mono: true },
      tag: {
        label: t("Tags"),
        hint: t(
          "Only services with these tags: “a, b” means either, “a b” means both. Leave empty for all.",
        ),
      },
      urls: {
        label: t("Apprise URLs"),
        placeholder: "mailto://…, json://…",
        hint: t("Instead of a key, separated by commas."),
      },
    },
    secrets: { urls: { server: isSameOrigin } },
    address: "server",
  }),
};
