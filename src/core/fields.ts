/** The zod fields that all schemas share. */
import { asciiName } from "./security/destinations.ts";
import { searchBounds } from "./limits.ts";
import { severities } from "./statuses.ts";
import { z } from "zod";
import { toAsciiEmail } from "./text/email-address.ts";
import { inBraces, isBlank, validateLine, validateParagraphs } from "./text/words.ts";

type Issue = (text: string) => string | null;

/** Text of `min` to `max` code points. Reports the first of its issues. */
function text(min: number, max: number, ...issues: Issue[]) {
  const checked = z.superRefine<string>((text, context) => {
    // The length is reported already; the other checks would read all of it.
    if (text.length > 2 * max) return;
    for (const issueOf of issues) {
      const issue = issueOf(text);
      if (issue !== null) {
        context.addIssue({ code: "custom", message: issue });
        return;
      }
    }
  });
  // At once: one after the other, each check would make a schema of its own, and a start pays for all.
  const lengths = min === 0 ? [] : [z.minLength(min)];
  return z.string().check(...lengths, z.maxLength(max), checked);
}

const blank: Issue = (text) => (text !== "" && isBlank(text) ? "must not be blank" : null);

/** A required single line of 1 to `max` Unicode code points, not blank, stored exactly as sent. */
export const line = (max: number) => text(1, max, validateLine, blank);

/** Required running text of 1 to `max` code points, stored exactly as sent; line breaks are LF or CRLF. */
export const paragraphs = (max: number) => text(1, max, validateParagraphs, blank);

/** A text that can contain `{{name}}` of these names, and no other placeholder. */
export function withPlaceholders<T extends z.ZodType<string>>(text: T, names: readonly string[]) {
  const known = new Set(names);
  return text.refine(
    (value) =>
      [...value.matchAll(/\{\{([^{}]*)\}\}/g)].every(([, name = ""]) => known.has(name.trim())),
    `must use no other placeholders than ${inBraces(names).join(", ")}`,
  );
}

/** The search text of a list. */
export const searchText = () => line(searchBounds.text.value);

/** Text of several lines that can be empty. */
export const optionalParagraphs = (max: number) => text(0, max, validateParagraphs);

const uuid = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** Ours are UUIDv7; any UUID is well-formed, so a foreign one is "not found" rather than "invalid". */
export const Id = z
  .string()
  .regex(uuid, "must be a UUID")
  .meta({ format: "uuid", example: "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10" });

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = z
  .string()
  .meta({ format: "date-time", example: "2026-11-20T23:02:00.000Z" });

/** Ids as a set: duplicates collapse, the order of first mention is preserved. */
export const idSet = (max: number) =>
  z
    .array(Id)
    .max(max)
    .transform((ids) => [...new Set(ids)]);

/** Up to 10 labels of 1 to 50 characters; duplicates collapse, the order is preserved. */
export const Tags = z
  .array(line(50))
  .max(10)
  .transform((tags) => [...new Set(tags)])
  .meta({ example: ["production", "eu"] });

export const integer = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));

