/** Fields that say what is watched where that is no URL; the first that a monitor has counts. */
export const watchedFields = ["container", "host", "domain", "command", "unit"] as const;

/** `db.lan:5432`, or without the port where that is usual, or the Docker's and not the container's. */
export function watchedInWords(type: string, watched: string, port: number | null): string {
  const isBare = port === null || (type === "tls" && port === 443) || type === "docker";
  if (isBare) return watched;
  return watched.includes(":") ? `[${watched}]:${port}` : `${watched}:${port}`;
}

/** What a monitor watches, as those read it who may read the monitor; null for a push monitor, which watches nothing. */
export function fullTargetOf(monitor: { type: string; [field: string]: unknown }): string | null {
  const { type, url, port } = monitor;
  if (typeof url === "string") return url;
  const watched = watchedFields.map((name) => monitor[name]).find((one) => one !== undefined);
  if (typeof watched !== "string") return null;
  return watchedInWords(type, watched, typeof port === "number" ? port : null);
}
