import { LeaseLost, type Leases, mustHold } from "../../../cluster/leases.ts";
import { AppError } from "../../../core/errors.ts";
import { monitorBounds } from "../../../core/limits.ts";
import type { Log } from "../../../core/log.ts";
import {
  mustText,
  type Prepared,
  retrying,
  StaleRead,
  type Statement,
  type Store,
} from "../../../database/store.ts";
import { appendEvent } from "../../../events/log.ts";
import type { Signals } from "../../../events/signals.ts";
import { incidentStatements } from "../../../incidents/by-monitor.ts";
import {
  endEarlier,
  type HeartbeatRow,
  insertHeartbeats,
  putScreenshot,
} from "../../uptime/store.ts";
import type { MonitorState } from "../rules.ts";
import { begunStates, type Watched } from "./watching.ts";

/** A change of state, which somebody may be looking for, is gathered with others so long at most. */
const changeMs = 250;
/** Results in one write: some 10 ms of work, 20 where all of them change a state. */
const batch = 250;
/** How long a write that failed (a full disk) is left alone. */
const retryMs = 1_000;
/** How often the log repeats that writes fail. */
const logFailureMs = 60_000;
/** So many screenshots wait at most; results go on without those that are older. */
const maxScreenshots = 32;

/** What one check leaves behind. */
export type Result = {
  monitor: Watched;
  heartbeat: HeartbeatRow;
  /** Whether the one before it may still stand for some of its time. */
  isEarly: boolean;
  /** When the check ended, as the heartbeat says. */
  checkedAt: string;
  before: MonitorState;
  after: MonitorState;
  /** One sentence of ours: why the monitor is what it is. */
  reason: string;
  /** The same, or what the watched job said itself; null where what was said last still holds. */
  message: string | null;
  certificateExpiresAt: string | null;
  /** As JSON. */
  details: string | null;
  /** What a failed check has seen, as JPEG. */
  screenshot: Uint8Array | null;
};

type Dependencies = { store: Store; log: Log; signals: Signals; leases: Leases };

export type Recorder = ReturnType<typeof recorder>;

/** A result and whoever waits for it: most have nobody. */
type Waiting = { result: Result; stored: PromiseWithResolvers<void> | null };

