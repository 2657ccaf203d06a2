/**
 * Converts monitors to a JSON backup of Uptime Kuma 1.23: the reverse of `../kuma/monitors.ts`. Its import reads only the
 * fields that it had in version 1.10, fails without some of them, and starts only monitors whose `active` is 1:
 * https://github.com/louislam/uptime-kuma/blob/1.23.16/server/server.js (uploadBackup)
 */
import { isIP } from "node:net";
import type { Fields } from "../../core/collections/objects.ts";
import { toColumns } from "../kuma/backup.ts";
import { convertMonitor } from "../kuma/monitors.ts";
import { parseResolver } from "../../monitoring/monitors/rules.ts";
import { kumaTypeOf } from "../kuma/type-names.ts";
import { toText } from "../values.ts";
import { computeSilence, formatHost, type ForeignEntry, type OurMonitor } from "./monitors.ts";

const convertHostAndPort = ({ host, port }: Fields): Fields => ({ hostname: host, port });

const healthCheck =
  'syntax = "proto3"; package grpc.health.v1; message HealthCheckRequest { string service = 1; } ' +
  "message HealthCheckResponse { enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; } ServingStatus status = 1; } " +
  "service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }";

/** Fields by monitor type. Types without an entry don't exist in Uptime Kuma 1.23. */
const types: Record<string, (monitor: Fields) => Fields | undefined> = {
  http: buildHttp,
  tcp: convertHostAndPort,
  // Version 1.23 checks only that these ports accept connections.
  tls: convertHostAndPort,
  smtp: convertHostAndPort,
  imap: convertHostAndPort,
  pop3: convertHostAndPort,
  ssh: convertHostAndPort,
  ldap: convertHostAndPort,
  sip: convertHostAndPort,
  ping: ({ host }) => ({ hostname: host }),
  dns({ host, recordType, resolver }) {
    const server = parseResolver(toText(resolver));
    // Uptime Kuma queries over UDP, and turns an address into the name of its PTR records.
    if (
      (server !== null && server.scheme !== "dns") ||
      (recordType === "PTR" && isIP(toText(host)) === 0)
    )
      return undefined;
    return {
      hostname: host,
      port: server?.port ?? 53,
      dns_resolve_type: recordType,
      dns_resolve_server: server?.host ?? "1.1.1.1",
    };
  },
  push: (monitor) => ({
    pushToken: monitor["pushToken"],
    interval: computeSilence({ ...monitor, grace: 0 }),
    // Uptime Kuma has no grace time: it waits for retries.
    maxretries: Number(monitor["grace"]) > 5 ? 1 : 0,
    retryInterval: monitor["grace"],
  }),
  mqtt: (monitor) => {
    const [assertion] = (monitor["assertions"] ?? []) as Fields[];
    return {
      ...convertHostAndPort(monitor),
      hostname: `${monitor["tls"] === true ? "mqtts://" : ""}${String(monitor["host"])}`,
      mqttTopic: monitor["topic"],
      mqttUsername: monitor["username"],
      mqttPassword: monitor["password"],
      mqttSuccessMessage: assertion?.["op"] === "contains" ? assertion["value"] : "",
    };
  },
  postgres: (monitor) => buildDatabase("postgres", monitor),
  mysql: (monitor) => buildDatabase("mysql", monitor),
  mongodb: (monitor) => buildDatabase("mongodb", monitor),
  redis: (monitor) => buildDatabase(monitor["tls"] === true ? "rediss" : "redis", monitor),
  mssql: ({ host, port }) => ({
    databaseConnectionString: `Server=${String(host)},${String(port)};Encrypt=false`,
  }),
  kafka: ({ host, port, topic, tls }) => ({
    kafkaProducerBrokers: [`${String(host)}:${String(port)}`],
    kafkaProducerTopic: topic,
    kafkaProducerSsl: tls,
  }),
  radius: (monitor) => ({
    ...convertHostAndPort(monitor),
    radiusUsername: monitor["username"],
    radiusPassword: monitor["password"],
    radiusSecret: monitor["secret"],
  }),
  game: (monitor) => ({
    ...convertHostAndPort(monitor),
    game: monitor["protocol"] === "minecraft" ? "minecraft" : "csgo",
  }),
  grpc: ({ host, port, tls, service }) => ({
    grpcUrl: `${formatHost(host)}:${String(port)}`,
    grpcEnableTls: tls,
    grpcServiceName: "Health",
    grpcMethod: "check",
    grpcProtobuf: healthCheck,
    grpcBody: JSON.stringify({ service: service ?? "" }),
    keyword: "SERVING",
  }),
  browser: ({ url, keyword }) => ({ url, keyword }),
};

