import { z } from "zod";
import type { Endpoint } from "./endpoint.ts";

type Route = { method: string; path: string; hooks: { detail?: { endpoint?: Endpoint } } };

/** Matches the paths of a route; Elysia finds them with a slash at the end as well. */
export const patternOf = (path: string) =>
  `^${path.replace(/\/$/, "").replace(/:[A-Za-z]+/g, "[^/]+")}/?$`;

/**
 * Finds the address at which GET returns the record that a write responds with: its Location, its own path,
 * or a path above it, such as an incident above its `/resolve`. Null where there is none.
 */
export function resourceFinder(routes: readonly Route[]) {
  const written = routes.filter(({ method }) => method === "POST" || method === "PATCH");
  const read = routes.filter(({ method }) => method === "GET");
  return (method: string, path: string, location: string | null): string | null => {
    const returned = recordAt(
      written.filter((route) => route.method === method),
      path,
    );
    if (returned === null) return null;
    const isReadAt = (candidate: string) => recordAt(read, candidate) === returned;
    return [...(location === null ? [] : [location]), ...pathsAbove(path)].find(isReadAt) ?? null;
  };
}

/** The path itself, then with fewer segments. */
const pathsAbove = (path: string) =>
  [0, 1, 2].map((count) =>
    path
      .replace(/\/$/, "")
      .split("/")
      .slice(0, -count || undefined)
      .join("/"),
  );

/** The schema of the `data` that a route at this path returns; null where it returns something else. */
function recordAt(routes: readonly Route[], path: string): z.core.$ZodType | null {
  const route = routes.find((one) => new RegExp(patternOf(one.path)).test(path));
  const response = route?.hooks.detail?.endpoint?.response;
  return response instanceof z.ZodObject ? (response.shape["data"] ?? null) : null;
}
