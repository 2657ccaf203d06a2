/** The path as the client wrote it, without the query. */
export function pathOf({ url }: Request): string {
  const start = url.indexOf("/", 8);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}
