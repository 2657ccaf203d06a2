/** Returns the path as sent by the client, without the query. */
export function pathOf({ url }: Request): string {
  const start = url.indexOf("/", 8);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

/** Origin under which the client reached this appliance, without a trailing slash. */
export function originOf({ url, headers }: Request): string {
  return `${url.slice(0, url.indexOf(":"))}://${headers.get("host")}`;
}

/** Whether the request only reads data. */
export function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}
