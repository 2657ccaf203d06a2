/** Declares the monitor types: fields, secrets, and the condition for being up. */
import { z } from "zod";
import {
  type Destination,
  createStrengthCheck,
  isSameList,
} from "../../core/security/destinations.ts";
import {
  Headers,
  Host,
  HttpUrl,
  InputTimestamp,
  integer,
  line,
  Port,
  secret,
  WebSocketUrl,
  nullable,
} from "../../core/fields.ts";
import { type Kind, defineKind } from "../../core/kinds.ts";
import { jobFields, shownJobFields } from "../jobs/schema.ts";
import { pemSchema } from "../../core/security/pem.ts";
import { dropIdleLogin } from "./connection-schema.ts";
import { dropOtherVersion } from "./credential-rules.ts";
import { assertionsSchema } from "./assertions-schema.ts";
import { createDetailNumber, createJsonNumber, createTextNumber } from "./numbers-schema.ts";
import { ExpectedStatus, createWellFormedText } from "./request-schema.ts";
import {
  certificateExpiryDays,
  Resolver,
  httpFields,
  httpSecrets,
  shownHttpFields,
  urlDestination,
  verifyTls,
  tlsFields,
  requiredUsername,
  username,
  password,
  sqlFields,
  sqlUpWhen,
  hostDestination,
  securedHostDestination,
  createMailFields,
  mailSecrets,
  ifSignedIn,
  Container,
  Fingerprint,
  Oid,
  PageSteps,
  Program,
  ProgramArguments,
  RegisteredDomain,
  screenshotAt,
  TopicFilter,
  amqpName,
  Unit,
} from "./fields-schema.ts";

type MonitorKind<F extends Record<string, z.ZodType>> = {
  /** Display name. */
  name: string;
  /** Condition that follows “up when”, with field names in backticks. */
  upWhen: string;
  fields: F;
  /** Destination of each secret. */
  secrets?: Readonly<Record<string, Destination<keyof F & string>>>;
  /** Response fields that replace fields with secrets, and additional response fields. */
  shown?: Record<string, z.ZodType>;
  /** After a patch, nulls fields that another field's value makes invalid. */
  clearInvalid?: Kind["clearInvalid"];
};

const defineMonitorKind = <F extends Record<string, z.ZodType>>({
  name,
  upWhen,
  fields,
  secrets,
  shown,
  clearInvalid,
}: MonitorKind<F>) => ({
  ...defineKind(fields, secrets, shown, clearInvalid),
  description: `${name}: up when ${upWhen}`,
  name,
  upWhen,
});

