/** Renders monitors as Uptime Kuma's metrics, for Home Assistant and dashboards that read those. */
import { createFamily, formatMetrics, type Sample } from "../../core/metrics.ts";
import { sha256 } from "../../core/ids.ts";
import { dayMs } from "../../core/time/clock.ts";
import { readRecent } from "../../dashboard/recent-sums.ts";
import { kumaTypeOf } from "../../imports/kuma/type-names.ts";
import type { ShownStatus } from "../../monitoring/monitors/shown-status-rules.ts";
import { findNumbers } from "../../status-pages/formats/uptime-kuma.ts";
import {
  type Caller,
  type MonitorRow,
  readShownMonitors,
  runInMetricsTurn,
} from "./organization.ts";

/** Uptime Kuma's numbers of states. Paused monitors have no state there. */
const statusNumbers: Record<ShownStatus, number | null> = {
  up: 1,
  degraded: 1,
  down: 0,
  pending: 2,
  unknown: 2,
  maintenance: 3,
  paused: null,
};

type Target = { id: string } & Record<
  "url" | "host" | "port" | "keyword" | "jsonPath",
  string | number | null
>;

const targetNames = ["url", "host", "port", "keyword", "jsonPath"];
const targetsSql = `select id, ${targetNames.map((name) => `settings ->> '${name}' as "${name}"`).join(", ")}
  from monitors where organization_id = ?`;

/**
 * Renders the metrics of one organization with the names and labels of Uptime Kuma 2.
 * https://github.com/louislam/uptime-kuma/blob/master/server/prometheus.js
 */
export const renderKumaMetrics = (caller: Caller): Promise<string> =>
  runInMetricsTurn(caller, () => createKumaMetrics(caller));

async function createKumaMetrics(caller: Caller): Promise<string> {
  const { store, organizationId, clock } = caller;
  const now = clock();
  const rows = await readShownMonitors(caller);
  const numbers = await findNumbers(
    { store, organizationId },
    rows.map(({ id }) => id),
  );
  const recentOf = await readRecent(
    store,
    rows.map(({ key }) => key),
    now,
  );
  const targets = new Map(
    (await store.query<Target>(targetsSql, [organizationId])).map((target) => [target.id, target]),
  );
  const labeled = rows.map((row) => ({
    row,
    labels: buildLabels(row, targets.get(row.id), numbers.get(row.id)),
  }));
  const build = (name: string, help: string, valueOf: (row: MonitorRow) => number | null) =>
    createFamily(
      name,
      "gauge",
      help,
      labeled.flatMap(({ row, labels }): Sample[] => {
        const value = row.status === "paused" ? null : valueOf(row);
        return value === null ? [] : [{ labels, value }];
      }),
    );
  return formatMetrics([
    build(
      "monitor_cert_days_remaining",
      "The number of days remaining until the certificate expires",
      ({ certificateExpiresAt }) =>
        certificateExpiresAt === null
          ? null
          : Math.floor((Date.parse(certificateExpiresAt) - now) / dayMs),
    ),
    build(
      "monitor_cert_is_valid",
      "Is the certificate still valid? (1 = Yes, 0= No)",
      ({ certificateExpiresAt }) =>
        certificateExpiresAt === null ? null : Number(Date.parse(certificateExpiresAt) > now),
    ),
    buildUptimeFamily(labeled, recentOf),
    build("monitor_response_time", "Monitor Response Time (ms)", ({ latencyMs, status }) =>
      status === "unknown" ? -1 : (latencyMs ?? -1),
    ),
    build(
      "monitor_status",
      "Monitor Status (1 = UP, 0= DOWN, 2= PENDING, 3= MAINTENANCE)",
      ({ status }) => statusNumbers[status],
    ),
  ]);
}

type Labeled = { row: MonitorRow; labels: Readonly<Record<string, string>> };
type RecentOf = Awaited<ReturnType<typeof readRecent>>;

const buildUptimeFamily = (labeled: readonly Labeled[], recentOf: RecentOf) =>
  createFamily(
    "monitor_uptime_ratio",
    "gauge",
    "Uptime ratio calculated over sliding window specified by the 'window' label. (0.0 - 1.0)",
    labeled.flatMap(({ row: { key, createdAt, status }, labels }): Sample[] => {
      const { uptime24h, uptime30d } = recentOf(key, createdAt);
      return Object.entries({ "1d": uptime24h, "30d": uptime30d }).flatMap(([window, value]) =>
        value === null || status === "paused" ? [] : [{ labels: { ...labels, window }, value }],
      );
    }),
  );

/** Missing values are `null`, as Uptime Kuma's library writes them. */
const buildLabels = (
  { id, monitor, type }: MonitorRow,
  target: Target | undefined,
  number: number | string | undefined,
) => ({
  // Home Assistant parses the id as an integer.
  monitor_id: String(typeof number === "number" ? number : hashToNumber(id)),
  monitor_name: monitor,
  monitor_type: kumaTypeOf(type, target ?? {}) ?? type,
  monitor_url: String(target?.url ?? null),
  monitor_hostname: String(target?.host ?? null),
  monitor_port: String(target?.port ?? null),
});

/** A stable number for a monitor without one from an import: 48 bits, so that two are practically never equal. */
const hashToNumber = (id: string) => Number.parseInt(sha256(id).slice(0, 12), 16);
