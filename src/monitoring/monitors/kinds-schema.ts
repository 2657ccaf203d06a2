import { z } from "zod";
import { type Destination, noWeaker, sameList } from "../../core/security/destinations.ts";
import {
  Headers,
  Host,
  HttpUrl,
  integer,
  line,
  Port,
  secret,
  WebSocketUrl,
  nullable,
} from "../../core/fields.ts";
import { type Kind, kind } from "../../core/kinds.ts";
import { pem } from "../../core/security/pem.ts";
import { withoutIdleLogin } from "./connection-schema.ts";
import { assertionsAbout } from "./assertions-schema.ts";
import { wellFormed } from "./request-schema.ts";
import {
  certificateExpiryDays,
  Resolver,
  http,
  httpSecrets,
  httpShown,
  toUrl,
  verifyTls,
  secured,
  userName,
  username,
  password,
  sql,
  sqlWords,
  toHost,
  toSecuredHost,
  mail,
  mailSecrets,
  signsIn,
  Container,
  Fingerprint,
  Oid,
  PageSteps,
  Program,
  ProgramArguments,
  RegisteredDomain,
  screenshotAt,
  TopicFilter,
  Unit,
} from "./fields-schema.ts";

type MonitorKind<F extends Record<string, z.ZodType>> = {
  /** What people call it. */
  name: string;
  /** What it takes to be up, after “is up when”; names of fields stand in backticks. */
  upWhen: string;
  fields: F;
  /** Where its secrets go. */
  secrets?: Readonly<Record<string, Destination<keyof F & string>>>;
  /** What is shown of fields that hold a secret, and beyond the fields. */
  shown?: Record<string, z.ZodType>;
  /** Clears what the value of another field rules out. */
  cleared?: Kind["cleared"];
};

const monitorKind = <F extends Record<string, z.ZodType>>({
  name,
  upWhen,
  fields,
  secrets,
  shown,
  cleared,
}: MonitorKind<F>) => ({
  ...kind(fields, secrets, shown, cleared),
  description: `${name}: up when ${upWhen}`,
  name,
  upWhen,
});