/** Gathers results and writes them with all that follows from them in one atomic write. */
export function recorder({ store, log, signals, leases }: Dependencies) {
  let waiting: Waiting[] = [];
  /** The last result of each monitor that is not stored yet, by its key. */
  const latest = new Map<number, Waiting>();
  let events: Statement[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let flushAt = Infinity;
  let retryAt = -Infinity;
  let writing: Promise<boolean> | null = null;
  let stopping = false;
  let dropped = 0;
  /** Whether the last write failed and results are waiting. */
  let isBehind = false;
  let failureLoggedAt = -Infinity;

  function later(ms: number) {
    const at = Math.max(performance.now() + ms, retryAt);
    if (stopping || at >= flushAt) return;
    if (timer !== null) clearTimeout(timer);
    flushAt = at;
    timer = setTimeout(() => void flush(), at - performance.now());
  }

  /** Nobody waits for it any longer. */
  function left(one: Waiting) {
    const { key } = one.result.monitor;
    if (latest.get(key) === one) latest.delete(key);
    return one.stored;
  }
  const done = (one: Waiting) => left(one)?.resolve();
  const failed = (one: Waiting, error: unknown) => left(one)?.reject(error);

  function flush(): Promise<boolean> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    flushAt = Infinity;
    writing ??= write().finally(() => (writing = null));
    return writing;
  }

  async function write(): Promise<boolean> {
    while (waiting.length > 0 || events.length > 0) {
      const portion = waiting.splice(0, portionOf(waiting));
      const pending = events.splice(0);
      store.writes.began("results");
      try {
        await writePortion(portion, pending);
        if (!isBehind) store.writes.succeeded("results");
        // Others have their turn between two portions.
        if (waiting.length > 0) await Bun.sleep(0);
      } catch (error) {
        // Whoever waits learns that it is not stored yet.
        for (const one of [...portion, ...waiting]) failed(one, error);
        waiting = [...portion, ...waiting];
        events = [...pending, ...events];
        logFailure(error);
        isBehind = true;
        store.writes.failed("results");
        retryAt = performance.now() + retryMs;
        later(0);
        return false;
      }
    }
    isBehind = false;
    store.writes.succeeded("results");
    return true;
  }

  /** Logs the first failed write, and one a minute until a write succeeds. */
  function logFailure(error: unknown) {
    const now = performance.now();
    if (isBehind && now - failureLoggedAt < logFailureMs) return;
    failureLoggedAt = now;
    log.error("results of checks can't be written; they stay in memory and are tried again", {
      waiting: waiting.length,
      cause: String(error),
    });
  }

  /** Throws UNAVAILABLE. A result that can't be written for a reason of its own is dropped alone. */
  async function writePortion(portion: readonly Waiting[], told: readonly Statement[]) {
    const all = portion.map(({ result }) => result);
    try {
      await writeResults(store, all, told);
      announce(all);
      portion.forEach(done);
    } catch (error) {
      if (error instanceof LeaseLost) return writePortion(await ofOurs(portion), told);
      if (error instanceof AppError) throw error;
      if (portion.length <= 1) {
        log.error("the result of a check is dropped", { cause: String(error) });
        for (const one of portion) failed(one, error);
        return;
      }
      const half = portion.length >> 1;
      await writePortion(portion.slice(0, half), told);
      await writePortion(portion.slice(half), []);
    }
  }

  /** Those that this node still has the lease for: of the others another one knows better. */
  async function ofOurs(portion: readonly Waiting[]) {
    const held = await leases.stillHeld(new Set(portion.map(({ result }) => result.monitor.lease)));
    const isHeld = ({ result }: Waiting) => held.has(result.monitor.lease);
    const lost = portion.filter((one) => !isHeld(one));
    for (const one of lost) failed(one, new LeaseLost());
    log.warn("results of checks are void: another node does these checks", {
      results: lost.length,
    });
    return portion.filter(isHeld);
  }

  function announce(results: readonly Result[]) {
    const own = Map.groupBy(results, ({ monitor }) => monitor.organizationId);
    for (const [organizationId, its] of own)
      signals.emit(
        "results",
        organizationId,
        its.map(({ monitor, checkedAt }) => ({ monitorId: monitor.id, at: checkedAt })),
      );
  }

  return {
    /** Takes a result into the next write. */
    add(result: Result) {
      const one: Waiting = { result, stored: null };
      waiting.push(one);
      latest.set(result.monitor.key, one);
      if (result.screenshot !== null) dropScreenshots(waiting);
      const { before, after } = result;
      later(before.status === after.status ? store.batchWindowMs : changeMs);
      const [oldest] = waiting;
      if (waiting.length > monitorBounds.unstoredResults.value && oldest !== undefined) {
        waiting.shift();
        failed(oldest, new AppError("UNAVAILABLE", "The result could not be stored."));
        if (dropped++ % 10_000 === 0) log.error("results of checks are dropped", { dropped });
      }
    },
    /** Resolves when the monitor's last result is on the disk. Rejects where that fails, and it is tried again. */
    async stored(key: number): Promise<void> {
      const one = latest.get(key);
      if (one !== undefined) await (one.stored ??= Promise.withResolvers()).promise;
    },
    /** Adds what is wrong with the appliance itself to the next write. */
    addEvents(statements: readonly Statement[]) {
      events.push(...statements);
      events.splice(0, events.length - monitorBounds.unstoredProblems.value);
      later(changeMs);
    },
    /** How many results are not written yet. */
    waiting: () => waiting.length,
    /** When the check ended whose result waits longest, in Unix milliseconds; null where none does. */
    waitingSince: () => waiting[0]?.result.heartbeat.at ?? null,
    /** How many were given up because there were too many. */
    dropped: () => dropped,
    /** Writes what was gathered; false where that failed, and is tried again. */
    flush,
    /** Writes all there is, or gives up where that fails. */
    async stop() {
      stopping = true;
      await flush();
      if (waiting.length > 0) await flush();
    },
  };
}

function dropScreenshots(waiting: readonly Waiting[]) {
  const having = waiting.filter(({ result }) => result.screenshot !== null);
  for (const { result } of having.slice(0, -maxScreenshots)) result.screenshot = null;
}

/** One write holds one change of each monitor: what the next one means is read from the store. */
function portionOf(waiting: readonly Waiting[]): number {
  const moved = new Set<number>();
  const end = waiting.findIndex(({ result: { monitor, before, after } }) => {
    if (before.status === after.status) return false;
    if (moved.has(monitor.key)) return true;
    moved.add(monitor.key);
    return false;
  });
  return end === -1 ? batch : Math.min(end, batch);
}

/**
 * A monitor that was paused, resumed or deleted meanwhile has another epoch, and its result is void. What
 * comes again, because nobody knew whether its write had happened, has the state already that it begins:
 * nothing follows from it a second time.
 */
