const contentionWindowMs = 10;

/**
 * Detects whether several clients are writing concurrently. Two changes of the client within 10 ms are contention. A
 * single change can be one client that follows another.
 */
export function createWriteContention(now: () => number = () => performance.now()) {
  let port = -1;
  let lastTurnAt = -Infinity;
  let turnBeforeAt = -Infinity;
  return {
    /** Records a write from the connection with this client port. */
    recordWrite(from: number) {
      if (from === port) return;
      port = from;
      turnBeforeAt = lastTurnAt;
      lastTurnAt = now();
    },
    isContended: () => now() - turnBeforeAt < contentionWindowMs,
  };
}
