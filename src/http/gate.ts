import { AppError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { isAtLeast, type Role } from "../core/roles.ts";
import type { Appliance, Call, Principal } from "./call.ts";
import { organizationOf, type Session, sessionHashOf, signInFirst } from "./session.ts";

const hostName = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?)(:\d{0,5})?$/i;

/** Throws BAD_REQUEST unless the request names exactly one host (RFC 9112 §3.2); two arrive joined by a comma. */
export function mustBeWellFormed(request: Request) {
  if (!hostName.test(request.headers.get("host") ?? ""))
    throw new AppError("BAD_REQUEST", "The request must have exactly one valid Host header.");
}

const bearer = /^bearer ([\x21-\x7e]{1,200})$/i;
const keyShape = /^sbx_[0-9A-Za-z]{43}$/;

/** Whose key it is. Throws UNAUTHORIZED with one and the same body for every wrong key, and RATE_LIMITED for an address that keeps guessing. */
export async function authenticated(
  request: Request,
  appliance: Appliance,
  address: string,
): Promise<Principal> {
  const header = request.headers.get("authorization");
  const key = bearer.exec(header ?? "")?.[1];
  if (key !== undefined && keyShape.test(key)) {
    const principal = await appliance.keys.find(sha256(key));
    if (principal !== null) return principal;
  }
  if (header === null) throw unauthorized('Bearer realm="signalbox"');
  const wait = appliance.failureLimit.take(address);
  if (wait > 0) throw rateLimited(wait);
  throw unauthorized('Bearer realm="signalbox", error="invalid_token"');
}

function unauthorized(challenge: string) {
  return new AppError(
    "UNAUTHORIZED",
    "A valid API key is needed: send it as `Authorization: Bearer KEY`.",
    { headers: { "WWW-Authenticate": challenge } },
  );
}

export function rateLimited(waitSeconds: number) {
  return new AppError("RATE_LIMITED", `Too many requests. Try again in ${waitSeconds} s.`, {
    headers: { "Retry-After": String(waitSeconds) },
  });
}

/** Whose cookie it is; null for none of ours. */
export async function visited(request: Request, appliance: Appliance): Promise<Session | null> {
  const hash = sessionHashOf(request);
  return hash === null ? null : appliance.sessions.find(hash);
}

/** The session of whoever has wholly signed in. Throws UNAUTHORIZED. */
export function signedIn({ session }: Call): Session {
  if (session?.stage !== "signed-in") throw signInFirst();
  return session;
}

/** Who asks on behalf of which organization. Throws UNAUTHORIZED, and NOT_FOUND for an organization that is not theirs. */
export function principalOf(call: Call, request: Request): Principal {
  if (call.principal !== null) return call.principal;
  const session = signedIn(call);
  const { id, role } = organizationOf(request, session);
  return {
    organizationId: id,
    actor: { type: "person", id: session.person.id, name: session.person.name },
    scope: isAtLeast(role, "member") ? "write" : "read",
    role,
  };
}

/** Throws FORBIDDEN for whoever does not run the appliance. */
export function mustAdminister({ person }: Session) {
  if (!person.administrator)
    throw new AppError("FORBIDDEN", "This is for administrators of the appliance.");
}

/** What the key or the person may do, and how often. Throws FORBIDDEN, then RATE_LIMITED. */
export function admit(
  { requestLimit, personLimit }: Appliance,
  { actor, scope, role }: Principal,
  access: "read" | "write",
  needed: Role = access === "write" ? "member" : "viewer",
) {
  if (role !== null && !isAtLeast(role, needed))
    throw new AppError(
      "FORBIDDEN",
      `This needs the role ${needed} in this organization; yours is ${role}.`,
    );
  if (access === "write" && scope !== "write")
    throw new AppError("FORBIDDEN", "This API key may only read. Use a key with the scope write.");
  const wait = (role === null ? requestLimit : personLimit).take(actor.id);
  if (wait > 0) throw rateLimited(wait);
}
