/** Identifies the caller of a request by API key or session, and authorizes it. */
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import { isAtLeast, type Role } from "../../core/roles.ts";
import { consumeLimit } from "./rate-limit.ts";
import type { HeaderAccount } from "./trusted-header.ts";
import {
  type Membership,
  type Principal,
  resolveOrganization,
  type Session,
  hashSessionToken,
  signInRequiredError,
} from "./session.ts";
import type { RequestContext } from "../request-context.ts";
import type { RequestServices } from "../services.ts";

const bearerPattern = /^bearer ([\x21-\x7e]{1,200})$/i;
const keyPattern = /^sbx_[0-9A-Za-z]{43}$/;

/** Returns the credential after `Bearer`; null if there is none. */
export function parseBearerToken({ headers }: Request): string | null {
  return bearerPattern.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

/** Returns the password of Basic authentication (RFC 7617); null if there is none. */
export function parseBasicPassword({ headers }: Request): string | null {
  const encoded = /^basic ([\w+/]{1,300}={0,2})$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

/**
 * Returns the principal of the API key. Throws UNAUTHORIZED with the same body for every wrong key, and RATE_LIMITED
 * after too many wrong keys from a network.
 */
export async function authenticate(
  request: Request,
  requestContext: RequestContext,
  key = parseBearerToken(request),
): Promise<Principal> {
  const { keys, failureLimit } = requestContext.services;
  if (key !== null && keyPattern.test(key)) {
    const principal = await keys.find(sha256(key));
    if (principal !== null) return principal;
  }
  if (!request.headers.has("authorization")) throw unauthorizedError('Bearer realm="signalbox"');
  consumeLimit(failureLimit, requestContext.address);
  throw unauthorizedError('Bearer realm="signalbox", error="invalid_token"');
}

function unauthorizedError(challenge: string) {
  return new AppError(
    "UNAUTHORIZED",
    "A valid API key is needed: send it as `Authorization: Bearer KEY`.",
    { headers: { "WWW-Authenticate": challenge } },
  );
}

/** Finds the session of the request's cookie; null if there is none. */
export async function findSession(
  request: Request,
  { sessions }: Pick<RequestServices, "sessions">,
): Promise<Session | null> {
  const hash = hashSessionToken(request);
  return hash === null ? null : sessions.find(hash);
}

/**
 * Whether the header of a trusted proxy permits this session. A session that was started by the header needs the same
 * user in each request. Other sessions must not be of another person than the header's.
 */
export async function isPermittedByHeader(
  { way, person }: Session,
  account: HeaderAccount | null,
  { sessions }: Pick<RequestServices, "sessions">,
): Promise<boolean> {
  if (way.headerUser !== null) return account?.user === way.headerUser;
  if (account === null) return true;
  const personId = await sessions.findHeaderPerson(account.user);
  return personId === null || personId === person.id;
}

/** Returns the session of a person who has completed sign-in. Throws UNAUTHORIZED. */
export function getSignedInSession({ session }: RequestContext): Session {
  if (session?.stage !== "signed-in") throw signInRequiredError();
  return session;
}

/**
 * Returns the caller with the organization of the request. Throws UNAUTHORIZED, and NOT_FOUND for an organization
 * that the person does not belong to.
 */
export function resolvePrincipal(requestContext: RequestContext, request: Request): Principal {
  if (requestContext.principal !== null) return requestContext.principal;
  const session = getSignedInSession(requestContext);
  return buildPersonPrincipal(session.person, resolveOrganization(request, session));
}

const buildPersonPrincipal = (
  { id, name }: { id: string; name: string },
  { id: organizationId, role, groupIds }: Membership,
): Principal => ({
  organizationId,
  actor: { type: "person", id, name },
  scope: isAtLeast(role, "member") ? "write" : "read",
  mcp: false,
  role,
  groupIds,
});

/** Finds the author of an earlier request with the current rights; null if the access was revoked. */
export async function findPrincipal(
  { keys, sessions }: Pick<RequestServices, "keys" | "sessions">,
  organizationId: string,
  { type, id, name }: Principal["actor"],
): Promise<Principal | null> {
  if (type === "api-key") return keys.findById(organizationId, id);
  const memberships = await sessions.listMemberships(id);
  const membership = memberships.find((one) => one.id === organizationId);
  return membership === undefined ? null : buildPersonPrincipal({ id, name }, membership);
}

/** Throws FORBIDDEN unless the person is an administrator of the appliance. */
export function assertAdministrator({ person }: Session) {
  if (!person.administrator)
    throw new AppError("FORBIDDEN", "This is for administrators of the appliance.");
}

/** Throws FORBIDDEN unless the principal has the permission. */
export function assertPermitted(principal: Principal, access: "read" | "write", needed?: Role) {
  const { role } = principal;
  if (!isPermitted(principal, access, needed))
    throw new AppError(
      "FORBIDDEN",
      role === null
        ? "This API key can only read. Use a key with the scope write."
        : `This needs the role ${needed ?? defaultRoles[access]} in this organization; yours is ${role}.`,
    );
}

/** Checks permission and rate limit. Throws FORBIDDEN, then RATE_LIMITED. */
export function authorize(
  { requestLimit, personLimit }: Pick<RequestServices, "requestLimit" | "personLimit">,
  principal: Principal,
  access: "read" | "write",
  needed?: Role,
) {
  assertPermitted(principal, access, needed);
  const { actor, role } = principal;
  consumeLimit(role === null ? requestLimit : personLimit, actor.id);
}

const defaultRoles = { read: "viewer", write: "member" } as const;

/**
 * Whether the principal has the permission, and the role if it is a person. Viewers can write only where a route
 * permits it, such as their own contact methods.
 */
export const isPermitted = (
  { scope, role }: Principal,
  access: "read" | "write",
  needed: Role = defaultRoles[access],
): boolean =>
  role === null
    ? access === "read" || scope === "write"
    : isAtLeast(role, needed) && (access === "read" || scope === "write" || needed === "viewer");
