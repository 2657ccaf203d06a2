/** Sends requests to the leader of a rqlite cluster if it is known, or else to each node in turn. */
import { AppError } from "../../core/errors.ts";
import type { ClusterAddress } from "../address.ts";
import type { Parameter } from "../store.ts";
import { refusedCredentialsError, unavailableError } from "./errors.ts";
import { createKnownNodes, nodesPath } from "./nodes.ts";

export type Result = {
  columns?: string[];
  values?: Parameter[][];
  error?: string;
};

/** The result of one request to one node. */
export type Outcome =
  | { kind: "answered"; results: Result[] }
  /** The write was certainly not applied. */
  | { kind: "refused"; reason: string }
  /** The write was possibly applied, or can still be applied. */
  | { kind: "unknown"; reason: string };

export type Patience = {
  /** Time without a response until a node is probed, in milliseconds. */
  silentMs: number;
  /** Timeout of a probe, in milliseconds. */
  probeMs: number;
  /** How long to retry until a leader is found, in milliseconds. Elections take 2–3 s. */
  tryMs: number;
  /** How long to look up a write whose response was lost, in milliseconds. */
  resolveMs: number;
};

export const defaultPatience: Patience = {
  silentMs: 1_000,
  probeMs: 500,
  tryMs: 5_000,
  resolveMs: 15_000,
};

/**
 * How long an unresponsive node is the last choice, in milliseconds. A refused connection fails fast, so it is
 * retried sooner.
 */
const avoidNodeMs = { silent: 10_000, refused: 1_000 };
/** How long a node waits for the leader to which it forwards a request. */
const forwardingTimeout = "1s";
export const weakRead = "/db/query?level=weak";
export const strongRead = "/db/query?level=strong";
/** Maximum time since a node's last contact with a leader, for reads without a leader. */
const maxStaleness = "60s";
export const staleRead = `/db/query?level=none&freshness=${maxStaleness}`;
/** A node runs one snapshot or backup at a time. It accepts the request shortly afterwards. */
const busyPattern = /^500 .*CAS conflict/;

/** Error codes of requests that never reached a node. */
export const neverSentPattern =
  /^(ConnectionRefused|ECONNREFUSED|FailedToOpenSocket|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|UNABLE_TO_VERIFY.*|.*CERT.*)$/;

export class ClusterConnection {
  readonly hosts: readonly string[];
  readonly patience: Patience;
  readonly nodes: ReturnType<typeof createKnownNodes>;
  readonly #origin: string;
  readonly #options: BunFetchRequestInit;
  readonly #silentUntil = new Map<string, number>();
  #leader: string | null = null;
  /**
   * The leader that has answered a write or a strong read. Before that, a new leader can lack acknowledged writes.
   */
  #caughtUp: string | null = null;
  #isLearning = false;
  #turn = 0;