/** The monitor types and their own fields; checking them is in `checks/kinds`. */
export const monitorKinds = {
  http: monitorKind({
    name: "HTTP",
    upWhen:
      "the answer has an expected status. You can also require a keyword, forbid one, require a value at a JSON path, or write assertions. Redirects are followed (up to 5), and the last answer counts. Further `steps` can follow, with values of earlier answers.",
    fields: http,
    secrets: httpSecrets,
    shown: httpShown,
    cleared: withoutIdleLogin,
  }),
  tcp: monitorKind({
    name: "TCP port",
    upWhen: "the port accepts the connection. You can send text, and expect text in the answer.",
    fields: {
      host: Host,
      port: Port,
      send: nullable(wellFormed(4096)),
      expect: nullable(wellFormed(4096)),
    },
  }),
  ping: monitorKind({
    name: "Ping",
    upWhen:
      "the packets come back. It uses the `ping` program of the system (Debian: `iputils-ping`).",
    fields: { host: Host, packets: integer(1, 10).default(1) },
  }),
  dns: monitorKind({
    name: "DNS",
    upWhen:
      "there are records of the type, the expected values among them. You can name a resolver; otherwise the system's is asked.",
    fields: {
      host: Host,
      recordType: z.enum(["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SRV", "CAA"]).default("A"),
      resolver: nullable(Resolver),
      expected: z.array(line(1000)).max(50).default([]),
    },
  }),
  tls: monitorKind({
    name: "Certificate",
    upWhen:
      "the certificate is trusted and made for this name. It is degraded when the certificate expires within 14 days (`certificateExpiryDays`), and down when it has expired.",
    fields: {
      host: Host,
      port: Port.default(443),
      serverName: nullable(Host),
      certificateExpiryDays,
    },
  }),
  push: monitorKind({
    name: "Push",
    upWhen: "a job reports in time.",
    fields: { grace: integer(0, 86_400).default(60) },
    shown: {
      grace: z.int().min(0),
      pushUrl: z.string().nullable().meta({
        description:
          "Where the watched job reports. Whoever knows it may report, so it is shown to those who may write and null to others.",
      }),
    },
  }),
  smtp: monitorKind({
    name: "SMTP",
    upWhen: `the mail server greets and answers \`EHLO\`, ${signsIn}. It is asked to send nothing.`,
    fields: mail(25, "starttls"),
    secrets: mailSecrets,
  }),
  imap: monitorKind({
    name: "IMAP",
    upWhen: `the mail server greets and lists its capabilities, ${signsIn}.`,
    fields: mail(993, "tls"),
    secrets: mailSecrets,
  }),
  pop3: monitorKind({
    name: "POP3",
    upWhen: `the mail server greets, ${signsIn}, which locks the mailbox for that moment.`,
    fields: mail(995, "tls"),
    secrets: mailSecrets,
  }),
  ssh: monitorKind({
    name: "SSH",
    upWhen:
      "the server proves that it has its host key, and that is the one of the `fingerprint` where there is one. Of several keys an Ed25519 key counts first, then ECDSA, then RSA. Nobody signs in.",
    fields: {
      host: Host,
      port: Port.default(22),
      fingerprint: nullable(Fingerprint).meta({
        description: "Of the host key; null accepts any.",
      }),
    },
  }),
  mqtt: monitorKind({
    name: "MQTT",
    upWhen:
      "the broker accepts the connection, and the subscription where there is a `topic`. With `waitForMessage` or `assertions` a message has to arrive within the timeout, and all `assertions` about the first one must hold. A retained message counts, however old it is, unless `ignoreRetained` is set.",
    fields: {
      host: Host,
      port: Port.default(1883),
      username,
      password,
      topic: nullable(TopicFilter),
      waitForMessage: z.boolean().default(false).meta({
        description: "Whether a message has to arrive; `assertions` wait for one in any case.",
      }),
      ignoreRetained: z.boolean().default(false).meta({
        description:
          "Whether to wait for a message that is published after the subscription: a broker keeps a retained one after its publisher is gone.",
      }),
      assertions: assertionsAbout("body", "json").default([]),
      ...secured,
    },
    secrets: { password: toSecuredHost },
  }),
  redis: monitorKind({
    name: "Redis",
    upWhen:
      "the server answers `PING`, after signing in where there is a `username` or a `password`.",
    fields: { host: Host, port: Port.default(6379), username, password, ...secured },
    secrets: { password: toSecuredHost },
  }),
  postgres: monitorKind({
    name: "PostgreSQL",
    upWhen: sqlWords,
    fields: { host: Host, port: Port.default(5432), ...sql, ...secured },
    secrets: { password: toSecuredHost },
  }),
  mysql: monitorKind({
    name: "MySQL, MariaDB",
    upWhen: `${sqlWords} MariaDB as well.`,
    fields: { host: Host, port: Port.default(3306), ...sql, ...secured },
    secrets: { password: toSecuredHost },
  }),
  mongodb: monitorKind({
    name: "MongoDB",
    upWhen:
      "the server answers `hello`, after signing in (SCRAM-SHA-256) where there is a `username`.",
    fields: {
      host: Host,
      port: Port.default(27017),
      username,
      password,
      authDatabase: line(63).default("admin"),
      ...secured,
    },
    secrets: { password: toSecuredHost },
  }),
  mssql: monitorKind({
    name: "SQL Server",
    upWhen: "the server answers the pre-login, which comes before anybody signs in.",
    fields: { host: Host, port: Port.default(1433) },
  }),
  kafka: monitorKind({
    name: "Kafka",
    upWhen:
      "a broker returns the metadata of its cluster, after signing in where there is a `username`. Where a `topic` is named, all of its partitions must have a leader.",
    fields: {
      host: Host,
      port: Port.default(9092),
      topic: nullable(
        z.string().regex(/^[A-Za-z0-9._-]{1,249}$/, "must have letters, digits, dots, - or _"),
      ),
      mechanism: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).default("plain"),
      username,
      password,
      ...secured,
    },
    secrets: {
      password: {
        ...toSecuredHost,
        mechanism: noWeaker("plain", "scram-sha-256", "scram-sha-512"),
      },
    },
  }),
  websocket: monitorKind({
    name: "WebSocket",
    upWhen:
      "the server accepts the WebSocket. You can send text, and expect text in one of its messages.",
    fields: {
      url: WebSocketUrl,
      headers: Headers.default({}),
      send: nullable(wellFormed(4096)),
      expect: nullable(wellFormed(4096)),
      verifyTls,
      certificateExpiryDays,
    },
    secrets: { "headers.*": toUrl },
  }),
  grpc: monitorKind({
    name: "gRPC",
    upWhen:
      "the server says by gRPC's health protocol that the `service`, or all of it, is serving.",
    fields: { host: Host, port: Port, service: nullable(line(255)), ...secured },
  }),
  docker: monitorKind({
    name: "Docker",
    upWhen:
      "the container of this name, or each that `label=KEY=VALUE` finds, is running and not unhealthy. Without a `host` it is asked of the Docker of this machine, over its socket, as long as one organization has the appliance to itself.",
    fields: {
      container: Container,
      host: nullable(Host).meta({ description: "Null is the socket of this machine." }),
      port: Port.default(2376),
      ...secured,
      tls: z.boolean().default(true).meta({ description: "Whether the host is asked over TLS." }),
      clientCertificate: nullable(pem("CERTIFICATE")).meta({
        description: "What the host knows this appliance by, in PEM.",
      }),
      clientKey: nullable(pem("PRIVATE KEY").meta({ writeOnly: true })),
    },
    secrets: { clientKey: toSecuredHost },
    shown: { clientCertificate: z.string().nullable() },
  }),
  snmp: monitorKind({
    name: "SNMP",
    upWhen:
      "the device returns the value of the object `oid`, and all `assertions` about it hold. `community` is for versions 1 and 2c (`public` where it is null), the user and the passwords are for version 3.",
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
      assertions: assertionsAbout("body", "latency").default([]),
    },
    secrets: {
      community: toHost,
      authPassword: toHost,
      privPassword: toHost,
    },
  }),
  radius: monitorKind({
    name: "RADIUS",
    upWhen: "the server accepts the user, and signs its answer with the shared secret.",
    fields: {
      host: Host,
      port: Port.default(1812),
      secret: secret(255),
      username: userName,
      password: secret(128),
    },
    secrets: { secret: toHost, password: toHost },
  }),
  ntp: monitorKind({
    name: "NTP",
    upWhen:
      "the server is synchronized, its clock differs from that of this machine by no more than `maxOffsetMs`, and its stratum is not above `maxStratum`.",
    fields: {
      host: Host,
      port: Port.default(123),
      maxOffsetMs: integer(1, 3_600_000).default(1000),
      maxStratum: nullable(integer(1, 15)),
    },
  }),
  domain: monitorKind({
    name: "Domain",
    upWhen:
      "the domain stays registered for at least `minDays` more days, as its registry says by RDAP. The registry is asked once a day while it answers; until then its last answer counts. After a failure the next check asks again, unless the registry names a later time. Give the domain as it was registered: `example.org`, not `www.example.org`.",
    fields: {
      domain: RegisteredDomain,
      minDays: integer(1, 3650).default(14),
      server: nullable(HttpUrl).meta({
        description: "The registry's RDAP server, where it is not the one that IANA lists.",
      }),
    },
  }),
  game: monitorKind({
    name: "Game server",
    upWhen:
      "the game server says how many players it has: by the queries of Source and its kin (`protocol` is `source`), or as Minecraft's Java edition shows it in its list (`minecraft`).",
    fields: {
      protocol: z.enum(["source", "minecraft"]).default("source"),
      host: Host,
      port: Port,
    },
  }),
  command: monitorKind({
    name: "Command",
    upWhen:
      "the program exits with 0. It has to lie in the folder of `serve --allow-commands DIR`, gets the `arguments` as they are (no shell) and is ended after `timeout`. The first line that it prints is the message. Only as long as one organization has the appliance to itself.",
    fields: {
      command: Program,
      arguments: ProgramArguments.default([]),
    },
  }),
  systemd: monitorKind({
    name: "systemd unit",
    upWhen:
      "the unit of this machine's systemd is active. It can be asked as long as one organization has the appliance to itself.",
    fields: { unit: Unit },
  }),
  browser: monitorKind({
    name: "Browser",
    upWhen:
      "Chromium loads the page, its status is below 400, all `steps` can be done, and it contains the `keyword`. A step is `click SELECTOR`, `fill SELECTOR with TEXT`, `wait SELECTOR` or `expect TEXT`, with selectors of CSS; `{{username}}` and `{{password}}` stand for these fields. The password is filled into password fields of the origin of `url` alone.",
    fields: {
      url: HttpUrl,
      steps: PageSteps.default([]),
      keyword: http.keyword,
      username,
      password,
      verifyTls,
    },
    secrets: { password: { ...toUrl, steps: sameList } },
    shown: { screenshotAt },
  }),
};

export type MonitorType = keyof typeof monitorKinds;
/** The own fields of a monitor of this type, secrets included. */
export type MonitorSettings<T extends MonitorType> = z.output<
  z.ZodObject<(typeof monitorKinds)[T]["fields"]>
>;
