/** Valid settings of every monitor and channel type, with recognizable secrets. */
import type { ChannelType } from "../../src/alerting/channels/kinds-schema.ts";

/** Required fields of a new monitor of each type, in addition to its name. */
export const newMonitors = {
  http: { url: "http://intranet.lan/health" },
  tcp: { host: "db.lan", port: 5432 },
  ping: { host: "192.168.1.1" },
  dns: { host: "intranet.lan" },
  tls: { host: "mail.lan" },
  push: {},
  smtp: { host: "mail.lan" },
  imap: { host: "mail.lan" },
  pop3: { host: "mail.lan" },
  ssh: { host: "jump.lan" },
  mqtt: { host: "broker.lan" },
  redis: { host: "cache.lan" },
  postgres: { host: "db.lan", username: "probe" },
  mysql: { host: "db.lan", username: "probe" },
  mongodb: { host: "db.lan" },
  mssql: { host: "db.lan" },
  kafka: { host: "kafka.lan" },
  rabbitmq: { host: "queue.lan" },
  ldap: { host: "directory.lan" },
  sip: { host: "pbx.lan" },
  websocket: { url: "wss://shop.lan/live" },
  grpc: { host: "orders.lan", port: 50051 },
  docker: { container: "shop-web", host: "docker.lan" },
  snmp: { host: "switch.lan" },
  radius: { host: "aaa.lan", secret: "shared", username: "probe", password: "open" },
  ntp: { host: "time.lan" },
  domain: { domain: "example.org" },
  game: { host: "play.lan", port: 27015 },
  command: { command: "backup-age.sh" },
  systemd: { unit: "nginx.service" },
  composite: {},
  statuspage: { url: "https://status.supplier.example" },
  manual: {},
  browser: { url: "https://shop.lan/login" },
} as const;

/** Part of every secret in tests: wherever it appears, a secret leaked. */
export const canary = "CANARY-7f3a";

/** A client certificate without expiry and its key, created for these tests. */
export const clientCertificate = `-----BEGIN CERTIFICATE-----
MIIBeDCCAR2gAwIBAgIUKusrMYbzNd/KeLrZ23Z5kmfNKFQwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFcHJvYmUwIBcNMjYxMTIzMDExNjE4WhgPMjEyNjEwMzAwMTE2
MThaMBAxDjAMBgNVBAMMBXByb2JlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
RmKQSIf2/V7z/lgCRFDSQgARyZhIxHgucESNLkTONdvTrdrDT6hEjvIaz4WpKDRy
sCwx3j22HFWRp4fJp0qYr6NTMFEwHQYDVR0OBBYEFFIkQyMFPcoEY2iJyoJ/poqB
nzehMB8GA1UdIwQYMBaAFFIkQyMFPcoEY2iJyoJ/poqBnzehMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhANn35qJK4P2fpUNkvG8lEYl4KekxIBy4
mvQ5nlqIG7VzAiEA+6BLOwbej43PVsktqfOkvjBhokQJ7GCZoasdUnbmCBI=
-----END CERTIFICATE-----
`;
export const clientKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMUMSdIMRapHQJd/C
CeFk4vQHpFDVsbjvRY96l42zfaWhRANCAARGYpBIh/b9XvP+WAJEUNJCABHJmEjE
eC5wRI0uRM4129Ot2sNPqESO8hrPhakoNHKwLDHePbYcVZGnh8mnSpiv
-----END PRIVATE KEY-----
`;

/** A signing secret must be Base64. */
export const signingCanary = `whsec_CANARY7f3a${"A".repeat(22)}`;

const webhookUrl = `https://chat.example/hooks/${canary}`;

type NewChannel = {
  secrets: Record<string, string>;
  /** Secrets that can be absent. */
  optional?: readonly string[];
  others: Record<string, unknown>;
  /** Variants whose secrets exclude these. */
  instead?: { secrets: Record<string, string>; others: Record<string, unknown> };
};

const mailFields = { from: "signalbox@team.example", to: ["oncall@team.example"] };