  constructor({ hosts, user, password, isSecure, ca }: ClusterAddress, patience: Patience) {
    this.hosts = hosts;
    this.patience = patience;
    this.nodes = createKnownNodes(hosts);
    this.#origin = isSecure ? "https" : "http";
    const credentials = Buffer.from(`${user ?? ""}:${password ?? ""}`).toString("base64");
    this.#options = {
      headers: user === null ? {} : { Authorization: `Basic ${credentials}` },
      ...(ca !== null && { tls: { ca } }),
    };
  }

  send(host: string, path: string, init: BunFetchRequestInit = {}): Promise<Response> {
    return fetch(`${this.#origin}://${host}${path}`, { ...init, ...this.#options });
  }

  isSilent(host: string): boolean {
    return (this.#silentUntil.get(host) ?? 0) > performance.now();
  }

  avoid(host: string, ms = avoidNodeMs.refused) {
    this.#silentUntil.set(host, performance.now() + ms);
    if (this.#leader === host) this.#leader = null;
    this.#caughtUp = null;
  }

  /** Sends SQL to one node. Throws UNAVAILABLE if the node rejects the credentials. */
  async attempt(host: string, path: string, body: string): Promise<Outcome> {
    const { signal, end } = this.#watch(host);
    try {
      const sentPath = path === weakRead && this.#caughtUp === null ? strongRead : path;
      const url = `${sentPath}&timeout=${forwardingTimeout}`;
      const response = await this.send(host, url, { method: "POST", body, signal });
      const outcome = readOutcome(response.status, await response.text());
      if (outcome.kind !== "answered") {
        if (this.#leader === host) this.#leader = null;
        this.#caughtUp = null;
        return outcome;
      }
      const forwardedTo = response.headers.get("x-rqlite-served-by");
      this.#recordLeader(host, sentPath, forwardedTo);
      const answeredBy = forwardedTo ?? host;
      if (sentPath === weakRead && answeredBy !== this.#caughtUp) {
        this.#caughtUp = null;
        return await this.attempt(host, path, body);
      }
      if (sentPath !== weakRead && sentPath !== staleRead) this.#caughtUp = answeredBy;
      return outcome;
    } catch (error) {
      if (error instanceof AppError) throw error;
      const { code = "", message } = error as Error & { code?: string };
      this.avoid(host, signal.aborted ? avoidNodeMs.silent : avoidNodeMs.refused);
      return { kind: neverSentPattern.test(code) ? "refused" : "unknown", reason: message };
    } finally {
      end();
    }
  }

  /** Tries nodes in turn until `isOver` or the time `until`. Tries each node at least once. */
  async tryNodes(
    path: string,
    body: string,
    until: number,
    isOver: (outcome: Outcome) => boolean,
  ): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      const outcome = await this.attempt(this.#pickHost(), path, body);
      const isLate = performance.now() >= until;
      const triedAll = tries >= this.hosts.length;
      if (isOver(outcome) || (isLate && triedAll)) return outcome;
      // Waits for an election to finish.
      if (triedAll && !isLate) await Bun.sleep(Math.min(25 * tries, 250));
    }
  }

  /** Sends a request other than SQL to the first node that accepts it. Throws UNAVAILABLE. */
  async raw(path: string, init: RequestInit): Promise<Response> {
    const until = performance.now() + this.patience.tryMs;
    for (;;) {
      let reason = "";
      let isBusy = false;
      for (const host of this.#leader === null ? this.hosts : [this.#leader, ...this.hosts]) {
        try {
          const response = await this.send(host, path, init);
          if (response.status === 401) throw refusedCredentialsError();
          if (response.ok) return response;
          reason = `${response.status} ${(await response.text()).slice(0, 200)}`;
          isBusy ||= busyPattern.test(reason);
        } catch (error) {
          if (error instanceof AppError) throw error;
          this.avoid(host);
          reason = (error as Error).message;
        }
      }
      if (!isBusy || performance.now() >= until) throw unavailableError(reason);
      await Bun.sleep(50);
    }
  }

  /** Aborts a request if its node stops responding to probes. A slow node still responds to them. */
  #watch(host: string): { signal: AbortSignal; end: () => void } {
    const controller = new AbortController();
    const timer = setInterval(async () => {
      try {
        const signal = AbortSignal.timeout(this.patience.probeMs);
        await (await this.send(host, "/readyz?noleader", { signal })).text();
      } catch {
        controller.abort();
      }
    }, this.patience.silentMs);
    return { signal: controller.signal, end: () => clearInterval(timer) };
  }

  #pickHost(): string {
    if (this.#leader !== null) return this.#leader;
    for (let tries = 0; tries < this.hosts.length; tries++) {
      const host = this.hosts[this.#turn++ % this.hosts.length] as string;
      if (!this.isSilent(host)) return host;
    }
    return this.hosts[this.#turn++ % this.hosts.length] as string;
  }

  /**
   * Records the leader: the responding node, or the node to which it forwarded the request. Later requests are sent
   * to it directly.
   */
  #recordLeader(host: string, path: string, forwardedTo: string | null) {
    if (forwardedTo === null) {
      this.#silentUntil.delete(host);
      if (path !== staleRead) this.#leader = host;
      return;
    }
    const leader = this.nodes.hostOf(forwardedTo);
    if (leader === undefined) void this.#learnNodes(host);
    else if (this.hosts.includes(leader) && !this.isSilent(leader)) this.#leader = leader;
  }

  async #learnNodes(host: string) {
    if (this.#isLearning) return;
    this.#isLearning = true;
    try {
      await this.nodes.parseNodes(await this.send(host, nodesPath));
    } catch {
      // Without this information, nodes continue to forward requests.
    } finally {
      this.#isLearning = false;
    }
  }
}

function readOutcome(status: number, text: string): Outcome {
  if (status === 401) throw refusedCredentialsError();
  // A repetition would be rejected too, because our requests are well-formed.
  if (status === 400 || status === 413)
    throw new Error(`The database rejected a request: ${text.trim()}`);
  if (status === 200) {
    const { results, error } = JSON.parse(text) as { results?: Result[]; error?: string };
    if (error === undefined && results !== undefined) return { kind: "answered", results };
    return { kind: "unknown", reason: error ?? "a response without results" };
  }
  const reason = `${status} ${text.trim().slice(0, 200)}`;
  return { kind: status === 503 ? "refused" : "unknown", reason };
}
