/** Maps each monitor type of Uptime Kuma to one of our types. */
import { convertDatabase, type MappedMonitor } from "./databases.ts";
import {
  convertDocker,
  convertGame,
  convertGrpc,
  convertKafka,
  convertMqtt,
  convertNtp,
  convertRadius,
  convertSmtp,
  convertSnmp,
  startTls,
  tlsOf,
  convertWebSocket,
} from "./services.ts";
import { convertExpiry, convertHttp, convertJsonQuery } from "./web.ts";
import { hostOf, hostAndPortOf, isOn, parseList, toNumber, toTextOrNull } from "./values.ts";
import { createLookup, type Fields } from "../../core/collections/objects.ts";
import { fitSilence } from "../silence.ts";
import { toText } from "../values.ts";

/** Returns interval and grace time of a push monitor. Uptime Kuma waits for the retries, too. */
export function computeSilence(m: Fields) {
  const interval = toNumber(m["interval"]) || 60;
  const retries = toNumber(m["maxretries"]) * (toNumber(m["retry_interval"]) || interval);
  return fitSilence(interval, retries, 5);
}

export type Installation = {
  proxies: ReadonlyMap<number, Fields>;
  dockerHosts: ReadonlyMap<number, Fields>;
  browsers: ReadonlyMap<number, Fields>;
};

/**
 * Converters by monitor type. For a type without an equivalent here, the monitor is imported paused as the closest
 * type. Its description then contains the original settings.
 */
type MapMonitor = (m: Fields, installation: Installation) => MappedMonitor;

export const types: Readonly<Record<string, MapMonitor>> = createLookup({
  http: (m) => convertHttp(m),
  keyword(m) {
    const mapped = convertHttp(m);
    const keyword = toText(m["keyword"]);
    mapped.fields[isOn(m["invert_keyword"]) ? "keywordAbsent" : "keyword"] = keyword;
    if (/"\s*:/.test(keyword))
      mapped.notes?.push(
        "Uptime Kuma removes spaces from JSON responses before it searches for the keyword. Signalbox searches the response as it was sent. If the keyword isn't found, use a JSON path.",
      );
    return mapped;
  },
  "json-query"(m) {
    const mapped = convertHttp(m);
    const { fields, notes = [], missing = [] } = convertJsonQuery(m);
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
    const browser = browsers.get(toNumber(m["remote_browser"]));
    const { url, verifyTls } = convertHttp(m).fields;
    return {
      type: "browser",
      fields: { url, verifyTls, keyword: toTextOrNull(m["keyword"]) },
      notes:
        browser === undefined
          ? []
          : [`Uses the Chromium of this machine, not ${toText(browser["name"])}.`],
    };
  },
  rabbitmq(m) {
    const [first, ...others] = parseList(m["rabbitmq_nodes"]).map(toText);
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
          username: toText(m["rabbitmq_username"]),
          password: toTextOrNull(m["rabbitmq_password"]),
        },
        certificateExpiryDays: null,
      },
      notes,
    };
  },
  port(m) {
    const tls = tlsOf(m);
    const missing =
      toTextOrNull(m["expected_tls_alert"]) === null
        ? []
        : [`the TLS alert ${toText(m["expected_tls_alert"])} as the expected result`];
    if (tls === "tls")
      return { type: "tls", fields: { ...hostAndPortOf(m), ...convertExpiry(m) }, missing };
    if (tls === "starttls") {
      const mapped = startTls(m);
      return { ...mapped, missing: [...(mapped.missing ?? []), ...missing] };
    }
    return { type: "tcp", fields: hostAndPortOf(m), missing };
  },
  ping: (m) => ({
    type: "ping",
    fields: { host: hostOf(m), packets: Math.min(10, Math.max(1, toNumber(m["ping_count"]) || 1)) },
    notes: [56, 0].includes(toNumber(m["packet_size"]))
      ? []
      : [`Sends packets of the usual size, not of ${toNumber(m["packet_size"])} bytes.`],
  }),
  "tailscale-ping": (m) => ({
    type: "ping",
    fields: { host: hostOf(m) },
    notes: ["Pings the address directly. This machine must be in the tailnet."],
  }),
  dns: convertDns,
  push(m) {
    const { grace, reason } = computeSilence(m);
    return { type: "push", fields: { grace }, missing: reason === null ? [] : [reason] };
  },
  manual: (m) => ({
    type: "manual",
    fields: { manualStatus: m["manual_status"] === 0 ? "down" : "up" },
  }),
  globalping(m, installation) {
    const type = toText(m["subtype"]);
    const map = types[type === "ping" || type === "dns" ? type : "http"];
    const mapped = map?.(m, installation) ?? convertHttp(m);
    const from = toText(m["location"]) || "world";
    return {
      ...mapped,
      notes: [
        ...(mapped.notes ?? []),
        `Checks from this machine, not from Globalping's probes (${from}).`,
      ],
    };
  },
  docker: (m, { dockerHosts }) => convertDocker(m, dockerHosts.get(toNumber(m["docker_host"]))),
  postgres: (m) => convertDatabase(m, "postgres", 5432),
  mysql: (m) => convertDatabase(m, "mysql", 3306),
  sqlserver: (m) => convertDatabase(m, "mssql", 1433),
  mongodb: (m) => convertDatabase(m, "mongodb", 27017),
  oracledb: (m) => convertDatabase(m, "oracle", 1521),
  redis: (m) => convertDatabase(m, "redis", 6379),
  mqtt: convertMqtt,
  gamedig: (m) => convertGame(m, toText(m["game"])),
  steam: (m) => convertGame(m, "counterstrike2"),
  snmp: convertSnmp,
  "grpc-keyword": convertGrpc,
  "websocket-upgrade": convertWebSocket,
  smtp: convertSmtp,
  "sip-options": (m) => ({ type: "sip", fields: hostAndPortOf(m, 5060) }),
  radius: convertRadius,
  "kafka-producer": convertKafka,
  ntp: convertNtp,
  "system-service": (m) => ({
    type: "systemd",
    fields: { unit: toText(m["system_service_name"]) },
    notes: ["Queries systemd on the machine that runs Signalbox."],
  }),
  pm2: (m) => ({ type: "pm2", fields: { name: toText(m["system_service_name"]) } }),
});

