import type { Clock } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { ClusterAddress } from "../address.ts";
import { refusedCredentials, sqlError, unavailable } from "./errors.ts";
import { knownNodes, nodesPath } from "./nodes.ts";
import type { Parameter } from "../store.ts";

export type Result = {
  columns?: string[];
  values?: Parameter[][];
  error?: string;
};

/** One request with its parameters: `[text, …parameters]`. */
export type Sent = readonly [string, ...Parameter[]];

/** What came of one request to one node. */
type Outcome =
  | { kind: "answered"; results: Result[] }
  /** Surely nothing happened. */
  | { kind: "refused"; reason: string }
  /** It may have happened, or may yet. */
  | { kind: "unknown"; reason: string };

export type Patience = {
  /** So long a node may be silent before it is asked whether it is there at all … */
  silentMs: number;
  /** … and so long that answer may take. */
  probeMs: number;
  /** So long a request looks for a node that takes it: an election lasts two or three seconds. */
  tryMs: number;
  /** So long a write is looked for of which nobody knows whether it happened. */
  resolveMs: number;
};

export const usualPatience: Patience = {
  silentMs: 1_000,
  probeMs: 500,
  tryMs: 5_000,
  resolveMs: 15_000,
};

/** A node that is silent is asked last for so long; one that refuses a connection costs nothing. */
const avoidedMs = { silent: 10_000, refused: 1_000 };
/** A node that passes a request on to the leader waits for it so long. */
const passedOn = "1s";
const weak = "/db/query?level=weak";
const strong = "/db/query?level=strong";
/** A node does no second of a snapshot, a backup and the like at once: in a moment it takes the request. */
const busy = /^500 .*CAS conflict/;
/** What a node may be behind when nobody else answers, by its last word from a leader. */
const staleness = "60s";

export type RqliteClient = ReturnType<typeof rqliteClient>;

