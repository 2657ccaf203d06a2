import { AppError } from "./errors.ts";

/** For whom something is hashed. */
export type HashingClient = {
  /** Whether somebody wants to be signed in, or opens or closes a page. */
  lane: Lane;
  /** Who takes turns with the others: a client's network, an organization. */
  client: string;
  /** Goes before those who are not, and is not turned away for them. */
  isKnown?: boolean;
};

type Lane = "sign-in" | "page";
type Waiting = { start: () => void; refuse: (error: AppError) => void };
type Clients = Map<string, { isKnown: boolean; waiting: Waiting[] }>;

// One hashing takes 150 ms of a core and 64 MB: many of them must not starve the checks.
const maxAtOnce = 2;
/** The other place is kept for those who sign in. */
const maxPagesAtOnce = 1;
/** In a lane; whoever is last waits one to two seconds. */
const maxWaiting = 12;

export type HashingQueue = {
  /** Does the work in its turn. Throws RATE_LIMITED where too many wait already. */
  run<T>(client: HashingClient, work: () => Promise<T>): Promise<T>;
};

/**
 * At most two at once, and one of each client. Clients take turns: nobody's many hold up another's
 * one. Where the queue is full, whoever has most in it makes room.
 */
export function hashingQueue(): HashingQueue {
  const lanes = {
    "sign-in": { busy: new Set<string>(), clients: new Map() as Clients },
    page: { busy: new Set<string>(), clients: new Map() as Clients },
  };

  /** The client whose turn it is: known ones first, then whoever was served longest ago. */
  function nextIn(lane: Lane): string | undefined {
    const { busy, clients } = lanes[lane];
    const ready = [...clients].filter(([client]) => !busy.has(client));
    const [client] = ready.find(([, { isKnown }]) => isKnown) ?? ready[0] ?? [];
    return client;
  }

  function nextLane(): Lane | null {
    const [signIns, pages] = [lanes["sign-in"].busy.size, lanes.page.busy.size];
    if (signIns + pages >= maxAtOnce) return null;
    const signInWaits = nextIn("sign-in") !== undefined;
    if (signInWaits && signIns === 0) return "sign-in";
    if (pages < maxPagesAtOnce && nextIn("page") !== undefined) return "page";
    return signInWaits ? "sign-in" : null;
  }

  function startNext() {
    for (let lane = nextLane(); lane !== null; lane = nextLane()) {
      const { busy, clients } = lanes[lane];
      const client = nextIn(lane) ?? "";
      const entry = clients.get(client);
      const first = entry?.waiting.shift();
      if (entry?.waiting.length === 0) clients.delete(client);
      busy.add(client);
      first?.start();
    }
  }

  /** Sends one away who waits, for this newcomer; false where nobody has to go. */
  function makeRoom(clients: Clients, client: string, isKnown: boolean): boolean {
    const own = clients.get(client)?.waiting.length ?? 0;
    const [most] = [...clients]
      .filter(([, other]) => !other.isKnown || isKnown)
      .sort(
        ([, a], [, b]) =>
          Number(a.isKnown) - Number(b.isKnown) || b.waiting.length - a.waiting.length,
      );
    if (most === undefined) return false;
    const [name, { waiting, isKnown: isEqual }] = most;
    if (isEqual === isKnown && waiting.length < own + 2) return false;
    waiting.pop()?.refuse(tooMany());
    if (waiting.length === 0) clients.delete(name);
    return true;
  }

  return {
    async run({ lane, client, isKnown = false }, work) {
      const { busy, clients } = lanes[lane];
      const waiting = [...clients.values()].reduce((sum, one) => sum + one.waiting.length, 0);
      if (waiting >= maxWaiting && !makeRoom(clients, client, isKnown)) throw tooMany();
      await new Promise<void>((start, refuse) => {
        const entry = clients.get(client) ?? { isKnown, waiting: [] };
        entry.isKnown ||= isKnown;
        entry.waiting.push({ start, refuse });
        clients.set(client, entry);
        startNext();
      });
      try {
        return await work();
      } finally {
        busy.delete(client);
        // Set anew, it stands behind all the others.
        const others = clients.get(client);
        clients.delete(client);
        if (others !== undefined) clients.set(client, others);
        startNext();
      }
    },
  };
}

function tooMany() {
  return new AppError("RATE_LIMITED", "Too many passwords are being judged. Try again in 1 s.", {
    headers: { "Retry-After": "1" },
  });
}
