import { z } from "zod";
import { roles } from "./statuses.ts";

export const Role = z.enum(roles).meta({ id: "Role" });
export type Role = z.infer<typeof Role>;

/** Whether a role includes the rights of another. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
