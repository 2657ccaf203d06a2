/** Fields that identify the target of a monitor without a URL, in order of precedence. */
export const watchedFields = ["container", "host", "domain", "command", "unit"] as const;

/** A monitor's target as stored. `watched` is the value of one of the `watchedFields`. */
export type StoredTarget = {
  type: string;
  url: string | null;
  watched: string | null;
  port: number | null;
};

/**
 * Formats a target, such as `db.lan:5432`. Omits port 443 of certificates, and the port of Docker, which is not a port of
 * the container.
 */
export function formatWatched(type: string, watched: string, port: number | null): string {
  const isBare = port === null || (type === "tls" && port === 443) || type === "docker";
  if (isBare) return watched;
  return watched.includes(":") ? `[${watched}]:${port}` : `${watched}:${port}`;
}

/** Returns the complete target for readers of the monitor; null for a push monitor, which has no target. */
export function formatFullTarget(monitor: {
  type: string;
  [field: string]: unknown;
}): string | null {
  const { type, url, port } = monitor;
  if (typeof url === "string") return url;
  const watched = watchedFields.map((name) => monitor[name]).find((one) => one !== undefined);
  if (typeof watched !== "string") return null;
  return formatWatched(type, watched, typeof port === "number" ? port : null);
}
