/** Loads the monitors that this node checks, and updates them in memory when they change. */
import { type Lease, type Leases, soleNode } from "../../../cluster/leases.ts";
import type { Log } from "../../../core/log.ts";
import { yieldToEventLoop } from "../../../core/time/event-loop.ts";
import type { Vault } from "../../../core/security/secrets.ts";
import { cacheLookup } from "../../../database/cached-lookup.ts";
import type { Store } from "../../../database/store.ts";
import type { LoggedEvent } from "../../../events/catalog.ts";
import { findLastSeq } from "../../../events/log.ts";
import { concernOf } from "../../monitors/events.ts";
import type { Severity } from "../../../core/fields.ts";
import { openSettings } from "../../monitors/record.ts";
import type { MonitorType } from "../../monitors/kinds-schema.ts";
import { createInterner } from "../../../core/collections/interner.ts";
import { lastReportsSql, parseOpenRuns } from "../../jobs/store.ts";
import { type OpenRuns, noRuns } from "../../jobs/report-rules.ts";
import type { StoredStatus } from "../../../core/statuses.ts";
import type { Fields } from "../../../core/collections/objects.ts";
import type { CheckTarget } from "../check.ts";
import type { NumberLevel } from "../number-rules.ts";
import type { ResolvedHistory } from "../resolved-rules.ts";
import type { MonitorState } from "../rules.ts";
import type { JobLimits } from "./scheduler.ts";

/** A monitor in memory: target, schedule and current state. */
export type Watched = {
  key: number;
  organizationId: string;
  id: string;
  name: string;
  type: MonitorType;
  /** Target of monitor types with a URL. */
  url: string | null;
  host: string | null;
  /**
   * Other fields of the type, including secrets. Equal values share one object. Null if the secrets can't be opened.
   */
  settings: Fields | null;
  intervalSeconds: number;
  timeoutMs: number;
  retries: number;
  successThreshold: number;
  confirmations: number;
  retryIntervalSeconds: number;
  degradedAfterMs: number | null;
  inverted: boolean;
  autoIncidentSeverity: Severity | null;
  epoch: number;
  state: MonitorState;
  /** Unix milliseconds of the last heartbeat; null if there is none. */
  lastAt: number | null;
  /** Unix milliseconds until which the last heartbeat counts in uptime. After a load, the latest possible time. */
  standsUntil: number;
  certificateExpiresAt: string | null;
  numberLevel: NumberLevel;
  /**
   * Addresses that its checks resolved since this node loaded the monitor; null before the first check, or if the
   * target is no host name.
   */
  resolved: ResolvedHistory | null;
  /** Open runs of a push monitor's job. */
  runs: OpenRuns;
  /** Unix milliseconds of the last report to a push monitor; null without one since the load. */
  reportedAt: number | null;
  /** Unix milliseconds since which a push monitor waits for its next report. */
  waitsSince: number;
  /** Lease under which this node checks the monitor. */
  lease: Lease;
  terms: JobLimits;
};

type Row = Omit<
  Watched,
  | "settings"
  | "inverted"
  | "state"
  | "lastAt"
  | "standsUntil"
  | "resolved"
  | "runs"
  | "reportedAt"
  | "waitsSince"
  | "lease"
  | "terms"
> & {
  inverted: number;
  settings: string;
  secrets: string;
  status: StoredStatus;
  since: string;
  failures: number;
  successes: number;
  lastCheckedAt: string | null;
  /** JSON of the monitors of a composite one. */
  dependsOn: string | null;
  /** JSON of the last reports to a push monitor, newest first. */
  reports: string | null;
};

const watchedSql = `select s.key, m.organization_id as organizationId, m.id, m.name, m.type,
    m.settings ->> 'url' as url, m.settings ->> 'host' as host,
    json_remove(m.settings, '$.url', '$.host') as settings, m.secrets, m.interval_seconds as intervalSeconds, m.timeout_seconds * 1000 as timeoutMs,
    m.retries, m.confirmations, m.retry_interval_seconds as retryIntervalSeconds,
    m.success_threshold as successThreshold, m.inverted, m.degraded_after_ms as degradedAfterMs,
    m.auto_incident_severity as autoIncidentSeverity,
    s.epoch, s.status, s.since, s.failures, s.successes, s.last_checked_at as lastCheckedAt,
    s.certificate_expires_at as certificateExpiresAt, s.number_level as numberLevel, iif(m.type = 'composite', (
      select json_group_array(d.parent_id order by d.position) from monitor_dependencies d
      where d.organization_id = m.organization_id and d.monitor_id = m.id), null) as dependsOn,
    iif(m.type = 'push', (${lastReportsSql}), null) as reports
  from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  where not s.paused`;
