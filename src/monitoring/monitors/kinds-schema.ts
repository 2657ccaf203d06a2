import { z } from "zod";
import {
  type Destination,
  noWeaker,
  sameHost,
  sameIn,
  sameOrigin,
  sameValue,
} from "../../core/destinations.ts";
import {
  Headers,
  Host,
  HttpUrl,
  integer,
  line,
  Port,
  secret,
  WebSocketUrl,
} from "../../core/fields.ts";
import { kind } from "../../core/kinds.ts";
import { Assertions, assertionsAbout, JsonPath } from "./assertions-schema.ts";
import {
  Body,
  BodyType,
  Form,
  Method,
  OAuth2,
  oauth2Fields,
  wellFormed,
} from "./request-schema.ts";

type MonitorKind<F extends Record<string, z.ZodType>> = {
  /** What it takes to be up, after “is up when”; names of fields stand in backticks. */
  upWhen: string;
  fields: F;
  /** Where its secrets go. */
  secrets?: Readonly<Record<string, Destination<keyof F & string>>>;
  /** What is shown of fields that hold a secret, and beyond the fields. */
  shown?: Record<string, z.ZodType>;
};

const monitorKind = <F extends Record<string, z.ZodType>>({
  upWhen,
  fields,
  secrets,
  shown,
}: MonitorKind<F>) => ({ ...kind(fields, secrets, shown), upWhen });

const statusRange = z.string().regex(/^[1-5]\d\d(-[1-5]\d\d)?$/, "must be such as 204 or 200-299");
const ExpectedStatus = z
  .array(
    statusRange.refine((range) => {
      const [from, to = from] = range.split("-");
      return Number(from) <= Number(to);
    }, "must not end before it begins"),
  )
  .min(1)
  .max(20)
  .meta({ example: ["200-299", "401"] });

const certificateExpiryDays = integer(1, 3650)
  .nullable()
  .default(14)
  .meta({ description: "Degraded when the certificate expires within so many days; null is off." });

const address = /^(?:(?<v4>[\d.]+)|\[(?<v6>[\da-f:.]+)\])(?::(?<port>\d{1,5}))?$/i;

/** A name server: an IP address, with `:port` where it is not 53. */
const Resolver = z
  .string()
  .refine((text) => {
    if (z.ipv6().safeParse(text).success) return true;
    const { v4, v6, port = "53" } = address.exec(text)?.groups ?? {};
    const host = v4 === undefined ? z.ipv6().safeParse(v6) : z.ipv4().safeParse(v4);
    return host.success && Number(port) >= 1 && Number(port) <= 65535;
  }, "must be an IP address, with :port where it is not 53")
  .meta({ example: "192.168.1.1:53" });

const BasicAuth = {
  username: line(255).refine((name) => !name.includes(":"), "must not contain :"),
};
const nullable = <T extends z.ZodType>(field: T) => field.nullable().default(null);

const http = {
  url: HttpUrl,
  method: Method.default("GET"),
  headers: Headers.default({}),
  bodyType: BodyType.default("text"),
  body: nullable(Body),
  form: Form.default([]),
  cacheBuster: z.boolean().default(false).meta({
    description: "Adds a query parameter with a random value, which no cache can know.",
  }),
  basicAuth: nullable(z.strictObject({ ...BasicAuth, password: secret().nullable().optional() })),
  bearerToken: nullable(secret(8192)),
  oauth2: nullable(OAuth2).meta({
    description:
      "The client credentials grant of OAuth 2.0: its access token is sent as a bearer token, kept until shortly before it expires, and fetched anew when the target answers 401.",
  }),
  expectedStatus: ExpectedStatus.default(["200-299"]),
  keyword: nullable(line(1000)).meta({ description: "Text that the answer must contain." }),
  keywordAbsent: nullable(line(1000)).meta({
    description: "Text that the answer must not contain.",
  }),
  jsonPath: nullable(JsonPath),
  jsonEquals: nullable(z.union([line(1000), z.number(), z.boolean()])).meta({
    description: "What the value at `jsonPath` must be; null asks only that there is one.",
  }),
  assertions: Assertions.default([]),
  followRedirects: z.boolean().default(true).meta({ description: "Up to 5 redirects." }),
  followToPrivate: z.boolean().default(false).meta({
    description:
      "Whether a redirect may lead from a public address to one of this machine or the LAN.",
  }),
  verifyTls: z.boolean().default(true),
  certificateExpiryDays,
};

const toUrl = { url: sameOrigin, verifyTls: noWeaker(false, true) };

const verifyTls = http.verifyTls;
const serverName = nullable(Host).meta({
  description: "The name that TLS asks for and the certificate must be for; null is the host.",
});
const tls = z
  .boolean()
  .default(false)
  .meta({ description: "Whether the connection must be encrypted." });
const secured = { tls, serverName, verifyTls, certificateExpiryDays };

const userName = line(255);
const username = nullable(userName);
const password = nullable(secret());

const sqlQuery = line(4096)
  .default("SELECT 1")
  .meta({ description: "Its rows are judged as JSON." });
const ofRows = assertionsAbout("json", "latency", "certificateDays").default([]);
const sql = {
  username: userName,
  password,
  database: nullable(line(255)),
  query: sqlQuery,
  assertions: ofRows,
};
const sqlWords =
  "the server answers the `query`, and all `assertions` about its rows hold, such as one that `$[0].count` is less than 100. Up to 1 MiB of rows are read.";

