import type { MonitorType } from "../../../src/monitoring/monitors/kinds-schema.ts";

/** Families of monitor types, in the order of the lists. */
export const families = [
  "Web",
  "Network",
  "Mail",
  "Databases and queues",
  "Devices and machines",
  "Jobs",
  "Other monitors",
  "People",
] as const;

const familyByType: Record<MonitorType, (typeof families)[number]> = {
  http: "Web",
  browser: "Web",
  websocket: "Web",
  grpc: "Web",
  tls: "Web",
  domain: "Web",
  statuspage: "Web",
  ping: "Network",
  tcp: "Network",
  dns: "Network",
  ntp: "Network",
  radius: "Network",
  ldap: "Network",
  sip: "Network",
  ssh: "Network",
  smtp: "Mail",
  imap: "Mail",
  pop3: "Mail",
  postgres: "Databases and queues",
  mysql: "Databases and queues",
  mssql: "Databases and queues",
  mongodb: "Databases and queues",
  redis: "Databases and queues",
  kafka: "Databases and queues",
  rabbitmq: "Databases and queues",
  mqtt: "Databases and queues",
  snmp: "Devices and machines",
  docker: "Devices and machines",
  systemd: "Devices and machines",
  game: "Devices and machines",
  push: "Jobs",
  command: "Jobs",
  composite: "Other monitors",
  manual: "People",
};

/** The types in the order of their families, and within a family in the order above. */
export const orderedTypes = Object.keys(familyByType) as MonitorType[];

export const familyOf = (type: string): string => familyByType[type as MonitorType] ?? "Other";
