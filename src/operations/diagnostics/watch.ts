import { type Leases, ofNode } from "../../cluster/leases.ts";
import { nodeNames } from "../../cluster/store.ts";
import { type Clock, hourMs } from "../../core/time/clock.ts";
import type { Log } from "../../core/log.ts";
import type { Problem, ProblemName } from "../../core/problems.ts";
import type { Statement, Store } from "../../database/store.ts";
import { lastSeq } from "../../events/log.ts";
import {
  type OpenProblem,
  openProblems,
  organizationsOfAdministrators,
  problemBegins,
  problemEnds,
} from "../../events/problems.ts";
import type { EventReader } from "../../events/reader.ts";
import { findSchedule } from "../backups/schedule-store.ts";
import { planOf } from "../backups/schedule-service.ts";
import type { Vault } from "../../core/security/secrets.ts";
import {
  backupProblem,
  certificateProblem,
  type Disk,
  diskProblem,
  ends,
  eventsProblem,
  hasPassed,
  nodeProblem,
  momentaryProblems,
  type Progress,
  progressOf,
  tickMs,
} from "../problems/rules.ts";

/** What lasts is looked at so often. */
const lookMs = 30_000;

type Dependencies = {
  store: Store;
  clock: Clock;
  leases: Leases;
  /** Milliseconds that only ever go forward. */
  monotonic?: Clock;
  vault: Vault;
  events: Pick<EventReader, "progress">;
  log: Log;
  /** The file system of the data directory. */
  diskOf: () => Promise<Disk>;
  /** When the certificate that new connections get ends, in Unix milliseconds; null for none. */
  certificateEndsAt: () => number | null;
};

