/** Rules of the limit of people, invitations and API keys to monitor groups. */
import { listChangedFields } from "../../core/field-changes.ts";
import { isAtLeast, type Role } from "../../core/roles.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { guardFieldExists, type Tenant } from "../../database/rows.ts";
import { monitorGroups } from "../../database/tables/monitoring.ts";

/** Whether a role can be limited to monitor groups. Owners and admins manage the whole organization. */
const canBeLimited = (role: Role) => !isAtLeast(role, "admin");

/**
 * Returns the limit of a role. An absent one keeps the stored limit `before`, if the role can be limited. Throws
 * VALIDATION_ERROR for a limited owner or admin.
 */
export function chooseLimit(
  role: Role,
  given: string[] | null | undefined,
  before: string[] | null,
): string[] | null {
  if (canBeLimited(role)) return given === undefined ? before : given;
  if (given != null)
    throw invalidFieldError("groupIds", "must be null, because owners and admins are not limited");
  return null;
}

/** Guards that each group exists. Groups of the stored limit `before` can be in the bin. */
export const guardGroups = (
  tenant: Pick<Tenant, "organizationId">,
  groupIds: readonly string[] | null,
  before: readonly string[] | null = null,
) =>
  guardFieldExists(
    tenant,
    "groupIds",
    monitorGroups,
    groupIds?.filter((id) => before?.includes(id) !== true),
  );

/** Returns the limit of a new record for its audit entry; nothing without a limit. */
export const listLimit = (groupIds: readonly string[] | null) =>
  groupIds === null
    ? {}
    : { fields: listChangedFields({ groupIds: null }, { groupIds }, ["groupIds"]) };