/** The secrets and required fields of each channel type. */
const samples: Record<ChannelType, NewChannel> = {
  webhook: {
    secrets: { secret: signingCanary },
    optional: ["secret"],
    others: {
      url: "http://bot.lan/alerts",
      headers: {},
      method: "POST",
      bodyType: "json",
      body: null,
    },
  },
  email: { secrets: {}, others: { to: ["oncall@team.example"] } },
  sendgrid: { secrets: { apiKey: canary }, others: { region: "eu", ...mailFields } },
  brevo: { secrets: { apiKey: canary }, others: mailFields },
  resend: { secrets: { apiKey: canary }, others: mailFields },
  mailgun: {
    secrets: { apiKey: canary },
    others: { region: "eu", domain: "mg.team.example", ...mailFields },
  },
  pushbullet: { secrets: { accessToken: canary }, others: {} },
  homeassistant: {
    secrets: { token: canary },
    others: { server: "http://ha.lan:8123", service: "mobile_app_phone" },
  },
  signl4: { secrets: { webhookUrl }, others: {} },
  splunkoncall: { secrets: { webhookUrl }, others: {} },
  incidentio: { secrets: { token: canary }, others: { url: "https://incident.example/http/1" } },
  alertmanager: {
    secrets: { token: canary },
    optional: ["token"],
    others: { server: "http://alertmanager.lan:9093", username: null },
    instead: {
      secrets: { password: canary },
      others: { server: "http://alertmanager.lan:9093", username: "probe" },
    },
  },
  github: {
    secrets: { token: canary },
    others: { server: "http://github.lan/api/v3", repository: "acme/ops" },
  },
  gitlab: {
    secrets: { token: canary },
    others: { server: "http://gitlab.lan", project: "acme/ops" },
  },
  gitea: {
    secrets: { token: canary },
    others: { server: "http://git.lan", repository: "acme/ops" },
  },
  mqtt: {
    secrets: { password: canary },
    optional: ["password"],
    others: {
      host: "broker.lan",
      port: 1883,
      tls: false,
      username: "signalbox",
      topic: "alerts",
      retain: false,
    },
  },
  syslog: {
    secrets: {},
    others: { host: "logs.lan", port: 514, transport: "udp", facility: "local0" },
  },
  sns: {
    secrets: { secretAccessKey: canary },
    others: { topicArn: "arn:aws:sns:eu-central-1:123456789012:alerts", accessKeyId: "AKIA1" },
  },
  slack: { secrets: { webhookUrl }, others: {} },
  discord: { secrets: { webhookUrl }, others: {} },
  teams: { secrets: { webhookUrl }, others: {} },
  mattermost: { secrets: { webhookUrl }, others: {} },
  googlechat: { secrets: { webhookUrl }, others: {} },
  telegram: {
    secrets: { botToken: canary },
    others: { chatId: "-100200", topic: 7, silent: true, server: "http://telegram.lan:8081" },
  },
  matrix: {
    secrets: { accessToken: canary },
    others: { server: "http://matrix.lan", roomId: "!ops:matrix.lan" },
  },
  signal: {
    secrets: {},
    others: { server: "http://signal.lan", number: "+491701234567", recipients: ["group.b3Bz"] },
  },
  rocketchat: { secrets: { webhookUrl }, others: {} },
  zulip: {
    secrets: { apiKey: canary },
    others: {
      server: "http://zulip.lan",
      email: "bot@zulip.example",
      channel: "operations",
      topic: "Alerts",
    },
  },
  nextcloudtalk: {
    secrets: { botSecret: canary },
    others: { server: "http://cloud.lan", conversation: "4nd9wq3z" },
  },
  webex: { secrets: { webhookUrl }, others: {} },
  line: { secrets: { accessToken: canary }, others: { to: `U${"4af4980629".repeat(3)}ab` } },
  feishu: { secrets: { webhookUrl, secret: canary }, optional: ["secret"], others: {} },
  dingtalk: { secrets: { webhookUrl, secret: canary }, optional: ["secret"], others: {} },
  wecom: { secrets: { webhookUrl }, others: {} },
  ntfy: {
    secrets: { token: canary },
    optional: ["token"],
    others: {
      server: "http://ntfy.lan",
      topic: "alerts",
      username: null,
      priority: 5,
      tags: ["shop"],
    },
    instead: {
      secrets: { password: canary },
      others: { server: "http://ntfy.lan", topic: "alerts", username: "probe" },
    },
  },
  gotify: { secrets: { token: canary }, others: { server: "http://gotify.lan" } },
  pushover: {
    secrets: { userKey: canary, apiToken: canary },
    others: { priority: 1, retry: 30, expire: 300 },
  },
  sms: {
    secrets: { secret: canary },
    optional: ["secret"],
    others: {
      preset: "custom",
      account: "AC1",
      from: "Signalbox",
      to: "+491701234567",
      url: "http://sms.lan/send",
      method: "POST",
      headers: {},
      bodyType: "json",
      body: '{ "to": "{{to}}", "text": "{{text}}", "key": "{{secret}}" }',
      expectedStatus: ["200-299"],
      keyword: null,
      jsonPath: null,
      jsonEquals: null,
      receiptIdPath: null,
      receiptUrl: null,
      receiptStatePath: null,
      receiptDelivered: [],
      receiptFailed: [],
      maxParts: 2,
      dailyLimit: 20,
    },
  },
  voice: {
    secrets: { secret: canary },
    optional: ["secret"],
    others: {
      preset: "custom",
      account: "AC1",
      from: "+4915112345678",
      to: "+491701234567",
      url: "http://phone.lan/call",
      method: "POST",
      headers: {},
      bodyType: "json",
      body: '{ "to": "{{to}}", "say": "{{text}}", "key": "{{secret}}" }',
      expectedStatus: ["200-299"],
      keyword: null,
      jsonPath: null,
      jsonEquals: null,
      receiptIdPath: null,
      receiptUrl: null,
      receiptStatePath: null,
      receiptDelivered: [],
      receiptFailed: [],
      language: "en-US",
      dailyLimit: 20,
    },
  },
  pagerduty: { secrets: { routingKey: canary }, others: { region: "eu" } },
  jsm: { secrets: { apiKey: canary }, others: {} },
  opsgenie: { secrets: { apiKey: canary }, others: { region: "eu" } },
  apprise: {
    secrets: {},
    others: { server: "http://apprise.lan", key: "ops", tag: "oncall" },
    instead: { secrets: { urls: canary }, others: { server: "http://apprise.lan" } },
  },
};

/** Indexed by string, because most tests iterate over type names. */
export const newChannels: Record<string, NewChannel> = samples;
