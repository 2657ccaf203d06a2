/** Runs queries and writes on a rqlite cluster, with retries, and resolves writes with an unknown outcome. */
import { AppError } from "../../core/errors.ts";
import type { Clock } from "../../core/time/clock.ts";
import type { ClusterAddress } from "../address.ts";
import type { DatabaseNode } from "../file/data-directory.ts";
import type { Parameter } from "../store.ts";
import {
  ClusterConnection,
  neverSentPattern,
  type Outcome,
  type Patience,
  type Result,
  staleRead,
  strongRead,
  defaultPatience,
  weakRead,
} from "./connection.ts";
import { refusedCredentialsError, toSqlError, unavailableError } from "./errors.ts";
import { nodesPath } from "./nodes.ts";

/** A statement with its parameters: `[text, …parameters]`. */
export type SentStatement = readonly [string, ...Parameter[]];

/** Error for a write with an unknown outcome. The write can have been applied. */
export class UnresolvedWrite extends Error {
  readonly error: AppError;
  constructor(error: AppError) {
    super(error.message);
    this.error = error;
  }
}

export class RqliteClient {
  readonly #cluster: ClusterConnection;
  /** Time until which requests try each node only once, because no leader was found recently. */
  #hopelessUntil = 0;

  constructor(address: ClusterAddress, patience: Patience = defaultPatience) {
    this.#cluster = new ClusterConnection(address, patience);
  }

  /** Sends a request other than SQL. Throws UNAVAILABLE. */
  sendRaw(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#cluster.raw(path, init);
  }

  /** Returns all nodes of the cluster, including unreachable ones. Throws UNAVAILABLE. */
  async listNodes(): Promise<DatabaseNode[]> {
    return this.#cluster.nodes.parseNodes(await this.sendRaw(nodesPath));
  }

