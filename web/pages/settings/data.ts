/** Queries of the settings pages, and how often they are refetched. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { dashboard, v1 } from "../../data/client.ts";
import { accountKey, listKey, recordKey } from "../../data/keys.ts";
import { createDataQuery, queryClient } from "../../data/query.ts";
import { useSignedInPerson } from "../../data/session.ts";

export const createOrganizationQuery = (id: string) =>
  createDataQuery(recordKey("organization", id), (options) => dashboard.organization.get(options));

export const createSettingsQuery = (organizationId: string) =>
  createDataQuery(recordKey("settings", organizationId), (options) => v1.settings.get(options));

/** Whether this channel type needs a mail server that the signed-in admin can set up. */
export function useLacksMailServer(type: string): boolean {
  const { organization, may } = useSignedInPerson();
  const { data } = useQuery({
    ...createSettingsQuery(organization.id),
    enabled: type === "email" && may("admin"),
  });
  return type === "email" && data?.smtp === null;
}

export const passwordPolicyQuery = createDataQuery(
  [...listKey("settings"), "passwords"],
  (options) => dashboard["password-policy"].get(options),
);

/** Certificate authorities of the settings version that was saved at `updatedAt`. */
export const createAuthoritiesQuery = (updatedAt: string) =>
  createDataQuery([...listKey("settings"), "authorities", updatedAt], (options) =>
    dashboard.settings["certificate-authorities"].get(options),
  );

export const apiKeysQuery = queryOptions({
  ...createDataQuery(listKey("api-key"), (options) => dashboard["api-keys"].get(options)),
  // The last use of a key causes no event.
  refetchInterval: 30_000,
});

export const peopleQuery = createDataQuery(listKey("person"), (options) =>
  dashboard.people.get(options),
);

export const invitationsQuery = createDataQuery(listKey("invitation"), (options) =>
  dashboard.invitations.get(options),
);

export const sessionsQuery = createDataQuery([...accountKey, "sessions"], (options) =>
  dashboard.sessions.get(options),
);

export const passkeysQuery = createDataQuery([...accountKey, "passkeys"], (options) =>
  dashboard.passkeys.get(options),
);

export const twoFactorQuery = createDataQuery([...accountKey, "two-factor"], (options) =>
  dashboard["two-factor"].get(options),
);

export const headerLinkQuery = createDataQuery([...accountKey, "header"], (options) =>
  dashboard.identities.header.get(options),
);

export const aboutQuery = queryOptions({
  ...createDataQuery(["about"], (options) => dashboard.about.get(options)),
  staleTime: 0,
});

export const figuresQuery = queryOptions({
  ...createDataQuery(["appliance"], (options) => dashboard.appliance.get(options)),
  staleTime: 0,
  // Machines report their state every 2 s, without an event.
  refetchInterval: ({ state }) => (state.data?.cluster.nodes.length ? 2_000 : false),
});

export const organizationsQuery = queryOptions({
  ...createDataQuery(["organizations"], (options) => dashboard.organizations.get(options)),
  // Changes in other organizations cause no event here.
  staleTime: 0,
});

export const administratorsQuery = queryOptions({
  ...createDataQuery(["administrators"], (options) => dashboard.administrators.get(options)),
  staleTime: 0,
});

export const identityProvidersQuery = queryOptions({
  ...createDataQuery(["identity-providers"], (options) =>
    dashboard["identity-providers"].get(options),
  ),
  // Changes for other organizations, and sign-ins, cause no event here.
  staleTime: 0,
});

export const identitiesQuery = queryOptions({
  ...createDataQuery(["identities"], (options) => dashboard.identities.get(options)),
  staleTime: 0,
});

export const linkableProvidersQuery = queryOptions({
  ...createDataQuery(["identities", "providers"], (options) =>
    dashboard.identities.providers.get(options),
  ),
  staleTime: 0,
});

export const importsQuery = queryOptions({
  ...createDataQuery(["imports"], (options) => dashboard.imports.get(options)),
  staleTime: 0,
});

export const backupQuery = queryOptions({
  ...createDataQuery(["backup"], (options) => dashboard.backup.get(options)),
  staleTime: 0,
});

export const backupScheduleQuery = queryOptions({
  ...createDataQuery(["backup", "schedule"], (options) => dashboard.backup.schedule.get(options)),
  staleTime: 0,
});

/** Refetches a query that no event refreshes, or restores a hidden record. */
export const invalidateQuery = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryClient.invalidateQueries({ queryKey });
