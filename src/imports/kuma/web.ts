/** Converts HTTP monitors of Uptime Kuma, including proxies and JSON queries. */
import { createLookup } from "../../core/collections/objects.ts";
import { describeComparison, type MappedMonitor } from "./databases.ts";
import { isOn, parseColumn, parseList, toNumber, toTextOrNull } from "./values.ts";
import { parseExactNumber } from "../../core/text/decimals.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { isJson } from "../../core/text/placeholders.ts";
import { applyHostHeader, selectHeaders, separateHost } from "../host-header.ts";
import { decodePercent } from "../../core/text/formatting.ts";
import { toText } from "../values.ts";

const isNumeric = (value: string) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);
/** Returns the JSON value that a typed text most likely means. */
const parseJsonValue = (value: string): string | number | boolean =>
  isNumeric(value)
    ? parseExactNumber(value)
    : value === "true"
      ? true
      : value === "false"
        ? false
        : value;

export function convertExpiry(m: Fields) {
  return { certificateExpiryDays: isOn(m["expiry_notification"]) ? 14 : null };
}

export function parseHeaders(m: Fields): Record<string, string> {
  const headers = parseColumn(m["headers"]);
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === null
        ? []
        : [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]],
    ),
  );
}

const contentTypes: Record<string, string> = createLookup({
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  xml: "text/xml; charset=utf-8",
});
const ownAuthentication: Record<string, string> = createLookup({
  ntlm: "NTLM sign-in",
});

function convertOAuth2(m: Fields): Fields {
  return {
    tokenUrl: toText(m["oauth_token_url"]),
    clientId: toText(m["oauth_client_id"]),
    clientSecret: toTextOrNull(m["oauth_client_secret"]),
    scope: toTextOrNull(m["oauth_scopes"]),
    audience: toTextOrNull(m["oauth_audience"]),
    clientAuthentication:
      toText(m["oauth_auth_method"]) === "client_secret_post" ? "body" : "header",
  };
}

/** Returns the body with its encoding. Uses a body type only if the sent bytes stay the same. */
function convertBody(body: string, encoding: string): Fields {
  if (encoding === "json" && isJson(body)) return { bodyType: "json", body };
  const pairs = [...new URLSearchParams(body)];
  const isSame = new URLSearchParams(pairs).toString() === body;
  if (encoding === "form" && isSame && pairs.every(([name]) => name.trim() !== ""))
    return { bodyType: "form", form: pairs.map(([name, value]) => ({ name, value })) };
  return { body };
}

type MappedHttp = MappedMonitor & { notes: string[]; missing: string[] };

export function convertHttp(m: Fields): MappedHttp {
  const mapped = convertRequest(m);
  const { host, headers } = separateHost(mapped.fields["headers"] as Record<string, string>);
  mapped.fields["headers"] = selectHeaders(headers, mapped.notes);
  if (host !== null) applyHostHeader(mapped, host);
  return mapped;
}

function convertRequest(m: Fields): MappedHttp {
  const notes: string[] = [];
  const missing: string[] = [];
  // Uptime Kuma requests an address with spaces as a browser does.
  const address = toText(m["url"]).trim().replaceAll(" ", "%20");
  const url = URL.parse(address);
  const headers = parseHeaders(m);
  const body = toTextOrNull(m["body"]);
  const encoding = toText(m["http_body_encoding"]) || "json";
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const sent: Fields = body === null ? {} : hasType ? { body } : convertBody(body, encoding);
  if (body !== null && !hasType && sent["bodyType"] === undefined && encoding in contentTypes)
    headers["Content-Type"] = contentTypes[encoding] ?? "";
  const method = toText(m["auth_method"]);
  let basicAuth: Fields | null =
    method === "basic" || (method === "" && toTextOrNull(m["basic_auth_user"]) !== null)
      ? { username: toText(m["basic_auth_user"]), password: toTextOrNull(m["basic_auth_pass"]) }
      : null;
  if (url !== null && url.username !== "") {
    basicAuth ??= {
      username: decodePercent(url.username),
      password: decodePercent(url.password) || null,
    };
    notes.push("User name and password in its address became basic authentication.");
  }
  if (method in ownAuthentication) missing.push(ownAuthentication[method] ?? method);
  const codes = parseList(m["accepted_statuscodes_json"]).map(toText);
  const isMutual = method === "mtls";
  if (isMutual && toTextOrNull(m["tls_ca"]) !== null)
    notes.push(
      "Its certificate authority is not imported: add it to the settings, under Certificate authorities, for the monitors of the whole organization.",
    );
  return {
    type: "http",
    fields: {
      url: url !== null && url.username !== "" ? stripUser(url) : address,
      method: toText(m["method"]).toUpperCase() || "GET",
      headers,
      ...sent,
      cacheBuster: isOn(m["cache_bust"]),
      basicAuth,
      oauth2: method === "oauth2-cc" ? convertOAuth2(m) : null,
      bearerToken: method === "bearer" ? toTextOrNull(m["bearer_token"]) : null,
      expectedStatus: codes.length === 0 ? ["200-299"] : codes,
      followRedirects: m["maxredirects"] === null || toNumber(m["maxredirects"] ?? 10) > 0,
      verifyTls: !isOn(m["ignore_tls"]),
      clientCertificate: isMutual ? toTextOrNull(m["tls_cert"]) : null,
      clientKey: isMutual ? toTextOrNull(m["tls_key"]) : null,
      ipFamily: /[46]$/.exec(toText(m["ip_family"]))?.[0] ?? "any",
      ...convertExpiry(m),
    },
    notes,
    missing,
  };
}

