import { setRecent } from "../collections/recent-set.ts";
import { type AppError, rateLimited } from "../errors.ts";

/** For whom something is hashed. */
export type HashingClient = {
  /** Whether somebody wants to be signed in, or opens or closes a page. */
  lane: LaneName;
  /** Whose requests count together: a client's network, an organization. */
  client: string;
  /** Goes before those who are not, as long as it does not ask all the time. */
  isKnown?: boolean;
};

type LaneName = "sign-in" | "page";
type Waiting = {
  client: string;
  /** How many requests of its own put it behind others. */
  rank: number;
  since: number;
  start: () => void;
  refuse: (error: AppError) => void;
};

const tooMany = () => rateLimited(1, "Too many passwords are being checked.");

// One hashing takes 150 ms of a core and 64 MB: many of them must not starve the checks.
const maxAtOnce = 2;
/** The other place is kept for those who sign in. */
const maxPagesAtOnce = 1;
/** In a lane. */
const maxWaiting = 1_000;
/** A connection that is silent for ten seconds is closed. */
const maxWaitMs = 8_000;
/** A request counts against its client for so long; of several, one after the other. */
const countedMs = 600_000;
/** So many requests do not put a known client behind one that was never seen. */
const knownAdvantage = 10;
const maxCounted = 50_000;

/**
 * At most two at once, and one of each client. Who asked least often lately goes first, of equals the
 * newest: a client's first request waits neither for others' second ones, nor for many that came before
 * it and were given up meanwhile.
 */
export function hashingQueue(monotonic: () => number = () => performance.now()) {
  /** What waits is in the order of its turns. */
  const newLane = () => ({
    busy: new Set<string>(),
    waiting: [] as Waiting[],
    requests: requestCount(),
  });
  const lanes = { "sign-in": newLane(), page: newLane() };

  /** Counts another request and returns how many count already. */
  function requestCount() {
    const countsUntil = new Map<string, number>();
    return (client: string) => {
      const now = monotonic();
      const until = Math.max(now, countsUntil.get(client) ?? now);
      setRecent(countsUntil, client, until + countedMs, maxCounted);
      return Math.ceil((until - now) / countedMs);
    };
  }

  const nextIn = (name: LaneName) =>
    lanes[name].waiting.find(({ client }) => !lanes[name].busy.has(client));

  function nextLane(): LaneName | null {
    const [signIns, pages] = [lanes["sign-in"].busy.size, lanes.page.busy.size];
    if (signIns + pages >= maxAtOnce) return null;
    const signInWaits = nextIn("sign-in") !== undefined;
    if (signInWaits && signIns === 0) return "sign-in";
    if (pages < maxPagesAtOnce && nextIn("page") !== undefined) return "page";
    return signInWaits ? "sign-in" : null;
  }

  function startNext() {
    refuseLate();
    for (let name = nextLane(); name !== null; name = nextLane()) {
      const { busy, waiting } = lanes[name];
      const next = nextIn(name);
      if (next === undefined) return;
      waiting.splice(waiting.indexOf(next), 1);
      busy.add(next.client);
      next.start();
    }
  }

  function refuseLate() {
    const since = monotonic() - maxWaitMs;
    for (const lane of Object.values(lanes)) {
      const late = lane.waiting.filter((one) => one.since < since);
      if (late.length === 0) continue;
      lane.waiting = lane.waiting.filter((one) => one.since >= since);
      for (const { refuse } of late) refuse(tooMany());
    }
  }

  return {
    /** How much waits for its turn. */
    waiting: () => Object.values(lanes).reduce((sum, { waiting }) => sum + waiting.length, 0),
    /** Does the work in its turn. Throws RATE_LIMITED where that does not come in time. */
    async run<T>(
      { lane: name, client, isKnown = false }: HashingClient,
      work: () => Promise<T>,
    ): Promise<T> {
      const lane = lanes[name];
      const rank = lane.requests(client) - (isKnown ? knownAdvantage : 0);
      await new Promise<void>((start, refuse) => {
        const behind = lane.waiting.findIndex((other) => other.rank >= rank);
        const index = behind === -1 ? lane.waiting.length : behind;
        lane.waiting.splice(index, 0, { client, rank, since: monotonic(), start, refuse });
        startNext();
        if (lane.waiting.length > maxWaiting) lane.waiting.pop()?.refuse(tooMany());
      });
      try {
        return await work();
      } finally {
        lane.busy.delete(client);
        startNext();
      }
    },
  };
}