/** Looks after the appliance itself: begins and ends its problems, of which alerting tells. */
export function problemWatch(dependencies: Dependencies) {
  const { store, clock, leases, vault, events, log, diskOf, certificateEndsAt } = dependencies;
  const { monotonic = () => performance.now() } = dependencies;
  const startedAt = monotonic();
  const moment = () => ({ wall: clock(), monotonic: monotonic() });
  let last = moment();
  let lookedAt = -Infinity;
  let progress: Progress[] = [];
  /** What passes by itself and is not written down yet. */
  const passing = new Map<ProblemName, Problem>();
  /** Stages by name, of what the log has. */
  const logged = new Map<ProblemName, string>();
  /** The last look could not write down what it found. */
  let isRefused = false;
  let looking: Promise<void> | null = null;
  let timer: ReturnType<typeof setInterval> | null = null;

  function tick() {
    const now = moment();
    for (const problem of momentaryProblems(last, now)) {
      passing.set(problem.name, problem);
      record(problem);
    }
    last = now;
    const isUrgent = passing.size > 0 && !isRefused;
    if (!isUrgent && now.monotonic - lookedAt < lookMs) return;
    looking ??= look()
      .then(() => void (isRefused = false))
      .catch((error: unknown) => {
        isRefused = true;
        log.error("problems of the appliance can't be written down; no alert tells of them yet", {
          cause: String(error),
        });
      })
      .finally(() => (looking = null));
  }

  async function look() {
    lookedAt = monotonic();
    const now = clock();
    const found = [...passing.values()];
    const all = await openProblems(store);
    const open = all.filter(isOurs);
    const lasting = await lastingProblems(open, now);
    for (const problem of lasting.found)
      if (logged.get(problem.name) !== problem.stage) record(problem);
    for (const name of lasting.over) logged.delete(name);
    const told = await organizationsOfAdministrators(store);
    const isKnown = ({ name, stage }: Problem) =>
      told.every((id) =>
        open.some((one) => one.organizationId === id && one.name === name && one.stage === stage),
      );
    const begun =
      told.length === 0 ? [] : [...found, ...lasting.found.filter((problem) => !isKnown(problem))];
    const isFound = (name: ProblemName) => begun.some((problem) => problem.name === name);
    const over = open.filter(
      ({ name, until }) => !isFound(name) && (lasting.over.includes(name) || hasPassed(until, now)),
    );
    const statements = [
      ...begun.flatMap((problem) => problemBegins(told, ownedProblem(problem), now)),
      ...[...Map.groupBy(over, ({ name }) => name)].flatMap(([name, its]) =>
        problemEnds(
          ownedProblem({ name }),
          ends[name],
          now,
          its.map(({ organizationId }) => organizationId),
        ),
      ),
      ...(await problemsOfOthers(all, told, now)),
    ];
    if (statements.length > 0) await store.atomic(statements);
    for (const problem of found)
      if (passing.get(problem.name) === problem) passing.delete(problem.name);
    for (const name of new Set(over.map(({ name }) => name)))
      log.info("a problem of the appliance is over", { problem: name });
  }

  /** Backups are made once for all; all else is each machine's own. */
  const isShared = ({ name }: Pick<Problem, "name">) => name === "backup";
  const ownedProblem = <T extends Pick<Problem, "name">>(problem: T) =>
    isShared(problem) ? problem : ofNode(leases, problem);
  const isOurs = (open: OpenProblem) =>
    isShared(open)
      ? leases.named("problems") !== null
      : open.name !== "node" && open.node === leases.node?.id;

  /** What one machine says of the others: which are gone, and that those that left have no problems any more. */
  async function problemsOfOthers(
    all: readonly OpenProblem[],
    told: readonly string[],
    now: number,
  ): Promise<Statement[]> {
    const gone = leases.gone();
    if (leases.node === null || leases.named("problems") === null || gone === null) return [];
    const names = await nodeNames(store);
    const missing = gone.filter((id) => names.has(id));
    const isOpen = (id: string) => (one: OpenProblem) => one.name === "node" && one.node === id;
    const begun = missing
      .filter(
        (id) =>
          !told.every((to) => all.filter(isOpen(id)).some((one) => one.organizationId === to)),
      )
      .map((id) => nodeProblem(id, names.get(id) ?? id));
    begun.forEach(record);
    const back = all.filter(({ name, node }) => name === "node" && !missing.includes(node ?? ""));
    const left = all.filter(
      (open) =>
        open.name !== "node" && !isShared(open) && !isOurs(open) && !names.has(open.node ?? ""),
    );
    const ended = (open: OpenProblem, why: string) =>
      problemEnds(open, why, now, [open.organizationId]);
    return [
      ...begun.flatMap((problem) => problemBegins(told, problem, now)),
      ...back.flatMap((open) => ended(open, ends.node)),
      ...left.flatMap((open) => ended(open, "This machine was taken out of service.")),
    ];
  }

  function record({ name, stage, severity, message }: Problem) {
    logged.set(name, stage);
    log[severity === "warning" ? "warn" : "error"]("the appliance has a problem", {
      problem: name,
      reason: message,
    });
  }

  /** What is wrong now, and what is known not to be. */
  async function lastingProblems(open: readonly OpenProblem[], now: number) {
    const endsAt = certificateEndsAt();
    const reached = events.progress();
    progress = progressOf(progress, reached, await lastSeq(store), monotonic());
    const judged = {
      disk: diskProblem(
        await diskOf(),
        logged.has("disk") || open.some(({ name }) => name === "disk"),
      ),
      certificate: endsAt === null ? null : certificateProblem(endsAt, now),
      events: eventsProblem(progress, monotonic()),
    };
    const names = Object.keys(judged) as (keyof typeof judged)[];
    const backup = await oldBackup(now);
    if (backup === null) logged.delete("backup");
    return {
      found: [...Object.values(judged), backup].filter((one) => one !== null),
      over: names.filter(
        (name) =>
          judged[name] === null && (name !== "events" || progress.every(({ isGoing }) => isGoing)),
      ) as ProblemName[],
    };
  }

  /** One that was missed while the appliance was off is made soon; of one that failed the schedule tells, and of the end of both. */
  async function oldBackup(now: number): Promise<Problem | null> {
    if (leases.named("problems") === null || monotonic() - startedAt < hourMs) return null;
    const row = await findSchedule(store);
    if (row === null || row.failingSince !== null || !planOf(vault, row).enabled) return null;
    const since = row.lastSuccessAt ?? row.updatedAt;
    return backupProblem(Math.max(Date.parse(since), Date.parse(row.updatedAt)), now);
  }

  return {
    start() {
      tick();
      timer = setInterval(tick, tickMs);
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      await looking;
    },
    /** One tick, and a look at everything: for tests, instead of `start`. */
    async runOnce() {
      lookedAt = -Infinity;
      tick();
      await looking;
    },
  };
}
