/**
 * Returns the first value of a query parameter; null if there is none. Reads queries without escapes itself, because
 * `URLSearchParams` takes longer than a cached response.
 */
export function readQueryParameter({ url }: Request, name: string): string | null {
  const start = url.indexOf("?");
  if (start === -1) return null;
  // Most parameters are absent, which shows without splitting.
  if (!url.includes(name, start) && !url.includes("%", start)) return null;
  const query = url.slice(start + 1);
  if (/[%+]/.test(query)) return new URLSearchParams(url.slice(start)).get(name);
  for (const pair of query.split("&")) {
    if (pair === name) return "";
    if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1);
  }
  return null;
}
