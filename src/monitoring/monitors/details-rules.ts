/** Declares the details that a check reports in addition to its result, such as a version or packet loss. */
import { t } from "../../core/text/texts.ts";
import type { MonitorType } from "./kinds-schema.ts";

/** Label and display format of a value. */
type Detail = {
  label: string;
  unit?: string;
  /** Whether the value is an RFC 3339 time at which something expires. */
  ends?: true;
};

/** Details of a connection that can use TLS. */
const tlsDetails = { tlsVersion: { label: "TLS" }, issuer: { label: t("Issuer") } };
const version = { label: t("Version") };

/** Details per monitor type, in the order of display. Their names are the keys of `details` in the REST API. */
export const detailsOfTypes = {
  http: tlsDetails,
  ping: {
    lossPercent: { label: t("Packet loss"), unit: "%" },
    slowestMs: { label: t("Slowest"), unit: "ms" },
  },
  dns: { records: { label: t("Records") }, dnssec: { label: "DNSSEC" } },
  tls: tlsDetails,
  smtp: { greeting: { label: t("Greeting") }, ...tlsDetails },
  imap: { greeting: { label: t("Greeting") }, ...tlsDetails },
  pop3: { greeting: { label: t("Greeting") }, ...tlsDetails },
  mqtt: { topic: { label: t("Topic") }, message: { label: t("Message") }, ...tlsDetails },
  redis: { version, role: { label: t("Role") }, mode: { label: t("Mode") }, ...tlsDetails },
  postgres: { version, role: { label: t("Role") }, ...tlsDetails },
  mysql: { version, ...tlsDetails },
  mongodb: {
    version,
    role: { label: t("Role") },
    replicaSet: { label: t("Replica set") },
    primary: { label: t("Primary") },
    ...tlsDetails,
  },
  mssql: { version },
  websocket: {
    subprotocol: { label: t("Subprotocol") },
    message: { label: t("Message") },
    ...tlsDetails,
  },
  grpc: { serving: { label: t("Health") }, ...tlsDetails },
  docker: {
    state: { label: t("Container") },
    health: { label: t("Health") },
    containers: { label: t("Containers") },
    running: { label: t("Running") },
    unhealthy: { label: t("Unhealthy") },
    ...tlsDetails,
  },
  statuspage: { page: { label: t("Page") }, incident: { label: t("Incident") } },
  domain: { expiresAt: { label: t("Registered until"), ends: true } },
  kafka: { brokers: { label: t("Brokers") }, ...tlsDetails },
  rabbitmq: {
    version,
    messages: { label: t("Messages") },
    consumers: { label: t("Consumers") },
    ...tlsDetails,
  },
  ldap: { identity: { label: t("Signed in as") }, ...tlsDetails },
  sip: { server: { label: t("Server") }, ...tlsDetails },
  ntp: { offsetMs: { label: t("Clock offset"), unit: "ms" }, stratum: { label: t("Stratum") } },
  radius: { reply: { label: t("Reply") } },
  game: {
    name: { label: t("Name") },
    players: { label: t("Players") },
    maxPlayers: { label: t("Player limit") },
    map: { label: t("Map") },
    version,
  },
  command: { output: { label: t("Output") } },
  browser: { title: { label: t("Title") }, loadMs: { label: t("Loaded in"), unit: "ms" } },
  snmp: { value: { label: t("Value") } },
  ssh: { fingerprint: { label: t("Host key") }, server: { label: t("Server") } },
  systemd: { state: { label: t("Unit") } },
} as const satisfies Partial<Record<MonitorType, Record<string, Detail>>>;

type DetailsOfTypes = typeof detailsOfTypes;
/** Details that a check found. Null and undefined values are omitted later. */
export type FoundDetails = Readonly<Partial<Record<string, string | number | null>>>;
export type DetailsOf<T extends MonitorType> = Partial<
  Record<T extends keyof DetailsOfTypes ? keyof DetailsOfTypes[T] : never, string | number | null>
>;

/** Values by declared name. */
export type Details = Readonly<Partial<Record<string, string | number>>>;

/** Returns the declared details with their values. Stored details can be older than the declaration. */
export function listShownDetails(
  type: string,
  details: Details,
): (Detail & { value: string | number })[] {
  const declared: Partial<Record<string, Record<string, Detail>>> = detailsOfTypes;
  return Object.entries(declared[type] ?? {}).flatMap(([name, detail]) => {
    const value = details[name];
    return value === undefined ? [] : [{ ...detail, value }];
  });
}