/** Monitors per read. */
const readAtOnce = 200;

/** Interns equal texts, settings and terms to save memory. */
const intern = createInterner();

type Reading = { store: Store; vault: Vault; log: Log; leases: Leases };

/** Yields all monitors that this node checks, page by page. Paused monitors are not included. */
export async function* readAllWatched(reading: Reading): AsyncGenerator<Watched[]> {
  const page = `${watchedSql} and s.key > ? order by s.key limit ${readAtOnce}`;
  for (let last = -1; ;) {
    const rows = await reading.store.query<Row>(page, [last]);
    yield openWatched(reading, rows);
    if (rows.length < readAtOnce) return;
    last = rows.at(-1)?.key ?? last;
  }
}

/** Reads monitors by ID. Omits paused monitors and monitors of other nodes. */
async function readWatchedAmong(
  reading: Reading,
  organizationId: string,
  ids: readonly string[],
): Promise<Watched[]> {
  const selectedSql = `${watchedSql} and m.organization_id = ? and m.id in (select value from json_each(?))`;
  return openWatched(
    reading,
    await reading.store.query(selectedSql, [organizationId, JSON.stringify(ids)]),
  );
}

/** Reads a monitor of any node; undefined if it is paused or does not exist. */
export async function findChecked(
  reading: Omit<Reading, "leases">,
  organizationId: string,
  id: string,
): Promise<Watched | undefined> {
  const [found] = await readWatchedAmong({ ...reading, leases: soleNode }, organizationId, [id]);
  return found;
}

/** Returns the timeout of a monitor in milliseconds; null if it is paused or does not exist. */
export async function findTimeout(store: Store, organizationId: string, id: string) {
  const [row] = await store.query<Row>(`${watchedSql} and m.organization_id = ? and m.id = ?`, [
    organizationId,
    id,
  ]);
  return row?.timeoutMs ?? null;
}

/** Returns the epochs of the organization's monitors that this node checks, by monitor ID. */
async function findWatchedEpochs({ store, leases }: Reading, organizationId: string) {
  const rows = await store.query<{ id: string; epoch: number }>(
    `select monitor_id as id, epoch from monitor_states where organization_id = ? and not paused`,
    [organizationId],
  );
  const ownRows = rows.filter(({ id }) => leases.findByRecord(id) !== null);
  return new Map(ownRows.map(({ id, epoch }) => [id, epoch]));
}

/** Finds a monitor by the hash of its push token; null for an unknown token. */
export const findByPushToken = cacheLookup(
  ["monitors", "organizations"],
  async (store, tokenHash): Promise<Pick<Watched, "organizationId" | "id"> | null> => {
    const [row] = await store.query<Pick<Watched, "organizationId" | "id">>(
      "select organization_id as organizationId, id from monitors where push_token_hash = ?",
      [tokenHash],
    );
    return row ?? null;
  },
);

