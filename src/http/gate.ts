import { AppError } from "../base/errors.ts";
import { sha256 } from "../base/ids.ts";
import type { Appliance, Principal } from "./call.ts";

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
    const principal = await appliance.authenticate(sha256(key));
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

function rateLimited(waitSeconds: number) {
  return new AppError("RATE_LIMITED", `Too many requests. Try again in ${waitSeconds} s.`, {
    headers: { "Retry-After": String(waitSeconds) },
  });
}

/** What the key may do, and how often. Throws FORBIDDEN, then RATE_LIMITED. */
export function admit(appliance: Appliance, principal: Principal, access: "read" | "write") {
  if (access === "write" && principal.scope !== "write")
    throw new AppError("FORBIDDEN", "This API key may only read. Use a key with the scope write.");
  const wait = appliance.requestLimit.take(principal.keyId);
  if (wait > 0) throw rateLimited(wait);
}