function buildHttp(monitor: Fields): Fields {
  const signIn = monitor["basicAuth"] as Fields | null;
  const oauth2 = monitor["oauth2"] as Fields | null;
  const { bearerToken } = monitor;
  const authorization =
    bearerToken == null ? {} : { Authorization: `Bearer ${toText(bearerToken)}` };
  return {
    url: monitor["url"],
    method: monitor["method"],
    headers: JSON.stringify({ ...authorization, ...(monitor["headers"] as Fields) }),
    body: monitor["body"],
    httpBodyEncoding: "json",
    accepted_statuscodes: monitor["expectedStatus"],
    maxredirects: monitor["followRedirects"] === false ? 0 : 10,
    ignoreTls: monitor["verifyTls"] === false,
    expiryNotification: monitor["certificateExpiryDays"] != null,
    keyword: monitor["keyword"] ?? monitor["keywordAbsent"],
    invertKeyword: monitor["keywordAbsent"] != null,
    jsonPath: monitor["jsonPath"],
    expectedValue: monitor["jsonEquals"],
    authMethod: signIn != null ? "basic" : oauth2 != null ? "oauth2-cc" : "",
    basic_auth_user: signIn?.["username"] ?? null,
    basic_auth_pass: signIn?.["password"] ?? null,
    oauth_auth_method: "client_secret_basic",
    oauth_token_url: oauth2?.["tokenUrl"] ?? null,
    oauth_client_id: oauth2?.["clientId"] ?? null,
    oauth_client_secret: oauth2?.["clientSecret"] ?? null,
    oauth_scopes: oauth2?.["scope"] ?? null,
  };
}

function buildDatabase(scheme: string, monitor: Fields): Fields {
  const { host, port, username, password, database, tls, query, authDatabase } = monitor;
  const encode = (value: unknown) => encodeURIComponent(toText(value));
  const user =
    username == null && password == null ? "" : `${encode(username)}:${encode(password)}@`;
  const options =
    tls === true && scheme !== "rediss"
      ? `?${scheme === "postgres" ? "sslmode=verify-full" : "ssl=true"}`
      : "";
  const path = encode(scheme === "mongodb" && authDatabase !== "admin" ? authDatabase : database);
  return {
    databaseConnectionString: `${scheme}://${user}${formatHost(host)}:${String(port)}/${path}${options}`,
    databaseQuery: query ?? null,
    ignoreTls: monitor["verifyTls"] === false,
  };
}

/** Fields that the import requires of every entry, groups included. */
export const requiredFields: Fields = {
  description: "",
  interval: 60,
  timeout: 48,
  maxretries: 0,
  retryInterval: 60,
  resendInterval: 0,
  upsideDown: false,
  active: 0,
  weight: 2000,
  url: "https://",
  method: "GET",
  hostname: null,
  port: null,
  body: null,
  headers: null,
  authMethod: null,
  basic_auth_user: null,
  basic_auth_pass: null,
  keyword: null,
  invertKeyword: false,
  ignoreTls: false,
  maxredirects: 10,
  accepted_statuscodes: ["200-299"],
  dns_resolve_type: "A",
  dns_resolve_server: "1.1.1.1",
  notificationIDList: {},
  proxy_id: null,
  tags: [],
};

/** Fields that a check needs and the import does not read. */
const unread =
  "jsonPath mqttTopic databaseConnectionString kafkaProducerBrokers radiusSecret game grpcUrl oauth_token_url".split(
    " ",
  );
const unreadNote =
  "Paused there: Uptime Kuma does not read all settings of this check from a backup. Enter them there.";

/** Converts a monitor to an entry of `monitorList`; null if Uptime Kuma has no such check. */
export function toKuma({ fields }: OurMonitor): ForeignEntry | null {
  const { type, name, description, interval, timeout, retries, retryInterval } = fields;
  const kumaType =
    fields["keywordAbsent"] != null
      ? "keyword"
      : type === "smtp"
        ? "port"
        : kumaTypeOf(String(type), fields);
  const typeFields = types[String(type)]?.(fields);
  if (typeFields === undefined || kumaType === null) return null;
  const reminder = Number(fields["reminderInterval"] ?? 0);
  const lacks = unread.some((name) => typeFields[name] != null);
  return {
    section: "monitorList",
    entry: {
      ...requiredFields,
      type: kumaType,
      name,
      description,
      interval,
      timeout,
      maxretries: retries,
      retryInterval,
      resendInterval: Math.round(reminder / Number(interval)),
      upsideDown: fields["inverted"],
      ...typeFields,
      active: fields["paused"] === true || lacks ? 0 : 1,
    },
    notes: lacks ? [unreadNote] : [],
  };
}

/** Imports a monitor again, so that the report can compare it; null if Uptime Kuma can't check it like this. */
export async function readKuma(
  { entry }: ForeignEntry,
  { fields }: OurMonitor,
): Promise<Fields | null> {
  const empty = new Map<number, Fields>();
  const installation = { proxies: empty, dockerHosts: empty, browsers: empty };
  const converted = convertMonitor(toColumns(entry), installation);
  // Tags are in lists of their own. A note reports why a monitor is paused.
  const { tags, paused, description } = fields;
  // Uptime Kuma accepts a longer silence than a monitor without a schedule.
  if (fields["type"] === "push") return { ...converted.fields, tags, paused, description };
  return converted.isIncomplete ? null : { ...converted.fields, tags, paused };
}
