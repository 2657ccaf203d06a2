import type { MonitorType } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { t } from "../../language/text.ts";

/** Families of monitor types, in the order of the lists. */
export const families = [
  t("Web"),
  t("Network"),
  t("Mail"),
  t("Databases and queues"),
  t("Devices and machines"),
  t("Jobs"),
  t("Other monitors"),
  t("People"),
] as const;

const familyByType: Record<MonitorType, (typeof families)[number]> = {
  http: t("Web"),
  browser: t("Web"),
  websocket: t("Web"),
  grpc: t("Web"),
  tls: t("Web"),
  domain: t("Web"),
  statuspage: t("Web"),
  ping: t("Network"),
  tcp: t("Network"),
  dns: t("Network"),
  ntp: t("Network"),
  radius: t("Network"),
  ldap: t("Network"),
  sip: t("Network"),
  ssh: t("Network"),
  smtp: t("Mail"),
  imap: t("Mail"),
  pop3: t("Mail"),
  postgres: t("Databases and queues"),
  mysql: t("Databases and queues"),
  mssql: t("Databases and queues"),
  mongodb: t("Databases and queues"),
  redis: t("Databases and queues"),
  kafka: t("Databases and queues"),
  rabbitmq: t("Databases and queues"),
  mqtt: t("Databases and queues"),
  snmp: t("Devices and machines"),
  docker: t("Devices and machines"),
  systemd: t("Devices and machines"),
  game: t("Devices and machines"),
  push: t("Jobs"),
  command: t("Jobs"),
  composite: t("Other monitors"),
  manual: t("People"),
};

/** The types in the order of their families, and within a family in the order above. */
export const orderedTypes = Object.keys(familyByType) as MonitorType[];

export const familyOf = (type: string): string => familyByType[type as MonitorType] ?? t("Other");
