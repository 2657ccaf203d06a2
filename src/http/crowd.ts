/** Whether several clients are writing at the moment, so that they take turns. */
export type Crowd = {
  /** A write has come in on the connection from this port of its client. */
  enter(port: number): void;
  isCrowded: () => boolean;
};

const momentMs = 10;

/** Two turns within a moment make a crowd; one may be a client that follows another. */
export function crowd(now: () => number = () => performance.now()): Crowd {
  let port = -1;
  let lastTurnAt = -Infinity;
  let turnBeforeAt = -Infinity;
  return {
    enter(from) {
      if (from === port) return;
      port = from;
      turnBeforeAt = lastTurnAt;
      lastTurnAt = now();
    },
    isCrowded: () => now() - turnBeforeAt < momentMs,
  };
}
