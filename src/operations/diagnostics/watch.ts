/** Watches the appliance itself: opens and ends its problems, which alerting reports. */
import { type Leases, assignProblemToNode } from "../../cluster/leases.ts";
import { findNodeNames } from "../../cluster/store.ts";
import { hourMs, type Clock } from "../../core/time/clock.ts";
import type { Log } from "../../core/log.ts";
import { type Problem, type ProblemName, storageRecoveredMessage } from "../../core/problems.ts";
import type { Statement } from "../../database/store.ts";
import { findLastSeq } from "../../events/log.ts";
import {
  type OpenProblem,
  listOpenProblems,
  listAdministratorOrganizations,
  recordProblem,
  recordProblemEnd,
} from "../../events/problems.ts";
import type { EventReader } from "../../events/reader.ts";
import { updateProgress, type Progress } from "./events.ts";
import { type WatchContext, watched } from "./list.ts";
import { isExpired, type Moment, findMomentaryProblems, tickMs } from "./momentary-problems.ts";

const examineMs = 30_000;

type Dependencies = Omit<WatchContext, "isOpen" | "progress"> & {
  leases: Leases;
  /** Monotonic clock, in milliseconds. */
  monotonic?: Clock;
  events: Pick<EventReader, "progress">;
  log: Log;
};

/** Message at the end of each problem. */
const endMessages = {
  alerts: "The outbox has room for alerts again.",
  backup: "A backup has been made again.",
  certificate: "No certificate expires within two weeks.",
  checks: "Checks have been reliable for five minutes.",
  clock: "The clock has not jumped for ten minutes.",
  disk: "There is enough space again.",
  events: "All events have been handled.",
  loop: "It has not stalled for ten minutes.",
  node: "It is back, or was taken out of service.",
  notices: "The outbox has room for notices again.",
  storage: storageRecoveredMessage,
} as const satisfies Record<ProblemName, string>;

/** Whether a problem concerns all nodes. Backups have one schedule for all; every other problem belongs to one node. */
const isShared = ({ name }: Pick<Problem, "name">) => name === "backup";

