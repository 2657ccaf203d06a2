/** Replays stored check results with the saved and with other settings, and compares the alerts. */
import { formatCount } from "../../core/text/locale.ts";
import { alertBounds } from "../../core/limits.ts";
import { forEachYielding, yieldToEventLoop } from "../../core/time/event-loop.ts";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { unknownReferenceError } from "../../database/references.ts";
import { createOrganizationTurns } from "../../events/organization-turns.ts";
import type { Scope } from "../../events/scope.ts";
import { StateReplay, type Thresholds } from "../../monitoring/checks/replay-rules.ts";
import { listDependencies } from "../../monitoring/dependencies/store.ts";
import { getGroup } from "../../monitoring/groups/service.ts";
import { getMonitor } from "../../monitoring/monitors/service.ts";
import { listResultsToReplay } from "../../monitoring/uptime/store.ts";
import { parseNotifyOn } from "../channels/rules.ts";
import { selectChannelsForProblems } from "../deciding/rules.ts";
import { loadEscalation } from "../deciding/snapshot.ts";
import { findPolicyOfMonitor } from "../policies/rules.ts";
import { listPolicies, type PolicyRecord } from "../policies/store.ts";
import type { MessageKind } from "../channels/routing-schema.ts";
import {
  listUnmatchedAlerts,
  replayAlerts,
  type ReplayedAlert,
  type ReplayedAlerts,
  type ReplayedMonitor,
  type Timeline,
} from "./rules.ts";
import type { NewReplay, Replay } from "./schema.ts";
import { countSteps } from "./step-rules.ts";
import {
  countResults,
  listChannelsById,
  listChannelsOfMonitors,
  listReplayed,
  listReplayedById,
  type ReplayedRow,
} from "./store.ts";

/** Results per turn of the event loop. Reading and judging them takes about 5 ms. */
const resultsPerTurn = 2_000;
/** Intervals whose results one query counts. Counting 100,000 results takes about 5 ms. */
const countedIntervals = 100_000;

const runInReplayTurn = createOrganizationTurns();

/** Replays the alerts of a monitor, a group or the organization. Throws NOT_FOUND, VALIDATION_ERROR. */
export const startReplay = (scope: Scope, request: NewReplay): Promise<Replay> =>
  runInReplayTurn(scope, () => runReplay(scope, request));

async function runReplay(scope: Scope, request: NewReplay): Promise<Replay> {
  const now = scope.clock();
  const from = now - request.days * dayMs;
  const chosen = await findChosen(scope, request);
  const parents = await findParents(scope, chosen, request);
  const checks = await assertFits(scope, [...chosen, ...parents.others], from);
  const channels = await findChannels(scope, [...chosen, ...parents.others]);
  const requested = request.alertChannelIds && (await findRequestedChannels(scope, request));
  const policies = await findPolicies(scope, request);
  const before = new Map<string, ReplayedMonitor>();
  const after = new Map<string, ReplayedMonitor>();
  let first: number | null = null;
  for (const row of [...chosen, ...parents.others]) {
    const isChosen = chosen.includes(row);
    const thresholds = isChosen ? readThresholds(row, request) : readThresholds(row);
    const timelines = await readTimelines(scope, row, from, {
      both: [readThresholds(row), thresholds],
      hasChecks: parents.related.has(row.id),
    });
    if (isChosen) first = minOf(first, timelines.from);
    const channelIds = channels.get(row.id) ?? [];
    const [saved, changed] = timelines.both;
    const wantedChannels = (isChosen && requested) || channelIds;
    before.set(row.id, describeMonitor(row, channelIds, saved, policies.findSaved(row)));
    after.set(
      row.id,
      describeMonitor(
        row,
        wantedChannels,
        changed,
        policies[isChosen ? "findRequested" : "findSaved"](row),
      ),
    );
  }
  const [was, is] = [
    await replayAll(chosen, before, parents.saved, now),
    await replayAll(chosen, after, parents.requested, now),
  ];
  const missed = listUnmatchedAlerts(was.alerts, is.alerts);
  const span = { from, until: now };
  const rows = new Map(chosen.map((row) => [row.id, row]));
  return {
    from: first === null ? null : formatTimestamp(first),
    monitors: chosen.length,
    checks,
    before: toReplayed(
      was,
      await countPolicySteps(scope, rows, was.alerts, policies.findSaved, span),
    ),
    after: toReplayed(
      is,
      await countPolicySteps(scope, rows, is.alerts, policies.findRequested, span),
    ),
    missed: missed.length,
    longestMissedSeconds: Math.round(
      Math.max(0, ...missed.map(({ at, until }) => (until ?? now) - at)) / 1_000,
    ),
    notConsidered: listOmissions(chosen, request, chosen.some(policies.findRequested)),
  };
}

