import { useNavigate } from "@tanstack/react-router";
import { switchOrganization } from "../data/session.ts";

/** Path of a record's page. The record does not exist in other organizations. */
const aboutOne = /^(\/(?!settings\/)[a-z-]+)\/[^/]+/;

/**
 * Switches the organization on request. Leaves a record's page first, because the page would switch
 * back.
 */
export function useOrganizationSwitch() {
  const navigate = useNavigate();
  return async (id: string) => {
    const [, list] = aboutOne.exec(location.pathname) ?? [];
    if (list !== undefined) await navigate({ href: list });
    await switchOrganization(id);
  };
}
