/** Selects the password to hash next, so that guessing and floods don't delay other clients. */
import { setRecent } from "../collections/recent-set.ts";
import { type Entry, Turns } from "../collections/turns.ts";
import { type AppError, rateLimitError } from "../errors.ts";

/** The client for whom a password is hashed. */
export type HashingClient = {
  /** Purpose. `page` opens or closes a protected status page. */
  lane: Purpose;
  /** Key for counting requests, such as the client's network or an organization. */
  client: string;
  /** Whether the client precedes unknown clients. Many recent requests end this advantage. */
  isKnown?: boolean;
};

type Purpose = "sign-in" | "page";

type WaitingHash = Entry & {
  client: Purpose;
  lane: string;
  since: number;
  start: () => void;
  reject: (error: AppError) => void;
};

// Concurrent hashes. One hash takes 150 ms of a core and 64 MB, and must not delay checks.
const maxAtOnce = 2;
/** Maximum waiting requests per purpose. */
const maxWaitingRequests = 1_000;
/** Maximum wait. The listener closes connections that are silent for 10 s. */
const maxWaitMs = 8_000;
/** How long each request counts against its client. The periods of several requests are added. */
const countedMs = 600_000;
/** Number of requests by which a known client can exceed an unknown client and still precede it. */
const knownAdvantage = 10;
const maxCountedClients = 50_000;

/** Ranks by running hashes. Sign-ins get a slot first, but one of two slots is always available to pages. */
const rankByPurpose = {
  "sign-in": (running: number) => (running === 0 ? 0 : 2),
  page: (running: number) => (running === 0 ? 1 : 3),
};

/**
 * Hashes at most two passwords at once, for different clients. Clients with the fewest recent requests are first.
 * Ties go to the newest request, because clients have often abandoned older ones.
 */
export class HashingQueue {
  readonly #waiting = { "sign-in": new Set<WaitingHash>(), page: new Set<WaitingHash>() };
  readonly #turns = new Turns<WaitingHash>({
    rank: ({ id, running }) => rankByPurpose[id as Purpose](running),
    admits: (rank, { running }) => rank < rankByPurpose.page(1) && running < maxAtOnce,
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
  countWaiting(): number {
    return this.#waiting["sign-in"].size + this.#waiting.page.size;
  }

  /** Runs `work` when its turn is reached. Throws RATE_LIMITED if that takes too long. */
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

  #wait(slot: Pick<WaitingHash, "client" | "lane">, requests: number): Promise<void> {
    return new Promise((start, reject) => {
      const at = requests * 2 ** 40 - this.#added++;
      const entry = { ...slot, at, since: this.#monotonic(), start, reject };
      const waiting = this.#waiting[slot.client];
      waiting.add(entry);
      this.#turns.add(entry);
      this.#startNext();
      if (waiting.size <= maxWaitingRequests) return;
      const last = [...waiting].reduce((last, one) => (one.at > last.at ? one : last));
      this.#reject([last]);
    });
  }

  #startNext() {
    this.#rejectLate();
    for (let next = this.#turns.beginNext(); next !== null; next = this.#turns.beginNext()) {
      this.#waiting[next.client].delete(next);
      next.start();
    }
  }

  #rejectLate() {
    const before = this.#monotonic() - maxWaitMs;
    const late: WaitingHash[] = [];
    for (const waiting of Object.values(this.#waiting))
      for (const entry of waiting) {
        if (entry.since >= before) break;
        late.push(entry);
      }
    if (late.length > 0) this.#reject(late);
  }

  #reject(entries: readonly WaitingHash[]) {
    for (const entry of entries) this.#waiting[entry.client].delete(entry);
    this.#turns.removeCanceled();
    for (const { reject } of entries)
      reject(rateLimitError(1, "Too many passwords are being checked."));
  }

  /** Counts a request. Returns the number of earlier requests that still count. */
  #countRequest({ lane, client }: HashingClient): number {
    const now = this.#monotonic();
    const key = `${lane} ${client}`;
    const until = Math.max(now, this.#countsUntil.get(key) ?? now);
    setRecent(this.#countsUntil, key, until + countedMs, 2 * maxCountedClients);
    return Math.ceil((until - now) / countedMs);
  }
}
