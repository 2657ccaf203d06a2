import { z } from "zod";
import type { Route } from "./openapi.ts";

/** Pattern for the paths of a route. Elysia also accepts a trailing slash. */
export const buildPathPattern = (path: string) =>
  `^${path
    .replace(/\/$/, "")
    .replace("*", ".+")
    .replace(/:[A-Za-z]+/g, "[^/]+")}/?$`;

/**
 * Finds the path at which GET returns the record of a write; null if there is none. This is its Location, its path,
 * or a parent path, such as the incident of `/resolve`.
 */
export function createResourceFinder(routes: readonly Route[]) {
  const writeRoutes = routes.filter(({ method }) => method === "POST" || method === "PATCH");
  const readRoutes = routes.filter(({ method }) => method === "GET");
  return (method: string, path: string, location: string | null): string | null => {
    const returned = findRecordAt(
      writeRoutes.filter((route) => route.method === method),
      path,
    );
    if (returned === null) return null;
    const isReadAt = (candidate: string) => findRecordAt(readRoutes, candidate) === returned;
    return (
      [...(location === null ? [] : [location]), ...listPathsAbove(path)].find(isReadAt) ?? null
    );
  };
}

/** The path itself, and its two parent paths. */
const listPathsAbove = (path: string) =>
  [0, 1, 2].map((count) =>
    path
      .replace(/\/$/, "")
      .split("/")
      .slice(0, -count || undefined)
      .join("/"),
  );

/** Returns the schema of `data` in the response of a path; null if the response has none. */
function findRecordAt(routes: readonly Route[], path: string): z.core.$ZodType | null {
  const route = routes.find((one) => new RegExp(buildPathPattern(one.path)).test(path));
  const response = route?.hooks.detail?.endpoint?.response;
  return response instanceof z.ZodObject ? (response.shape["data"] ?? null) : null;
}
