/** Defines who can open a status page, and which parts of it they see. */
import type { Role } from "../core/roles.ts";

/** Visitors who can open a page. Tests generate cases from this list. */
export const visibilities = ["public", "password", "signed-in", "addresses", "hidden"] as const;

/** Visitors who see a section. */
export const audiences = ["everyone", "signed-in"] as const;
export type Audience = (typeof audiences)[number];

/** Whether an account with this verified address, or without one, counts as signed in for these domains. */
export function isAllowedVisitor(domains: readonly string[], email: string | null): boolean {
  if (domains.length === 0) return true;
  return email !== null && domains.includes(email.slice(email.lastIndexOf("@") + 1).toLowerCase());
}

/**
 * Whether a member counts as signed in on a page with these roles. Members who are limited to monitor groups do not,
 * because a page can show any group.
 */
export function isAllowedMember(
  allowedRoles: readonly Role[],
  { role, groupIds }: { role: Role; groupIds: readonly string[] | null },
): boolean {
  return groupIds === null && (allowedRoles.length === 0 || allowedRoles.includes(role));
}
