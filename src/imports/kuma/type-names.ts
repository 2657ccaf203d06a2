import type { MonitorType } from "../../monitoring/monitors/kinds-schema.ts";

/** Uptime Kuma's name of each monitor type; null for types that it does not have. */
const kumaTypeNames: Record<MonitorType, string | null> = {
  http: "http",
  tcp: "port",
  ping: "ping",
  dns: "dns",
  tls: "port",
  push: "push",
  smtp: "smtp",
  imap: "port",
  pop3: "port",
  ssh: "port",
  mqtt: "mqtt",
  redis: "redis",
  postgres: "postgres",
  mysql: "mysql",
  mongodb: "mongodb",
  mssql: "sqlserver",
  kafka: "kafka-producer",
  rabbitmq: "rabbitmq",
  ldap: "port",
  sip: "sip-options",
  websocket: "websocket-upgrade",
  grpc: "grpc-keyword",
  docker: "docker",
  snmp: "snmp",
  radius: "radius",
  ntp: "ntp",
  domain: null,
  game: "gamedig",
  command: null,
  systemd: "system-service",
  composite: null,
  statuspage: null,
  manual: "manual",
  browser: "real-browser",
};

/** Returns Uptime Kuma's type of a monitor, which it distinguishes by the assertion; null without an equivalent. */
export function kumaTypeOf(type: string, settings: { keyword?: unknown; jsonPath?: unknown }) {
  if (type === "http" && settings.keyword != null) return "keyword";
  if (type === "http" && settings.jsonPath != null) return "json-query";
  return kumaTypeNames[type as MonitorType];
}
