const momentMs = 10;

/**
 * Whether several clients are writing at the moment. Two changes of the client within a moment are contention;
 * one can be a client that follows another.
 */
export function writeContention(now: () => number = () => performance.now()) {
  let port = -1;
  let lastTurnAt = -Infinity;
  let turnBeforeAt = -Infinity;
  return {
    /** A write has come in on the connection from this port of its client. */
    recordWrite(from: number) {
      if (from === port) return;
      port = from;
      turnBeforeAt = lastTurnAt;
      lastTurnAt = now();
    },
    isContended: () => now() - turnBeforeAt < momentMs,
  };
}
