/** Stores the cookies of one HTTP check (RFC 6265) and adds them to its redirects and steps. */
import { isIP } from "node:net";
import { toAsciiName } from "../../../core/security/destinations.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { decodeField, trimBlanks } from "../../../core/outgoing/http/head.ts";
import type { HttpRequest } from "../../../core/outgoing/http/request.ts";

const maxCookies = monitorBounds.cookies.value;
const maxCookieLength = monitorBounds.cookieSize.value;
const maxHeaderLength = monitorBounds.cookieHeader.value;

type Cookie = {
  name: string;
  value: string;
  domain: string;
  isHostOnly: boolean;
  path: string;
  isSecure: boolean;
};

/** Control characters of ASCII (RFC 6265bis §5.7). A higher character is one byte of UTF-8. */
const controlPattern = /[^\P{Cc}\t\x80-\x9f]/u;

const hostOf = (url: URL) => url.hostname.toLowerCase().replace(/\.$/, "");

const isBelow = (host: string, domain: string) =>
  host === domain || (host.endsWith(`.${domain}`) && isIP(host.replace(/^\[|\]$/g, "")) === 0);

const isTrustworthy = (url: URL) => url.protocol === "https:";

/** Path of a cookie without the Path attribute (RFC 6265 §5.1.4). */
const computeDefaultPath = ({ pathname }: URL) =>
  pathname.slice(0, pathname.lastIndexOf("/")) || "/";

const isWithin = (pathname: string, path: string) =>
  pathname === path ||
  (pathname.startsWith(path) && (path.endsWith("/") || pathname[path.length] === "/"));

export class CookieJar {
  private cookies: Cookie[] = [];

  /** Stores the cookies of a response from this URL (RFC 6265 §5.3). */
  store(setCookies: readonly string[], url: URL, nowMs: number) {
    for (const text of setCookies) this.set(text, url, nowMs);
    this.cookies = this.cookies.slice(-maxCookies);
  }

  /** Builds the `Cookie` header for a URL; null without cookies. Cookies with longer paths are sent first. */
  buildHeader(url: URL): string | null {
    if (this.cookies.length === 0) return null;
    const host = hostOf(url);
    const pairs = this.cookies
      .filter(
        ({ domain, isHostOnly, path, isSecure }) =>
          (isHostOnly ? host === domain : isBelow(host, domain)) &&
          isWithin(url.pathname, path) &&
          (!isSecure || isTrustworthy(url)),
      )
      .toSorted((one, other) => other.path.length - one.path.length)
      .map(({ name, value }) => (name === "" ? value : `${name}=${value}`));
    while (pairs.join("; ").length > maxHeaderLength) pairs.pop();
    return pairs.length === 0 ? null : pairs.join("; ");
  }

  /** Adds the stored cookies to a request. A cookie in the request's own header overrides a stored one. */
  addToRequest(request: HttpRequest): HttpRequest {
    const jar = this.buildHeader(request.url);
    if (jar === null) return request;
    const headers = { ...request.headers };
    const ownHeader = Object.keys(headers).find((name) => name.toLowerCase() === "cookie");
    headers[ownHeader ?? "Cookie"] = mergeCookies(
      ownHeader === undefined ? undefined : headers[ownHeader],
      jar,
    );
    return { ...request, headers };
  }

  /** Values of at least 8 characters. They can identify a session and must not be shown. */
  listSecrets(): string[] {
    return this.cookies.map(({ value }) => value).filter((value) => value.length >= 8);
  }

  private set(text: string, url: URL, nowMs: number) {
    const [pair = "", ...rest] = text.split(";");
    const equals = pair.indexOf("=");
    const name = trimBlanks(pair.slice(0, Math.max(equals, 0)));
    const value = trimBlanks(pair.slice(equals + 1));
    const attributes = parseAttributes(rest);
    const host = hostOf(url);
    const cookieDomain = toAsciiName(
      decodeField(attributes.get("domain") ?? "").replace(/^\./, ""),
    );
    const domain = cookieDomain === "" ? host : cookieDomain;
    // A name without a dot is a top-level domain, such as `com`, or a host in the local network.
    const isRegistry = !domain.includes(".");
    const isHostOnly = cookieDomain === "" || (domain === host && isRegistry);
    const path = attributes.get("path")?.startsWith("/")
      ? (attributes.get("path") ?? "/")
      : computeDefaultPath(url);
    const isSecure = attributes.has("secure");
    if (trimBlanks(pair) === "" || pair.length > maxCookieLength || controlPattern.test(pair))
      return;
    if (!isHostOnly && (isRegistry || !isBelow(host, domain))) return;
    if (isSecure && !isTrustworthy(url)) return;
    // Name prefixes: https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-4.1.3
    if (/^__secure-/i.test(name) && !isSecure) return;
    if (/^__host-/i.test(name) && !(isSecure && path === "/" && !attributes.has("domain"))) return;
    this.cookies = this.cookies.filter(
      (known) => known.name !== name || known.domain !== domain || known.path !== path,
    );
    if (isExpired(attributes, nowMs)) return;
    this.cookies.push({ name, value, domain, isHostOnly, path, isSecure });
  }
}

/** Returns attributes by lower-case name. The last duplicate wins. */
function parseAttributes(parts: readonly string[]): Map<string, string> {
  return new Map(
    parts.map((part) => {
      const [name = "", ...value] = part.split("=");
      return [trimBlanks(name).toLowerCase(), trimBlanks(value.join("="))];
    }),
  );
}

/** Two-digit year after day and month. RFC 6265 §5.1.1 maps it to 1970–2069. */
const shortYearPattern = /(?<=\b\d{1,2} [A-Za-z]{3} )\d\d(?= )/;

/** Whether the cookie is expired. Max-Age takes precedence over Expires (RFC 6265 §4.1.2.2). */
function isExpired(attributes: ReadonlyMap<string, string>, nowMs: number): boolean {
  const maxAge = attributes.get("max-age") ?? "";
  if (/^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  const date = (attributes.get("expires") ?? "")
    .replaceAll("-", " ")
    .replace(shortYearPattern, (year) => `${Number(year) < 70 ? 20 : 19}${year}`);
  return Date.parse(date) <= nowMs;
}

/** Appends the stored cookies to a `Cookie` header, except for names that the header already contains. */
function mergeCookies(own: string | undefined, jar: string): string {
  if (own === undefined) return jar;
  const parseName = (pair: string) => pair.split("=", 1)[0]?.trim();
  const names = new Set(own.split(";").map(parseName));
  return [own, ...jar.split("; ").filter((pair) => !names.has(parseName(pair)))].join("; ");
}
