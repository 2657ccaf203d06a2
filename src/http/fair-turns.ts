/** Keeps floods of new connections from blocking the event loop. */
import type { Clock } from "../core/time/clock.ts";

export type RequestHandler = (request: Request) => Response | Promise<Response>;

/** Requests between two measurements of a turn of the event loop … */
const sample = 32;
/** … and the minimum pause after one, because telling connections apart takes a system call each. */
const restMs = 8;
/** New connections wait for the next turn after one has lasted this long … */
const longMs = 8;
/** … unless it had few connections: a busy machine makes turns long, too. */
const fewConnections = 8;
/** Time for waiting requests per turn. */
const portionMs = 5;

/**
 * Bun serves new connections before open ones and timers, so sixteen clients that connect for each request
 * would block all others. New connections in a long turn of the event loop wait for the next turn. A
 * connection that was served in the same turn continues, because Bun closes it if its next request arrives
 * before the response. `connectionOf` identifies the connection of a request.
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
