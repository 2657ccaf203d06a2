import type { Clock } from "../core/clock.ts";

/** Lets whoever guesses about one subject wait longer with each wrong guess, from wherever they come. */
export type SlowDown = {
  /** Counts a guess of this network and returns 0, or returns the whole seconds to wait before one is judged. */
  take(subject: string, network: string): number;
  /** Takes back one that was not judged. */
  giveBack(subject: string, network: string): void;
  /** It was right: the subject begins anew. */
  succeed(subject: string): void;
};

type Guesses = { count: number; lastAt: number; nextAt: number; networks: Map<string, number> };

/** Wrong guesses that cost no wait. */
const free = 5;
const longestMs = 15 * 60_000;
/** A network waits so much longer for each wrong guess of its own: those who have not guessed yet come first. */
const behindMs = 10_000;
const longestBehindMs = 120_000;
const forgottenMs = 24 * 3_600_000;
const maxSubjects = 10_000;
const maxNetworks = 1_000;

export function slowDown(clock: Clock): SlowDown {
  const subjects = new Map<string, Guesses>();

  function guessesOf(subject: string, now: number): Guesses {
    const known = subjects.get(subject);
    // One that lies ahead was made before the clock was set back.
    const isOver = known === undefined || Math.abs(now - known.lastAt) >= forgottenMs;
    const guesses = isOver ? { count: 0, lastAt: now, nextAt: now, networks: new Map() } : known;
    subjects.delete(subject);
    if (subjects.size >= maxSubjects) subjects.delete(subjects.keys().next().value ?? "");
    subjects.set(subject, guesses);
    return guesses;
  }

  return {
    take(subject, network) {
      const now = clock();
      const guesses = guessesOf(subject, now);
      const { networks } = guesses;
      const own = networks.get(network) ?? 0;
      const behind = guesses.count < free ? 0 : Math.min(own * behindMs, longestBehindMs);
      const waitMs = Math.min(guesses.nextAt + behind - now, longestMs + longestBehindMs);
      if (waitMs > 0) return Math.ceil(waitMs / 1000);
      guesses.count += 1;
      guesses.lastAt = now;
      if (guesses.count >= free)
        guesses.nextAt = now + Math.min(2 ** (guesses.count - free) * 1000, longestMs);
      networks.set(network, own + 1);
      if (networks.size > maxNetworks) networks.delete(networks.keys().next().value ?? "");
      return 0;
    },
    giveBack(subject, network) {
      const guesses = subjects.get(subject);
      if (guesses === undefined) return;
      guesses.count -= 1;
      guesses.networks.set(network, (guesses.networks.get(network) ?? 1) - 1);
      guesses.nextAt = Math.min(guesses.nextAt, clock());
    },
    succeed: (subject) => void subjects.delete(subject),
  };
}
