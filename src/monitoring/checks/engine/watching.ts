import { type Lease, type Leases, soleNode } from "../../../cluster/leases.ts";
import type { Log } from "../../../core/log.ts";
import { turn } from "../../../core/time/yielding.ts";
import type { Vault } from "../../../core/security/secrets.ts";
import type { Store } from "../../../database/store.ts";
import type { LoggedEvent } from "../../../events/catalogue.ts";
import { lastSeq } from "../../../events/log.ts";
import { concernOf } from "../../monitors/events.ts";
import type { Severity } from "../../../core/fields.ts";
import { settingsOf } from "../../monitors/record.ts";
import type { MonitorType } from "../../monitors/kinds-schema.ts";
import { sharedValues } from "../../../core/collections/shared.ts";
import type { StoredStatus } from "../../../core/statuses.ts";
import type { Fields } from "../../../core/collections/objects.ts";
import type { CheckTarget } from "../check.ts";
import type { MonitorState } from "../rules.ts";
import type { Terms } from "./scheduler.ts";

/** A monitor as the engine watches it: what is checked, how often, and what it is now. */
export type Watched = {
  key: number;
  organizationId: string;
  id: string;
  name: string;
  type: MonitorType;
  /** What is asked, of a type that has it. */
  url: string | null;
  host: string | null;
  /** The type's other fields, secrets included, one object for all that have them alike; null where they can't be opened with the key at hand. */
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
  /** Unix milliseconds of the last heartbeat; null where there was none. */
  lastAt: number | null;
  /** Unix milliseconds at which what that heartbeat stands for ends; at the latest, where only the store knows. */
  standsUntil: number;
  certificateExpiresAt: string | null;
  /** Under which this node checks it. */
  lease: Lease;
  terms: Terms;
};

type Row = Omit<
  Watched,
  "settings" | "inverted" | "state" | "lastAt" | "standsUntil" | "lease" | "terms"
> & {
  inverted: number;
  settings: string;
  secrets: string;
  status: StoredStatus;
  since: string;
  failures: number;
  successes: number;
  lastCheckedAt: string | null;
};

const watched = `select s.key, m.organization_id as organizationId, m.id, m.name, m.type,
    m.settings ->> 'url' as url, m.settings ->> 'host' as host,
    json_remove(m.settings, '$.url', '$.host') as settings, m.secrets, m.interval_seconds as intervalSeconds, m.timeout_seconds * 1000 as timeoutMs,
    m.retries, m.confirmations, m.retry_interval_seconds as retryIntervalSeconds,
    m.success_threshold as successThreshold, m.inverted, m.degraded_after_ms as degradedAfterMs,
    m.auto_incident_severity as autoIncidentSeverity,
    s.epoch, s.status, s.since, s.failures, s.successes, s.last_checked_at as lastCheckedAt,
    s.certificate_expires_at as certificateExpiresAt
  from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  where not s.paused`;
/** Monitors read in one go. */
const readAtOnce = 200;

/** So many texts, settings and terms are kept for those that have them alike. */
const shared = sharedValues(4_096);

type Reading = { store: Store; vault: Vault; log: Log; leases: Leases };

/** Every monitor that this node is to check – neither paused nor in a paused group –, some at a time. */
export async function* allWatched(reading: Reading): AsyncGenerator<Watched[]> {
  const page = `${watched} and s.key > ? order by s.key limit ${readAtOnce}`;
  for (let last = -1; ;) {
    const rows = await reading.store.query<Row>(page, [last]);
    yield opened(reading, rows);
    if (rows.length < readAtOnce) return;
    last = rows.at(-1)?.key ?? last;
  }
}

/** Those among these monitors that this node is to check. */
async function watchedAmong(
  reading: Reading,
  organizationId: string,
  ids: readonly string[],
): Promise<Watched[]> {
  const among = `${watched} and m.organization_id = ? and m.id in (select value from json_each(?))`;
  return opened(reading, await reading.store.query(among, [organizationId, JSON.stringify(ids)]));
}

/** The monitor as whoever checks it has it; undefined where nobody does. */
export async function findChecked(
  reading: Omit<Reading, "leases">,
  organizationId: string,
  id: string,
): Promise<Watched | undefined> {
  const [found] = await watchedAmong({ ...reading, leases: soleNode }, organizationId, [id]);
  return found;
}

/** How long a check of the monitor may take; null where no node is to check it. */
export async function timeoutOf(store: Store, organizationId: string, id: string) {
  const [row] = await store.query<Row>(`${watched} and m.organization_id = ? and m.id = ?`, [
    organizationId,
    id,
  ]);
  return row?.timeoutMs ?? null;
}

