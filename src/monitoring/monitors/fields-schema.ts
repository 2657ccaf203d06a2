/** Field schemas that monitor types share, and the destinations of their secrets. */
import { z } from "zod";
import {
  hasNoOtherOrigins,
  createStrengthCheck,
  isSameHost,
  createFieldsCheck,
  isSameOrigin,
  isSameValue,
} from "../../core/security/destinations.ts";
import {
  filledSecret,
  Headers,
  Host,
  HttpUrl,
  integer,
  line,
  Port,
  ResolverUrl,
  secret,
  Timestamp,
  Variables,
  limitPlaceholders,
  nullable,
} from "../../core/fields.ts";
import { assertionsSchema } from "./assertions-schema.ts";
import { connectionFields } from "./connection-schema.ts";
import { createJsonNumber } from "./numbers-schema.ts";
import {
  Body,
  BodyType,
  conditionFields,
  Form,
  Method,
  OAuth2,
  oauth2Fields,
  Save,
  Steps,
  createWellFormedText,
} from "./request-schema.ts";

export const certificateExpiryDays = integer(1, 3650).nullable().default(14).meta({
  description:
    "Degraded when the certificate expires within this number of days; null turns it off.",
});

const resolverPattern = /^(?:(?<v4>[\d.]+)|\[(?<v6>[\da-f:.]+)\])(?::(?<port>\d{1,5}))?$/i;

/** A name server: an IP address, with `:port` unless the port is 53, or a URL for DNS over TLS or over HTTPS. */
export const Resolver = line(2048)
  .refine((text) => {
    if (text.includes("://")) return ResolverUrl.safeParse(text).success;
    if (z.ipv6().safeParse(text).success) return true;
    const { v4, v6, port = "53" } = resolverPattern.exec(text)?.groups ?? {};
    const isAddress = (v4 === undefined ? z.ipv6().safeParse(v6) : z.ipv4().safeParse(v4)).success;
    return isAddress && Number(port) >= 1 && Number(port) <= 65535;
  }, "must be an IP address, with :port where it is not 53, or a URL such as tls://dns.example or https://dns.example/dns-query")
  .meta({ example: "192.168.1.1:53" });

const basicAuthFields = {
  username: line(255).refine((name) => !name.includes(":"), "must not contain :"),
};

export const httpFields = {
  url: HttpUrl,
  method: Method.default("GET"),
  headers: Headers.default({}),
  bodyType: BodyType.default("text"),
  body: nullable(Body),
  form: Form.default([]),
  cacheBuster: z.boolean().default(false).meta({
    description: "Adds a query parameter with a random value, which no cache can know.",
  }),
  basicAuth: nullable(
    z.strictObject({ ...basicAuthFields, password: filledSecret().nullable().optional() }),
  ),
  bearerToken: nullable(secret(8192)),
  oauth2: nullable(OAuth2).meta({
    description:
      "The client credentials grant of OAuth 2.0: its access token is sent as a bearer token, cached until shortly before it expires, and fetched again when the target returns 401.",
  }),
  ...conditionFields,
  number: createJsonNumber("at the JSON path in the last response, or its whole body"),
  save: Save.default([]),
  variables: Variables.default({}).meta({
    description: "Secret values that replace `{{name}}` in URL, headers and body.",
  }),
  steps: Steps.default([]),
  followRedirects: z.boolean().default(true).meta({ description: "Up to 5 redirects." }),
  followToPrivate: z.boolean().default(false).meta({
    description:
      "Whether a redirect may lead from a public address to one of this machine or the LAN.",
  }),
  verifyTls: z.boolean().default(true),
  certificateExpiryDays,
  ...connectionFields,
};

export const urlDestination = { url: isSameOrigin, verifyTls: createStrengthCheck(false, true) };
/** Destination of HTTP secrets. Steps are included, because they can send values that a secret gave access to. */
const httpDestination = {
  ...urlDestination,
  connectTo: isSameHost,
  proxyUrl: isSameOrigin,
  steps: hasNoOtherOrigins,
};

export const httpSecrets = {
  bearerToken: httpDestination,
  "basicAuth.password": httpDestination,
  "headers.*": httpDestination,
  "variables.*": httpDestination,
  // The secret is sent to `tokenUrl`, and the access token to `url`.
  "oauth2.clientSecret": {
    ...httpDestination,
    oauth2: createFieldsCheck({ tokenUrl: isSameOrigin }),
  },
  clientKey: httpDestination,
  proxyPassword: { proxyUrl: isSameOrigin },
};
export const shownHttpFields = {
  basicAuth: z.object(basicAuthFields).nullable(),
  oauth2: z.object(oauth2Fields).nullable(),
  clientCertificate: z.string().nullable(),
};

export const verifyTls = httpFields.verifyTls;
const serverName = nullable(Host).meta({
  description: "The TLS server name, which the certificate must contain; null for the host.",
});
const tls = z
  .boolean()
  .default(false)
  .meta({ description: "Whether the connection must be encrypted." });
export const tlsFields = { tls, serverName, verifyTls, certificateExpiryDays };

export const requiredUsername = line(255);
export const username = nullable(requiredUsername);
export const password = nullable(secret());

