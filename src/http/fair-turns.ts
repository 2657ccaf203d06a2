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
/** Number of pipelined requests that a turn always serves: of one connection, and of all together. */
const fewPipelined = 64;
const manyPipelined = 512;
/** Time for waiting requests per turn, in milliseconds. */
const portionMs = 5;

/**
 * Lets new connections in a long event-loop turn wait for the next turn. Bun serves new connections before open ones
 * and timers, so sixteen clients that connect for each request would block all others. A connection that was served
 * in the same turn continues, because Bun closes it if its next request arrives before the response. One that
 * pipelines many requests in a long turn waits, and is closed: Bun would serve all of its requests first.
 * `connectionOf` identifies the connection of a request.
 */
export function createFairTurns(
  handle: RequestHandler,
  connectionOf: (request: Request) => number | undefined,
  now: Clock = () => performance.now(),
): RequestHandler {
  let requests = 0;
  let turnSince: number | null = null;
  let restsUntil = -Infinity;
  /** Requests of this turn, by connection. */
  const served = new Map<number | undefined, number>();
  let pipelined = 0;
  const waiting: (() => void)[] = [];

  function shouldWait(request: Request): boolean {
    if (turnSince === null) {
      if (requests++ % sampleSize !== 0 || now() < restsUntil) return false;
      turnSince = now();
      setImmediate(startNextTurn);
    }
    const connection = connectionOf(request);
    const before = served.get(connection) ?? 0;
    served.set(connection, before + 1);
    if (before > 0) pipelined++;
    const hadItsShare =
      before === 0
        ? served.size > fewConnections
        : before >= fewPipelined && pipelined >= manyPipelined;
    return hadItsShare && now() - turnSince >= turnMs;
  }

  function startNextTurn() {
    served.clear();
    pipelined = 0;
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
