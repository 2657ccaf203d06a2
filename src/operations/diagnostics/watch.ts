/** Watches the appliance itself: opens and ends its problems, which alerting reports. */
import { type Leases, assignProblemToNode } from "../../cluster/leases.ts";
import { findNodeNames } from "../../cluster/store.ts";
import { hourMs, type Clock } from "../../core/time/clock.ts";
import type { Log } from "../../core/log.ts";
import {
  organizationProblems,
  type Problem,
  type ProblemName,
  storageRecoveredMessage,
} from "../../core/problems.ts";
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
import { type WatchContext, watchedDiagnostics } from "./list.ts";
import {
  isExpired,
  type ClockReadings,
  findMomentaryProblems,
  tickMs,
} from "./momentary-problems.ts";

const examineIntervalMs = 30_000;

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
  drill: "The last drill of each policy and person was acknowledged.",
  events: "All events have been handled.",
  loop: "It has not stalled for ten minutes.",
  node: "It is back, or was taken out of service.",
  notices: "The outbox has room for notices again.",
  "on-call": "Everyone whom a policy notifies can be reached again.",
  publishing: "All status pages are published again.",
  storage: storageRecoveredMessage,
  unhandled: "Everything has been handled for a day.",
} as const satisfies Record<ProblemName, string>;

/** Problems that concern all nodes. Backups have one schedule for all; every other problem belongs to one node. */
const sharedProblems: ReadonlySet<ProblemName> = new Set([
  "backup",
  "drill",
  "on-call",
  "publishing",
  "unhandled",
]);

const isShared = ({ name }: Pick<Problem, "name">) => sharedProblems.has(name);

const buildLogKey = ({ name, organizationId }: Problem) =>
  organizationId === undefined ? name : `${name} ${organizationId}`;

export class ProblemWatch {
  readonly #dependencies: Dependencies;
  readonly #monotonic: Clock;
  readonly #startedAt: number;
  #last: ClockReadings;
  #examinedAt = -Infinity;
  #progress: Progress[] = [];
  /** Stalls and jumps that are not stored yet. */
  readonly #momentary = new Map<ProblemName, Problem>();
  /** The last logged stage of each open problem, by its name and organization. */
  readonly #logged = new Map<string, string>();
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

  #moment = (): ClockReadings => ({
    wall: this.#dependencies.clock(),
    monotonic: this.#monotonic(),
  });

  #tick() {
    const now = this.#moment();
    for (const problem of findMomentaryProblems(this.#last, now)) {
      this.#momentary.set(problem.name, problem);
      this.#record(problem);
    }
    this.#last = now;
    const isUrgent = this.#momentary.size > 0 && !this.#isFailing;
    if (!isUrgent && now.monotonic - this.#examinedAt < examineIntervalMs) return;
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
    const listRecipients = ({ organizationId }: Problem) =>
      organizationId === undefined ? recipients : [organizationId];
    const isKnown = (problem: Problem) =>
      listRecipients(problem).every((id) =>
        open.some(
          (one) =>
            one.organizationId === id && one.name === problem.name && one.stage === problem.stage,
        ),
      );
    const startedProblems = [...momentary, ...found.filter((problem) => !isKnown(problem))].filter(
      (problem) => listRecipients(problem).length > 0,
    );
    const endedProblems = open.filter(
      (one) =>
        !startedProblems.some(
          (problem) =>
            problem.name === one.name && listRecipients(problem).includes(one.organizationId),
        ) &&
        (ended(one) || isExpired(one, now)),
    );
    const missing = await findMissingNodes(all, recipients, this.#dependencies);
    missing.begun.forEach((problem) => this.#record(problem));
    const statements = [
      ...[...startedProblems.map((problem) => addNode(problem, leases)), ...missing.begun].flatMap(
        (problem) => recordProblem(listRecipients(problem), problem, now),
      ),
      ...endedProblems.flatMap((problem) => endProblem(problem, endMessages[problem.name], now)),
      ...missing.over.flatMap(({ problem, reason }) => endProblem(problem, reason, now)),
    ];
    if (statements.length > 0) await store.atomic(statements);
    for (const problem of momentary)
      if (this.#momentary.get(problem.name) === problem) this.#momentary.delete(problem.name);
    for (const name of new Set(endedProblems.map((problem) => problem.name)))
      log.info("a problem of the appliance is over", { problem: name });
  }

  /** Runs the watched diagnostics. Returns the problems found, and whether an open problem is over. */
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
    const found: Problem[] = [];
    const examined = new Set<ProblemName>();
    for (const name of Object.keys(watchedDiagnostics) as (keyof typeof watchedDiagnostics)[]) {
      if (isShared({ name }) && leases.findNamed("problems") === null) continue;
      // The scheduler gets an hour after the start to catch up on a backup that was missed while
      // the appliance was off.
      if (name === "backup" && monotonic - this.#startedAt < hourMs) continue;
      const diagnoses = await watchedDiagnostics[name].examine(context);
      found.push(...diagnoses.flatMap(({ problem }) => problem ?? []));
      if (organizationProblems.has(name) || diagnoses.every(({ verdict }) => verdict === "ok"))
        examined.add(name);
    }
    const isFound = (name: string, organizationId: string | undefined) =>
      found.some((one) => one.name === name && one.organizationId === organizationId);
    for (const key of this.#logged.keys()) {
      const [name = "", organizationId] = key.split(" ");
      if (examined.has(name as ProblemName) && !isFound(name, organizationId))
        this.#logged.delete(key);
    }
    for (const problem of found)
      if (this.#logged.get(buildLogKey(problem)) !== problem.stage) this.#record(problem);
    // The scheduler ends the problem of backups itself.
    const hasEnded = ({ name, organizationId }: OpenProblem) =>
      examined.has(name) &&
      name !== "backup" &&
      !(organizationProblems.has(name) && isFound(name, organizationId));
    return { found, ended: hasEnded };
  }

  #record(problem: Problem) {
    const { name, stage, severity, message } = problem;
    this.#logged.set(buildLogKey(problem), stage);
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
  const deadNodes = leases.listDeadNodes();
  if (leases.node === null || leases.findNamed("problems") === null || deadNodes === null)
    return { begun: [], over: [] };
  const names = await findNodeNames(store);
  const missing = deadNodes.filter((id) => names.has(id));
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
