/** Queries of the settings pages, and how often they are refetched. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { dashboard, v1 } from "../../data/client.ts";
import { listKey, recordKey } from "../../data/keys.ts";
import { dataQuery, queryClient } from "../../data/query.ts";
import { useSignedIn } from "../../data/session.ts";

export const organizationQuery = (id: string) =>
  dataQuery(recordKey("organization", id), (options) => dashboard.organization.get(options));

export const settingsQuery = (organizationId: string) =>
  dataQuery(recordKey("settings", organizationId), (options) => v1.settings.get(options));

/** Whether this channel type needs a mail server that the signed-in admin can set up. */
export function useLacksMailServer(type: string): boolean {
  const { organization, may } = useSignedIn();
  const { data } = useQuery({
    ...settingsQuery(organization.id),
    enabled: type === "email" && may("admin"),
  });
  return data?.smtp === null;
}

/** Certificate authorities of the settings version that was saved at `updatedAt`. */
export const authoritiesQuery = (updatedAt: string) =>
  dataQuery([...listKey("settings"), "authorities", updatedAt], (options) =>
    dashboard.settings["certificate-authorities"].get(options),
  );

export const apiKeysQuery = queryOptions({
  ...dataQuery(listKey("api-key"), (options) => dashboard["api-keys"].get(options)),
  // The last use of a key causes no event.
  refetchInterval: 30_000,
});

export const peopleQuery = dataQuery(listKey("person"), (options) => dashboard.people.get(options));

export const invitationsQuery = dataQuery(listKey("invitation"), (options) =>
  dashboard.invitations.get(options),
);

export const sessionsQuery = dataQuery([...listKey("person"), "sessions"], (options) =>
  dashboard.sessions.get(options),
);

export const aboutQuery = queryOptions({
  ...dataQuery(["about"], (options) => dashboard.about.get(options)),
  staleTime: 0,
});

export const figuresQuery = queryOptions({
  ...dataQuery(["appliance"], (options) => dashboard.appliance.get(options)),
  staleTime: 0,
  // Machines report their state every 2 s, without an event.
  refetchInterval: ({ state }) => (state.data?.cluster.nodes.length ? 2_000 : false),
});

export const organizationsQuery = queryOptions({
  ...dataQuery(["organizations"], (options) => dashboard.organizations.get(options)),
  // Changes in other organizations cause no event here.
  staleTime: 0,
});

export const administratorsQuery = queryOptions({
  ...dataQuery(["administrators"], (options) => dashboard.administrators.get(options)),
  staleTime: 0,
});

export const importsQuery = queryOptions({
  ...dataQuery(["imports"], (options) => dashboard.imports.get(options)),
  staleTime: 0,
});

export const backupQuery = queryOptions({
  ...dataQuery(["backup"], (options) => dashboard.backup.get(options)),
  staleTime: 0,
});

export const backupScheduleQuery = queryOptions({
  ...dataQuery(["backup", "schedule"], (options) => dashboard.backup.schedule.get(options)),
  staleTime: 0,
});

/** Refetches a query that no event refreshes, or restores a hidden record. */
export const invalidate = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryClient.invalidateQueries({ queryKey });
