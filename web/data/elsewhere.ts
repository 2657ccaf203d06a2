import { useEffect } from "react";
import { ApiError } from "./client.ts";
import { switchOrganization, whereIs } from "./session.ts";

/** A link may lead to another of the person's organizations: that one is switched to. */
export function useElsewhere(kind: string, id: string, error: unknown) {
  useEffect(() => {
    if (!(error instanceof ApiError && error.status === 404)) return;
    void whereIs(kind, id).then((organizationId) => {
      if (organizationId !== null) void switchOrganization(organizationId);
    });
  }, [error, kind, id]);
}
