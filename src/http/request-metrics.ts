import { type Family, createHistogram } from "../core/metrics.ts";
import { getOriginalRequest } from "./original-request.ts";

const routeSymbol = Symbol("route");
type RoutedRequest = Request & { [routeSymbol]?: string };

/** Records the route pattern of a request. */
export function setRoute(request: Request, pattern: string) {
  (getOriginalRequest(request) as RoutedRequest)[routeSymbol] = pattern;
}

/** Returns the route pattern of an original request; `unknown` if none was recorded. */
export const getRoute = (original: Request): string =>
  (original as RoutedRequest)[routeSymbol] ?? "unknown";

/** Known methods. Clients can invent others, which are counted together. */
const methods = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "other"] as const;
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export type RequestMetrics = ReturnType<typeof createRequestMetrics>;

/** Measures the time until responses start. */
export function createRequestMetrics() {
  const durations = createHistogram(
    "signalbox_http_request_duration_seconds",
    "Time to the start of the response, by route pattern, method and status class. The route is unknown if the request was rejected before routing or has none.",
    ["route", "method", "status"],
    bounds,
  );
  /** Observers by route; in each list by method and status class. */
  const known = new Map<string, ((seconds: number) => void)[]>();

  return {
    /** Counts a response. `received` is the original request. */
    observe(received: Request, { status }: Response, durationMs: number) {
      const pattern = getRoute(received);
      let observers = known.get(pattern);
      if (observers === undefined) known.set(pattern, (observers = []));
      const found = (methods as readonly string[]).indexOf(received.method);
      const method = found === -1 ? methods.length - 1 : found;
      const statusClass = (status / 100) | 0;
      const slot = method * 10 + statusClass;
      const observe = (observers[slot] ??= durations.of(
        pattern.replace(/(.)\/$/, "$1"),
        methods[method] ?? "other",
        `${statusClass}xx`,
      ));
      observe(durationMs / 1_000);
    },
    metrics: (): Family[] => [durations.family()],
  };
}