/** The epochs of an organization's monitors that this node is to check, by id. */
async function watchedEpochs({ store, leases }: Reading, organizationId: string) {
  const rows = await store.query<{ id: string; epoch: number }>(
    `select monitor_id as id, epoch from monitor_states where organization_id = ? and not paused`,
    [organizationId],
  );
  const its = rows.filter(({ id }) => leases.of(id) !== null);
  return new Map(its.map(({ id, epoch }) => [id, epoch]));
}

/** The monitor that this push token belongs to; null for none. */
export async function findByPushToken(store: Store, tokenHash: string) {
  const [row] = await store.query<Pick<Watched, "key" | "organizationId" | "id">>(
    `select s.key, m.organization_id as organizationId, m.id from monitors m
     join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
     where m.push_token_hash = ?`,
    [tokenHash],
  );
  return row ?? null;
}

/** Which states these monitors have begun, and their epochs; those that are gone have none. */
export async function begunStates(store: Store, keys: readonly number[]) {
  const rows = await store.query<{ key: number; epoch: number; status: string; since: string }>(
    "select key, epoch, status, since from monitor_states where key in (select value from json_each(?))",
    [JSON.stringify(keys)],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

function opened({ vault, log, leases }: Reading, rows: readonly Row[]): Watched[] {
  return rows.flatMap((row) => {
    const lease = leases.of(row.id);
    if (lease === null) return [];
    const organizationId = shared(row.organizationId, () => row.organizationId);
    let settings: Watched["settings"] = null;
    try {
      const read = () => settingsOf(vault, row);
      settings = row.secrets === "{}" ? shared(`${row.type} ${row.settings}`, read) : read();
    } catch {
      log.error("secrets of a monitor can't be opened with this secret.key", { monitor: row.id });
    }
    const { status, since, failures, successes, lastCheckedAt } = row;
    const lastAt = lastCheckedAt === null ? null : Date.parse(lastCheckedAt);
    // Written out it takes 100 bytes less than a copy of the row, a hundred thousand times.
    return {
      key: row.key,
      organizationId,
      id: row.id,
      name: row.name,
      type: shared(row.type, () => row.type),
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
      // Reports stand for the time before them.
      standsUntil: (lastAt ?? 0) + (row.type === "push" ? 0 : row.intervalSeconds * 1000),
      certificateExpiresAt: row.certificateExpiresAt,
      lease,
      terms: termsOf({ ...row, organizationId }),
    };
  });
}

/** What a check of it is made with; null where its secrets can't be opened. */
export function targetOf(monitor: Watched): CheckTarget | null {
  const { type, url, host, timeoutMs, degradedAfterMs, inverted } = monitor;
  if (monitor.settings === null) return null;
  const settings = { ...monitor.settings };
  if (url !== null) settings["url"] = url;
  if (host !== null) settings["host"] = host;
  return { type, settings, timeoutMs, degradedAfterMs, inverted };
}

/** What a check depends on: where it differs, the monitor has to be checked anew. */
function fingerprintOf(monitor: Watched): string {
  return JSON.stringify([targetOf(monitor), monitor.intervalSeconds, monitor.epoch]);
}

/** A check that has waited for its interval shows as not judged; for so long, where that is shorter or longer. */
const patienceMs = { least: 15_000, most: 60_000 };

/** Checks of one organization at one host share a limit, so that none is overrun; what a job reports takes no time. */
function termsOf({ organizationId, type, url, host, intervalSeconds }: Row): Terms {
  const lane = type === "push" ? null : (host ?? (url && new URL(url).hostname) ?? type);
  const { least, most } = patienceMs;
  const patience = Math.min(Math.max(intervalSeconds * 1000, least), most);
  return shared(`${organizationId} ${lane ?? ""} ${patience}`, () => ({
    organizationId,
    lane,
    patienceMs: patience,
  }));
}

/** A monitor is checked first at once, with many others within seconds, or – at a start – at its place in the interval. */
export type FirstCheck = "now" | "soon" | "spread";

/** More monitors that begin together don't begin in the same moment. */
const begunAtOnce = 50;

/** The monitors that are checked, kept as the store has them: `begin` and `end` hear of each that changed. */
export function watching(
  reading: Reading,
  begin: (monitor: Watched, firstCheck: FirstCheck) => void,
  end: (monitor: Watched) => void,
  /** Resolves when what comes of the last change of leases is done, results written. */
  followed: () => Promise<void> | null = () => null,
) {
  const monitors = new Map<number, Watched>();
  const keys = new Map<string, number>();
  /** Leases whose monitors are all known: another one belongs to what was handed over and is not read yet. */
  const loaded = new WeakSet<Lease>();
  let changesOfLeases = 0;
  /** What the event log says up to here was known when all monitors were read, or came while they were. */
  let readUpTo = 0;
  const byId = (id: string) => monitors.get(keys.get(id) ?? -1);

  function watch(found: Watched, firstCheck: FirstCheck, isChanged = false) {
    const known = monitors.get(found.key);
    if (known !== undefined && known.epoch === found.epoch && known.lease === found.lease) {
      // What the store knows of the state is older than what we know.
      const { state, lastAt, standsUntil, certificateExpiresAt } = known;
      Object.assign(found, { state, lastAt, standsUntil, certificateExpiresAt });
      if (!isChanged && fingerprintOf(known) === fingerprintOf(found)) {
        Object.assign(known, found);
        return;
      }
    }
    monitors.set(found.key, found);
    keys.set(found.id, found.key);
    const isHandedOver = found.lastAt !== null && !loaded.has(found.lease);
    begin(found, isHandedOver ? "spread" : firstCheck);
  }

  function forget(id: string) {
    const known = byId(id);
    if (known === undefined) return;
    monitors.delete(known.key);
    keys.delete(id);
    end(known);
  }

  async function refresh(
    organizationId: string,
    ids: readonly string[],
    changed: ReadonlySet<string> = new Set(),
  ) {
    let found: Watched[];
    let changes: number;
    // What is read before results are written does not know of them: it would be checked again.
    do {
      changes = changesOfLeases;
      await followed();
      found = await watchedAmong(reading, organizationId, ids);
    } while (changes !== changesOfLeases);
    const wanted = new Set(found.map(({ id }) => id));
    for (const id of ids) if (!wanted.has(id)) forget(id);
    const firstCheck = found.length > begunAtOnce ? "soon" : "now";
    for (const monitor of found) watch(monitor, firstCheck, changed.has(monitor.id));
  }

  /** A group may have been paused, resumed or both, or monitors moved out of or into a paused one; or the organization deleted. */
  async function movedTogether(organizationId: string): Promise<string[]> {
    const wanted = await watchedEpochs(reading, organizationId);
    const gone = [...monitors.values()].filter(
      (monitor) => monitor.organizationId === organizationId && !wanted.has(monitor.id),
    );
    const turned = [...wanted].filter(([id, epoch]) => byId(id)?.epoch !== epoch);
    return [...turned, ...gone.map(({ id }) => [id] as const)].map(([id]) => id);
  }

  return {
    get: (key: number) => monitors.get(key),
    values: () => monitors.values(),
    byId,
    /** Forgets the monitors that this node is no longer to check. */
    leave() {
      changesOfLeases++;
      for (const { id, lease } of monitors.values()) {
        if (reading.leases.of(id) === lease) continue;
        loaded.delete(lease);
        forget(id);
      }
    },
    /** Takes in all monitors that are not known; returns the place in the event log from which to follow. */
    async load(): Promise<number> {
      const leases = reading.leases.all();
      const cursor = await lastSeq(reading.store);
      // Whoever asked while the appliance started is accepted in one turn and answered in the next.
      await turn();
      await turn();
      for await (const some of allWatched(reading)) {
        // What is known was read later, or is what this node made of it.
        for (const monitor of some) if (!monitors.has(monitor.key)) watch(monitor, "spread");
        await turn();
      }
      readUpTo = await lastSeq(reading.store);
      for (const lease of leases) loaded.add(lease);
      return cursor;
    },
    /** Takes in one monitor as it is now; undefined when it is not to be checked. */
    async refresh(organizationId: string, id: string): Promise<Watched | undefined> {
      await refresh(organizationId, [id]);
      return byId(id);
    },
    /** Takes in what these events changed. */
    take: async (events: readonly LoggedEvent[]) => {
      const changes = events.filter((event) => ![null, "windows"].includes(concernOf(event)));
      for (const [organizationId, its] of Map.groupBy(changes, (event) => event.organizationId)) {
        const ofOne = its.filter((event) => concernOf(event) === "monitor");
        const ids = ofOne.map(({ subjectId }) => subjectId);
        if (ofOne.length < its.length) ids.push(...(await movedTogether(organizationId)));
        // What changed while all were read was perhaps read as it is now.
        const changed = ofOne.filter(({ seq }) => seq <= readUpTo);
        const changedIds = new Set(changed.map(({ subjectId }) => subjectId));
        await refresh(organizationId, [...new Set(ids)], changedIds);
      }
    },
  };
}
