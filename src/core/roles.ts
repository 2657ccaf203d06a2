import { z } from "zod";

const ranked = ["viewer", "member", "admin", "owner"] as const;

/** What a person may in an organization, lowest first: reads, writes, administers, owns. */
export const Role = z.enum(ranked).meta({ id: "Role" });
export type Role = z.infer<typeof Role>;

/** Whether a role may do what this other one may. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ranked.indexOf(role) >= ranked.indexOf(needed);
}
