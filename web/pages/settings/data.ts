import { queryOptions } from "@tanstack/react-query";
import { dashboard, dataOf, v1 } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";

// Named as events name what happens to them, which makes them ask again.
export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ["organization", id],
    queryFn: ({ signal }) => dataOf(dashboard.organization.get({ fetch: { signal } })),
  });

export const settingsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ["settings", organizationId],
    queryFn: ({ signal }) => dataOf(v1.settings.get({ fetch: { signal } })),
  });

export const apiKeysQuery = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => dataOf(dashboard["api-keys"].get({ fetch: { signal } })),
  // When a key was last used is told by no event.
  refetchInterval: 30_000,
});

export const peopleQuery = queryOptions({
  queryKey: ["persons"],
  queryFn: ({ signal }) => dataOf(dashboard.people.get({ fetch: { signal } })),
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => dataOf(dashboard.invitations.get({ fetch: { signal } })),
});

export const sessionsQuery = queryOptions({
  queryKey: ["persons", "sessions"],
  queryFn: ({ signal }) => dataOf(dashboard.sessions.get({ fetch: { signal } })),
});

export const aboutQuery = queryOptions({
  queryKey: ["about"],
  queryFn: ({ signal }) => dataOf(dashboard.about.get({ fetch: { signal } })),
  staleTime: 0,
});

export const figuresQuery = queryOptions({
  queryKey: ["appliance"],
  queryFn: ({ signal }) => dataOf(dashboard.appliance.get({ fetch: { signal } })),
  staleTime: 0,
});

export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: ({ signal }) => dataOf(dashboard.organizations.get({ fetch: { signal } })),
  // What others' organizations hold is told by no event of this one.
  staleTime: 0,
});

export const administratorsQuery = queryOptions({
  queryKey: ["persons", "administrators"],
  queryFn: ({ signal }) => dataOf(dashboard.administrators.get({ fetch: { signal } })),
  staleTime: 0,
});

export const backupQuery = queryOptions({
  queryKey: ["backup"],
  queryFn: ({ signal }) => dataOf(dashboard.backup.get({ fetch: { signal } })),
  staleTime: 0,
});

/** What was just done shows at once, not only when the live stream tells of it. */
export const again = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryClient.invalidateQueries({ queryKey });
