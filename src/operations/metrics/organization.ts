/** Renders the metrics of one organization for Prometheus. */
import { and, eq, gt, sql } from "drizzle-orm";
import { version } from "../../core/assets.ts";
import type { Clock } from "../../core/time/clock.ts";
import { createFamily, type Family, formatMetrics, type Sample } from "../../core/metrics.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import { createOrganizationTurns } from "../../events/organization-turns.ts";
import { hoursOf } from "../../dashboard/recent-sums.ts";
import { matchGroups } from "../../database/group-limit.ts";
import type { Store } from "../../database/store.ts";
import { incidentCounts } from "../../database/tables/incidents.ts";
import { monitorGroups, monitors, monitorStates } from "../../database/tables/monitoring.ts";
import { organizations } from "../../database/tables/organizations.ts";
import {
  adjustToPresent,
  type ShownStatus,
  determineShownStatus,
} from "../../monitoring/monitors/shown-status-rules.ts";
import type { NumberRule } from "../../monitoring/monitors/numbers-schema.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import { buildStorageFamily } from "./storage.ts";
import {
  currentStatus,
  groupReference,
  monitorReference,
} from "../../monitoring/monitors/store.ts";

export type Caller = {
  store: Store;
  clock: Clock;
  organizationId: string;
  /** Monitor groups to which the API key is limited; null for all monitors. */
  groupIds: readonly string[] | null;
};

/**
 * Renders metrics of one organization in Prometheus' text format 0.0.4. Process metrics are
 * included only if it is the only organization, because they would reveal the load of others.
 */
export const renderMetrics = (caller: Caller): Promise<string> =>
  runInMetricsTurn(caller, () => createMetrics(caller));

export const runInMetricsTurn = createOrganizationTurns();

async function createMetrics(caller: Caller): Promise<string> {
  const { store, organizationId, groupIds } = caller;
  // The counts include all incidents.
  const incidents =
    groupIds !== null
      ? []
      : await store.db
          .select({
            status: incidentCounts.status,
            severity: incidentCounts.severity,
            value: incidentCounts.count,
          })
          .from(incidentCounts)
          .where(eq(incidentCounts.organizationId, organizationId));
  const rows = await readShownMonitors(caller);
  const isOnlyOrganization = groupIds === null && (await store.db.$count(organizations)) === 1;
  return formatMetrics([
    createFamily("signalbox_build_info", "gauge", "Version of the executable.", [
      { labels: { version }, value: 1 },
    ]),
    ...(groupIds === null
      ? [
          createFamily(
            "signalbox_incidents",
            "gauge",
            "Incidents by status and severity.",
            incidents.map(({ value, ...labels }) => ({ labels, value })),
          ),
        ]
      : []),
    createFamily(
      "signalbox_monitors",
      "gauge",
      "Monitors by type and status.",
      [...Map.groupBy(rows, ({ type, status }) => `${type} ${status}`).values()].flatMap(
        (portion) =>
          portion.slice(0, 1).map(({ type, status }) => ({
            labels: { type, status },
            value: portion.length,
          })),
      ),
    ),
    buildStorageFamily(store),
    ...(await buildMonitorFamilies(caller, rows)),
    ...(isOnlyOrganization ? buildProcessFamilies() : []),
  ]);
}

/** Monitors read per event-loop turn. */
const monitorsPerQuery = 1_000;

async function readMonitors({ store, organizationId, groupIds }: Caller) {
  const readAfter = async (id: string) =>
    store.db
      .select({
        id: monitors.id,
        monitor: monitors.name,
        type: monitors.type,
        group: monitorGroups.name,
        status: sql<MonitorStatus>`${currentStatus}`,
        lastMessage: monitorStates.lastMessage,
        notJudgedSince: monitorStates.notJudgedSince,
        key: monitorStates.key,
        latencyMs: monitorStates.latencyMs,
        number: monitorStates.number,
        numberRule: sql<string | null>`${monitors.settings} ->> '$.number'`,
        certificateExpiresAt: monitorStates.certificateExpiresAt,
        createdAt: monitors.createdAt,
      })
      .from(monitors)
      .innerJoin(monitorStates, monitorReference)
      .leftJoin(monitorGroups, groupReference)
      .where(
        and(
          eq(monitors.organizationId, organizationId),
          gt(monitors.id, id),
          matchGroups({ groupIds }, sql`${monitors.groupId}`),
        ),
      )
      .orderBy(monitors.id)
      .limit(monitorsPerQuery);
  const rows: Awaited<ReturnType<typeof readAfter>> = [];
  for (;;) {
    const portion = await readAfter(rows.at(-1)?.id ?? "");
    for (const row of portion) rows.push(row);
    if (portion.length < monitorsPerQuery) break;
    await yieldToEventLoop();
  }
  return rows;
}