const recordTypes = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SRV", "CAA", "PTR", "SOA"];

/** Uptime Kuma compares only the authority of a CAA record. */
const toExpectedRecord = (recordType: string, value: string) =>
  recordType === "CAA" ? `0 issue ${JSON.stringify(value)}` : value;

function convertDns(m: Fields): MappedMonitor {
  const notes: string[] = [];
  const missing: string[] = [];
  const recordType = toText(m["dns_resolve_type"]) || "A";
  if (!recordTypes.includes(recordType)) missing.push(`the record type ${recordType}`);
  const servers = toText(m["dns_resolve_server"])
    .split(/[\s,]+/)
    .filter((server) => server !== "");
  const addresses = servers.filter((server) => /^[\d.]+$|:/.test(server));
  if (servers.length > 0 && addresses.length === 0)
    missing.push(`the IP address of its name server ${servers.join(", ")}`);
  else if (servers.length > 1)
    notes.push(`Queries only ${addresses[0] ?? ""}, not ${servers.join(", ")}.`);
  const [address] = addresses;
  const port = toNumber(m["port"]) || 53;
  const bare = address?.replace(/^\[|\]$/g, "");
  const withPort = bare?.includes(":") ? `[${bare}]:${port}` : `${bare}:${port}`;
  const conditions = parseList(m["conditions"]) as Fields[];
  const [condition] = conditions;
  const isPlain =
    conditions.length === 1 &&
    condition?.["type"] === "expression" &&
    condition["variable"] === "record" &&
    condition["operator"] === "equals";
  if (conditions.length > 0 && !isPlain)
    missing.push(`its conditions on the response (${JSON.stringify(conditions).slice(0, 300)})`);
  return {
    type: "dns",
    fields: {
      host: hostOf(m),
      recordType: recordTypes.includes(recordType) ? recordType : "A",
      resolver: address === undefined ? null : port === 53 ? bare : withPort,
      expected: isPlain ? [toExpectedRecord(recordType, toText(condition["value"]))] : [],
    },
    notes,
    missing,
  };
}
