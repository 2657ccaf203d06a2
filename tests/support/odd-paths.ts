/** Every path of the product in unusual spellings. */
import { buildDocument } from "../../src/openapi-document.ts";
import { unknownId } from "./appliance.ts";
import { publicPaths } from "../../src/status-pages/site/public-paths.ts";

/** Every path of the route table and the public pages, with a value for each parameter. */
export function listPaths(routes: readonly { path: string }[]): string[] {
  const published = Object.keys(buildDocument("0").paths ?? {}).map((path) =>
    path.replace(/\{(\w+)\}/g, ":$1"),
  );
  const unlisted = [...Object.values(publicPaths), "/favicon.ico"];
  // One path represents all hashed files.
  const isHashed = (path: string) => path.startsWith("/assets/");
  const [hashed = "/assets/none.js"] = routes.map(({ path }) => path).filter(isHashed);
  const others = routes.map(({ path }) => path).filter((path) => !isHashed(path));
  const patterns = [...others, hashed, ...published, ...unlisted];
  const filled = patterns.map((path) =>
    path.replace(/:(\w+)/g, (_, name: string) => fillers[name] ?? unknownId),
  );
  return [...new Set(filled)].toSorted();
}

const fillers: Record<string, string> = {
  token: "x".repeat(43),
  slug: "ours",
  section: "people",
  kind: "status",
  name: "summary",
  verb: "confirm",
};

/** Misspelled forms of a path, as sent by bugs, old links or attackers. */
export function listSpellings(path: string): string[] {
  const last = path.lastIndexOf("/") + 1;
  const [start, end] = [path.slice(0, last), path.slice(last)];
  return [
    path,
    `${path}/`,
    `${path}//`,
    path.replace("/", "//"),
    `${start}%ff`,
    `${start}%`,
    `${start}%zz${end}`,
    `${start}%c0%ae`,
    `${start}%00${end}`,
    `${path}%00`,
    `${path}%2f`,
    `${path}%2f..%2f..%2fhealthz`,
    path.replaceAll("/", "%2f").replace("%2f", "/"),
    `${start}.`,
    `${path}/../x`,
    `${start}..%2f${end}`,
    `${start}%2e%2e/${end}`,
    path.toUpperCase(),
    path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    `${path};x=1`,
    `${path}\\`,
    `${path}%0d%0aX:%20y`,
    `${start}%F0%9F%98%80`,
    `${start}${"x".repeat(7_000)}`,
    `${start}__proto__`,
    `${start}constructor`,
    `${path}?%ff`,
    `${path}?a=%`,
    `${path}?__proto__=1&a[b]=c&a=1&a=2`,
    `${path}?${"a=1&".repeat(1_500)}`,
    `${path}?month=%ff&page=1e9&per_page=-1&organization=%00`,
  ];
}

export const everyMethod = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
