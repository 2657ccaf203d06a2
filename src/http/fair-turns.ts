import type { Clock } from "../core/time/clock.ts";

export type RequestHandler = (request: Request) => Response | Promise<Response>;

/** A turn of the event loop is watched from one request in so many on … */
const sample = 32;
/** … and this long after the last one at the earliest: to tell connections apart takes a system call each. */
const restMs = 8;
/** When it has lasted so long, connections that come anew wait for the next one … */
const longMs = 8;
/** … unless it had few until then: a busy machine makes a turn long, too, and whoever waits can't pipeline. */
const fewConnections = 8;
/** Of what waits, so much is answered in one turn. */
const portionMs = 5;

/**
 * Bun answers a new connection as soon as it has taken it, and takes the next one before it looks at those
 * that are open, and at timers: sixteen clients that connect for each request would have the server to
 * themselves. What comes anew in a turn of the event loop that has lasted too long waits for the next one.
 * A connection that was served in it goes on, because Bun closes one whose next request comes before the
 * answer to the last. `connectionOf` names the connection of a request.
 */
export function fairTurns(
  handle: RequestHandler,
  connectionOf: (request: Request) => number | undefined,
  now: Clock = () => performance.now(),
): RequestHandler {
  let requests = 0;
  let turnSince: number | null = null;
  let restsUntil = -Infinity;
  const served = new Set<number | undefined>();
  const waiting: (() => void)[] = [];

  function mustWait(request: Request): boolean {
    if (turnSince === null) {
      if (requests++ % sample !== 0 || now() < restsUntil) return false;
      turnSince = now();
      setImmediate(nextTurn);
    }
    const connection = connectionOf(request);
    if (served.has(connection)) return false;
    if (served.size >= fewConnections && now() - turnSince >= longMs) return true;
    served.add(connection);
    return false;
  }

  function nextTurn() {
    served.clear();
    turnSince = null;
    const until = now() + portionMs;
    let answered = 0;
    while (answered < waiting.length && now() < until) waiting[answered++]?.();
    waiting.splice(0, answered);
    if (waiting.length === 0) {
      restsUntil = now() + restMs;
      return;
    }
    turnSince = now();
    setImmediate(nextTurn);
  }

  return (request) => {
    if (!mustWait(request)) return handle(request);
    return new Promise((resolve) => waiting.push(() => resolve(handle(request))));
  };
}
