/** Converts HTTP monitors of Uptime Kuma, including proxies and JSON queries. */
import { comparisonOf, type Mapped } from "./databases.ts";
import { isOn, jsonIn, listIn, number, orNull } from "./values.ts";
import { exactNumber } from "../../core/text/decimals.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { isJson } from "../../core/text/placeholders.ts";
import { text } from "../values.ts";

const isNumeric = (value: string) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);
/** Returns the JSON value that a typed text most likely means. */
const jsonValue = (value: string): string | number | boolean =>
  isNumeric(value)
    ? exactNumber(value)
    : value === "true"
      ? true
      : value === "false"
        ? false
        : value;

export function expiry(m: Fields) {
  return { certificateExpiryDays: isOn(m["expiry_notification"]) ? 14 : null };
}

export function headersOf(m: Fields): Record<string, string> {
  const headers = jsonIn(m["headers"]);
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === null
        ? []
        : [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]],
    ),
  );
}

const contentTypes: Record<string, string> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  xml: "text/xml; charset=utf-8",
};
const ownAuthentication: Record<string, string> = {
  ntlm: "NTLM sign-in",
};

function oauth2Of(m: Fields): Fields {
  return {
    tokenUrl: text(m["oauth_token_url"]),
    clientId: text(m["oauth_client_id"]),
    clientSecret: orNull(m["oauth_client_secret"]),
    scope: orNull(m["oauth_scopes"]),
    audience: orNull(m["oauth_audience"]),
    clientAuthentication: text(m["oauth_auth_method"]) === "client_secret_post" ? "body" : "header",
  };
}

/** Returns the body with its encoding. Uses a body type only if the sent bytes stay the same. */
function bodyOf(body: string, encoding: string): Fields {
  if (encoding === "json" && isJson(body)) return { bodyType: "json", body };
  const pairs = [...new URLSearchParams(body)];
  const isSame = new URLSearchParams(pairs).toString() === body;
  if (encoding === "form" && isSame && pairs.every(([name]) => name.trim() !== ""))
    return { bodyType: "form", form: pairs.map(([name, value]) => ({ name, value })) };
  return { body };
}

export function http(m: Fields): Mapped & { notes: string[]; missing: string[] } {
  const notes: string[] = [];
  const missing: string[] = [];
  const url = URL.parse(text(m["url"]));
  const headers = headersOf(m);
  const body = orNull(m["body"]);
  const encoding = text(m["http_body_encoding"]) || "json";
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const sent: Fields = body === null ? {} : hasType ? { body } : bodyOf(body, encoding);
  if (body !== null && !hasType && sent["bodyType"] === undefined && encoding in contentTypes)
    headers["Content-Type"] = contentTypes[encoding] ?? "";
  const method = text(m["auth_method"]);
  let basicAuth: Fields | null =
    method === "basic" || (method === "" && orNull(m["basic_auth_user"]) !== null)
      ? { username: text(m["basic_auth_user"]), password: orNull(m["basic_auth_pass"]) }
      : null;
  if (url !== null && url.username !== "") {
    basicAuth ??= {
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password) || null,
    };
    notes.push("User name and password in its address became basic authentication.");
  }
  if (method in ownAuthentication) missing.push(ownAuthentication[method] ?? method);
  const codes = listIn(m["accepted_statuscodes_json"]).map(text);
  const isMutual = method === "mtls";
  if (isMutual && orNull(m["tls_ca"]) !== null)
    notes.push(
      "Its certificate authority is not imported: add it to the settings, under Certificate authorities, for the monitors of the whole organization.",
    );
  return {
    type: "http",
    fields: {
      url: url !== null && url.username !== "" ? withoutUser(url) : text(m["url"]),
      method: text(m["method"]).toUpperCase() || "GET",
      headers,
      ...sent,
      cacheBuster: isOn(m["cache_bust"]),
      basicAuth,
      oauth2: method === "oauth2-cc" ? oauth2Of(m) : null,
      bearerToken: method === "bearer" ? orNull(m["bearer_token"]) : null,
      expectedStatus: codes.length === 0 ? ["200-299"] : codes,
      followRedirects: m["maxredirects"] === null || number(m["maxredirects"] ?? 10) > 0,
      verifyTls: !isOn(m["ignore_tls"]),
      clientCertificate: isMutual ? orNull(m["tls_cert"]) : null,
      clientKey: isMutual ? orNull(m["tls_key"]) : null,
      ipFamily: /[46]$/.exec(text(m["ip_family"]))?.[0] ?? "any",
      ...expiry(m),
    },
    notes,
    missing,
  };
}

