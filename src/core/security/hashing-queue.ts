/** Decides which password is hashed next, so that guessing and floods delay no other client. */
import { setRecent } from "../collections/recent-set.ts";
import { type Entry, Turns } from "../collections/turns.ts";
import { type AppError, rateLimited } from "../errors.ts";

/** The client for whom a password is hashed. */
export type HashingClient = {
  /** `page` opens or closes a protected status page. */
  lane: Purpose;
  /** Requests count together by this: a client's network, an organization. */
  client: string;
  /** Precedes unknown clients until it has sent many requests. */
  isKnown?: boolean;
};

type Purpose = "sign-in" | "page";

type Waiting = Entry & {
  client: Purpose;
  lane: string;
  since: number;
  start: () => void;
  reject: (error: AppError) => void;
};

// One hashing takes 150 ms of a core and 64 MB: many of them must not starve the checks.
const maxAtOnce = 2;
/** Waiting requests of a purpose. */
const maxWaiting = 1_000;
/** The listener closes connections that are silent for ten seconds. */
const maxWaitMs = 8_000;
/** Each request counts against its client for this long, one after the other. */
const countedMs = 600_000;
/** A known client's requests that do not put it behind unknown clients. */
const knownAdvantage = 10;
const maxCounted = 50_000;

/** Slots go to sign-ins first, but pages always get one of two. */
const ranks = {
  "sign-in": (running: number) => (running === 0 ? 0 : 2),
  page: (running: number) => (running === 0 ? 1 : 3),
};

/**
 * Hashes two passwords at once, one of each client. Clients with the fewest recent requests go first, and
 * of equals the newest: older requests may have been given up by their clients.
 */
export class HashingQueue {
  readonly #waiting = { "sign-in": new Set<Waiting>(), page: new Set<Waiting>() };
  readonly #turns = new Turns<Waiting>({
    rank: ({ id, running }) => ranks[id as Purpose](running),
    admits: (rank, { running }) => rank < ranks.page(1) && running < maxAtOnce,
    perLane: 1,
    isWanted: (entry) => this.#waiting[entry.client].has(entry),
  });
  readonly #monotonic: () => number;
  readonly #countsUntil = new Map<string, number>();
  #added = 0;

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Number of waiting requests. */
  waiting(): number {
    return this.#waiting["sign-in"].size + this.#waiting.page.size;
  }

  /** Runs `work` in its turn. Throws RATE_LIMITED if the turn does not come in time. */
  async run<T>(client: HashingClient, work: () => Promise<T>): Promise<T> {
    const slot = { client: client.lane, lane: client.client };
    await this.#wait(slot, this.#countRequest(client) + (client.isKnown ? 0 : knownAdvantage));
    try {
      return await work();
    } finally {
      this.#turns.end(slot);
      this.#startNext();
    }
  }

  #wait(slot: Pick<Waiting, "client" | "lane">, requests: number): Promise<void> {
    return new Promise((start, reject) => {
      const at = requests * 2 ** 40 - this.#added++;
      const entry = { ...slot, at, since: this.#monotonic(), start, reject };
      const waiting = this.#waiting[slot.client];
      waiting.add(entry);
      this.#turns.add(entry);
      this.#startNext();
      if (waiting.size <= maxWaiting) return;
      const last = [...waiting].reduce((last, one) => (one.at > last.at ? one : last));
      this.#reject([last]);
    });
  }

  #startNext() {
    this.#rejectLate();
    for (let next = this.#turns.next(); next !== null; next = this.#turns.next()) {
      this.#waiting[next.client].delete(next);
      next.start();
    }
  }

  #rejectLate() {
    const before = this.#monotonic() - maxWaitMs;
    const late: Waiting[] = [];
    for (const waiting of Object.values(this.#waiting))
      for (const entry of waiting) {
        if (entry.since >= before) break;
        late.push(entry);
      }
    if (late.length > 0) this.#reject(late);
  }

  #reject(entries: readonly Waiting[]) {
    for (const entry of entries) this.#waiting[entry.client].delete(entry);
    this.#turns.removeCanceled();
    for (const { reject } of entries)
      reject(rateLimited(1, "Too many passwords are being checked."));
  }

  /** Counts a request and returns the number of earlier ones that still count. */
  #countRequest({ lane, client }: HashingClient): number {
    const now = this.#monotonic();
    const key = `${lane} ${client}`;
    const until = Math.max(now, this.#countsUntil.get(key) ?? now);
    setRecent(this.#countsUntil, key, until + countedMs, 2 * maxCounted);
    return Math.ceil((until - now) / countedMs);
  }
}
