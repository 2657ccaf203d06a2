import type { MonitorType } from "../../../src/monitoring/monitors/kinds-schema.ts";

const names: Record<MonitorType, string> = {
  http: "HTTP",
  tcp: "TCP port",
  ping: "Ping",
  dns: "DNS",
  tls: "Certificate",
  push: "Push",
  smtp: "SMTP",
  imap: "IMAP",
  pop3: "POP3",
  ssh: "SSH",
  mqtt: "MQTT",
  redis: "Redis",
  postgres: "PostgreSQL",
  mysql: "MySQL, MariaDB",
  mongodb: "MongoDB",
  mssql: "SQL Server",
  kafka: "Kafka",
  websocket: "WebSocket",
  grpc: "gRPC",
  docker: "Docker",
  snmp: "SNMP",
  radius: "RADIUS",
  ntp: "NTP",
  domain: "Domain",
  game: "Game server",
  command: "Command",
  systemd: "systemd unit",
  browser: "Browser",
};

/** What people call a type of monitor. */
export const typeName = (type: string): string => names[type as MonitorType] ?? type;
