import { useNavigate } from "@tanstack/react-router";
import { switchOrganization } from "../data/session.ts";

/** A page about one record, which the other organization does not have. */
const aboutOne = /^(\/(?!settings\/)[a-z-]+)\/[^/]+/;

/** Switches by hand: a record's page is left for its list first, as its link would lead back. */
export function useOrganizationSwitch() {
  const navigate = useNavigate();
  return async (id: string) => {
    const [, list] = aboutOne.exec(location.pathname) ?? [];
    if (list !== undefined) await navigate({ href: list });
    await switchOrganization(id);
  };
}