  /**
   * Atomically replaces all data with a database file. A single node boots from it; several nodes replicate it
   * through their log. Throws UNAVAILABLE, for example if the outcome is unknown.
   */
  async load(image: Blob, signal?: AbortSignal): Promise<void> {
    const all = await this.listNodes();
    const leading = all.find(({ isLeader }) => isLeader)?.host ?? "";
    const path = all.length === 1 ? "/boot" : "/db/load";
    let reason = "";
    const leaderFirst = this.#cluster.hosts.toSorted(
      (a, b) => Number(b === leading) - Number(a === leading),
    );
    for (const host of leaderFirst) {
      try {
        const init = { method: "POST", body: image, timeout: false, signal: signal ?? null };
        const response = await this.#cluster.send(host, path, init);
        if (response.ok) return;
        throw unavailableError(
          `${response.status} ${(await response.text()).slice(0, 200).trim()}`,
        );
      } catch (error) {
        const { code = "", message } = error as Error & { code?: string };
        if (!neverSentPattern.test(code))
          throw error instanceof AppError ? error : unavailableError(message);
        reason = message;
      }
    }
    throw unavailableError(reason);
  }

  /** Returns the result of each query. Throws UNAVAILABLE if no leader is found in time. */
  async query(
    queries: readonly SentStatement[],
    level: "weak" | "strong" = "weak",
  ): Promise<Result[]> {
    const path = level === "weak" ? weakRead : strongRead;
    const outcome = await this.#read(path, queries, this.#cluster.patience.tryMs);
    if (outcome.kind === "answered") return assertComplete(outcome.results, queries.length);
    throw this.#giveUp(outcome.reason);
  }

  /** Runs queries on any recently connected node if no leader responds soon. The result can be stale. */
  async queryRelaxed(queries: readonly SentStatement[]): Promise<Result[]> {
    const current = await this.#read(weakRead, queries, this.#cluster.patience.silentMs);
    if (current.kind === "answered") return assertComplete(current.results, queries.length);
    let { reason } = current;
    const silentLast = this.#cluster.hosts.toSorted(
      (a, b) => Number(this.#cluster.isSilent(a)) - Number(this.#cluster.isSilent(b)),
    );
    for (const host of silentLast) {
      const outcome = await this.#cluster.attempt(host, staleRead, JSON.stringify(queries));
      if (outcome.kind === "answered") return assertComplete(outcome.results, queries.length);
      reason = outcome.reason;
    }
    throw unavailableError(reason);
  }

  /**
   * Applies all writes or none. If the outcome is unknown, `hasHappened` determines it before a repetition. The
   * writes must be impossible to apply twice. The results end with the first failed statement, which rolled back all
   * others. Throws UNAVAILABLE and `Unresolved`.
   */
  async execute(
    writes: readonly SentStatement[],
    hasHappened: () => Promise<boolean>,
  ): Promise<Result[] | "happened"> {
    const body = JSON.stringify(writes);
    let until = this.#computeDeadline(this.#cluster.patience.tryMs);
    let isUnknown = false;
    for (;;) {
      const outcome = await this.#cluster.tryNodes(
        "/db/execute?transaction",
        body,
        until,
        ({ kind }) => kind !== "refused",
      );
      if (outcome.kind === "answered") {
        const { results } = outcome;
        if (results.at(-1)?.error !== undefined || results.length === writes.length) return results;
      }
      const reason = outcome.kind === "answered" ? "the response is incomplete" : outcome.reason;
      if (outcome.kind !== "refused" && !isUnknown) {
        isUnknown = true;
        until = performance.now() + this.#cluster.patience.resolveMs;
      }
      if (isUnknown && (await isTrueBefore(until, hasHappened))) return "happened";
      if (performance.now() >= until)
        throw isUnknown ? new UnresolvedWrite(this.#giveUp(reason)) : this.#giveUp(reason);
    }
  }

  /** Returns the status report of each responding node. Throws UNAVAILABLE if no node responds. */
  async listStatuses(): Promise<Map<string, unknown>> {
    const { hosts, patience } = this.#cluster;
    const reports = new Map<string, unknown>();
    let reason = "";
    for (const host of hosts) {
      const signal = AbortSignal.timeout(patience.silentMs + patience.probeMs);
      try {
        const response = await this.#cluster.send(host, "/status", { signal });
        if (response.status === 401) throw refusedCredentialsError();
        if (response.ok) reports.set(host, await response.json());
        else reason = `${host} returned ${response.status}`;
      } catch (error) {
        if (error instanceof AppError) throw error;
        this.#cluster.avoid(host);
        reason = `${host}: ${(error as Error).message}`;
      }
    }
    if (reports.size === 0) throw unavailableError(reason);
    return reports;
  }

  /**
   * Returns how far `clock` is ahead of the database's machines, in milliseconds; null if no node responds. This is
   * the median of all nodes, which report whole seconds.
   */
  async clockOffset(clock: Clock): Promise<number | null> {
    const { hosts } = this.#cluster;
    const measured = await Promise.all(hosts.map((host) => this.#measureOffset(host, clock)));
    const offsets = measured.filter((offset) => offset !== null).toSorted((a, b) => a - b);
    const middle = [offsets[(offsets.length - 1) >> 1], offsets[offsets.length >> 1]];
    const [nearest = null] = middle
      .filter((offset) => offset !== undefined)
      .toSorted((a, b) => Math.abs(a) - Math.abs(b));
    return nearest;
  }

  async #measureOffset(host: string, clock: Clock): Promise<number | null> {
    try {
      const signal = AbortSignal.timeout(this.#cluster.patience.silentMs);
      const before = performance.now();
      const response = await this.#cluster.send(host, "/readyz?noleader", { signal });
      const wayMs = (performance.now() - before) / 2;
      // Assumes the middle of the reported second.
      const theirs = Date.parse(response.headers.get("date") ?? "") + 500;
      const offset = clock() - wayMs - theirs;
      return Number.isNaN(offset) ? null : offset;
    } catch {
      return null;
    }
  }

  #read(path: string, queries: readonly SentStatement[], ms: number): Promise<Outcome> {
    const isAnswered = ({ kind }: Outcome) => kind === "answered";
    return this.#cluster.tryNodes(
      path,
      JSON.stringify(queries),
      this.#computeDeadline(ms),
      isAnswered,
    );
  }

  #computeDeadline(ms: number): number {
    const now = performance.now();
    return now < this.#hopelessUntil ? now : now + ms;
  }

  #giveUp(reason: string): AppError {
    this.#hopelessUntil = performance.now() + this.#cluster.patience.silentMs;
    return unavailableError(reason);
  }
}

/** Repeats a lookup until it succeeds or the time is up. A write must not be repeated before that. */
async function isTrueBefore(until: number, lookUp: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    const result = await lookUp().catch(() => null);
    if (result !== null) return result;
    if (performance.now() >= until) return false;
    await Bun.sleep(100);
  }
}

function assertComplete(results: Result[], count: number): Result[] {
  for (const { error } of results) if (error !== undefined) throw toSqlError(error);
  if (results.length !== count) throw unavailableError("the response is incomplete");
  return results;
}
