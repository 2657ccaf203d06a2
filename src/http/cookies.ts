export type Cookie = {
  name: string;
  value: string;
  maxAgeSeconds: number;
  sameSite: "Strict" | "Lax";
};

/** Returns the value of a cookie; null if it is missing. */
export function readCookie({ headers }: Request, name: string): string | null {
  const start = `${name}=`;
  const pair = (headers.get("cookie") ?? "").split(/;\s*/).find((one) => one.startsWith(start));
  return pair?.slice(start.length) ?? null;
}

/** Returns the names of the cookies that start with `prefix`. */
export function listCookieNames({ headers }: Request, prefix: string): string[] {
  const names = (headers.get("cookie") ?? "")
    .split(/;\s*/)
    .map((one) => one.split("=", 1)[0] ?? "");
  return names.filter((name) => name.startsWith(prefix));
}

/**
 * Creates a Set-Cookie header that is hidden from scripts. The cookie is restricted to TLS if the browser uses TLS.
 */
export function buildSetCookie(
  { headers, url }: Request,
  { name, value, maxAgeSeconds, sameSite }: Cookie,
): string {
  // Behind a proxy that terminates TLS, only the Origin header shows that the browser uses TLS.
  const isSecure = [headers.get("origin") ?? url, url].some((one) => one.startsWith("https:"));
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}
