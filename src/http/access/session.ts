/** Rules of session cookies, and who a request acts for. */
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import type { Role } from "../../core/roles.ts";
import type { Statement } from "../../database/store.ts";
import { cookieOf, setCookieOf } from "../cookies.ts";
import { isRead, originOf } from "../request.ts";

/** A session of the admin page. */
export type Session = {
  id: string;
  /** `two-factor` waits for a code and opens nothing yet. */
  stage: "two-factor" | "signed-in";
  person: SignedInPerson;
  /** The person's own, in the order in which they joined. */
  organizations: readonly Membership[];
};

type SignedInPerson = {
  id: string;
  name: string;
  email: string;
  twoFactor: boolean;
  timeZone: string | null;
  /** Runs the whole appliance. */
  administrator: boolean;
  /** Wrong codes given with the right password; null if there are none to report. */
  wrongCodes: { count: number; since: string; lastAt: string; lastFrom: string | null } | null;
};

export type Membership = { id: string; slug: string; name: string; timeZone: string; role: Role };

/** A caller in one organization: an API key, or a person with a session. */
export type Principal = {
  organizationId: string;
  actor: { type: "api-key" | "person"; id: string; name: string };
  scope: "read" | "write";
  /** Of a person; null for an API key. */
  role: Role | null;
};

export type Sessions = {
  /** The session whose token has this SHA-256; null if it is unknown, ended, idle or too old. Counts as activity. */
  find(tokenHash: string): Promise<Session | null>;
  /** Whether a session found earlier still exists with the same rights. Does not count as activity. */
  isStillOpen(sessionId: string, may: (session: Session) => boolean): Promise<boolean>;
  /** Statements that store when sessions were last seen, since the last call. */
  seen(): Statement[];
};

const cookieName = "signalbox_session";
const tokenShape = /^[0-9A-Za-z]{43}$/;

/** The SHA-256 of the token in the request's cookie; null where there is none that could be one of ours. */
export function sessionTokenHashOf(request: Request): string | null {
  const token = cookieOf(request, cookieName) ?? "";
  return tokenShape.test(token) ? sha256(token) : null;
}

/** Set-Cookie for this token and lifetime; null removes the cookie. */
export function sessionCookieOf(request: Request, token: string | null, seconds: number): string {
  return setCookieOf(request, {
    name: cookieName,
    value: token ?? "",
    maxAgeSeconds: token === null ? 0 : seconds,
    sameSite: "Strict",
  });
}

/** Throws FORBIDDEN if another site caused this request. Reads are allowed, because they change nothing. */
export function mustBeSameOrigin(request: Request) {
  if (isRead(request)) return;
  const { headers } = request;
  const site = headers.get("sec-fetch-site");
  const own = originOf(request).toLowerCase();
  if (site === null ? headers.get("origin") === own : site === "same-origin") return;
  throw new AppError(
    "FORBIDDEN",
    "Only the admin page itself may send this: neither Origin nor Sec-Fetch-Site says that it did.",
  );
}

/** The query parameter that chooses an organization where a header can't be set. */
export const organizationParameter = "organization";

/** The organization of the request with the person's role; the first one if it names none. Throws NOT_FOUND for an organization of others. */
export function organizationOf(request: Request, { organizations }: Session): Membership {
  const named =
    request.headers.get("x-organization") ??
    new URLSearchParams(request.url.split("?", 2)[1]).get(organizationParameter);
  const chosen = named === null ? organizations[0] : organizations.find(({ id }) => id === named);
  if (chosen !== undefined) return chosen;
  throw new AppError("NOT_FOUND", "You do not belong to this organization.");
}

export function signInFirst(): AppError {
  return new AppError("UNAUTHORIZED", "Sign in first.");
}
