/** Prevents floods of new connections from blocking the event loop. */
import type { Clock } from "../core/time/clock.ts";

export type RequestHandler = (request: Request) => Response | Promise<Response>;

/** Number of requests between two measurements of an event-loop turn. */
const sampleSize = 32;
/**
 * Minimum pause between two measurements, in milliseconds. Identifying connections takes a system call per request.
 */
const measurePauseMs = 8;
/** Duration of a turn, in milliseconds, after which new connections wait for the next turn. */
const turnMs = 8;
/** Number of connections that a turn always serves, because turns are also long on a busy machine. */
const fewConnections = 8;
/** Time for waiting requests per turn, in milliseconds. */
const portionMs = 5;

/**
 * Lets new connections in a long event-loop turn wait for the next turn. Bun serves new connections before open ones
 * and timers, so sixteen clients that connect for each request would block all others. A connection that was served
 * in the same turn continues. Bun would close it if its next request arrived before the response. `connectionOf`
 * identifies the connection of a request.
 */
export function createFairTurns(
  handle: RequestHandler,
  connectionOf: (request: Request) => number | undefined,
  now: Clock = () => performance.now(),
): RequestHandler {
  let requests = 0;
  let turnSince: number | null = null;
  let restsUntil = -Infinity;
  const served = new Set<number | undefined>();
  const waiting: (() => void)[] = [];

  function shouldWait(request: Request): boolean {
    if (turnSince === null) {
      if (requests++ % sampleSize !== 0 || now() < restsUntil) return false;
      turnSince = now();
      setImmediate(startNextTurn);
    }
    const connection = connectionOf(request);
    if (served.has(connection)) return false;
    if (served.size >= fewConnections && now() - turnSince >= turnMs) return true;
    served.add(connection);
    return false;
  }

  function startNextTurn() {
    served.clear();
    turnSince = null;
    const until = now() + portionMs;
    let answered = 0;
    while (answered < waiting.length && now() < until) waiting[answered++]?.();
    waiting.splice(0, answered);
    if (waiting.length === 0) {
      restsUntil = now() + measurePauseMs;
      return;
    }
    turnSince = now();
    setImmediate(startNextTurn);
  }

  return (request) => {
    if (!shouldWait(request)) return handle(request);
    return new Promise((resolve) => waiting.push(() => resolve(handle(request))));
  };
}
