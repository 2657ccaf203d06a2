type Cookie = {
  name: string;
  value: string;
  maxAgeSeconds: number;
  sameSite: "Strict" | "Lax";
};

/** Value of the cookie with this name; null without one. */
export function cookieOf({ headers }: Request, name: string): string | null {
  const start = `${name}=`;
  const pair = (headers.get("cookie") ?? "").split(/;\s*/).find((one) => one.startsWith(start));
  return pair?.slice(start.length) ?? null;
}

/** A Set-Cookie that scripts do not see; only over TLS where the browser came over it. */
export function setCookieOf(
  { headers, url }: Request,
  { name, value, maxAgeSeconds, sameSite }: Cookie,
): string {
  // Behind a proxy that ends TLS, only the browser knows that it came over it.
  const isSecure = [headers.get("origin") ?? url, url].some((one) => one.startsWith("https:"));
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}