const sqlQuery = line(4096)
  .default("SELECT 1")
  .meta({ description: "Its rows are judged as JSON." });
const rowAssertions = assertionsSchema("json", "latency", "certificateDays").default([]);
export const sqlFields = {
  username: requiredUsername,
  password,
  database: nullable(line(255)),
  query: sqlQuery,
  assertions: rowAssertions,
  number: createJsonNumber("at the JSON path in the rows, or the first column of the first row"),
};
export const sqlUpWhen =
  "the server answers the `query`, and all `assertions` about its rows hold, for example that `$[0].count` is less than 100. Up to 1 MiB of rows is read. Assertions about rows allow 20,000 values and 64 KiB of JSON.";

const mailTls = ["none", "starttls", "tls"] as const;
type MailTls = (typeof mailTls)[number];

export const hostDestination = { host: isSameHost, port: isSameValue };
export const securedHostDestination = {
  ...hostDestination,
  tls: createStrengthCheck(false, true),
  serverName: isSameValue,
  verifyTls: createStrengthCheck(false, true),
};

/** Shared fields of mail monitors, with the default port and TLS mode of the protocol. */
export const createMailFields = (defaultPort: number, defaultTls: MailTls) => ({
  host: Host,
  port: Port.default(defaultPort),
  username,
  password,
  ...tlsFields,
  tls: z.enum(mailTls).default(defaultTls).meta({
    description:
      "`starttls` begins in the clear and must become encrypted, `tls` is from the start.",
  }),
});
export const mailSecrets = {
  password: { ...securedHostDestination, tls: createStrengthCheck(...mailTls) },
};
export const ifSignedIn = "after signing in if you set a `username`";

/** Fingerprint of an SSH host key, as `ssh-keygen -lf` prints it. */
export const Fingerprint = z
  .string()
  .regex(
    /^SHA256:[A-Za-z0-9+/]{43}$/,
    "must be a fingerprint as `ssh-keygen -lf` shows it: SHA256: and 43 characters of Base64",
  )
  .meta({ example: "SHA256:uNiVztksCsDhcc0u9e8BrKSrkcIDvXiLgEBzlJuvAGI" });

/** Name of a virtual host or queue of AMQP: a short string has at most 255 bytes. */
export const amqpName = line(255).refine(
  (name) => Buffer.byteLength(name) <= 255,
  "must be at most 255 bytes",
);

/** Topic filter of MQTT, with wildcards. */
export const TopicFilter = line(1000).refine(
  (topic) => /^(?:(?:\+|[^+#/]*)\/)*(?:[+#]|[^+#/]*)$/.test(topic),
  "must have + and # only as a whole level, and # only at the end",
);

export const Container = line(255)
  .refine(
    (text) => /^(label=.+|[A-Za-z0-9][A-Za-z0-9_.-]*)$/.test(text),
    "must be the name of a container, or label=KEY=VALUE",
  )
  .meta({ example: "shop-web" });

/** Object identifier of SNMP (RFC 2578 §3.5, §7.1.3). */
export const Oid = z
  .string()
  .max(500)
  .refine((text) => {
    const parts = text.replace(/^\./, "").split(".");
    const [first = "", second = ""] = parts;
    return (
      parts.length >= 2 &&
      parts.length <= 128 &&
      parts.every((part) => /^(0|[1-9]\d{0,9})$/.test(part) && Number(part) < 2 ** 32) &&
      Number(first) <= 2 &&
      (first === "2" || Number(second) < 40)
    );
  }, "must be an object such as 1.3.6.1.2.1.1.3.0: numbers below 4294967296 with dots between them")
  .overwrite((text) => text.replace(/^\./, ""));

export const RegisteredDomain = Host.refine(
  (text) => /^[^:]+\.[^.:\d][^.:]*\.?$/.test(text),
  "must be a domain as it was registered, such as example.org",
).meta({ example: "example.org" });

export const Program = line(255)
  .refine(
    (path) => !path.startsWith("/") && !path.split("/").includes(".."),
    "must be the path of a program within the folder of --allow-commands",
  )
  .meta({ example: "backup-age.sh" });

export const ProgramArguments = z
  .array(createWellFormedText(1000).refine((text) => !text.includes("\0"), "must not contain NUL"))
  .max(50);

/** Name of a systemd unit. */
export const Unit = z
  .string()
  .max(255)
  .regex(/^[\w:.\\@][\w:.\\@-]*$/, "must be the name of a unit, such as nginx.service")
  .meta({ example: "nginx.service" });

/** Steps that a `browser` monitor performs on the page. */
export const PageSteps = z
  .array(
    limitPlaceholders(
      line(1000).regex(
        /^(?:(?:click|wait) \S.*|fill \S.* with .+|expect \S.*)$/u,
        "must be a step, such as: click #send · fill #name with Ann · wait .done · expect Welcome",
      ),
      ["username", "password"],
    ),
  )
  .max(20)
  .meta({ example: ["fill #user with {{username}}", "click #send", "expect Welcome"] });

export const screenshotAt = Timestamp.nullable().meta({
  description: "Time of the failure in the stored screenshot; null without one.",
});