export class ProblemWatch {
  readonly #dependencies: Dependencies;
  readonly #monotonic: Clock;
  readonly #startedAt: number;
  #last: Moment;
  #examinedAt = -Infinity;
  #progress: Progress[] = [];
  /** Stalls and jumps that are not stored yet. */
  readonly #momentary = new Map<ProblemName, Problem>();
  /** The last logged stage of each open problem. */
  readonly #logged = new Map<ProblemName, string>();
  /** Whether the last findings could not be stored. */
  #isFailing = false;
  #examining: Promise<void> | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#monotonic = dependencies.monotonic ?? (() => performance.now());
    this.#startedAt = this.#monotonic();
    this.#last = this.#moment();
  }

  start() {
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  async stop() {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#examining;
  }

  /** Examines everything now. Tests use it instead of `start`. */
  async runOnce() {
    this.#examinedAt = -Infinity;
    this.#tick();
    await this.#examining;
  }

  #moment = (): Moment => ({ wall: this.#dependencies.clock(), monotonic: this.#monotonic() });

  #tick() {
    const now = this.#moment();
    for (const problem of findMomentaryProblems(this.#last, now)) {
      this.#momentary.set(problem.name, problem);
      this.#record(problem);
    }
    this.#last = now;
    const isUrgent = this.#momentary.size > 0 && !this.#isFailing;
    if (!isUrgent && now.monotonic - this.#examinedAt < examineMs) return;
    this.#examining ??= this.#examine()
      .then(() => void (this.#isFailing = false))
      .catch((error: unknown) => {
        this.#isFailing = true;
        this.#dependencies.log.error(
          "problems of the appliance can't be written down; no alert reports them yet",
          { cause: String(error) },
        );
      })
      .finally(() => (this.#examining = null));
  }

  async #examine() {
    const { store, leases, log, clock } = this.#dependencies;
    this.#examinedAt = this.#monotonic();
    const now = clock();
    const momentary = [...this.#momentary.values()];
    const all = await listOpenProblems(store);
    const open = all.filter((problem) => isOfNode(problem, leases));
    const { found, ended } = await this.#runDiagnostics(open);
    const recipients = await listAdministratorOrganizations(store);
    const isKnown = ({ name, stage }: Problem) =>
      recipients.every((id) =>
        open.some((one) => one.organizationId === id && one.name === name && one.stage === stage),
      );
    const startedProblems =
      recipients.length === 0
        ? []
        : [...momentary, ...found.filter((problem) => !isKnown(problem))];
    const over = open.filter(
      ({ name, until }) =>
        !startedProblems.some((problem) => problem.name === name) &&
        (ended.includes(name) || isExpired(until, now)),
    );
    const missing = await findMissingNodes(all, recipients, this.#dependencies);
    missing.begun.forEach((problem) => this.#record(problem));
    const statements = [
      ...[...startedProblems.map((problem) => addNode(problem, leases)), ...missing.begun].flatMap(
        (problem) => recordProblem(recipients, problem, now),
      ),
      ...over.flatMap((problem) => endProblem(problem, endMessages[problem.name], now)),
      ...missing.over.flatMap(({ problem, reason }) => endProblem(problem, reason, now)),
    ];
    if (statements.length > 0) await store.atomic(statements);
    for (const problem of momentary)
      if (this.#momentary.get(problem.name) === problem) this.#momentary.delete(problem.name);
    for (const name of new Set(over.map((problem) => problem.name)))
      log.info("a problem of the appliance is over", { problem: name });
  }

  /** Runs the watched diagnostics. Returns the problems found and the names of problems that are over. */
  async #runDiagnostics(open: readonly OpenProblem[]) {
    const { store, events, leases } = this.#dependencies;
    const monotonic = this.#monotonic();
    this.#progress = updateProgress(
      this.#progress,
      events.progress(),
      await findLastSeq(store),
      monotonic,
    );
    const context: WatchContext = {
      ...this.#dependencies,
      isOpen: (name) => this.#logged.has(name) || open.some((problem) => problem.name === name),
      progress: this.#progress,
    };
    // The scheduler gets an hour after the start to catch up on a backup that was missed while the
    // appliance was off.
    const skipsShared =
      leases.findNamed("problems") === null || monotonic - this.#startedAt < hourMs;
    const found: Problem[] = [];
    const ended: ProblemName[] = [];
    for (const name of Object.keys(watched) as (keyof typeof watched)[]) {
      if (skipsShared && isShared({ name })) continue;
      const diagnoses = await watched[name].examine(context);
      found.push(...diagnoses.flatMap(({ problem }) => problem ?? []));
      if (diagnoses.every(({ verdict }) => verdict === "ok")) {
        this.#logged.delete(name);
        // The scheduler ends the problem of backups itself.
        if (!isShared({ name })) ended.push(name);
      }
    }
    for (const problem of found)
      if (this.#logged.get(problem.name) !== problem.stage) this.#record(problem);
    return { found, ended };
  }

  #record({ name, stage, severity, message }: Problem) {
    this.#logged.set(name, stage);
    this.#dependencies.log[severity === "warning" ? "warn" : "error"](
      "the appliance has a problem",
      { problem: name, reason: message },
    );
  }
}

const addNode = (problem: Problem, leases: Leases) =>
  isShared(problem) ? problem : assignProblemToNode(leases, problem);

const isOfNode = (open: OpenProblem, leases: Leases) =>
  isShared(open)
    ? leases.findNamed("problems") !== null
    : open.name !== "node" && open.node === leases.node?.id;

const endProblem = (problem: OpenProblem, reason: string, now: number): Statement[] =>
  recordProblemEnd(problem, reason, now, [problem.organizationId]);

/** Finds missing nodes, nodes that returned, and problems of nodes that were removed permanently. */
async function findMissingNodes(
  all: readonly OpenProblem[],
  recipients: readonly string[],
  { store, leases }: Pick<Dependencies, "store" | "leases">,
) {
  const goneNodes = leases.listDeadNodes();
  if (leases.node === null || leases.findNamed("problems") === null || goneNodes === null)
    return { begun: [], over: [] };
  const names = await findNodeNames(store);
  const missing = goneNodes.filter((id) => names.has(id));
  const isReported = (id: string) =>
    recipients.every((to) =>
      all.some((one) => one.name === "node" && one.node === id && one.organizationId === to),
    );
  const isBack = ({ name, node = "" }: OpenProblem) => name === "node" && !missing.includes(node);
  const hasLeft = (open: OpenProblem) =>
    open.name !== "node" &&
    !isShared(open) &&
    !isOfNode(open, leases) &&
    !names.has(open.node ?? "");
  return {
    begun: missing
      .filter((id) => !isReported(id))
      .map((id) => createNodeProblem(id, names.get(id) ?? id)),
    over: all.flatMap((problem) => {
      if (isBack(problem)) return [{ problem, reason: endMessages.node }];
      if (!hasLeft(problem)) return [];
      return [{ problem, reason: "This machine was taken out of service." }];
    }),
  };
}

const createNodeProblem = (node: string, name: string): Problem => ({
  name: "node",
  node,
  stage: "",
  severity: "error",
  message: `${name} has not been heard from for ten seconds: it has stopped, or can't reach the database. The others do its work.`,
  until: null,
});