/** Lists the monitors with their present states. */
export async function readShownMonitors(caller: Caller): Promise<MonitorRow[]> {
  const failingSince = caller.store.writes.getFailingSince();
  return (await readMonitors(caller)).map((stored) => {
    const row = adjustToPresent(stored, failingSince);
    return { ...row, status: determineShownStatus(row) };
  });
}

export type MonitorRow = Omit<Awaited<ReturnType<typeof readMonitors>>[number], "status"> & {
  status: ShownStatus;
};

/** Creates the metrics of each monitor. Unknown values and values from a pause are omitted. */
async function buildMonitorFamilies(
  { store, clock }: Caller,
  rows: readonly MonitorRow[],
): Promise<Family[]> {
  const dayOf = await hoursOf(store)(
    rows.map(({ key }) => key),
    clock(),
  );
  const toSeconds = (text: string | null) => (text === null ? null : Date.parse(text) / 1_000);
  const buildFamily = (
    name: string,
    help: string,
    valueOf: (row: MonitorRow) => number | null,
    hasStatus = false,
  ) =>
    createFamily(
      `signalbox_monitor_${name}`,
      "gauge",
      help,
      createSamples(rows, valueOf, hasStatus),
    );
  return [
    buildFamily("status", "State of each monitor, as the label status.", () => 1, true),
    buildFamily(
      "up",
      "1 while a monitor is up or degraded, 0 while it is down; absent where it can't be judged.",
      ({ status }) => upOf[status] ?? null,
    ),
    buildFamily(
      "judged",
      "0 while a monitor is not judged because of the appliance's own trouble.",
      (row) => (row.status === "paused" ? null : Number(row.notJudgedSince === null)),
    ),
    buildFamily("latency_seconds", "Latency of the last check.", ({ latencyMs, status }) =>
      latencyMs === null || status === "unknown" ? null : latencyMs / 1_000,
    ),
    buildFamily(
      "uptime_ratio",
      "Uptime of the last 24 hours in 0..1.",
      ({ key }) => dayOf(key).uptime24h,
    ),
    buildFamily(
      "certificate_expiry_timestamp_seconds",
      "Unix time at which the certificate expires.",
      ({ certificateExpiresAt }) => toSeconds(certificateExpiresAt),
    ),
    createFamily(
      "signalbox_monitor_number",
      "gauge",
      "Number of each monitor that has one, at the last check.",
      createNumberSamples(rows),
    ),
  ];
}

/** Yields samples while they are written, because each monitor has five. */
function* createSamples(
  rows: readonly MonitorRow[],
  valueOf: (row: MonitorRow) => number | null,
  hasStatus: boolean,
): Generator<Sample> {
  for (const row of rows) {
    const { id, monitor, type, group, status } = row;
    const value = valueOf(row);
    const labels = { id, monitor, type, group: group ?? "", ...(hasStatus && { status }) };
    if (value !== null) yield { labels, value };
  }
}

function* createNumberSamples(rows: readonly MonitorRow[]): Generator<Sample> {
  for (const { id, monitor, type, group, status, number, numberRule } of rows) {
    const isKnown = status !== "unknown" && status !== "paused";
    if (number === null || numberRule === null || !isKnown) continue;
    const { name, unit } = JSON.parse(numberRule) as NumberRule;
    const labels = { id, monitor, type, group: group ?? "", number: name, unit: unit ?? "" };
    yield { labels, value: number };
  }
}

const upOf: Record<string, number> = { up: 1, degraded: 1, down: 0 };

function buildProcessFamilies(): Family[] {
  return [
    createFamily(
      "process_resident_memory_bytes",
      "gauge",
      "Memory in use.",
      process.memoryUsage.rss(),
    ),
    createFamily(
      "process_start_time_seconds",
      "gauge",
      "Unix time of the start of the process.",
      Math.round(performance.timeOrigin / 1000),
    ),
  ];
}