/** All monitor types. `checks/kinds` implements their checks. */
export const monitorKinds = {
  http: defineMonitorKind({
    name: "HTTP",
    upWhen:
      "the response has an expected status. You can also require or forbid a keyword, require a value at a JSON path, or write assertions. Up to 5 redirects are followed, and the last response counts. Further `steps` can use values of earlier responses.",
    fields: httpFields,
    secrets: httpSecrets,
    shown: shownHttpFields,
    clearInvalid: dropIdleLogin,
  }),
  tcp: defineMonitorKind({
    name: "TCP port",
    upWhen: "the port accepts the connection. You can send text, and expect text in the response.",
    fields: {
      host: Host,
      port: Port,
      send: nullable(createWellFormedText(4096)),
      expect: nullable(createWellFormedText(4096)),
    },
  }),
  ping: defineMonitorKind({
    name: "Ping",
    upWhen:
      "the host returns the packets. It uses the `ping` program of the system (Debian: `iputils-ping`).",
    fields: {
      host: Host,
      packets: integer(1, 10).default(1),
      number: createDetailNumber("lossPercent", "slowestMs"),
    },
  }),
  dns: defineMonitorKind({
    name: "DNS",
    upWhen:
      "there are records of the type, including the expected values, and all `assertions` about them hold. You can name a resolver, also one with DNS over TLS or over HTTPS; the default is the system's. With `requireDnssec`, the resolver must have verified the DNSSEC signatures. For `PTR`, `host` can be an IP address.",
    fields: {
      host: Host,
      recordType: z
        .enum(["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SRV", "CAA", "PTR", "SOA", "DNSKEY"])
        .default("A"),
      resolver: nullable(Resolver),
      expected: z.array(line(1000)).max(50).default([]).meta({
        description:
          "Records that must be there. Of `MX`, `SRV` and `SOA` records, the name of the server is enough.",
      }),
      requireDnssec: z.boolean().default(false).meta({
        description:
          "Whether the resolver must report that it has verified the DNSSEC signatures (AD bit). Needs a resolver that validates.",
      }),
      assertions: assertionsSchema("body", "json", "latency").default([]).meta({
        description:
          'Conditions that the answer must satisfy, all of them. `body` has one record per line; `json` is such as `{ "values": ["192.0.2.1"], "ttl": 300, "dnssec": "secure" }`, with the lowest TTL in seconds.',
      }),
    },
  }),
  tls: defineMonitorKind({
    name: "Certificate",
    upWhen:
      "the certificate is trusted and valid for this name. It is degraded when the certificate expires within 14 days (`certificateExpiryDays`), and down when it has expired.",
    fields: {
      host: Host,
      port: Port.default(443),
      serverName: nullable(Host),
      certificateExpiryDays,
    },
  }),
  push: defineMonitorKind({
    name: "Push",
    upWhen:
      "a job reports in time: after each `interval`, or when its `schedule` is due. It is down when a job reports a failure, when it is late by more than `grace`, or when a run takes longer than `maximumRunTime`.",
    fields: {
      grace: integer(0, 86_400).default(60),
      ...jobFields,
    },
    shown: {
      grace: z.int().min(0),
      ...shownJobFields,
      pingUrl: z.string().nullable().meta({
        description:
          "Address for pings in the format of Healthchecks.io, with `/start`, `/fail`, `/log` and exit statuses. It contains the same token as `pushUrl`.",
      }),
      pushUrl: z.string().nullable().meta({
        description:
          "Address for reports of the job. Everyone who knows it can report, so it is null for people without write access.",
      }),
    },
  }),
  smtp: defineMonitorKind({
    name: "SMTP",
    upWhen: `the mail server greets and answers \`EHLO\` or \`HELO\`, ${ifSignedIn}. It sends no mail.`,
    fields: createMailFields(25, "starttls"),
    secrets: mailSecrets,
  }),
  imap: defineMonitorKind({
    name: "IMAP",
    upWhen: `the mail server greets and lists its capabilities, ${ifSignedIn}.`,
    fields: createMailFields(993, "tls"),
    secrets: mailSecrets,
  }),
  pop3: defineMonitorKind({
    name: "POP3",
    upWhen: `the mail server greets, ${ifSignedIn}. That locks the mailbox for a moment.`,
    fields: createMailFields(995, "tls"),
    secrets: mailSecrets,
  }),
  ssh: defineMonitorKind({
    name: "SSH",
    upWhen:
      "the server proves its host key, which must match the `fingerprint` if you set one. If it has several keys, Ed25519 is preferred, then ECDSA, then RSA. The check does not sign in.",
    fields: {
      host: Host,
      port: Port.default(22),
      fingerprint: nullable(Fingerprint).meta({
        description: "Fingerprint of the host key; null accepts any.",
      }),
    },
  }),
  mqtt: defineMonitorKind({
    name: "MQTT",
    upWhen:
      "the broker accepts the connection, and the subscription if you set a `topic`. With `waitForMessage` or `assertions`, a message must arrive within the timeout, and the first one must fulfill all `assertions`. A retained message counts at any age, unless `ignoreRetained` is set.",
    fields: {
      host: Host,
      port: Port.default(1883),
      username,
      password,
      topic: nullable(TopicFilter),
      waitForMessage: z.boolean().default(false).meta({
        description: "Whether a message must arrive; `assertions` always wait for one.",
      }),
      ignoreRetained: z.boolean().default(false).meta({
        description:
          "Whether to wait for a message that is published after the subscription. A broker returns a retained message even if its publisher is gone.",
      }),
      assertions: assertionsSchema("body", "json").default([]),
      number: createJsonNumber("at the JSON path in the message, or the whole message"),
      ...tlsFields,
    },
    secrets: { password: securedHostDestination },
  }),
  redis: defineMonitorKind({
    name: "Redis",
    upWhen:
      "the server responds to `PING`, after signing in if you set a `username` or a `password`.",
    fields: { host: Host, port: Port.default(6379), username, password, ...tlsFields },
    secrets: { password: securedHostDestination },
  }),
  postgres: defineMonitorKind({
    name: "PostgreSQL",
    upWhen: sqlUpWhen,
    fields: { host: Host, port: Port.default(5432), ...sqlFields, ...tlsFields },
    secrets: { password: securedHostDestination },
  }),
  mysql: defineMonitorKind({
    name: "MySQL, MariaDB",
    upWhen: `${sqlUpWhen} For MariaDB too.`,
    fields: { host: Host, port: Port.default(3306), ...sqlFields, ...tlsFields },
    secrets: { password: securedHostDestination },
  }),
  mongodb: defineMonitorKind({
    name: "MongoDB",
    upWhen:
      "the server responds to `hello`, after signing in (SCRAM-SHA-256) if you set a `username`.",
    fields: {
      host: Host,
      port: Port.default(27017),
      username,
      password,
      authDatabase: line(63).default("admin"),
      ...tlsFields,
    },
    secrets: { password: securedHostDestination },
  }),
  mssql: defineMonitorKind({
    name: "SQL Server",
    upWhen: "the server responds to the pre-login message. The check does not sign in.",
    fields: { host: Host, port: Port.default(1433) },
  }),
  kafka: defineMonitorKind({
    name: "Kafka",
    upWhen:
      "a broker returns the metadata of its cluster, after signing in if you set a `username`. If you set a `topic`, all its partitions must have a leader.",
    fields: {
      host: Host,
      port: Port.default(9092),
      topic: nullable(
        z.string().regex(/^[A-Za-z0-9._-]{1,249}$/, "must have letters, digits, dots, - or _"),
      ),
      mechanism: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).default("plain"),
      username,
      password,
      ...tlsFields,
    },
    secrets: {
      password: {
        ...securedHostDestination,
        mechanism: createStrengthCheck("plain", "scram-sha-256", "scram-sha-512"),
      },
    },
  }),
  rabbitmq: defineMonitorKind({
    name: "RabbitMQ",
    upWhen:
      "the broker greets over AMQP 0-9-1, or opens the `virtualHost` for the user if you set a `username`. If you set a `queue`, it must exist and hold at most `maxMessages` messages.",
    fields: {
      host: Host,
      port: Port.default(5672),
      username,
      password,
      virtualHost: amqpName.default("/"),
      queue: nullable(amqpName),
      maxMessages: nullable(integer(0, 1_000_000_000)),
      number: createDetailNumber("messages", "consumers"),
      ...tlsFields,
    },
    secrets: { password: securedHostDestination },
  }),
  ldap: defineMonitorKind({
    name: "LDAP",
    upWhen:
      "the directory accepts the bind, which is anonymous without a `username`. If you set a `baseDn`, this entry must exist.",
    fields: {
      ...createMailFields(389, "starttls"),
      username: nullable(line(1000)).meta({
        description:
          "DN of the user, such as `cn=probe,dc=team,dc=example`. Active Directory accepts `probe@team.example`, too.",
      }),
      baseDn: nullable(line(1000)),
    },
    secrets: mailSecrets,
  }),
  sip: defineMonitorKind({
    name: "SIP",
    upWhen:
      "the telephone server responds to `OPTIONS` with an expected status. With a `user`, the request is about this user.",
    fields: {
      host: Host,
      port: Port.default(5060),
      transport: z.enum(["udp", "tcp", "tls"]).default("udp"),
      user: nullable(
        z
          .string()
          .regex(
            /^[A-Za-z0-9_.!~*'()&=+$,;?/-]{1,100}$/,
            "must be the user part of a SIP address, such as 100",
          ),
      ),
      expectedStatus: ExpectedStatus.default(["200-299"]),
      serverName: tlsFields.serverName,
      verifyTls,
      certificateExpiryDays,
    },
  }),
  websocket: defineMonitorKind({
    name: "WebSocket",
    upWhen:
      "the server accepts the WebSocket. You can send text, and expect text in one of its messages.",
    fields: {
      url: WebSocketUrl,
      headers: Headers.default({}),
      send: nullable(createWellFormedText(4096)),
      expect: nullable(createWellFormedText(4096)),
      verifyTls,
      certificateExpiryDays,
    },
    secrets: { "headers.*": urlDestination },
  }),
  grpc: defineMonitorKind({
    name: "gRPC",
    upWhen:
      "the server reports by the gRPC health protocol that the `service`, or the whole server, is serving.",
    fields: { host: Host, port: Port, service: nullable(line(255)), ...tlsFields },
  }),
  docker: defineMonitorKind({
    name: "Docker",
    upWhen:
      "the container of this name, or each one with `label=KEY=VALUE`, is running and not unhealthy. Without a `host`, the Docker socket of this machine is used. That is available only while the appliance has a single organization.",
    fields: {
      container: Container,
      host: nullable(Host).meta({ description: "Null for the socket of this machine." }),
      port: Port.default(2376),
      ...tlsFields,
      tls: z
        .boolean()
        .default(true)
        .meta({ description: "Whether to connect to the host over TLS." }),
      clientCertificate: nullable(pemSchema("CERTIFICATE")).meta({
        description: "Client certificate for the host, in PEM.",
      }),
      clientKey: nullable(pemSchema("PRIVATE KEY").meta({ writeOnly: true })),
    },
    secrets: { clientKey: securedHostDestination },
    shown: { clientCertificate: z.string().nullable() },
  }),
  snmp: defineMonitorKind({
    name: "SNMP",
    upWhen:
      "the device returns the value of the object `oid`, and all `assertions` about it hold. `community` is for versions 1 and 2c (null means `public`), user and passwords of at least 8 characters are for version 3.",
    fields: {
      host: Host,
      port: Port.default(161),
      snmpVersion: z.enum(["1", "2c", "3"]).default("2c"),
      community: nullable(secret(255)),
      username,
      authProtocol: z.enum(["md5", "sha", "sha224", "sha256", "sha384", "sha512"]).default("sha"),
      authPassword: nullable(secret(255)),
      privProtocol: z.enum(["des", "aes", "aes256b", "aes256r"]).default("aes"),
      privPassword: nullable(secret(255)),
      oid: Oid.default("1.3.6.1.2.1.1.3.0"),
      assertions: assertionsSchema("body", "latency").default([]),
      number: createTextNumber("the value of the object"),
    },
    secrets: {
      community: hostDestination,
      authPassword: hostDestination,
      privPassword: hostDestination,
    },
    clearInvalid: dropOtherVersion,
  }),
  radius: defineMonitorKind({
    name: "RADIUS",
    upWhen: "the server accepts the user, and signs its response with the shared secret.",
    fields: {
      host: Host,
      port: Port.default(1812),
      secret: secret(255),
      username: requiredUsername,
      password: secret(128),
    },
    secrets: { secret: hostDestination, password: hostDestination },
  }),
  ntp: defineMonitorKind({
    name: "NTP",
    upWhen:
      "the server is synchronized, its clock differs from that of this machine by no more than `maxOffsetMs`, and its stratum is not above `maxStratum`.",
    fields: {
      host: Host,
      port: Port.default(123),
      maxOffsetMs: integer(1, 3_600_000).default(1000),
      maxStratum: nullable(integer(1, 15)),
      number: createDetailNumber("offsetMs", "stratum"),
    },
  }),
  domain: defineMonitorKind({
    name: "Domain",
    upWhen:
      "the domain is registered for at least `minDays` more days, according to its registry (RDAP). The registry is queried once a day; its response is reused in between. After a failure, the next check queries it again, unless the registry names a later time. Enter the domain as registered: `example.org`, not `www.example.org`.",
    fields: {
      domain: RegisteredDomain,
      minDays: integer(1, 3650).default(14),
      server: nullable(HttpUrl).meta({
        description: "RDAP server of the registry; null uses the one that IANA lists.",
      }),
    },
  }),
  game: defineMonitorKind({
    name: "Game server",
    upWhen:
      "the game server reports its number of players: Source-engine games (`protocol` is `source`) or Minecraft Java edition (`minecraft`).",
    fields: {
      protocol: z.enum(["source", "minecraft"]).default("source"),
      host: Host,
      port: Port,
      number: createDetailNumber("players"),
    },
  }),
  command: defineMonitorKind({
    name: "Command",
    upWhen:
      "the program exits with 0. It must be in the folder of `serve --allow-commands DIR`, gets the `arguments` without a shell and is killed after `timeout`. The first line of its output is the message. Available only while the appliance has a single organization.",
    fields: {
      command: Program,
      arguments: ProgramArguments.default([]),
      number: createTextNumber("the first line of its output"),
    },
  }),
  systemd: defineMonitorKind({
    name: "systemd unit",
    upWhen:
      "the systemd unit of this machine is active. Available only while the appliance has a single organization.",
    fields: { unit: Unit },
  }),
  composite: defineMonitorKind({
    name: "Composite",
    upWhen:
      "enough of the monitors in `dependsOn` are up: `all`, `any`, at least `minimum` (`mode` is `count`), or at least `minimum` percent (`percentage`). Paused monitors and those in maintenance do not count.",
    fields: {
      mode: z.enum(["all", "any", "count", "percentage"]).default("all"),
      minimum: nullable(integer(1, 100)).meta({
        description: "Number or percentage of monitors that must be up; null for `all` and `any`.",
      }),
    },
  }),
  statuspage: defineMonitorKind({
    name: "Status page",
    upWhen:
      "another status page reports normal operation of the chosen `components`, or of everything on it. It is degraded during partial outages, and down during major ones. Supported are Statuspage, Instatus, incident.io, Better Stack, Uptime Kuma and Signalbox.",
    fields: {
      url: HttpUrl.meta({
        description:
          "Address of the page, such as `https://www.githubstatus.com` or `https://kuma.team.example/status/shop`.",
      }),
      format: z
        .enum([
          "auto",
          "statuspage",
          "instatus",
          "incident-io",
          "better-stack",
          "uptime-kuma",
          "signalbox",
        ])
        .default("auto")
        .meta({ description: "Format of the page; `auto` detects it." }),
      components: z.array(line(255)).max(50).default([]).meta({
        description:
          "Names or ids of components. Empty for the whole page, by its own overall status.",
      }),
      maintenanceAs: z.enum(["up", "degraded", "down"]).default("up").meta({
        description: "State during maintenance that the page reports.",
      }),
    },
  }),
  manual: defineMonitorKind({
    name: "Manual",
    upWhen:
      "people set `manualStatus` to `up`. Nothing is checked. Another status lasts until it is changed, or until `manualUntil`, when the monitor is up again.",
    fields: {
      manualStatus: z.enum(["up", "degraded", "down"]).default("up"),
      manualMessage: nullable(line(200)).meta({
        description: "Why, for the organization. Public pages do not show it.",
      }),
      manualUntil: nullable(InputTimestamp).meta({
        description: "When it is up again automatically. Null for no end.",
      }),
    },
  }),
  browser: defineMonitorKind({
    name: "Browser",
    upWhen:
      "Chromium loads the page, its status is below 400, all `steps` succeed, and it contains the `keyword`. A step is `click SELECTOR`, `fill SELECTOR with TEXT`, `wait SELECTOR` or `expect TEXT`, with CSS selectors. `{{username}}` and `{{password}}` insert these fields. The password is filled only into password fields on the origin of `url`.",
    fields: {
      url: HttpUrl,
      steps: PageSteps.default([]),
      keyword: httpFields.keyword,
      username,
      password,
      verifyTls,
    },
    secrets: { password: { ...urlDestination, steps: isSameList } },
    shown: { screenshotAt },
  }),
};

export type MonitorType = keyof typeof monitorKinds;
/** Type-specific fields of a monitor, including secrets. */
export type MonitorSettings<T extends MonitorType> = z.output<
  z.ZodObject<(typeof monitorKinds)[T]["fields"]>
>;
