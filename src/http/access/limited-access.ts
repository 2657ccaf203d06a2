/** Decides which routes and records a caller who is limited to monitor groups can use. */
import { AppError } from "../../core/errors.ts";
import { isVisible, type LimitedNoun, limitedNouns } from "../../database/group-limit.ts";
import { notFoundError } from "../../database/rows.ts";
import type { Store } from "../../database/store.ts";
import type { Principal } from "./session.ts";

/**
 * Access of a limited caller to a route. With a noun, the first path parameter is the ID of such a record, which must
 * concern their groups. `filtered`: the use case follows `groupIds` of its scope. `unrelated`: neither the request nor
 * the response is about monitors. `people`: the same, but FORBIDDEN for API keys, which could change how all people are
 * notified. `denied`: FORBIDDEN.
 */
export type LimitedAccess = LimitedNoun | "filtered" | "unrelated" | "people" | "denied";

type LimitedRoute = { access: string; limited?: LimitedAccess | undefined };

/** Formats the limit for keys of caches; empty for an unlimited caller, and outside of organizations. */
export const formatLimit = (principal: Pick<Principal, "groupIds"> | null): string =>
  principal === null || principal.groupIds === null ? "" : JSON.stringify(principal.groupIds);

/**
 * Checks whether a limited caller can use a route. Throws FORBIDDEN, and NOT_FOUND for a record of other groups, as for
 * a record of another organization.
 */
export async function authorizeLimited(
  store: Store,
  { organizationId, groupIds, role }: Principal,
  { access, limited = "denied" }: LimitedRoute,
  params: Readonly<Record<string, string>> = {},
) {
  if (groupIds === null || limited === "filtered" || limited === "unrelated") return;
  if (limited === "people" && role !== null) return;
  if (limited === "denied" || limited === "people")
    throw limitedError(role, "This concerns all monitors");
  const tenant = { store, organizationId, groupIds };
  const { id = "" } = params;
  if (!(await isVisible(tenant, limited, id))) throw notFoundError(limitedNouns[limited].name);
  if (access === "write" && !(await isVisible(tenant, limited, id, "wholly")))
    throw limitedError(role, `This ${limitedNouns[limited].name} also concerns other monitors`);
}

const limitedError = (role: Principal["role"], reason: string) =>
  new AppError(
    "FORBIDDEN",
    `${reason}, but ${role === null ? "this API key is" : "you are"} limited to some monitor groups.`,
  );
