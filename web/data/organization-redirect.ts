import { useEffect } from "react";
import type { WhereQuery } from "../../src/dashboard/schema.ts";
import { ApiError } from "./client.ts";
import { switchOrganization, findOrganizationOf } from "./session.ts";

/** A link may lead to another of the person's organizations: that one is switched to, unless the page was left. */
export function useOrganizationRedirect(kind: WhereQuery["kind"], id: string, error: unknown) {
  useEffect(() => {
    if (!(error instanceof ApiError && error.status === 404)) return;
    let left = false;
    void findOrganizationOf(kind, id)
      .then((organizationId) => {
        if (organizationId !== null && !left) return switchOrganization(organizationId);
      })
      .catch(() => {});
    return () => {
      left = true;
    };
  }, [error, kind, id]);
}
