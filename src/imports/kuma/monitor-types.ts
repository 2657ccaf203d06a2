/** Maps each monitor type of Uptime Kuma to a type of ours. */
import { database, type Mapped } from "./databases.ts";
import {
  docker,
  game,
  grpc,
  kafka,
  mqtt,
  ntp,
  radius,
  smtp,
  snmp,
  startTls,
  tlsOf,
  webSocket,
} from "./services.ts";
import { expiry, http, jsonQuery } from "./web.ts";
import { host, hostAndPort, isOn, listIn, number, orNull } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { text } from "../values.ts";

export type Installation = {
  proxies: ReadonlyMap<number, Fields>;
  dockerHosts: ReadonlyMap<number, Fields>;
  browsers: ReadonlyMap<number, Fields>;
};

/**
 * Converters by monitor type. For a type without an equivalent here, the monitor is imported paused as the closest
 * type. Its description then contains the original settings.
 */
export const types: Record<string, (m: Fields, installation: Installation) => Mapped> = {
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
    const { url, verifyTls } = http(m).fields;
    return {
      type: "browser",
      fields: { url, verifyTls, keyword: orNull(m["keyword"]) },
      notes:
        browser === undefined
          ? []
          : [`Uses the Chromium of this machine, not ${text(browser["name"])}.`],
    };
  },
  rabbitmq(m) {
    const [first, ...others] = listIn(m["rabbitmq_nodes"]).map(text);
    const notes =
      others.length === 0
        ? []
        : [
            `Checks only the first node. Create separate monitors for the others: ${others.join(", ")}.`,
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
    const tls = tlsOf(m);
    const missing =
      orNull(m["expected_tls_alert"]) === null
        ? []
        : [`the TLS alert ${text(m["expected_tls_alert"])} as what is expected`];
    if (tls === "tls") return { type: "tls", fields: { ...hostAndPort(m), ...expiry(m) }, missing };
    if (tls === "starttls") {
      const mapped = startTls(m);
      return { ...mapped, missing: [...(mapped.missing ?? []), ...missing] };
    }
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
  docker: (m, { dockerHosts }) => docker(m, dockerHosts.get(number(m["docker_host"]))),
  postgres: (m) => database(m, "postgres", 5432),
  mysql: (m) => database(m, "mysql", 3306),
  sqlserver: (m) => database(m, "mssql", 1433),
  mongodb: (m) => database(m, "mongodb", 27017),
  oracledb: (m) => database(m, "oracle", 1521),
  redis: (m) => database(m, "redis", 6379),
  mqtt,
  gamedig: (m) => game(m, text(m["game"])),
  steam: (m) => game(m, "counterstrike2"),
  snmp,
  "grpc-keyword": grpc,
  "websocket-upgrade": webSocket,
  smtp,
  "sip-options": (m) => ({ type: "sip", fields: hostAndPort(m, 5060) }),
  radius,
  "kafka-producer": kafka,
  ntp,
  "system-service": (m) => ({
    type: "systemd",
    fields: { unit: text(m["system_service_name"]) },
    notes: ["Asks the systemd of the machine that Signalbox runs on."],
  }),
  pm2: (m) => ({ type: "pm2", fields: { name: text(m["system_service_name"]) } }),
};

const recordTypes = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SRV", "CAA"];

function dns(m: Fields): Mapped {
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
      `Queries only ${addresses[0] ?? "this machine's name server"}, not ${servers.join(", ")}.`,
    );
  else if (servers.length === 1 && addresses.length === 0)
    notes.push(
      `Queries this machine's name server: ${servers[0]} is a name, and an address is needed.`,
    );
  const [address] = addresses;
  const port = number(m["port"]) || 53;
  const bare = address?.replace(/^\[|\]$/g, "");
  const withPort = bare?.includes(":") ? `[${bare}]:${port}` : `${bare}:${port}`;
  const conditions = listIn(m["conditions"]) as Fields[];
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
