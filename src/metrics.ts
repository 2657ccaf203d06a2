import { eq, sql } from "drizzle-orm";
import { version } from "./assets.ts";
import type { Store } from "./database/store.ts";
import { incidentCounts, monitors, monitorStates } from "./database/tables.ts";
import { currentStatus, ofMonitor } from "./monitors/store.ts";

type Sample = { labels?: Record<string, string>; value: number };

/** What one organization has and how the process does, in Prometheus' text format 0.0.4. */
export async function metricsOf(store: Store, organizationId: string): Promise<string> {
  const incidents = await store.db
    .select({
      status: incidentCounts.status,
      severity: incidentCounts.severity,
      value: incidentCounts.count,
    })
    .from(incidentCounts)
    .where(eq(incidentCounts.organizationId, organizationId));
  const watched = await store.db
    .select({ type: monitors.type, status: currentStatus, value: sql<number>`count(*)` })
    .from(monitors)
    .innerJoin(monitorStates, ofMonitor)
    .where(eq(monitors.organizationId, organizationId))
    .groupBy(monitors.type, currentStatus);
  return [
    family("signalbox_build_info", "Version of the executable.", [
      { labels: { version }, value: 1 },
    ]),
    family(
      "signalbox_incidents",
      "Incidents by status and severity.",
      incidents.map(({ value, ...labels }) => ({ labels, value })),
    ),
    family(
      "signalbox_monitors",
      "Monitors by type and status.",
      watched.map(({ value, ...labels }) => ({ labels, value })),
    ),
    family("process_resident_memory_bytes", "Memory in use.", [
      { value: process.memoryUsage.rss() },
    ]),
    family("process_start_time_seconds", "Start of the process in Unix time.", [
      { value: Math.round(performance.timeOrigin / 1000) },
    ]),
  ].join("");
}

function family(name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels = {}, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`;
}