/** Proxy types by Uptime Kuma's names. SOCKS4 has no equivalent. */
const proxyKinds: Readonly<Record<string, string>> = createLookup({
  http: "http",
  https: "https",
  socks: "socks5",
  socks5: "socks5",
  socks5h: "socks5",
});

/** Converts a proxy to monitor fields; null for an unsupported type. */
export function convertProxy(proxy: Fields): Fields | null {
  const kind = proxyKinds[toText(proxy["protocol"])];
  if (kind === undefined) return null;
  const host = toText(proxy["host"]);
  const hasLogin = isOn(proxy["auth"]);
  return {
    proxyUrl: `${kind}://${host.includes(":") ? `[${host}]` : host}:${toNumber(proxy["port"])}`,
    proxyUsername: hasLogin ? toTextOrNull(proxy["username"]) : null,
    proxyPassword: hasLogin ? toTextOrNull(proxy["password"]) : null,
  };
}

function stripUser(url: URL): string {
  const bare = new URL(url);
  [bare.username, bare.password] = ["", ""];
  return bare.href;
}

/** Converts a JSONata expression of names, dots and indexes to a JSON path; null for other expressions. */
function toJsonPath(expression: string): string | null {
  const path = expression.trim();
  if (path === "$" || path === "") return "$";
  const plainPath = /^(?:\$\.)?[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[\d+\])*$/u;
  return plainPath.test(path) ? `$.${path.replace(/^\$\./, "")}` : null;
}

type Query = { assertion: Fields | null; notes: string[]; missing?: string[] };

/** Converts a JSON query to an assertion. Reports comparisons without an equivalent as missing. */
export function buildJsonAssertion(m: Fields): Query {
  const expression = toText(m["json_path"]);
  const path = toJsonPath(expression);
  if (path === null)
    return { assertion: null, notes: [], missing: [`the JSONata expression ${expression}`] };
  const operator = toText(m["json_path_operator"]) || "==";
  const expected = toText(m["expected_value"]);
  const value = parseJsonValue(expected);
  const comparison = convertComparison(operator, expected, value);
  if (comparison === null)
    return {
      assertion: { source: "json", path, op: "exists" },
      notes: [],
      missing: [describeComparison(m)],
    };
  const notes =
    typeof value === "string" || operator === "contains"
      ? []
      : [
          `Compares with ${expected} as a JSON value. If the response has it in quotes, add the quotes here too.`,
        ];
  return { assertion: { source: "json", path, ...comparison }, notes };
}

/** Like `buildJsonAssertion`, but uses the simpler fields of HTTP monitors if they suffice. */
export function convertJsonQuery(m: Fields): {
  fields: Fields;
  notes?: string[];
  missing?: string[];
} {
  const { assertion, notes, missing = [] } = buildJsonAssertion(m);
  if (assertion === null) return { fields: {}, missing };
  const { path, op, value = null } = assertion;
  if (op === "equals" || op === "exists")
    return { fields: { jsonPath: path, jsonEquals: value }, notes, missing };
  return { fields: { assertions: [assertion] }, notes, missing };
}

/** Converts a comparison operator; `expectedValue` is for equality. Returns null without an equivalent. */
export function convertComparison(
  operator: string,
  expected: string,
  expectedValue: string | number | boolean,
) {
  const expectedNumber = isNumeric(expected) ? parseExactNumber(expected) : null;
  if (operator === "==") return { op: "equals", value: expectedValue };
  if (operator === "!=") return { op: "notEquals", value: expectedValue };
  if (operator === "contains") return { op: "contains", value: expected };
  if (expectedNumber === null) return null;
  if (operator === "<") return { op: "lessThan", value: expectedNumber };
  if (operator === ">") return { op: "greaterThan", value: expectedNumber };
  if (operator === "<=") return { op: "lessThanOrEqual", value: expectedNumber };
  return operator === ">=" ? { op: "greaterThanOrEqual", value: expectedNumber } : null;
}