const pemBlock = /-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----\s*/g;

/** Text fields and shells lose the line breaks, which OpenSSL needs. */
const withLines = (text: string) =>
  text.replaceAll(pemBlock, (_block, what: string, body: string) => {
    const lines = body.replaceAll(/\s/g, "").match(/.{1,64}/g) ?? [];
    return [`-----BEGIN ${what}-----`, ...lines, `-----END ${what}-----`, ""].join("\n");
  });

const pem = (what: string) =>
  z
    .string()
    .max(16_384)
    .refine(
      (text) => text.includes(`${what}-----`) && text.trim().replaceAll(pemBlock, "") === "",
      `must be a ${what.toLowerCase()} in PEM`,
    )
    .transform(withLines);

const toHost = { host: sameHost, port: sameValue };
const toSecuredHost = {
  ...toHost,
  tls: noWeaker(false, true),
  serverName: sameValue,
  verifyTls: noWeaker(false, true),
};

/** The monitor types and their own fields; checking them is in `checks/kinds`. */
export const monitorKinds = {
  http: monitorKind({
    upWhen:
      "the answer has an expected status. You can also require a keyword, forbid one, require a value at a JSON path, or write assertions. Redirects are followed (up to 5), and the last answer counts.",
    fields: http,
    secrets: {
      bearerToken: toUrl,
      "basicAuth.password": toUrl,
      "headers.*": toUrl,
      // What it is exchanged for goes to the URL.
      "oauth2.clientSecret": { ...toUrl, oauth2: sameIn({ tokenUrl: sameOrigin }) },
    },
    shown: {
      basicAuth: z.object(BasicAuth).nullable(),
      oauth2: z.object(oauth2Fields).nullable(),
    },
  }),
  tcp: monitorKind({
    upWhen: "the port accepts the connection. You can send text, and expect text in the answer.",
    fields: {
      host: Host,
      port: Port,
      send: nullable(wellFormed(4096)),
      expect: nullable(wellFormed(4096)),
    },
  }),
  ping: monitorKind({
    upWhen:
      "the packets come back. It uses the `ping` program of the system (Debian: `iputils-ping`).",
    fields: { host: Host, packets: integer(1, 10).default(1) },
  }),
  dns: monitorKind({
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
  redis: monitorKind({
    upWhen: "the server answers `PING`, after signing in where there is a `password`.",
    fields: { host: Host, port: Port.default(6379), username, password, ...secured },
    secrets: { password: toSecuredHost },
  }),
  postgres: monitorKind({
    upWhen: sqlWords,
    fields: { host: Host, port: Port.default(5432), ...sql, ...secured },
    secrets: { password: toSecuredHost },
  }),
  mysql: monitorKind({
    upWhen: `${sqlWords} MariaDB as well.`,
    fields: { host: Host, port: Port.default(3306), ...sql, ...secured },
    secrets: { password: toSecuredHost },
  }),
  mongodb: monitorKind({
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
    upWhen: "the server answers the pre-login, which comes before anybody signs in.",
    fields: { host: Host, port: Port.default(1433) },
  }),
  kafka: monitorKind({
    upWhen:
      "a broker tells the metadata of its cluster, after signing in where there is a `username`. Where a `topic` is named, all of its partitions must have a leader.",
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
    upWhen:
      "the server takes the WebSocket. You can send text, and expect text in one of its messages.",
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
    upWhen:
      "the server says by gRPC's health protocol that the `service`, or all of it, is serving.",
    fields: { host: Host, port: Port, service: nullable(line(255)), ...secured },
  }),
  docker: monitorKind({
    upWhen:
      "the container of this name, or each that `label=KEY=VALUE` finds, is running and not unhealthy. Without a `host` it is asked of the Docker of this machine, over its socket, as long as one organization has the appliance to itself.",
    fields: {
      container: line(255)
        .refine(
          (text) => /^(label=.+|[A-Za-z0-9][A-Za-z0-9_.-]*)$/.test(text),
          "must be the name of a container, or label=KEY=VALUE",
        )
        .meta({ example: "shop-web" }),
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
    upWhen:
      "the device tells the value of the object `oid`, and all `assertions` about it hold. `community` is for versions 1 and 2c (`public` where it is null), the user and the passwords are for version 3.",
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
      oid: z
        .string()
        .max(500)
        .regex(/^\.?[0-2](\.\d{1,10}){1,127}$/, "must be an object such as 1.3.6.1.2.1.1.3.0")
        .default("1.3.6.1.2.1.1.3.0"),
      assertions: assertionsAbout("body", "latency").default([]),
    },
    secrets: {
      community: toHost,
      authPassword: toHost,
      privPassword: toHost,
    },
  }),
  radius: monitorKind({
    upWhen: "the server lets the user in, and signs its answer with the shared secret.",
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
    upWhen:
      "the server is synchronized, its clock differs from that of this machine by no more than `maxOffsetMs`, and its stratum is not above `maxStratum`.",
    fields: {
      host: Host,
      port: Port.default(123),
      maxOffsetMs: integer(1, 3_600_000).default(1000),
      maxStratum: nullable(integer(1, 15)),
    },
  }),
};

export type MonitorType = keyof typeof monitorKinds;
/** The own fields of a monitor of this type, secrets included. */
export type MonitorSettings<T extends MonitorType> = z.output<
  z.ZodObject<(typeof monitorKinds)[T]["fields"]>
>;
