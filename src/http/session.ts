import { AppError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import type { Role } from "../core/roles.ts";
import type { Statement } from "../database/store.ts";

/** Somebody's context to the admin page, as its cookie says. */
export type Session = {
  id: string;
  /** `two-factor` waits for a code and opens nothing yet. */
  stage: "two-factor" | "signed-in";
  person: SignedInPerson;
  /** The person's own, in the order in which they joined. */
  organizations: readonly Membership[];
};

export type SignedInPerson = {
  id: string;
  name: string;
  email: string;
  twoFactor: boolean;
  /** Runs the whole appliance. */
  administrator: boolean;
  /** Wrong codes that were given with the right password; null where there are none to tell of. */
  wrongCodes: { count: number; since: string; lastAt: string; lastFrom: string | null } | null;
};

export type Membership = { id: string; slug: string; name: string; timeZone: string; role: Role };

export type Sessions = {
  /** Whose cookie has this SHA-256; null for one that is unknown, ended, idle for too long or too old. Counts as activity. */
  find(tokenHash: string): Promise<Session | null>;
  /** Whether somebody is still signed in with a session that was found earlier, and may what they did then. Asking is no activity. */
  isStillOpen(sessionId: string, may: (session: Session) => boolean): Promise<boolean>;
  /** Writes down when sessions were last seen, since the last time this was asked. */
  seen(): Statement[];
};

const cookieName = "signalbox_session";
const tokenShape = /^[0-9A-Za-z]{43}$/;

/** The SHA-256 of the token in the request's cookie; null where there is none that could be one of ours. */
export function sessionTokenHashOf({ headers }: Request): string | null {
  const start = `${cookieName}=`;
  const pair = (headers.get("cookie") ?? "").split(/;\s*/).find((one) => one.startsWith(start));
  const token = pair?.slice(start.length) ?? "";
  return tokenShape.test(token) ? sha256(token) : null;
}

/** The Set-Cookie that keeps this token for so many seconds; null takes back the one there is. */
export function sessionCookieOf(request: Request, token: string | null, seconds: number): string {
  // Behind a proxy that ends TLS, only the browser knows that it came over it.
  const origin = request.headers.get("origin") ?? request.url;
  const secure = [origin, request.url].some((url) => url.startsWith("https:")) ? "; Secure" : "";
  const age = token === null ? 0 : seconds;
  return `${cookieName}=${token ?? ""}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}

/** Throws FORBIDDEN where another site made the browser send this; reading changes nothing and is let in. */
export function mustBeSameOrigin(request: Request) {
  const { method, headers, url } = request;
  if (method === "GET" || method === "HEAD") return;
  const site = headers.get("sec-fetch-site");
  const own = `${url.slice(0, url.indexOf(":"))}://${headers.get("host")}`.toLowerCase();
  if (site === null ? headers.get("origin") === own : site === "same-origin") return;
  throw new AppError(
    "FORBIDDEN",
    "Only the admin page itself may send this: neither Origin nor Sec-Fetch-Site says that it did.",
  );
}

/** The query parameter that chooses an organization where a header can't be set. */
export const organizationParameter = "organization";

/** The organization that the request is about, and the person's role there; the first one where it names none. Throws NOT_FOUND for one that is not theirs. */
export function organizationOf(request: Request, { organizations }: Session): Membership {
  const named =
    request.headers.get("x-organization") ??
    new URLSearchParams(request.url.split("?", 2)[1]).get(organizationParameter);
  const chosen = named === null ? organizations[0] : organizations.find(({ id }) => id === named);
  if (chosen !== undefined) return chosen;
  throw new AppError("NOT_FOUND", "You belong to no such organization.");
}

export function signInFirst(): AppError {
  return new AppError("UNAUTHORIZED", "Sign in first.");
}
