import { useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { useEffect } from "react";
import type { WhereQuery } from "../../src/dashboard/schema.ts";
import { ApiError } from "./client.ts";
import { switchOrganization, findOrganizationId } from "./session.ts";

/**
 * Loads the record of a page. If it is in another organization of the person, as after following a
 * link, switches to that organization.
 */
export function useRecord<T, D>(
  kind: WhereQuery["kind"],
  id: string,
  query: UseQueryOptions<T, Error, D>,
) {
  const found = useQuery(query);
  const { error } = found;
  useEffect(() => {
    if (!(error instanceof ApiError && error.status === 404)) return;
    let isLeft = false;
    void findOrganizationId(kind, id)
      .then((organizationId) => {
        if (organizationId !== null && !isLeft) return switchOrganization(organizationId);
      })
      .catch(() => {});
    return () => {
      isLeft = true;
    };
  }, [error, kind, id]);
  return found;
}

/** A random ID for a record that is not saved yet. `crypto.randomUUID` exists only over HTTPS. */
export const createProvisionalId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