async function writeResults(
  store: Store,
  results: readonly Result[],
  events: readonly Statement[],
) {
  const moved = results.filter(({ before, after }) => before.status !== after.status);
  await retrying(async () => {
    const begun = await begunStates(
      store,
      moved.map(({ monitor }) => monitor.key),
    );
    const holds = ({ monitor: { key, epoch }, after }: Result) => {
      const now = begun.get(key);
      return now?.epoch === epoch && (now.status !== after.status || now.since !== after.since);
    };
    const changes: Statement[] = [];
    for (const result of moved.filter(holds))
      changes.push(...(await changeStatements(store, result)));
    await store.atomic([
      ...mustHold(new Set(results.map(({ monitor }) => monitor.lease))),
      ...changes,
      ...insertHeartbeats(
        results.map(({ heartbeat, monitor }) => ({ ...heartbeat, epoch: monitor.epoch })),
      ),
      ...endEarlier(results.filter(({ isEarly }) => isEarly).map(({ heartbeat }) => heartbeat)),
      ...results.flatMap(({ heartbeat, monitor, screenshot }) =>
        screenshot === null ? [] : [putScreenshot(monitor, heartbeat.at, screenshot)],
      ),
      stateStatement(results),
      ...events,
    ]);
  });
}

const stateText = `update monitor_states set status = given.status, since = given.since,
    failures = given.failures, successes = given.successes, last_checked_at = given.last_checked_at,
    last_message = coalesce(given.last_message, monitor_states.last_message), latency_ms = given.latency_ms,
    certificate_expires_at = given.certificate_expires_at, details = given.details,
    not_judged_since = case when given.was_judged then given.not_judged_since
      else coalesce(monitor_states.not_judged_since, given.not_judged_since) end
  from (select value ->> 0 as key, value ->> 1 as epoch, value ->> 2 as status, value ->> 3 as since,
      value ->> 4 as failures, value ->> 5 as successes, value ->> 6 as last_checked_at,
      value ->> 7 as last_message, value ->> 8 as latency_ms, value ->> 9 as certificate_expires_at,
      value ->> 10 as details, value ->> 11 as was_judged, value ->> 12 as not_judged_since
    from json_each(?)) given
  where monitor_states.key = given.key and monitor_states.epoch = given.epoch`;

type LastResult = Result & {
  /** Whether one of the results was judged, which ends an earlier `notJudgedSince`. */
  wasJudged: boolean;
  /** RFC 3339; the first of the latest results that can't be judged. Null if the last one was judged. */
  notJudgedSince: string | null;
};

function lastResult(before: LastResult | undefined, result: Result): LastResult {
  const isJudged = result.heartbeat.status !== "unknown";
  return {
    ...result,
    message: result.message ?? before?.message ?? null,
    wasJudged: isJudged || before?.wasJudged === true,
    notJudgedSince: isJudged ? null : (before?.notJudgedSince ?? result.checkedAt),
  };
}

/** What each monitor is after its last result among these. */
function stateStatement(results: readonly Result[]): Prepared {
  const last = new Map<string, LastResult>();
  for (const result of results) {
    const name = `${result.monitor.key} ${result.monitor.epoch}`;
    last.set(name, lastResult(last.get(name), result));
  }
  const list = [...last.values()].map(({ monitor, heartbeat, after, ...result }) => [
    monitor.key,
    monitor.epoch,
    after.status,
    after.since,
    after.failures,
    after.successes,
    result.checkedAt,
    result.message,
    heartbeat.latencyMs,
    result.certificateExpiresAt,
    result.details,
    result.wasJudged ? 1 : 0,
    result.notJudgedSince,
  ]);
  return { text: stateText, parameters: [JSON.stringify(list)] };
}

const begins = mustText(
  "exists (select 1 from monitor_states where key = ? and epoch = ? and (status, since) <> (?, ?))",
);

/** What follows from a change of state: its event and its incident. */
async function changeStatements(store: Store, result: Result): Promise<Statement[]> {
  const { monitor, heartbeat, checkedAt, before, after, reason } = result;
  const message = result.message ?? reason;
  const { organizationId, id, key, epoch } = monitor;
  const event = {
    organizationId,
    at: checkedAt,
    type: `monitor.${after.status}` as const,
    subjectId: id,
    data: { before: before.status, since: before.since, message, latencyMs: heartbeat.latencyMs },
  };
  return [
    {
      ...begins,
      parameters: [key, epoch, after.status, after.since],
      otherwise: () => new StaleRead(),
    },
    appendEvent(event),
    ...(await incidentStatements(store, {
      organizationId,
      monitor,
      severity: monitor.autoIncidentSeverity,
      before: before.status,
      after: after.status,
      message: reason,
      since: Date.parse(before.since),
      at: heartbeat.at,
    })),
  ];
}
