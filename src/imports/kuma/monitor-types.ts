import { monitorKinds } from "../../monitoring/monitors/kinds-schema.ts";
import type { Own } from "../plan.ts";
import { comparisonOf, database, type Mapped } from "./databases.ts";
import { isOn, jsonIn, listIn, number, orNull, text } from "./values.ts";

export type Installation = {
  proxies: ReadonlyMap<number, Own>;
  dockerHosts: ReadonlyMap<number, Own>;
  browsers: ReadonlyMap<number, Own>;
};

const isNumeric = (value: string) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);
/** A value as people typed it, as JSON has it most likely. */
const jsonValue = (value: string): string | number | boolean =>
  isNumeric(value) ? Number(value) : value === "true" ? true : value === "false" ? false : value;

const host = (m: Own) =>
  text(m["hostname"])
    .trim()
    .replace(/^\[|\]$/g, "");
export const hostAndPort = (m: Own, usual?: number) => ({
  host: host(m),
  port: number(m["port"]) || usual,
});

/**
 * Every type of Uptime Kuma, and what it is here. Where `type` is none of ours yet, the monitor comes in
 * paused as what is nearest to it, with what it was in its description: a type that arrives is one line.
 */
export const types: Record<string, (m: Own, installation: Installation) => Mapped> = {
  http: (m) => http(m),
  keyword(m) {
    const mapped = http(m);
    const keyword = text(m["keyword"]);
    mapped.fields[isOn(m["invert_keyword"]) ? "keywordAbsent" : "keyword"] = keyword;
    if (/"\s*:/.test(keyword))
      mapped.notes?.push(
        "Uptime Kuma writes JSON answers anew without spaces before it looks for the keyword; here it is looked for in the answer as it was sent. If it isn't found, use a JSON path.",
      );
    return mapped;
  },
  "json-query"(m) {
    const mapped = http(m);
    const { fields, notes = [], missing = [] } = jsonQuery(m);
    if (isOn(m["retry_only_on_status_code_failure"]))
      notes.push("Retries after any failure, not only after a wrong status code.");
    return {
      ...mapped,
      fields: { ...mapped.fields, ...fields },
      notes: [...(mapped.notes ?? []), ...notes],
      missing: [...(mapped.missing ?? []), ...missing],
    };
  },
  "real-browser"(m, { browsers }) {
    const browser = browsers.get(number(m["remote_browser"]));
    return {
      type: "http",
      fields: { ...http(m).fields, keyword: orNull(m["keyword"]) },
      missing: [
        `a browser${browser === undefined ? "" : ` (${text(browser["name"])})`}: the page is fetched, but not rendered`,
      ],
    };
  },
  rabbitmq(m) {
    const [first, ...others] = listIn(m["rabbitmq_nodes"]).map(text);
    const notes =
      others.length === 0
        ? []
        : [
            `Asks its first node alone. For the others make monitors of their own: ${others.join(", ")}.`,
          ];
    return {
      type: "http",
      fields: {
        url: `${(first ?? "").replace(/\/+$/, "")}/api/health/checks/alarms/`,
        basicAuth: {
          username: text(m["rabbitmq_username"]),
          password: orNull(m["rabbitmq_password"]),
        },
        certificateExpiryDays: null,
      },
      notes,
    };
  },
  port(m) {
    const security = text(m["smtp_security"]);
    const missing =
      orNull(m["expected_tls_alert"]) === null
        ? []
        : [`the TLS alert ${text(m["expected_tls_alert"])} as what is expected`];
    if (security === "secure")
      return { type: "tls", fields: { ...hostAndPort(m), ...expiry(m) }, missing };
    if (security === "starttls")
      missing.push("STARTTLS on any port: only the connection is checked");
    return { type: "tcp", fields: hostAndPort(m), missing };
  },
  ping: (m) => ({
    type: "ping",
    fields: { host: host(m), packets: Math.min(10, Math.max(1, number(m["ping_count"]) || 1)) },
    notes: [56, 0].includes(number(m["packet_size"]))
      ? []
      : [`Sends packets of the usual size, not of ${number(m["packet_size"])} bytes.`],
  }),
  "tailscale-ping": (m) => ({
    type: "ping",
    fields: { host: host(m) },
    notes: [
      "Pings the address itself instead of asking Tailscale: this machine has to be in the tailnet.",
    ],
  }),
  dns,
  push(m) {
    const grace = number(m["maxretries"]) * (number(m["retry_interval"]) || number(m["interval"]));
    return { type: "push", fields: { grace: Math.min(86_400, Math.max(5, grace)) } };
  },
  manual: (m) => ({
    type: "push",
    fields: {},
    missing: [
      `a state that is set by hand (it was ${["down", "up", "pending", "maintenance"][number(m["manual_status"] ?? 2)] ?? "pending"})`,
    ],
  }),
  globalping(m, installation) {
    const type = text(m["subtype"]);
    const map = types[type === "ping" || type === "dns" ? type : "http"];
    const mapped = map?.(m, installation) ?? http(m);
    const from = text(m["location"]) || "world";
    return {
      ...mapped,
      notes: [
        ...(mapped.notes ?? []),
        `Checks from this machine, not from Globalping's probes (${from}).`,
      ],
    };
  },
  docker(m, { dockerHosts }) {
    const daemon = dockerHosts.get(number(m["docker_host"])) ?? {};
    return {
      type: "docker",
      fields: {
        host: text(daemon["docker_daemon"]) || "/var/run/docker.sock",
        container: text(m["docker_container"]),
      },
    };
  },
  postgres: (m) => database(m, "postgres", 5432),
  mysql: (m) => database(m, "mysql", 3306),
  sqlserver: (m) => database(m, "mssql", 1433),
  mongodb: (m) => database(m, "mongodb", 27017),
  oracledb: (m) => database(m, "oracle", 1521),
  redis: (m) => database(m, "redis", 6379),
  mqtt: (m) => ({
    type: "mqtt",
    fields: {
      ...hostAndPort(m, 1883),
      host: host(m).replace(/^\w+:\/\//, ""),
      topic: text(m["mqtt_topic"]),
      username: orNull(m["mqtt_username"]),
      password: orNull(m["mqtt_password"]),
      expect: orNull(m["mqtt_success_message"]),
    },
  }),
  gamedig: (m) => ({ type: "game", fields: { ...hostAndPort(m), game: text(m["game"]) } }),
  steam: (m) => ({ type: "game", fields: { ...hostAndPort(m), game: "steam" } }),
  snmp: (m) => ({
    type: "snmp",
    fields: {
      ...hostAndPort(m, 161),
      version: text(m["snmp_version"]),
      community: orNull(m["radius_password"]),
      oid: text(m["snmp_oid"]),
    },
    missing: orNull(m["expected_value"]) === null ? [] : [comparisonOf(m)],
  }),
  "grpc-keyword": (m) => ({
    type: "grpc",
    fields: { address: text(m["grpc_url"]), tls: isOn(m["grpc_enable_tls"]) },
    missing: ["its own protocol file and keyword"],
  }),
  "websocket-upgrade": (m) => ({
    type: "websocket",
    fields: {
      url: text(m["url"]),
      headers: headersOf(m),
      subprotocol: orNull(m["ws_subprotocol"]),
    },
  }),
  smtp: (m) =>
    "smtp" in monitorKinds
      ? { type: "smtp", fields: hostAndPort(m, 25) }
      : { type: "tcp", fields: { ...hostAndPort(m, 25), expect: "220" }, notes: smtpNotes(m) },
  "sip-options": (m) => ({ type: "sip", fields: hostAndPort(m, 5060) }),
  radius: (m) => ({
    type: "radius",
    fields: {
      ...hostAndPort(m, 1812),
      username: text(m["radius_username"]),
      password: orNull(m["radius_password"]),
      secret: orNull(m["radius_secret"]),
    },
  }),
  "kafka-producer": (m) => ({
    type: "kafka",
    fields: {
      brokers: listIn(m["kafka_producer_brokers"]).map(text),
      topic: text(m["kafka_producer_topic"]),
    },
    missing: ["producing a message: a monitor here only reads"],
  }),
  ntp: (m) => ({ type: "ntp", fields: hostAndPort(m, 123) }),
  "system-service": (m) => ({ type: "service", fields: { name: text(m["system_service_name"]) } }),
  pm2: (m) => ({ type: "pm2", fields: { name: text(m["system_service_name"]) } }),
};

const smtpNotes = (m: Own) =>
  ["secure", "starttls"].includes(text(m["smtp_security"]))
    ? ["Looks for the greeting of the mail server alone, without TLS."]
    : ["Looks for the greeting of the mail server (220)."];

function expiry(m: Own) {
  return { certificateExpiryDays: isOn(m["expiry_notification"]) ? 14 : null };
}

function headersOf(m: Own): Record<string, string> {
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
  "oauth2-cc": "OAuth 2.0 client credentials",
  mtls: "a client certificate",
};

function http(m: Own): Mapped & { notes: string[]; missing: string[] } {
  const notes: string[] = [];
  const missing: string[] = [];
  const url = URL.parse(text(m["url"]));
  const headers = headersOf(m);
  const body = orNull(m["body"]);
  const encoding = contentTypes[text(m["http_body_encoding"]) || "json"];
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  if (body !== null && !hasType && encoding !== undefined) headers["Content-Type"] = encoding;
  const method = text(m["auth_method"]);
  let basicAuth: Own | null =
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
  if (isOn(m["cache_bust"])) notes.push("Adds no random parameter against caches to its address.");
  if (text(m["ip_family"]) !== "")
    notes.push(`Takes IPv4 and IPv6, not ${text(m["ip_family"])} alone.`);
  return {
    type: "http",
    fields: {
      url: url !== null && url.username !== "" ? withoutUser(url) : text(m["url"]),
      method: text(m["method"]).toUpperCase() || "GET",
      headers,
      body,
      basicAuth,
      bearerToken: method === "bearer" ? orNull(m["bearer_token"]) : null,
      expectedStatus: codes.length === 0 ? ["200-299"] : codes,
      followRedirects: m["maxredirects"] === null || number(m["maxredirects"] ?? 10) > 0,
      verifyTls: !isOn(m["ignore_tls"]),
      ...expiry(m),
    },
    notes,
    missing,
  };
}

function withoutUser(url: URL): string {
  const bare = new URL(url);
  [bare.username, bare.password] = ["", ""];
  return bare.href;
}

/** A path of JSONata that is one of ours, too: names, points and indexes. */
function pathOf(expression: string): string | null {
  const path = expression.trim();
  if (path === "$" || path === "") return "$";
  const plain = /^(?:\$\.)?[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[\d+\])*$/u;
  return plain.test(path) ? `$.${path.replace(/^\$\./, "")}` : null;
}

function jsonQuery(m: Own): { fields: Own; notes?: string[]; missing?: string[] } {
  const expression = text(m["json_path"]);
  const path = pathOf(expression);
  if (path === null) return { fields: {}, missing: [`the JSONata expression ${expression}`] };
  const operator = text(m["json_path_operator"]) || "==";
  const expected = text(m["expected_value"]);
  const value = jsonValue(expected);
  const notes =
    typeof value === "string"
      ? []
      : [
          `Compares with ${expected} as JSON has it. If the answer has it in quotes, put it in quotes here as well.`,
        ];
  const asserted = (op: string, of: string | number | boolean) => ({
    fields: { assertions: [{ source: "json", path, op, value: of }] },
    notes,
  });
  const wanted = isNumeric(expected) ? Number(expected) : null;
  switch (operator) {
    case "==":
      return { fields: { jsonPath: path, jsonEquals: value }, notes };
    case "!=":
      return asserted("notEquals", value);
    case "contains":
      return { ...asserted("contains", expected), notes: [] };
    case "<":
    case ">":
      if (wanted !== null) return asserted(operator === "<" ? "lessThan" : "greaterThan", wanted);
      break;
    case "<=":
    case ">=":
      // The number next to it, so that it is among those that are right itself.
      if (wanted !== null)
        return asserted(
          operator === "<=" ? "lessThan" : "greaterThan",
          wanted + (operator === "<=" ? 1 : -1) * Math.max(1e-9, Math.abs(wanted) * 1e-15),
        );
  }
  return { fields: { jsonPath: path }, missing: [comparisonOf(m)] };
}

const recordTypes = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SRV", "CAA"];

function dns(m: Own): Mapped {
  const notes: string[] = [];
  const missing: string[] = [];
  const recordType = text(m["dns_resolve_type"]) || "A";
  if (!recordTypes.includes(recordType)) missing.push(`the record type ${recordType}`);
  const servers = text(m["dns_resolve_server"])
    .split(/[\s,]+/)
    .filter((server) => server !== "");
  const addresses = servers.filter((server) => /^[\d.]+$|:/.test(server));
  if (servers.length > 1)
    notes.push(
      `Asks ${addresses[0] ?? "this machine's name server"} alone, not ${servers.join(", ")}.`,
    );
  else if (servers.length === 1 && addresses.length === 0)
    notes.push(
      `Asks this machine's name server: ${servers[0]} is a name, and an address is needed.`,
    );
  const [address] = addresses;
  const port = number(m["port"]) || 53;
  const bare = address?.replace(/^\[|\]$/g, "");
  const withPort = bare?.includes(":") ? `[${bare}]:${port}` : `${bare}:${port}`;
  const conditions = listIn(m["conditions"]) as Own[];
  const [condition] = conditions;
  const isPlain =
    conditions.length === 1 &&
    condition?.["type"] === "expression" &&
    condition["variable"] === "record" &&
    condition["operator"] === "equals";
  if (conditions.length > 0 && !isPlain)
    missing.push(`its conditions on the answer (${JSON.stringify(conditions).slice(0, 300)})`);
  return {
    type: "dns",
    fields: {
      host: host(m),
      recordType: recordTypes.includes(recordType) ? recordType : "A",
      resolver: address === undefined ? null : port === 53 ? bare : withPort,
      expected: isPlain ? [text(condition["value"])] : [],
    },
    notes,
    missing,
  };
}