const minOf = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

async function findChosen(scope: Scope, request: NewReplay): Promise<ReplayedRow[]> {
  const { monitorId, groupId, interval } = request;
  if (monitorId !== undefined && groupId !== undefined)
    throw invalidFieldError("groupId", "must be absent if monitorId is given");
  if (monitorId !== undefined) await getMonitor(scope, monitorId);
  if (groupId !== undefined) await getGroup(scope, groupId);
  const chosen = await listReplayed(scope, { monitorId, groupId });
  const [only] = chosen;
  if (monitorId !== undefined && interval !== undefined && only !== undefined)
    if (interval < only.intervalSeconds)
      throw invalidFieldError(
        "interval",
        `must be at least the saved one, ${only.intervalSeconds} s: checks that did not run can't be replayed`,
      );
  return chosen;
}

type Parents = {
  /** Monitors that are not replayed, but on which replayed ones depend. */
  others: ReplayedRow[];
  /** The monitors on which each depends, directly or through others. */
  saved: ReadonlyMap<string, readonly string[]>;
  requested: ReadonlyMap<string, readonly string[]>;
  /** Monitors that depend on others, or on which others depend. */
  related: ReadonlySet<string>;
};

async function findParents(
  scope: Scope,
  chosen: readonly ReplayedRow[],
  { dependsOn }: NewReplay,
): Promise<Parents> {
  const ids = chosen.map(({ id }) => id);
  const stored = await listDependencies(scope, [...ids, ...(dependsOn ?? [])]);
  const parentIds = [...new Set([...stored.map(({ parentId }) => parentId), ...(dependsOn ?? [])])];
  const parents = await listReplayedById(scope, parentIds);
  const known = new Map([...chosen, ...parents].map((row) => [row.id, row]));
  if (dependsOn?.some((id) => !known.has(id))) throw unknownReferenceError("dependsOn", "monitor");
  const isChosen = new Set(ids);
  const remaining = stored.filter(({ id }) => dependsOn === undefined || !isChosen.has(id));
  const added = ids.flatMap((id) =>
    (dependsOn ?? []).flatMap((parentId) => (parentId === id ? [] : [{ id, parentId }])),
  );
  const find = (dependencies: readonly { id: string; parentId: string }[]) =>
    findAncestors(ids, dependencies, (id) => known.get(id)?.type === "composite");
  const [saved, requested] = [find(stored), find([...remaining, ...added])];
  return {
    others: parents.filter(({ id }) => !isChosen.has(id)),
    saved,
    requested,
    related: new Set(
      [...saved, ...requested].flatMap(([id, own]) => (own.length > 0 ? [id, ...own] : [])),
    ),
  };
}

/** Returns the ancestors of each monitor. A composite monitor is replaced by its members. */
function findAncestors(
  ids: readonly string[],
  dependencies: readonly { id: string; parentId: string }[],
  isComposite: (id: string) => boolean,
): Map<string, string[]> {
  const parentsOf = Map.groupBy(dependencies, ({ id }) => id);
  return new Map(
    ids.map((id) => {
      const found = new Set<string>();
      const queue = isComposite(id) ? [] : [id];
      for (const next of queue)
        for (const { parentId } of parentsOf.get(next) ?? []) {
          if (found.has(parentId) || parentId === id) continue;
          found.add(parentId);
          if (!isComposite(parentId)) queue.push(parentId);
        }
      return [id, [...found]];
    }),
  );
}

/** Counts the results to replay. Throws VALIDATION_ERROR if there are too many. */
async function assertFits({ store, clock }: Scope, rows: readonly ReplayedRow[], from: number) {
  const limit = alertBounds.replayedChecks.value;
  const now = clock();
  let checks = 0;
  for (const { key, intervalSeconds } of rows) {
    const countedMs = countedIntervals * intervalSeconds * 1_000;
    for (let after = from; after <= now && checks <= limit; after += countedMs) {
      checks += await countResults(store, key, after, after + countedMs);
      await yieldToEventLoop();
    }
  }
  if (checks > limit)
    throw invalidFieldError(
      "days",
      `include more than ${formatCount(limit)} checks of ${rows.length} monitors: choose fewer days, a group or a monitor`,
    );
  return checks;
}

