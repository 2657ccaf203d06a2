/** The methods of a path as `Allow` lists them (RFC 9110 §10.2.1); null for a path that no route has. */
export type Allowed = (path: string) => string | null;

type Route = { method: string; path: string };

/** HEAD works wherever GET does, OPTIONS everywhere. */
export function allowedMethods(routes: readonly Route[]): Allowed {
  const byPattern = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const pattern = `^${path.replace(/\/$/, "").replace(/:[A-Za-z]+/g, "[^/]+")}/?$`;
    const methods = byPattern.get(pattern) ?? new Set(["OPTIONS"]);
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
    byPattern.set(pattern, methods);
  }
  const table = [...byPattern].map(
    ([pattern, methods]) => [new RegExp(pattern), [...methods]] as const,
  );
  return (path) => {
    // `/sessions/end-others` is a path of its own, and one that `/sessions/:id` has.
    const methods = table.flatMap(([pattern, methods]) => (pattern.test(path) ? methods : []));
    return methods.length === 0 ? null : [...new Set(methods)].sort().join(", ");
  };
}