/** Reads the stored states and epochs of monitors, by monitor key. */
export async function findStoredStates(store: Store, keys: readonly number[]) {
  const rows = await store.query<{ key: number; epoch: number; status: string; since: string }>(
    "select key, epoch, status, since from monitor_states where key in (select value from json_each(?))",
    [JSON.stringify(keys)],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

function openWatched({ vault, log, leases }: Reading, rows: readonly Row[]): Watched[] {
  return rows.flatMap((row) => {
    const lease = leases.findByRecord(row.id);
    if (lease === null) return [];
    const organizationId = intern(row.organizationId, () => row.organizationId);
    let settings: Watched["settings"] = null;
    try {
      const added =
        row.dependsOn === null
          ? {}
          : { dependsOn: JSON.parse(row.dependsOn) as string[], id: row.id };
      const read = () => ({ ...openSettings(vault, row), ...added });
      settings =
        row.secrets === "{}"
          ? intern(
              `${row.type} ${row.settings} ${row.dependsOn === null ? "" : `${row.dependsOn} ${row.id}`}`,
              read,
            )
          : read();
    } catch {
      log.error("secrets of a monitor can't be opened with this secret.key", { monitor: row.id });
    }
    const { status, since, failures, successes, lastCheckedAt } = row;
    const lastAt = lastCheckedAt === null ? null : Date.parse(lastCheckedAt);
    // A literal needs 100 bytes less than a spread of the row. 100,000 monitors save 10 MB.
    return {
      key: row.key,
      organizationId,
      id: row.id,
      name: row.name,
      type: intern(row.type, () => row.type),
      url: row.url,
      host: row.host,
      settings,
      intervalSeconds: row.intervalSeconds,
      timeoutMs: row.timeoutMs,
      retries: row.retries,
      successThreshold: row.successThreshold,
      confirmations: row.confirmations,
      retryIntervalSeconds: row.retryIntervalSeconds,
      degradedAfterMs: row.degradedAfterMs,
      inverted: row.inverted === 1,
      autoIncidentSeverity: row.autoIncidentSeverity,
      epoch: row.epoch,
      state: { status, since, failures, successes },
      lastAt,
      // A report covers the time before it.
      standsUntil: (lastAt ?? 0) + (row.type === "push" ? 0 : row.intervalSeconds * 1000),
      certificateExpiresAt: row.certificateExpiresAt,
      numberLevel: row.numberLevel,
      resolved: null,
      runs: row.reports === null ? noRuns : parseOpenRuns(row.reports),
      reportedAt: null,
      waitsSince: 0,
      lease,
      terms: buildTerms({ ...row, organizationId }),
    };
  });
}

/** Returns the input of a check; null if the secrets of the monitor can't be opened. */
export function buildTarget(monitor: Watched): CheckTarget | null {
  const { type, url, host, timeoutMs, degradedAfterMs, inverted, numberLevel } = monitor;
  if (monitor.settings === null) return null;
  const settings = { ...monitor.settings };
  if (url !== null) settings["url"] = url;
  if (host !== null) settings["host"] = host;
  return { type, settings, timeoutMs, degradedAfterMs, inverted, numberLevel };
}

/** Serializes the fields whose change restarts the check. */
function computeFingerprint(monitor: Watched): string {
  const target = buildTarget(monitor);
  return JSON.stringify([
    target && { ...target, numberLevel: null },
    monitor.intervalSeconds,
    monitor.epoch,
  ]);
}

/** Limits of the time after which a waiting check counts as not judged. Within them, it is the interval. */
const patienceMs = { min: 15_000, max: 60_000 };

/** Assigns a lane per organization and host, to limit concurrent checks of one host. Push monitors need no lane. */
function buildTerms({ organizationId, type, url, host, intervalSeconds }: Row): JobLimits {
  const lane = type === "push" ? null : (host ?? (url && new URL(url).hostname) ?? type);
  const { min, max } = patienceMs;
  const patience = Math.min(Math.max(intervalSeconds * 1000, min), max);
  return intern(`${organizationId} ${lane ?? ""} ${patience}`, () => ({
    organizationId,
    lane,
    patienceMs: patience,
  }));
}

/** When to check a monitor first: immediately, within seconds together with many others, or in its slot. */
export type FirstCheck = "now" | "soon" | "spread";

/** Number of monitors that can start immediately together. More are spread over seconds. */
const maxImmediateStarts = 50;

type Listeners = {
  begin(monitor: Watched, firstCheck: FirstCheck): void;
  end(monitor: Watched): void;
  /** Resolves when the last change of leases was processed and pending results are written. */
  followed?: () => Promise<void> | null;
};

/** In-memory set of the monitors that this node checks. Calls listeners for each change. */
export class WatchedMonitors {
  private readonly monitors = new Map<number, Watched>();
  private readonly keys = new Map<string, number>();
  /** Leases whose monitors are all loaded. Monitors of other leases come from another node and stay in their slots. */
  private readonly loaded = new WeakSet<Lease>();
  private leaseChanges = 0;
  /** Position of the event log at the end of the full read. */
  private readUpTo = 0;
  private readonly reading: Reading;
  private readonly listeners: Listeners;

  constructor(reading: Reading, listeners: Listeners) {
    this.reading = reading;
    this.listeners = listeners;
  }

  get(key: number) {
    return this.monitors.get(key);
  }

  values() {
    return this.monitors.values();
  }

  findById(id: string) {
    return this.monitors.get(this.keys.get(id) ?? -1);
  }

  /** Forgets the monitors of leases that this node lost. */
  leave() {
    this.leaseChanges++;
    for (const { id, lease } of this.monitors.values()) {
      if (this.reading.leases.findByRecord(id) === lease) continue;
      this.loaded.delete(lease);
      this.dropMonitor(id);
    }
  }

  /** Loads all unknown monitors. Returns the position in the event log from which to read changes. */
  async load(): Promise<number> {
    const { store } = this.reading;
    const leases = this.reading.leases.listOwn();
    const cursor = await findLastSeq(store);
    // Two turns of the event loop: one accepts requests that arrived during the start, one sends their responses.
    await yieldToEventLoop();
    await yieldToEventLoop();
    for await (const page of readAllWatched(this.reading)) {
      // The copy in memory is newer: it was read later, or this node changed its state.
      for (const monitor of page)
        if (!this.monitors.has(monitor.key)) this.watchMonitor(monitor, "spread");
      await yieldToEventLoop();
    }
    this.readUpTo = await findLastSeq(store);
    for (const lease of leases) this.loaded.add(lease);
    return cursor;
  }

  /** Reloads one monitor; undefined if this node does not check it. */
  async refresh(organizationId: string, id: string): Promise<Watched | undefined> {
    await this.refreshAll(organizationId, [id]);
    return this.findById(id);
  }

  /** Reloads the monitors that the events changed. */
  async handleEvents(events: readonly LoggedEvent[]) {
    const changes = events.filter((event) => ![null, "windows"].includes(concernOf(event)));
    for (const [organizationId, own] of Map.groupBy(changes, (event) => event.organizationId)) {
      const monitorEvents = own.filter((event) => concernOf(event) === "monitor");
      const ids = monitorEvents.map(({ subjectId }) => subjectId);
      if (monitorEvents.length < own.length)
        ids.push(...(await this.findMovedMonitors(organizationId)));
      // The full read can already contain these changes, so a comparison would not detect them.
      const changed = monitorEvents.filter(({ seq }) => seq <= this.readUpTo);
      const changedIds = new Set(changed.map(({ subjectId }) => subjectId));
      await this.refreshAll(organizationId, [...new Set(ids)], changedIds);
    }
  }

  private watchMonitor(found: Watched, firstCheck: FirstCheck, isChanged = false) {
    const known = this.monitors.get(found.key);
    if (known !== undefined && known.epoch === found.epoch && known.lease === found.lease) {
      // The state in memory is newer than the stored state.
      const { state, lastAt, standsUntil, certificateExpiresAt } = known;
      const { runs, reportedAt, waitsSince, resolved } = known;
      Object.assign(found, { state, lastAt, standsUntil, certificateExpiresAt });
      Object.assign(found, { runs, reportedAt, waitsSince, resolved });
      const isSame = computeFingerprint(known) === computeFingerprint(found);
      // The level belongs to the limits of before.
      found.numberLevel = isSame ? known.numberLevel : null;
      if (!isChanged && isSame) {
        Object.assign(known, found);
        return;
      }
    }
    this.monitors.set(found.key, found);
    this.keys.set(found.id, found.key);
    const isHandedOver = found.lastAt !== null && !this.loaded.has(found.lease);
    this.listeners.begin(found, isHandedOver ? "spread" : firstCheck);
  }

  private dropMonitor(id: string) {
    const known = this.findById(id);
    if (known === undefined) return;
    this.monitors.delete(known.key);
    this.keys.delete(id);
    this.listeners.end(known);
  }

  private async refreshAll(
    organizationId: string,
    ids: readonly string[],
    changed: ReadonlySet<string> = new Set(),
  ) {
    let found: Watched[];
    let changes: number;
    // The stored state must include all results, otherwise a loaded monitor would be checked twice.
    do {
      changes = this.leaseChanges;
      await this.listeners.followed?.();
      found = await readWatchedAmong(this.reading, organizationId, ids);
    } while (changes !== this.leaseChanges);
    const foundIds = new Set(found.map(({ id }) => id));
    for (const id of ids) if (!foundIds.has(id)) this.dropMonitor(id);
    const firstCheck = found.length > maxImmediateStarts ? "soon" : "now";
    for (const monitor of found) this.watchMonitor(monitor, firstCheck, changed.has(monitor.id));
  }

  /** Returns the monitors that a change to their group or organization paused, resumed or deleted. */
  private async findMovedMonitors(organizationId: string): Promise<string[]> {
    const expectedEpochs = await findWatchedEpochs(this.reading, organizationId);
    const removedMonitors = [...this.monitors.values()].filter(
      (monitor) => monitor.organizationId === organizationId && !expectedEpochs.has(monitor.id),
    );
    const turned = [...expectedEpochs].filter(([id, epoch]) => this.findById(id)?.epoch !== epoch);
    return [...turned, ...removedMonitors.map(({ id }) => [id] as const)].map(([id]) => id);
  }
}
