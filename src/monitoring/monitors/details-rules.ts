/** Declares the details that a check reports in addition to its result, such as a version or packet loss. */
import type { MonitorType } from "./kinds-schema.ts";

/** Label and display format of a value. */
type Detail = {
  label: string;
  unit?: string;
  /** Whether the value is an RFC 3339 time at which something expires. */
  ends?: true;
};

/** Details of a connection that can use TLS. */
const secured = { tlsVersion: { label: "TLS" }, issuer: { label: "Issuer" } };
const version = { label: "Version" };

/** Details per monitor type, in the order of display. Their names are the keys of `details` in the REST API. */
export const detailsOfTypes = {
  http: secured,
  ping: {
    lossPercent: { label: "Packet loss", unit: "%" },
    slowestMs: { label: "Slowest", unit: "ms" },
  },
  dns: { records: { label: "Records" }, dnssec: { label: "DNSSEC" } },
  tls: secured,
  smtp: { greeting: { label: "Greeting" }, ...secured },
  imap: { greeting: { label: "Greeting" }, ...secured },
  pop3: { greeting: { label: "Greeting" }, ...secured },
  mqtt: { topic: { label: "Topic" }, message: { label: "Message" }, ...secured },
  redis: { version, role: { label: "Role" }, mode: { label: "Mode" }, ...secured },
  postgres: { version, role: { label: "Role" }, ...secured },
  mysql: { version, ...secured },
  mongodb: {
    version,
    role: { label: "Role" },
    replicaSet: { label: "Replica set" },
    primary: { label: "Primary" },
    ...secured,
  },
  mssql: { version },
  websocket: { subprotocol: { label: "Subprotocol" }, message: { label: "Message" }, ...secured },
  grpc: { serving: { label: "Health" }, ...secured },
  docker: {
    state: { label: "Container" },
    health: { label: "Health" },
    containers: { label: "Containers" },
    running: { label: "Running" },
    unhealthy: { label: "Unhealthy" },
    ...secured,
  },
  statuspage: { page: { label: "Page" }, incident: { label: "Incident" } },
  domain: { expiresAt: { label: "Registered until", ends: true } },
  kafka: { brokers: { label: "Brokers" }, ...secured },
  rabbitmq: {
    version,
    messages: { label: "Messages" },
    consumers: { label: "Consumers" },
    ...secured,
  },
  ldap: { identity: { label: "Signed in as" }, ...secured },
  sip: { server: { label: "Server" }, ...secured },
  ntp: { offsetMs: { label: "Clock offset", unit: "ms" }, stratum: { label: "Stratum" } },
  radius: { reply: { label: "Reply" } },
  game: {
    name: { label: "Name" },
    players: { label: "Players" },
    maxPlayers: { label: "Player limit" },
    map: { label: "Map" },
    version,
  },
  command: { output: { label: "Output" } },
  browser: { title: { label: "Title" }, loadMs: { label: "Loaded in", unit: "ms" } },
  snmp: { value: { label: "Value" } },
  ssh: { fingerprint: { label: "Host key" }, server: { label: "Server" } },
  systemd: { state: { label: "Unit" } },
} as const satisfies Partial<Record<MonitorType, Record<string, Detail>>>;

type Declared = typeof detailsOfTypes;
/** Details that a check found. Null and undefined values are omitted later. */
export type FoundDetails = Readonly<Partial<Record<string, string | number | null>>>;
export type DetailsOf<T extends MonitorType> = Partial<
  Record<T extends keyof Declared ? keyof Declared[T] : never, string | number | null>
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
