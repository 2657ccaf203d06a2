/** The zod fields that all schemas share. */
import { toAsciiName } from "./security/destinations.ts";
import { searchBounds } from "./limits.ts";
import { severities } from "./statuses.ts";
import { z } from "zod";
import { toAsciiEmail } from "./text/email-address.ts";
import { listPlaceholderNames, stripWords } from "./text/placeholders.ts";
import {
  formatPlaceholders,
  isBlank,
  validateLine,
  validateParagraphs,
} from "./text/formatting.ts";

/**
 * Makes a function return the same schema for the same arguments. Schemas never change, and each one costs start time
 * and memory.
 */
function shareSchemas<A extends readonly number[], S>(
  create: (...args: A) => S,
): (...args: A) => S {
  const schemas = new Map<string, S>();
  return (...args) => schemas.getOrInsertComputed(args.join(), () => create(...args));
}

type Issue = (text: string) => string | null;

/** A text of `min` to `max` characters. Reports only the first issue, in the order of `issues`. */
function createTextField(min: number, max: number, ...issues: Issue[]) {
  const checked = z.superRefine<string>((text, context) => {
    // Zod already reports the length. Skips the other issues, which would scan the whole text.
    if (text.length > 2 * max) return;
    for (const issueOf of issues) {
      const issue = issueOf(text);
      if (issue !== null) {
        context.addIssue({ code: "custom", message: issue });
        return;
      }
    }
  });
  // One `check` call instead of a chain, because each chained check creates another schema at startup.
  const lengths = min === 0 ? [] : [z.minLength(min)];
  return z.string().check(...lengths, z.maxLength(max), checked);
}

const validateNotBlank: Issue = (text) =>
  text !== "" && isBlank(text) ? "must not be blank" : null;

/** A required single line of 1 to `max` characters. It is not blank, and is stored exactly as sent. */
export const line = shareSchemas((max: number) =>
  createTextField(1, max, validateLine, validateNotBlank),
);

/** Required text of 1 to `max` characters, stored exactly as sent. Line breaks are LF or CRLF. */
export const paragraphs = shareSchemas((max: number) =>
  createTextField(1, max, validateParagraphs, validateNotBlank),
);

/** A text whose `{{name}}` placeholders must all be in `names`. */
export function limitPlaceholders<T extends z.ZodType<string>>(text: T, names: readonly string[]) {
  const known = new Set(names);
  return text.refine(
    (value) => listPlaceholderNames(value).every((name) => known.has(stripWords(name))),
    `must use no other placeholders than ${formatPlaceholders(names).join(", ")}`,
  );
}

/** Search text of a list. */
export const searchText = () => line(searchBounds.text.value);

/** Text of several lines, possibly empty. */
export const optionalParagraphs = shareSchemas((max: number) =>
  createTextField(0, max, validateParagraphs),
);

const uuid = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** Accepts any UUID, although ours are UUIDv7. A foreign UUID is then reported as not found, not as invalid. */
export const Id = z
  .string()
  .regex(uuid, "must be a UUID")
  .meta({ format: "uuid", example: "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10" });

/** RFC 3339 time in UTC with milliseconds. */
export const Timestamp = z
  .string()
  .meta({ format: "date-time", example: "2026-11-20T23:02:00.000Z" });

/** A set of IDs. Removes duplicates and preserves the order. */
export const idSet = shareSchemas((max: number) =>
  z
    .array(Id)
    .max(max)
    .transform((ids) => [...new Set(ids)]),
);

/** Up to 10 labels of 1 to 50 characters each. Removes duplicates and preserves the order. */
export const Tags = z
  .array(line(50))
  .max(10)
  .transform((tags) => [...new Set(tags)])
  .meta({ example: ["production", "eu"] });

export const integer = shareSchemas((min: number, max: number) =>
  z.int().check(z.gte(min), z.lte(max)),
);

/** An uptime target (SLO), 0–1. */
export const SlaTarget = z.number().gt(0, "must be more than 0").max(1);

