import { AppError } from "../core/errors.ts";
import { isAtLeast, type Role } from "../core/roles.ts";
import { consume } from "./rate-limit.ts";
import type { Principal } from "./principal.ts";
import type { Services } from "./services.ts";
import type { Session } from "./session.ts";

/** Throws FORBIDDEN for whoever does not run the appliance. */
export function mustBeAdministrator({ person }: Session) {
  if (!person.administrator)
    throw new AppError("FORBIDDEN", "This is for administrators of the appliance.");
}

/** What the key or the person may do, and how often. Throws FORBIDDEN, then RATE_LIMITED. */
export function authorize(
  { requestLimit, personLimit }: Services,
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
  consume(role === null ? requestLimit : personLimit, actor.id);
}