/** An http(s) address without credentials. Names and addresses of a LAN are allowed. */
const urlOf = (schemes: readonly string[], example: string, ...issues: Issue[]) =>
  text(1, 2048, (text) => {
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

export const HttpUrl = urlOf(["http", "https"], "https://intranet.example/health");

/** The same for a WebSocket. */
export const WebSocketUrl = urlOf(["ws", "wss"], "wss://intranet.example/live");

/** Where a proxy listens; its user and password have fields of their own. */
export const ProxyUrl = urlOf(["http", "socks5"], "socks5://proxy.lan:1080", (text) =>
  /^\w+:\/\/[^/?#]+\/?$/.test(text) ? null : "must have no path, query or fragment",
);

const label = "[\\p{L}\\p{N}_](?:[\\p{L}\\p{N}\\p{M}_-]{0,61}[\\p{L}\\p{N}\\p{M}_])?";
const hostName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*\\.?$`, "u");
const allDigitsAndDots = /^[\d.]+$/;

/** Whether the name fits into DNS: as A-labels (RFC 5890) of up to 63 characters. */
const isAsciiName = (text: string) =>
  /^\p{ASCII}*$/u.test(text) ||
  (asciiName(text).length <= 253 && /^(?:[\w-]{1,63}(?:\.|$))+$/.test(asciiName(text)));

/** A host name, an IPv4 or an IPv6 address; no scheme, port or path. */
export const Host = text(1, 253, (text) => {
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

/** Up to 50 values by names that people choose, which are the same in any case. */
const entriesOf = <T extends z.ZodType<string | null>>(
  value: T,
  validate: ValidateEntry,
  badName: string,
) =>
  z.preprocess(
    (entries: Record<string, z.input<T>>, context) => {
      // zod's records drop this name without a word.
      if (typeof entries === "object" && entries !== null && Object.hasOwn(entries, "__proto__"))
        context.addIssue({ code: "custom", message: badName });
      return entries;
    },
    z.record(z.string(), value).superRefine((entries, context) => {
      const names = Object.keys(entries);
      if (names.length > 50)
        context.addIssue({ code: "custom", message: "must have at most 50 entries" });
      const seen = new Set<string>();
      for (const name of names.slice(0, 50)) {
        const issue = validate(name, entries[name] ?? "", seen);
        if (issue !== null) context.addIssue({ code: "custom", message: issue });
        seen.add(name.toLowerCase());
      }
    }),
  );

const badHeader = "must have header names of letters, digits and hyphens";

/** HTTP header fields a person adds to a request, names as tokens and values without control characters (RFC 9110 §5). */
const headersOf = <T extends z.ZodType<string | null>>(value: T, validate = validateHeader) =>
  entriesOf(value, validate, badHeader);

const headerValue = z
  .string({
    error: ({ input }) =>
      input === null
        ? "needs its value: null keeps one that is stored, and there is none"
        : undefined,
  })
  .max(4096);

export const Headers = headersOf(headerValue).meta({
  description: "Their values are write-only.",
  example: { "X-Team": "platform" },
});

/** The same in a PATCH. */
const HeadersPatch = headersOf(headerValue.nullable()).meta({
  description:
    "All of them: null keeps the stored value of a name, a name that is left out is removed.",
  example: { "X-Team": null },
});

/** Matches names of credentials. */
export const credentialName = /auth|cookie|credential|token|secret|passw|session|signature|key\b/i;

/** Headers that all readers of a monitor see. Values of credentials must be placeholders. */
export const ShownHeaders = headersOf(
  z.string().max(4096),
  (name, value, seen) =>
    validateHeader(name, value, seen) ??
    (/auth|cookie|token|secret|key|passw|session/i.test(name) && !value.includes("{{")
      ? `must have the value of ${name} from a variable, such as {{token}}: a step is shown to all who read the monitor`
      : null),
).meta({ example: { Accept: "application/json" } });

/** Valid names for `{{name}}`. */
export const placeholderName = /^[A-Za-z_][A-Za-z0-9_]{0,49}$/;
export const badPlaceholder = "must have names of letters, digits and _, such as token";

const variablesOf = <T extends z.ZodType<string | null>>(value: T) =>
  entriesOf(
    value,
    (name, value, seen) => {
      if (!placeholderName.test(name)) return badPlaceholder;
      if (seen.has(name.toLowerCase())) return "must not name a variable twice";
      return value.isWellFormed() ? null : "must be valid Unicode, without lone surrogates";
    },
    badPlaceholder,
  );

/** Secret values by name. */
export const Variables = variablesOf(headerValue).meta({
  description: "Their values are write-only.",
  example: { token: "a1b2c3" },
});

const VariablesPatch = variablesOf(headerValue.nullable()).meta({
  description:
    "All of them: null keeps the stored value of a name, a name that is left out is removed.",
  example: { token: null },
});

/** Fields of write-only values by name, as in a PATCH. */
export const keptByName = new Map<z.ZodType, z.ZodType>([
  [Headers, HeadersPatch],
  [Variables, VariablesPatch],
]);

/** The same fields as they are displayed. */
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
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return badHeader;
  if (connectionHeaders.has(name.toLowerCase()))
    return "must not set a header that belongs to the connection, such as Host or Content-Length";
  if (seen.has(name.toLowerCase())) return "must not name a header twice";
  if (/[^\t\x20-\x7e\xa0-\xff]/.test(value)) return "must have header values of printable Latin-1";
  return null;
}

export const Severity = z.enum(severities).meta({ id: "Severity" });
export type Severity = z.infer<typeof Severity>;

/** An e-mail address, also of a mail server on the LAN; an international domain is stored in its ASCII form. */
export const EmailAddress = text(0, 254, (value) =>
  value.length > 254 || toAsciiEmail(value) !== null
    ? null
    : "must be an e-mail address, such as oncall@team.example",
)
  .overwrite((value) => toAsciiEmail(value) ?? value)
  .meta({ format: "email", example: "oncall@team.example" });

/** A time that a query names, in Unix milliseconds. */
export const instant = z.iso
  .datetime({ offset: true, error: "must be an RFC 3339 time such as 2026-11-20T23:02:00.000Z" })
  .transform((text) => Date.parse(text));

/** An IANA time zone, in which days and hours are computed. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, "must be an IANA time zone, such as Europe/Berlin")
  .meta({ example: "Europe/Berlin" });

export function isTimeZone(name: string): boolean {
  // Intl also accepts offsets such as +01:00, but they have no summer time.
  if (!/^[a-z][a-z0-9_+/-]*$/i.test(name)) return false;
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** A field whose default is null. */
export const nullable = <T extends z.ZodType>(field: T) => field.nullable().default(null);

/** A credential: sealed at rest, write-only on the wire. */
export const secret = (max = 1000) => line(max).meta({ writeOnly: true });

const emptyIsNull: Issue = (text) =>
  text === "" ? "must not be empty: null sends an empty one" : null;

/** A secret for which null means an empty one. */
export const filledSecret = (max = 1000) =>
  text(0, max, emptyIsNull, validateLine, blank).meta({ writeOnly: true });

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function validateSigningSecret(text: string): string | null {
  if (text.length === 0 || text.length > 1000) return null;
  const encoded = text.replace(/^whsec_/, "");
  const bytes = (encoded.replace(/=+$/, "").length * 3) >> 2;
  if (base64.test(encoded) && bytes >= 24 && bytes <= 64) return null;
  return "must be whsec_ and the Base64 of 24 to 64 bytes, such as of `openssl rand -base64 32`";
}

/**
 * Secret that signs a webhook: `whsec_` and the Base64 of 24 to 64 bytes. A missing prefix is added; libraries of
 * receivers accept both.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme
 */
export const SigningSecret = text(1, 1000, validateSigningSecret)
  .transform((text) => (text.startsWith("whsec_") ? text : `whsec_${text}`))
  .meta({
    writeOnly: true,
    description:
      "Signs what is sent, as Standard Webhooks has it: `whsec_` and the Base64 of 24 to 64 bytes.",
  });

/** Reserved slugs: these words name something else in an address, or could later. */
export const reservedSlugs: ReadonlySet<string> = new Set([
  "admin",
  "api",
  "badge",
  "docs",
  "healthz",
  "metrics",
  "push",
  "status",
]);

type Shape = Record<string, z.ZodType>;
export type Patched<S extends Shape> = {
  [K in keyof S]: z.ZodOptional<S[K] extends z.ZodDefault<infer T> ? T : S[K]>;
};

/** The same fields for a PATCH: all optional, and without defaults, which `.partial()` would fill in. */
export function patchOf<S extends Shape>(shape: S): Patched<S> {
  const entries = Object.entries(shape).map(([name, field]) => [
    name,
    withoutDefault(field).optional(),
  ]);
  return Object.fromEntries(entries) as Patched<S>;
}

export function withoutDefault(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
}

/** A body with exactly these fields. Read-only fields are dropped first, so that clients can send back a GET response. */
export function bodyOf<T extends z.ZodType>(readOnly: readonly string[], schema: T) {
  const dropped = new Set(readOnly);
  return z.preprocess((value: z.input<T>) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => !dropped.has(name)));
  }, schema);
}
