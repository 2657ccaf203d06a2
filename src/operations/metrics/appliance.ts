/** Renders the metrics of the whole appliance for Prometheus. */
import { readFileSync, statfsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { buildInfo, version } from "../../core/assets.ts";
import type { FairQueue } from "../../core/collections/fair-queue.ts";
import { type Collector, createFamily, type Family, formatMetrics } from "../../core/metrics.ts";
import { countWaitingPasswords } from "../../core/security/passwords.ts";
import { getDataFiles } from "../../database/file/data-files.ts";
import type { Store } from "../../database/store.ts";
import { buildStorageFamily } from "./storage.ts";

type Dependencies = {
  store: Store;
  /** The data directory; null for a database in memory. */
  directory: string | null;
  pageQueue: FairQueue;
  /** Components with their own metrics. */
  collectors: readonly Collector[];
};

/**
 * Renders metrics of the whole appliance in Prometheus' text format. They are sums over all
 * organizations, without names.
 */
export async function renderApplianceMetrics({
  store,
  directory,
  pageQueue,
  collectors,
}: Dependencies): Promise<string> {
  const parts: readonly Collector[] = [
    { metrics: () => collectOrganizationMetrics(store) },
    ...collectors,
    { metrics: () => collectDiskMetrics(directory) },
    { metrics: collectProcessMetrics },
  ];
  // A failing part, such as an unreadable database, must not hide the other metrics.
  const collected = await Promise.allSettled(parts.map(async (part) => part.metrics()));
  return formatMetrics([
    createFamily(
      "signalbox_build_info",
      "gauge",
      "Version of Signalbox, its commit, and the version of Bun.",
      [{ labels: { version, commit: buildInfo.commit ?? "", bun: Bun.version }, value: 1 }],
    ),
    createFamily(
      "signalbox_collectors_failed",
      "gauge",
      "Groups of metrics that can't be read at the moment, usually because the database can't be read.",
      collected.filter(({ status }) => status === "rejected").length,
    ),
    buildStorageFamily(store),
    ...collected.flatMap((one) => (one.status === "fulfilled" ? one.value : [])),
    createFamily(
      "signalbox_queue_waiting",
      "gauge",
      "Length of queues: status pages without recent requests, and passwords to hash.",
      [
        { labels: { queue: "pages" }, value: pageQueue.waiting() },
        { labels: { queue: "passwords" }, value: countWaitingPasswords() },
      ],
    ),
  ]);
}

async function collectOrganizationMetrics(store: Store): Promise<Family[]> {
  const [organizations] = await store.query<{ count: number }>(
    "select count(*) as count from organizations",
    [],
  );
  const incidents = await store.query<{ status: string; severity: string; count: number }>(
    "select status, severity, sum(count) as count from incident_counts group by status, severity",
    [],
  );
  return [
    createFamily(
      "signalbox_organizations",
      "gauge",
      "Organizations on this appliance.",
      organizations?.count ?? null,
    ),
    createFamily(
      "signalbox_incidents",
      "gauge",
      "Incidents by status and severity.",
      incidents.map(({ count, ...labels }) => ({ labels, value: count })),
    ),
  ];
}

function collectDiskMetrics(directory: string | null): Family[] {
  const { database } = getDataFiles(directory ?? "");
  const found = { database, wal: `${database}-wal` };
  const disk = directory === null ? null : statfsSync(directory);
  return [
    createFamily(
      "signalbox_database_size_bytes",
      "gauge",
      "Size of the files of the database: the database itself, or its write-ahead log.",
      disk &&
        Object.entries(found).flatMap(([file, path]) => {
          const size = statSync(path, { throwIfNoEntry: false })?.size;
          return size === undefined ? [] : [{ labels: { file }, value: size }];
        }),
    ),
    createFamily(
      "signalbox_disk_size_bytes",
      "gauge",
      "Size of the disk with the data directory.",
      disk && disk.blocks * disk.bsize,
    ),
    createFamily(
      "signalbox_disk_free_bytes",
      "gauge",
      "Free bytes on the disk with the data directory.",
      disk && disk.bavail * disk.bsize,
    ),
  ];
}

/** Collects process metrics, with the names of Prometheus' client libraries. */
async function collectProcessMetrics(): Promise<Family[]> {
  const { user, system } = process.cpuUsage();
  const isLinux = process.platform === "linux";
  const limit = isLinux
    ? /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]
    : undefined;
  return [
    createFamily(
      "process_cpu_seconds_total",
      "counter",
      "CPU time of the process.",
      (user + system) / 1e6,
    ),
    createFamily(
      "process_resident_memory_bytes",
      "gauge",
      "Resident memory of the process.",
      process.memoryUsage.rss(),
    ),
    createFamily(
      "process_start_time_seconds",
      "gauge",
      "Unix time of the start of the process.",
      Math.round(performance.timeOrigin) / 1_000,
    ),
    createFamily(
      "process_open_fds",
      "gauge",
      "Open files and connections of the process, on Linux.",
      isLinux ? (await readdir("/proc/self/fd")).length : null,
    ),
    createFamily(
      "process_max_fds",
      "gauge",
      "Maximum number of open files and connections, on Linux.",
      limit === undefined ? null : Number(limit),
    ),
  ];
}