async function findChannels(scope: Scope, rows: readonly ReplayedRow[]) {
  const found = await listChannelsOfMonitors(
    scope,
    rows.map(({ id }) => id),
  );
  return new Map(
    [...Map.groupBy(found, ({ monitorId }) => monitorId)].map(([id, own]) => [
      id,
      own.map(({ notifyOn }) => parseNotifyOn(notifyOn)),
    ]),
  );
}

async function findRequestedChannels(scope: Scope, { alertChannelIds = [] }: NewReplay) {
  const found = await listChannelsById(scope, alertChannelIds);
  if (found.length < alertChannelIds.length)
    throw unknownReferenceError("alertChannelIds", "alert channel");
  return found.flatMap(({ enabled, notifyOn }) => (enabled === 1 ? [parseNotifyOn(notifyOn)] : []));
}

type FindPolicy = (row: Pick<ReplayedRow, "escalationPolicyId">) => PolicyRecord | null;

/** Returns functions that find the saved and the requested policy of a monitor; null without steps. */
async function findPolicies(
  scope: Scope,
  { escalationPolicyId }: NewReplay,
): Promise<{ findSaved: FindPolicy; findRequested: FindPolicy }> {
  const all = await listPolicies(scope);
  if (escalationPolicyId != null && !all.some(({ id }) => id === escalationPolicyId))
    throw unknownReferenceError("escalationPolicyId", "escalation policy");
  const findSaved: FindPolicy = (row) => {
    const policy = findPolicyOfMonitor(all, row);
    return policy === null || policy.steps.length === 0 ? null : policy;
  };
  if (escalationPolicyId === undefined) return { findSaved, findRequested: findSaved };
  return { findSaved, findRequested: () => findSaved({ escalationPolicyId }) };
}

/** Counts the steps of each alert's policy, and the messages of all steps. */
async function countPolicySteps(
  scope: Scope,
  rows: ReadonlyMap<string, ReplayedRow>,
  alerts: readonly ReplayedAlert[],
  findPolicy: FindPolicy,
  { from, until }: { from: number; until: number },
) {
  const steps = new Map<ReplayedAlert, number>();
  const total = { steps: 0, messages: 0 };
  const policies = new Set([...rows.values()].flatMap((row) => findPolicy(row) ?? []));
  if (policies.size === 0) return { steps, total };
  const factsAt = await loadEscalation(scope, [...policies], from, until + 1);
  const ordinary = [...factsAt(until).channels.values()].filter(
    ({ personId }) => personId === null,
  );
  const facts = { factsAt, atEnd: selectChannelsForProblems(ordinary).length };
  await forEachYielding(alerts, (alert) => {
    const row = rows.get(alert.monitor.id);
    const policy = row === undefined ? null : findPolicy(row);
    if (row === undefined || policy === null || alert.escalatesAt === null) return;
    const span = { from: alert.escalatesAt, until: alert.until ?? until };
    const found = countSteps(policy, row.priority, span, facts);
    steps.set(alert, found.steps);
    total.steps += found.steps;
    total.messages += found.messages;
  });
  return { steps, total };
}

/**
 * Returns the settings of a monitor, changed by a request. A push monitor has no thresholds, because its job reports
 * the state.
 */
function readThresholds(row: ReplayedRow, request: Partial<NewReplay> = {}): Thresholds {
  const { type, retries, successThreshold, degradedAfterMs } = row;
  if (type === "push") return { retries: 0, successThreshold: 1, degradedAfterMs, pace: null };
  const { interval = 0 } = request;
  const pace = { intervalSeconds: interval, retryIntervalSeconds: row.retryIntervalSeconds };
  return {
    retries: request.retries ?? retries,
    successThreshold: request.successThreshold ?? successThreshold,
    degradedAfterMs:
      request.degradedAfterMs === undefined ? degradedAfterMs : request.degradedAfterMs,
    pace: interval > row.intervalSeconds ? pace : null,
  };
}

type ReplayRuns = { both: readonly [Thresholds, Thresholds]; hasChecks: boolean };

/** Reads the results of a monitor in portions, and derives its states with both settings. */
async function readTimelines(
  { store }: Scope,
  { key }: ReplayedRow,
  from: number,
  { both, hasChecks }: ReplayRuns,
): Promise<{ from: number | null; both: [Timeline, Timeline] }> {
  const recorders = [
    createRecorder(both[0], hasChecks),
    createRecorder(both[1], hasChecks),
  ] as const;
  let first: number | null = null;
  for (let after = from; ;) {
    const results = await listResultsToReplay(store, key, after, resultsPerTurn);
    const last = results.at(-1);
    first ??= results[0]?.at ?? null;
    for (const result of results) for (const recorder of recorders) recorder.add(result);
    await yieldToEventLoop();
    if (last === undefined || results.length < resultsPerTurn) break;
    after = last.at + 1;
  }
  return { from: first, both: [recorders[0].timeline, recorders[1].timeline] };
}