/** A URL with one of these schemes and without credentials. LAN names and addresses are allowed. */
const urlSchema = (schemes: readonly string[], example: string, ...issues: Issue[]) =>
  createTextField(1, 2048, (text) => {
    if (/[\p{Cc}\s\\]/u.test(text) || validateLine(text) !== null)
      return "must not contain spaces, backslashes or control characters";
    if (text === "") return null;
    if (!new RegExp(`^(${schemes.join("|")})://[^/?#]`, "i").test(text))
      return `must start with ${schemes.map((scheme) => `${scheme}://`).join(" or ")} and a host`;
    const url = URL.parse(text);
    if (url === null || url.hostname === "" || url.hostname.startsWith("-"))
      return `must be a complete URL, such as ${example}`;
    if (url.port === "0") return "must have a port from 1 to 65535";
    if (url.username !== "" || url.password !== "" || /^\w+:\/\/[^/?#]*@/.test(text))
      return "must not contain a user name or password";
    return issues.map((issue) => issue(text)).find((found) => found !== null) ?? null;
  }).meta({ format: "uri", example });

export const HttpUrl = urlSchema(["http", "https"], "https://intranet.example/health");

export const HttpsUrl = urlSchema(["https"], "https://intranet.example/health");

/** URL of a WebSocket. */
export const WebSocketUrl = urlSchema(["ws", "wss"], "wss://intranet.example/live");

/** URL of a resolver that speaks DNS over TLS, or over HTTPS at this path. */
export const ResolverUrl = urlSchema(["tls", "https"], "https://dns.example/dns-query", (text) =>
  /^(https:\/\/[^#]+|tls:\/\/[^/?#]+\/?)$/i.test(text)
    ? null
    : "must have no fragment, and with tls no path",
);

/** URL of a proxy. Its user name and password are separate fields. */
export const ProxyUrl = urlSchema(["http", "https", "socks5"], "socks5://proxy.lan:1080", (text) =>
  /^\w+:\/\/[^/?#]+\/?$/.test(text) ? null : "must have no path, query or fragment",
);

/** A phone number as networks use it worldwide (ITU-T E.164): country code and number, up to 15 digits. */
export const PhoneNumber = createTextField(0, 64, (value) =>
  /^\+[1-9]\d{6,14}$/.test(value)
    ? null
    : "must be a phone number with + and its country code, and only digits, such as +491701234567",
).meta({ example: "+491701234567" });

/** The sender of text messages: a phone number, a short code, or a name. */
export const SmsSender = createTextField(0, 64, (value) =>
  /^(\+[1-9]\d{6,14}|\d{3,15}|(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 ._&-]{0,9}[A-Za-z0-9])?)$/.test(
    value,
  )
    ? null
    : "must be a phone number such as +491701234567, a short code, or a name of up to 11 letters and digits",
).meta({ example: "Signalbox" });

const label = "[\\p{L}\\p{N}_](?:[\\p{L}\\p{N}\\p{M}_-]{0,61}[\\p{L}\\p{N}\\p{M}_])?";
const hostName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*\\.?$`, "u");
const allDigitsAndDots = /^[\d.]+$/;

/** Whether the name is valid in DNS after conversion to A-labels (RFC 5890) of up to 63 characters. */
const isAsciiName = (text: string) =>
  /^\p{ASCII}*$/u.test(text) ||
  (toAsciiName(text).length <= 253 && /^(?:[\w-]{1,63}(?:\.|$))+$/.test(toAsciiName(text)));

/** A host name, an IPv4 address or an IPv6 address, without scheme, port or path. */
export const Host = createTextField(1, 253, (text) => {
  if (text === "") return null;
  if (z.ipv4().safeParse(text).success || z.ipv6().safeParse(text).success) return null;
  if (hostName.test(text) && !allDigitsAndDots.test(text))
    return isAsciiName(text)
      ? null
      : "must be a name that can be written in ASCII (UTS 46), with up to 63 characters between dots";
  return "must be a host name or an IP address, without scheme, port or path";
}).meta({ example: "db.lan" });

export const Port = integer(1, 65535);

type ValidateEntry = (name: string, value: string, seen: ReadonlySet<string>) => string | null;

/** Up to 50 user-defined entries. Names are unique regardless of case. */
const entriesSchema = <T extends z.ZodType<string | null>>(
  value: T,
  validate: ValidateEntry,
  badName: string,
) =>
  z.preprocess(
    (entries: Record<string, z.input<T>>, context) => {
      // `z.record` drops this name silently.
      if (typeof entries === "object" && entries !== null && Object.hasOwn(entries, "__proto__"))
        context.addIssue({ code: "custom", message: badName });
      return entries;
    },
    z.record(z.string(), value).superRefine((entries, context) => {
      const names = Object.keys(entries);
      if (names.length > 50)
        context.addIssue({ code: "custom", message: "must have at most 50 entries" });
      const seenNames = new Set<string>();
      for (const name of names.slice(0, 50)) {
        const issue = validate(name, entries[name] ?? "", seenNames);
        if (issue !== null) context.addIssue({ code: "custom", message: issue });
        seenNames.add(name.toLowerCase());
      }
    }),
  );

const headerNameIssue = "must have header names of letters, digits and hyphens";

/** User-defined request headers. Names are tokens, and values contain no control characters (RFC 9110 §5). */
const headersSchema = <T extends z.ZodType<string | null>>(value: T, validate = validateHeader) =>
  entriesSchema(value, validate, headerNameIssue);

const headerValue = z
  .string({
    error: ({ input }) =>
      input === null
        ? "needs its value: null leaves a stored value unchanged, but none is stored"
        : undefined,
  })
  .max(4096);

export const Headers = headersSchema(headerValue).meta({
  description: "Their values are write-only.",
  example: { "X-Team": "platform" },
});

/** Headers in a PATCH, where null leaves a stored value unchanged. */
const HeadersPatch = headersSchema(headerValue.nullable()).meta({
  description:
    "The complete list. null leaves the stored value of a name unchanged; a missing name is removed.",
  example: { "X-Team": null },
});

/** Matches names of headers and JSON fields that suggest a credential. */
export const credentialName = /auth|cookie|credential|token|secret|passw|session|signature|key\b/i;

/** Headers that are visible to everyone who can read the monitor. Credentials must be placeholders. */
export const ShownHeaders = headersSchema(
  z.string().max(4096),
  (name, value, seen) =>
    validateHeader(name, value, seen) ??
    (/auth|cookie|token|secret|key|passw|session/i.test(name) && !value.includes("{{")
      ? `must have the value of ${name} from a variable, such as {{token}}, because everyone who can read the monitor sees its steps`
      : null),
).meta({ example: { Accept: "application/json" } });

/** Matches valid names of `{{name}}` placeholders. */
export const placeholderName = /^[A-Za-z_][A-Za-z0-9_]{0,49}$/;
export const placeholderNameIssue = "must have names of letters, digits and _, such as token";

const variablesSchema = <T extends z.ZodType<string | null>>(value: T) =>
  entriesSchema(
    value,
    (name, value, seen) => {
      if (!placeholderName.test(name)) return placeholderNameIssue;
      if (seen.has(name.toLowerCase())) return "must not name a variable twice";
      return value.isWellFormed() ? null : "must be valid Unicode, without lone surrogates";
    },
    placeholderNameIssue,
  );

/** Secret values by name. */
export const Variables = variablesSchema(headerValue).meta({
  description: "Their values are write-only.",
  example: { token: "a1b2c3" },
});

const VariablesPatch = variablesSchema(headerValue.nullable()).meta({
  description:
    "The complete list. null leaves the stored value of a name unchanged; a missing name is removed.",
  example: { token: null },
});

/** PATCH variants of the fields with write-only values by name. */
export const patchSchemas = new Map<z.ZodType, z.ZodType>([
  [Headers, HeadersPatch],
  [Variables, VariablesPatch],
]);

/** Write-only fields in a response: their names, with null as every value. */
export const NamesOnly = z.record(z.string(), z.null()).meta({
  description: "Their names; the values are write-only.",
  example: { "X-Team": null },
});

const connectionHeaders = new Set([
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function validateHeader(name: string, value: string, seen: ReadonlySet<string>): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return headerNameIssue;
  if (connectionHeaders.has(name.toLowerCase()))
    return "must not set a header that belongs to the connection, such as Host or Content-Length";
  if (seen.has(name.toLowerCase())) return "must not name a header twice";
  if (/[^\t\x20-\x7e\xa0-\xff]/.test(value)) return "must have header values of printable Latin-1";
  return null;
}

export const Origin = z.enum(["manual", "monitor"]).meta({
  description:
    "`manual` if a person or script opened it, `monitor` if a monitor did when it went down.",
});

export const Severity = z.enum(severities).meta({ id: "Severity" });
export type Severity = z.infer<typeof Severity>;

/** An e-mail address, also of a LAN mail server. An international domain is stored in its ASCII form. */
export const EmailAddress = createTextField(0, 254, (value) =>
  value.length > 254 || toAsciiEmail(value) !== null
    ? null
    : "must be an e-mail address, such as oncall@team.example",
)
  .overwrite((value) => toAsciiEmail(value) ?? value)
  .meta({ format: "email", example: "oncall@team.example" });

/** Parses an RFC 3339 time in a query to Unix milliseconds. */
export const instant = z.iso
  .datetime({ offset: true, error: "must be an RFC 3339 time such as 2026-11-20T23:02:00.000Z" })
  .transform((text) => Date.parse(text));

/** Parses an RFC 3339 time in a body, and converts it to UTC. */
export const InputTimestamp = z.iso
  .datetime({ offset: true, error: "must be an RFC 3339 time such as 2026-11-20T23:02:00.000Z" })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) < Date.UTC(9000, 0), {
    error: "must be a time from 1970 to 8999",
  })
  .transform((text) => new Date(text).toISOString())
  .meta({ override: { type: "string", format: "date-time" } });

/** An IANA time zone, for days and hours in local time. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, "must be an IANA time zone, such as Europe/Berlin")
  .meta({ example: "Europe/Berlin" });

export function isTimeZone(name: string): boolean {
  // Intl also accepts offsets such as +01:00, but they have no daylight saving time.
  if (!/^[a-z][a-z0-9_+/-]*$/i.test(name)) return false;
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const nullableSchemas = new WeakMap<z.ZodType, z.ZodType>();

/** A nullable field with the default null. The same field always returns the same schema. */
export function nullable<T extends z.ZodType>(field: T) {
  const create = () => field.nullable().default(null);
  return nullableSchemas.getOrInsertComputed(field, create) as ReturnType<typeof create>;
}

/** A credential. It is encrypted at rest and never returned. */
export const secret = shareSchemas((max = 1000) => line(max).meta({ writeOnly: true }));

const validateNotEmpty: Issue = (text) =>
  text === "" ? "must not be empty: null sends an empty one" : null;

/** A secret that can't be an empty text; clients send null for an empty secret. */
export const filledSecret = shareSchemas((max = 1000) =>
  createTextField(0, max, validateNotEmpty, validateLine, validateNotBlank).meta({
    writeOnly: true,
  }),
);

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function validateSigningSecret(text: string): string | null {
  if (text.length === 0 || text.length > 1000) return null;
  const encoded = text.replace(/^whsec_/, "");
  const bytes = (encoded.replace(/=+$/, "").length * 3) >> 2;
  if (base64.test(encoded) && bytes >= 24 && bytes <= 64) return null;
  return "must be whsec_ and the Base64 of 24 to 64 bytes, such as of `openssl rand -base64 32`";
}

/**
 * Secret for signing webhooks: `whsec_` and the Base64 of 24 to 64 bytes. Adds a missing prefix, because receiver
 * libraries accept both forms.
 *
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme
 */
export const SigningSecret = createTextField(1, 1000, validateSigningSecret)
  .transform((text) => (text.startsWith("whsec_") ? text : `whsec_${text}`))
  .meta({
    writeOnly: true,
    description:
      "Signs requests as in Standard Webhooks: `whsec_` and the Base64 of 24 to 64 bytes.",
  });

/** Slugs that are reserved for other URLs, current or future. */
export const reservedSlugs: ReadonlySet<string> = new Set([
  "admin",
  "api",
  "badge",
  "docs",
  "healthz",
  "metrics",
  "ping",
  "push",
  "status",
]);

type Shape = Record<string, z.ZodType>;
export type Patched<S extends Shape> = {
  [K in keyof S]: z.ZodOptional<S[K] extends z.ZodDefault<infer T> ? T : S[K]>;
};

const optionalSchemas = new WeakMap<z.ZodType, z.ZodType>();

/** Makes all fields optional for a PATCH, and removes their defaults, which zod's `.partial()` would apply. */
export function toPatchShape<S extends Shape>(shape: S): Patched<S> {
  const entries = Object.entries(shape).map(([name, field]) => [
    name,
    optionalSchemas.getOrInsertComputed(field, () => stripDefault(field).optional()),
  ]);
  return Object.fromEntries(entries) as Patched<S>;
}

export function stripDefault(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
}

/** Field of records that can concern several monitors. */
export const PartialRecord = z.literal(true).optional().meta({
  description:
    "Present only for callers limited to monitor groups, if the record also concerns monitors outside of them. You can read such a record, but not change it.",
});

/**
 * A body with exactly the fields of `schema`. Drops read-only fields first, so that clients can send a GET response
 * back.
 */
export function bodySchema<T extends z.ZodType>(readOnly: readonly string[], schema: T) {
  const dropped = new Set(readOnly);
  return z.preprocess((value: z.input<T>) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => !dropped.has(name)));
  }, schema);
}
