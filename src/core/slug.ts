/** Slugs that nobody gets: these words name something else in an address, or may come to. */
export const reservedSlugs: ReadonlySet<string> = new Set([
  "admin",
  "api",
  "badge",
  "docs",
  "healthz",
  "metrics",
  "push",
  "status",
]);
