import type { MonitorType } from "./kinds-schema.ts";

/** What people call a value, and how it is shown. */
type Detail = {
  label: string;
  unit?: string;
  /** An RFC 3339 time, which something ends at. */
  ends?: true;
};

/** Of a type whose connection may be secured. */
const secured = { tlsVersion: { label: "TLS" }, issuer: { label: "Issuer" } };
const version = { label: "Version" };

/**
 * What a check of a type finds out beside its result: its names in `details` of the REST API, and how the
 * monitor's page shows them, in this order.
 */
export const detailsOfTypes = {
  http: secured,
  ping: {
    lossPercent: { label: "Packet loss", unit: "%" },
    slowestMs: { label: "Slowest", unit: "ms" },
  },
  dns: { records: { label: "Records" } },
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
  domain: { expiresAt: { label: "Registered until", ends: true } },
  kafka: { brokers: { label: "Brokers" }, ...secured },
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
/** What a check has found out; null and nothing at all are left out. */
export type FoundDetails = Readonly<Partial<Record<string, string | number | null>>>;
export type DetailsOf<T extends MonitorType> = Partial<
  Record<T extends keyof Declared ? keyof Declared[T] : never, string | number | null>
>;

/** Values by names that the type has declared. */
export type Details = Readonly<Partial<Record<string, string | number>>>;

/** Those that the type declares, of values that may be older than a change of it. */
export function shownDetails(
  type: string,
  details: Details,
): (Detail & { value: string | number })[] {
  const declared: Partial<Record<string, Record<string, Detail>>> = detailsOfTypes;
  return Object.entries(declared[type] ?? {}).flatMap(([name, detail]) => {
    const value = details[name];
    return value === undefined ? [] : [{ ...detail, value }];
  });
}
