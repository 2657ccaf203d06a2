import type { MonitorType } from "./kinds-schema.ts";

/** What people call a value, and how it is shown. */
type Detail = {
  label: string;
  unit?: string;
  /** An RFC 3339 time, which something ends at. */
  ends?: true;
};

/**
 * What a check of a type finds out beside its result: its names in `details` of the REST API, and how the
 * monitor's page shows them, in this order.
 */
export const detailsOfTypes = {
  dns: { records: { label: "Records" } },
  docker: {
    state: { label: "Container" },
    health: { label: "Health" },
    containers: { label: "Containers" },
    running: { label: "Running" },
    unhealthy: { label: "Unhealthy" },
  },
  domain: { expiresAt: { label: "Registered until", ends: true } },
  kafka: { brokers: { label: "Brokers" } },
  ntp: { offsetMs: { label: "Clock offset", unit: "ms" }, stratum: { label: "Stratum" } },
  snmp: { value: { label: "Value" } },
  ssh: { fingerprint: { label: "Host key" }, server: { label: "Server" } },
  systemd: { state: { label: "Unit" } },
} as const satisfies Partial<Record<MonitorType, Record<string, Detail>>>;

type Declared = typeof detailsOfTypes;
export type DetailsOf<T extends MonitorType> = Partial<
  Record<T extends keyof Declared ? keyof Declared[T] : never, string | number>
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