/** Requests to a cluster: to its leader where that is known, to the next node where one is silent. */
export function rqliteClient(
  { hosts, user, password, isSecure, ca }: ClusterAddress,
  patience: Patience = usualPatience,
) {
  const scheme = isSecure ? "https" : "http";
  const credentials = `${user ?? ""}:${password ?? ""}`;
  const headers: Record<string, string> =
    user === null ? {} : { Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
  const silentUntil = new Map<string, number>();
  let leader: string | null = null;
  /**
   * The leader that has answered through its log: before that, a new one may not have applied yet what
   * the one before it has acknowledged.
   */
  let caughtUp: string | null = null;
  const known = knownNodes(hosts);
  let isLearning = false;
  let turn = 0;
  let hopelessUntil = 0;

  const send = (host: string, path: string, init: BunFetchRequestInit = {}) =>
    fetch(`${scheme}://${host}${path}`, {
      ...init,
      headers,
      ...(ca !== null && { tls: { ca } }),
    });

  const isSilent = (host: string) => (silentUntil.get(host) ?? 0) > performance.now();

  function avoid(host: string, ms: number) {
    silentUntil.set(host, performance.now() + ms);
    if (leader === host) leader = null;
    caughtUp = null;
  }

  function nextHost(): string {
    if (leader !== null) return leader;
    for (let i = 0; i < hosts.length; i++) {
      const host = hosts[turn++ % hosts.length] as string;
      if (!isSilent(host)) return host;
    }
    return hosts[turn++ % hosts.length] as string;
  }

  /** Ends a request to a node that has stopped answering anything: a slow one says that it is there. */
  function watch(host: string): { signal: AbortSignal; end: () => void } {
    const controller = new AbortController();
    const timer = setInterval(async () => {
      try {
        const signal = AbortSignal.timeout(patience.probeMs);
        await (await send(host, "/readyz?noleader", { signal })).text();
      } catch {
        controller.abort();
      }
    }, patience.silentMs);
    return { signal: controller.signal, end: () => clearInterval(timer) };
  }

  async function attempt(host: string, path: string, body: string): Promise<Outcome> {
    const { signal, end } = watch(host);
    try {
      const asked = path === weak && caughtUp === null ? strong : path;
      const url = `${asked}&timeout=${passedOn}`;
      const response = await send(host, url, { method: "POST", body, signal });
      const outcome = outcomeOf(response.status, await response.text());
      const other = response.headers.get("x-rqlite-served-by");
      if (outcome.kind !== "answered") {
        if (leader === host) leader = null;
        caughtUp = null;
        return outcome;
      }
      if (other === null) {
        silentUntil.delete(host);
        if (!path.includes("level=none")) leader = host;
      } else found(host, other);
      const by = other ?? host;
      if (asked === weak && by !== caughtUp) {
        caughtUp = null;
        return await attempt(host, path, body);
      }
      if (asked !== weak && !asked.includes("level=none")) caughtUp = by;
      return outcome;
    } catch (error) {
      if (error instanceof AppError) throw error;
      const { code = "", message } = error as Error & { code?: string };
      const kind = neverSent.test(code) ? "refused" : "unknown";
      avoid(host, signal.aborted ? avoidedMs.silent : avoidedMs.refused);
      return { kind, reason: message };
    } finally {
      end();
    }
  }

  /** This node passed a request on to the leader: from now on that is asked itself, where it is on the list. */
  function found(host: string, other: string) {
    const its = known.hostOf(other);
    if (its === undefined) void learn(host);
    else if (hosts.includes(its) && !isSilent(its)) leader = its;
  }

  async function learn(host: string) {
    if (isLearning) return;
    isLearning = true;
    try {
      await known.take(await send(host, nodesPath));
    } catch {
      // Nodes go on passing requests on.
    } finally {
      isLearning = false;
    }
  }

  /** Asks one node after the other, until one answers or `until`; each is asked once in any case. */
  async function ask(
    path: string,
    body: string,
    until: number,
    isOver: (outcome: Outcome) => boolean,
  ): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      const outcome = await attempt(nextHost(), path, body);
      const isLate = performance.now() >= until;
      if (isOver(outcome) || (isLate && tries >= hosts.length)) return outcome;
      // An election is waited for.
      if (tries >= hosts.length && !isLate) await Bun.sleep(Math.min(25 * tries, 250));
    }
  }

  const isAnswered = ({ kind }: Outcome) => kind === "answered";

  const deadline = (ms: number) =>
    performance.now() < hopelessUntil ? performance.now() : performance.now() + ms;

  function givenUp(reason: string): AppError {
    hopelessUntil = performance.now() + patience.silentMs;
    return unavailable(reason);
  }

  /** Asks until there is an answer, or no time; before that nothing may be repeated. */
  async function isTrue(asked: () => Promise<boolean>, until: number): Promise<boolean> {
    for (;;) {
      const is = await asked().catch(() => null);
      if (is !== null) return is;
      if (performance.now() >= until) return false;
      await Bun.sleep(100);
    }
  }

  /** A request beside queries and writes, to the first node that takes it. Throws UNAVAILABLE. */
  async function raw(path: string, init: RequestInit = {}): Promise<Response> {
    const until = performance.now() + patience.tryMs;
    for (;;) {
      let reason = "";
      let isBusy = false;
      for (const host of leader === null ? hosts : [leader, ...hosts]) {
        try {
          const response = await send(host, path, init);
          if (response.status === 401) throw refusedCredentials();
          if (response.ok) return response;
          reason = `${response.status} ${(await response.text()).slice(0, 200)}`;
          isBusy ||= busy.test(reason);
        } catch (error) {
          if (error instanceof AppError) throw error;
          avoid(host, avoidedMs.refused);
          reason = (error as Error).message;
        }
      }
      if (!isBusy || performance.now() >= until) throw unavailable(reason);
      await Bun.sleep(50);
    }
  }

  return {
    raw,

    /** All nodes of the cluster, also those that don't answer. Throws UNAVAILABLE. */
    nodes: async () => known.take(await raw(nodesPath)),

    /**
     * Puts a database in place of all data, which it happens to as a whole or not at all. A node that is alone
     * takes it as it is; several have it go through their log. Throws UNAVAILABLE, also where nobody
     * knows whether it happened.
     */
    async load(image: Blob, signal?: AbortSignal): Promise<void> {
      const all = await known.take(await raw(nodesPath));
      const leading = all.find(({ isLeader }) => isLeader)?.host ?? "";
      const path = all.length === 1 ? "/boot" : "/db/load";
      let reason = "";
      for (const host of hosts.toSorted((a, b) => Number(b === leading) - Number(a === leading))) {
        try {
          const init = { method: "POST", body: image, timeout: false, signal: signal ?? null };
          const response = await send(host, path, init);
          if (response.ok) return;
          throw unavailable(`${response.status} ${(await response.text()).slice(0, 200).trim()}`);
        } catch (error) {
          const { code = "", message } = error as Error & { code?: string };
          if (!neverSent.test(code)) throw error instanceof AppError ? error : unavailable(message);
          reason = message;
        }
      }
      throw unavailable(reason);
    },

    /** Rows of each of these queries. Throws UNAVAILABLE where no leader is found in time. */
    async query(queries: readonly Sent[], level: "weak" | "strong" = "weak"): Promise<Result[]> {
      const body = JSON.stringify(queries);
      const until = deadline(patience.tryMs);
      const outcome = await ask(level === "weak" ? weak : strong, body, until, isAnswered);
      if (outcome.kind === "answered") return whole(outcome.results, queries.length);
      throw givenUp(outcome.reason);
    },

    /** The same; where no leader answers at once, from any node that heard of one lately. Throws UNAVAILABLE. */
    async queryRelaxed(queries: readonly Sent[]): Promise<Result[]> {
      const body = JSON.stringify(queries);
      const until = deadline(patience.silentMs);
      const now = await ask(weak, body, until, isAnswered);
      if (now.kind === "answered") return whole(now.results, queries.length);
      let { reason } = now;
      for (const host of hosts.toSorted((a, b) => Number(isSilent(a)) - Number(isSilent(b)))) {
        const outcome = await attempt(host, `/db/query?level=none&freshness=${staleness}`, body);
        if (outcome.kind === "answered") return whole(outcome.results, queries.length);
        reason = outcome.reason;
      }
      throw unavailable(reason);
    },

    /**
     * All of these writes or none. Where nobody knows whether they happened, `hasHappened` finds out
     * before they are sent again: together they must be impossible to do twice. The results end with
     * the first that failed, which undid all. Throws UNAVAILABLE.
     */
    async execute(
      writes: readonly Sent[],
      hasHappened: () => Promise<boolean>,
    ): Promise<Result[] | "happened"> {
      const body = JSON.stringify(writes);
      let until = deadline(patience.tryMs);
      let isUnknown = false;
      for (;;) {
        const outcome = await ask(
          "/db/execute?transaction",
          body,
          until,
          ({ kind }) => kind !== "refused",
        );
        if (outcome.kind === "answered") {
          const { results } = outcome;
          if (results.at(-1)?.error !== undefined || results.length === writes.length)
            return results;
        }
        const reason = outcome.kind === "answered" ? "it was answered in part" : outcome.reason;
        if (outcome.kind !== "refused" && !isUnknown) {
          isUnknown = true;
          until = performance.now() + patience.resolveMs;
        }
        if (isUnknown && (await isTrue(hasHappened, until))) return "happened";
        if (performance.now() >= until)
          throw isUnknown ? new Unresolved(givenUp(reason)) : givenUp(reason);
      }
    },

    /** What each node that answers says of itself. Throws UNAVAILABLE where none does. */
    async statuses(): Promise<Map<string, unknown>> {
      const found = new Map<string, unknown>();
      let reason = "";
      for (const host of hosts) {
        const signal = AbortSignal.timeout(patience.silentMs + patience.probeMs);
        try {
          const response = await send(host, "/status", { signal });
          if (response.status === 401) throw refusedCredentials();
          if (response.ok) found.set(host, await response.json());
          else reason = `${host} answers ${response.status}`;
        } catch (error) {
          if (error instanceof AppError) throw error;
          avoid(host, avoidedMs.refused);
          reason = `${host}: ${(error as Error).message}`;
        }
      }
      if (found.size === 0) throw unavailable(reason);
      return found;
    },

    /**
     * How far `clock` is ahead of the machines of the database, in milliseconds: of those that answer,
     * the one in the middle. Null where none does. They tell whole seconds.
     */
    async clockOffset(clock: Clock): Promise<number | null> {
      const offsets = await Promise.all(
        hosts.map(async (host) => {
          try {
            const signal = AbortSignal.timeout(patience.silentMs);
            const before = performance.now();
            const response = await send(host, "/readyz?noleader", { signal });
            const wayMs = (performance.now() - before) / 2;
            const theirs = Date.parse(response.headers.get("date") ?? "") + 500;
            return clock() - wayMs - theirs;
          } catch {
            return Number.NaN;
          }
        }),
      );
      const known = offsets.filter((offset) => !Number.isNaN(offset)).toSorted((a, b) => a - b);
      const middle = [known[(known.length - 1) >> 1], known[known.length >> 1]];
      const [nearest = null] = middle
        .filter((offset) => offset !== undefined)
        .toSorted((a, b) => Math.abs(a) - Math.abs(b));
      return nearest;
    },
  };
}

/** Nobody knows whether a write happened. */
export class Unresolved extends Error {
  readonly error: AppError;
  constructor(error: AppError) {
    super(error.message);
    this.error = error;
  }
}

const neverSent =
  /^(ConnectionRefused|ECONNREFUSED|FailedToOpenSocket|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|UNABLE_TO_VERIFY.*|.*CERT.*)$/;

function outcomeOf(status: number, text: string): Outcome {
  if (status === 401) throw refusedCredentials();
  // Nothing that we send is malformed: a repetition would be refused, too.
  if (status === 400 || status === 413)
    throw new Error(`The database refused a request: ${text.trim()}`);
  if (status === 200) {
    const { results, error } = JSON.parse(text) as { results?: Result[]; error?: string };
    if (error === undefined && results !== undefined) return { kind: "answered", results };
    return { kind: "unknown", reason: error ?? "an answer without results" };
  }
  const reason = `${status} ${text.trim().slice(0, 200)}`;
  return { kind: status === 503 ? "refused" : "unknown", reason };
}

function whole(results: Result[], count: number): Result[] {
  for (const { error } of results) if (error !== undefined) throw sqlError(error);
  if (results.length !== count) throw unavailable("it was answered in part");
  return results;
}