function createRecorder(thresholds: Thresholds, hasChecks: boolean) {
  const replayed = new StateReplay(thresholds);
  const timeline: Timeline = { changes: [], checks: { at: [], failures: [], successes: [] } };
  let status = "pending";
  return {
    timeline,
    add(result: Parameters<StateReplay["add"]>[0]) {
      const state = replayed.add(result);
      if (state === null) return;
      if (hasChecks) {
        timeline.checks.at.push(result.at);
        timeline.checks.failures.push(state.failures);
        timeline.checks.successes.push(state.successes);
      }
      if (state.status === status) return;
      status = state.status;
      timeline.changes.push({ at: result.at, status: state.status });
    },
  };
}

const describeMonitor = (
  { id, name, patienceMs, reminderSeconds }: ReplayedRow,
  channels: readonly (readonly MessageKind[])[],
  timeline: Timeline,
  policy: PolicyRecord | null,
): ReplayedMonitor => ({
  id,
  name,
  patienceMs,
  reminderMs: reminderSeconds === null ? null : reminderSeconds * 1_000,
  notifies: channels.length > 0 || policy !== null,
  channels,
  timeline,
});

async function replayAll(
  rows: readonly ReplayedRow[],
  monitors: ReadonlyMap<string, ReplayedMonitor>,
  ancestors: ReadonlyMap<string, readonly string[]>,
  until: number,
): Promise<ReplayedAlerts> {
  const found: ReplayedAlerts = { alerts: [], held: 0, messages: 0 };
  function* replayEach() {
    for (const { id } of rows) {
      const monitor = monitors.get(id);
      if (monitor === undefined) continue;
      const parents = (ancestors.get(id) ?? []).flatMap((parentId) => monitors.get(parentId) ?? []);
      yield* replayAlerts(monitor, parents, until, found);
      yield;
    }
  }
  await forEachYielding(replayEach(), () => {});
  return found;
}

const toReplayed = (
  { alerts, held, messages }: ReplayedAlerts,
  { steps, total }: Awaited<ReturnType<typeof countPolicySteps>>,
): Replay["before"] => ({
  count: alerts.length,
  held,
  messages,
  escalationSteps: total.steps,
  escalationMessages: total.messages,
  alerts: alerts
    .toSorted((a, b) => b.at - a.at)
    .slice(0, alertBounds.replayedAlerts.value)
    .map((alert) => ({
      monitor: alert.monitor,
      type: alert.type,
      at: formatTimestamp(alert.at),
      until: alert.until === null ? null : formatTimestamp(alert.until),
      escalationSteps: steps.get(alert) ?? 0,
    })),
});

/** Lists in sentences what a replay can't know. */
function listOmissions(
  chosen: readonly ReplayedRow[],
  request: NewReplay,
  hasPolicy: boolean,
): string[] {
  const { retries, interval, dependsOn } = request;
  const isThreshold =
    request.successThreshold !== undefined || request.degradedAfterMs !== undefined;
  const hasPush = chosen.some(({ type }) => type === "push");
  const facts: [boolean, string][] = [
    [
      true,
      "Pauses, mutes and changes of settings in this time: the present settings are used for all of it.",
    ],
    [
      true,
      "Certificates, incidents, quiet hours of the monitors' own channels, alerts that were joined because of a common cause, and failures of others in their maintenance.",
    ],
    [
      hasPolicy,
      "Acknowledgments and snoozes: steps run until the problem is over. Schedules and contact methods are those of now.",
    ],
    [
      retries !== undefined || interval !== undefined,
      "Other check times: with other retries or intervals, some checks would have run earlier or later.",
    ],
    [
      dependsOn !== undefined,
      "Checks of the monitors on which others depend: they would have run as soon as one of these failed.",
    ],
    [
      chosen.some(({ confirmations }) => confirmations > 1),
      "Confirmations: the results of other nodes are not stored.",
    ],
    [
      hasPush && (retries !== undefined || interval !== undefined || isThreshold),
      "Thresholds of push monitors: their reports count as they are.",
    ],
  ];
  return facts.flatMap(([applies, text]) => (applies ? [text] : []));
}
