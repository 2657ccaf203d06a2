/** Defines sessions and principals, and the rules of session cookies. */
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import type { AdminLanguage } from "../../core/admin-languages.ts";
import type { Role } from "../../core/roles.ts";
import type { Statement } from "../../database/store.ts";
import { readCookie, buildSetCookie } from "../cookies.ts";
import { isRead, originOf } from "../request.ts";

/** A session of the admin page. */
export type Session = {
  id: string;
  /** In stage `two-factor`, the session waits for a code and grants no access. */
  stage: "two-factor" | "signed-in";
  way: SignInWay;
  startedAt: string;
  person: SignedInPerson;
  /** Organizations of the person, in the order of joining. */
  organizations: readonly Membership[];
};

/** How a session was started. */
export type SignInWay = {
  byPassword: boolean;
  /** Sign-in provider, whose organizations the session opens; null for all organizations of the person. */
  providerId: string | null;
  /** User of the trusted header of a proxy, without which the session is not valid; null if there is none. */
  headerUser: string | null;
};

export const passwordWay: SignInWay = { byPassword: true, providerId: null, headerUser: null };
/** A passkey, or a link of the command line. */
export const directWay: SignInWay = { ...passwordWay, byPassword: false };

type SignedInPerson = {
  id: string;
  name: string;
  email: string;
  twoFactor: boolean;
  timeZone: string | null;
  hourCycle: "h23" | "h12";
  language: AdminLanguage | null;
  /** Whether the person administers the whole appliance. */
  administrator: boolean;
  /** Wrong codes after a correct password; null if there are none to report. */
  wrongCodes: { count: number; since: string; lastAt: string; lastFrom: string | null } | null;
};

export type Membership = {
  id: string;
  slug: string;
  name: string;
  timeZone: string;
  role: Role;
  /** Monitor groups to which the person is limited; null for all monitors. */
  groupIds: string[] | null;
};

/** A caller in one organization: an API key, or a signed-in person. */
export type Principal = {
  organizationId: string;
  actor: { type: "api-key" | "person"; id: string; name: string };
  scope: "read" | "write";
  /** Whether an API key can be used at `/mcp`. */
  mcp: boolean;
  /** Role of a person; null for an API key. */
  role: Role | null;
  /** Monitor groups to which the caller is limited; null for all monitors. */
  groupIds: readonly string[] | null;
};

export type Sessions = {
  /** Whether passwords open every organization (`serve --password-sign-in`). */
  passwordsEverywhere: boolean;
  /**
   * Finds the session whose token has this SHA-256; null if it is unknown, ended, idle or too old. Counts as
   * activity.
   */
  find(tokenHash: string): Promise<Session | null>;
  /** Whether a session still exists with the required rights. Does not count as activity. */
  isStillOpen(sessionId: string, may: (session: Session) => boolean): Promise<boolean>;
  /** Finds the person to whom the user of a trusted header belongs; null if it was not linked yet. */
  findHeaderPerson(user: string): Promise<string | null>;
  /** Reads the organizations of a person, in the order of joining. */
  listMemberships(personId: string): Promise<Membership[]>;
  /**
   * Reads the organizations that a session of this way opens; null if it opens none because passwords are off in all
   * organizations of the person.
   */
  listOpenMemberships(personId: string, way: SignInWay): Promise<Membership[] | null>;
  /** Statements that store the activity of sessions since the previous call. */
  collectLastSeen(): Statement[];
};

const cookieName = "signalbox_session";
const tokenPattern = /^[0-9A-Za-z]{43}$/;

/** Returns the SHA-256 of the token in the cookie; null if there is no well-formed token. */
export function hashSessionToken(request: Request): string | null {
  const token = readCookie(request, cookieName) ?? "";
  return tokenPattern.test(token) ? sha256(token) : null;
}

/** Creates the Set-Cookie header for a session token and its lifetime; a null token removes the cookie. */
export function buildSessionCookie(
  request: Request,
  token: string | null,
  seconds: number,
): string {
  return buildSetCookie(request, {
    name: cookieName,
    value: token ?? "",
    maxAgeSeconds: token === null ? 0 : seconds,
    sameSite: "Strict",
  });
}

/** Throws FORBIDDEN for a write from another site. Reads are allowed, because they change nothing. */
export function assertSameOrigin(request: Request) {
  if (isRead(request)) return;
  const { headers } = request;
  const site = headers.get("sec-fetch-site");
  const ownOrigin = originOf(request).toLowerCase();
  if (site === null ? headers.get("origin") === ownOrigin : site === "same-origin") return;
  throw new AppError(
    "FORBIDDEN",
    "Only the admin page can send this request: its Origin or Sec-Fetch-Site is missing or foreign.",
  );
}

/** Query parameter that selects an organization if the client can't set a header. */
export const organizationParameter = "organization";

/**
 * Returns the requested organization with the person's role; the first one by default. Throws NOT_FOUND if the person
 * does not belong to it.
 */
export function resolveOrganization(request: Request, { organizations }: Session): Membership {
  const requestedId =
    request.headers.get("x-organization") ??
    new URLSearchParams(request.url.split("?", 2)[1]).get(organizationParameter);
  const chosen =
    requestedId === null ? organizations[0] : organizations.find(({ id }) => id === requestedId);
  if (chosen !== undefined) return chosen;
  throw new AppError("NOT_FOUND", "You do not belong to this organization.");
}

export function signInRequiredError(): AppError {
  return new AppError("UNAUTHORIZED", "Sign in first.");
}