/** Proxy types by Uptime Kuma's names. SOCKS4 and proxies reached over TLS have no equivalent. */
const proxyKinds: Readonly<Record<string, string>> = {
  http: "http",
  socks: "socks5",
  socks5: "socks5",
  socks5h: "socks5",
};

/** Converts a proxy to monitor fields; null for an unsupported type. */
export function proxyOf(proxy: Fields): Fields | null {
  const kind = proxyKinds[text(proxy["protocol"])];
  if (kind === undefined) return null;
  const host = text(proxy["host"]);
  const hasLogin = isOn(proxy["auth"]);
  return {
    proxyUrl: `${kind}://${host.includes(":") ? `[${host}]` : host}:${number(proxy["port"])}`,
    proxyUsername: hasLogin ? orNull(proxy["username"]) : null,
    proxyPassword: hasLogin ? orNull(proxy["password"]) : null,
  };
}

function withoutUser(url: URL): string {
  const bare = new URL(url);
  [bare.username, bare.password] = ["", ""];
  return bare.href;
}

/** Converts a JSONata expression of names, dots and indexes to a JSON path; null for other expressions. */
function pathOf(expression: string): string | null {
  const path = expression.trim();
  if (path === "$" || path === "") return "$";
  const plain = /^(?:\$\.)?[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[\d+\])*$/u;
  return plain.test(path) ? `$.${path.replace(/^\$\./, "")}` : null;
}

type Query = { assertion: Fields | null; notes: string[]; missing?: string[] };

/** Converts a JSON query to an assertion. Reports comparisons without an equivalent as missing. */
export function jsonAssertion(m: Fields): Query {
  const expression = text(m["json_path"]);
  const path = pathOf(expression);
  if (path === null)
    return { assertion: null, notes: [], missing: [`the JSONata expression ${expression}`] };
  const operator = text(m["json_path_operator"]) || "==";
  const expected = text(m["expected_value"]);
  const value = jsonValue(expected);
  const comparison = comparisonWith(operator, expected, value);
  if (comparison === null)
    return {
      assertion: { source: "json", path, op: "exists" },
      notes: [],
      missing: [comparisonOf(m)],
    };
  const notes =
    typeof value === "string" || operator === "contains"
      ? []
      : [
          `Compares with ${expected} as a JSON value. If the response has it in quotes, add the quotes here too.`,
        ];
  return { assertion: { source: "json", path, ...comparison }, notes };
}

/** Like `jsonAssertion`, but uses the simpler fields of HTTP monitors if they suffice. */
export function jsonQuery(m: Fields): { fields: Fields; notes?: string[]; missing?: string[] } {
  const { assertion, notes, missing = [] } = jsonAssertion(m);
  if (assertion === null) return { fields: {}, missing };
  const { path, op, value = null } = assertion;
  if (op === "equals" || op === "exists")
    return { fields: { jsonPath: path, jsonEquals: value }, notes, missing };
  return { fields: { assertions: [assertion] }, notes, missing };
}

/** Converts a comparison operator; `same` is the expected value for equality. Returns null without an equivalent. */
export function comparisonWith(
  operator: string,
  expected: string,
  same: string | number | boolean,
) {
  const wanted = isNumeric(expected) ? exactNumber(expected) : null;
  if (operator === "==") return { op: "equals", value: same };
  if (operator === "!=") return { op: "notEquals", value: same };
  if (operator === "contains") return { op: "contains", value: expected };
  if (wanted === null) return null;
  if (operator === "<") return { op: "lessThan", value: wanted };
  if (operator === ">") return { op: "greaterThan", value: wanted };
  if (operator === "<=") return { op: "lessThanOrEqual", value: wanted };
  return operator === ">=" ? { op: "greaterThanOrEqual", value: wanted } : null;
}
