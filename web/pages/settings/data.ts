import { listKey, recordKey } from "../../data/keys.ts";
import { queryOptions } from "@tanstack/react-query";
import { dashboard, dataOf, v1 } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";

export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: recordKey("organization", id),
    queryFn: ({ signal }) => dataOf(dashboard.organization.get({ fetch: { signal } })),
  });

export const settingsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: recordKey("settings", organizationId),
    queryFn: ({ signal }) => dataOf(v1.settings.get({ fetch: { signal } })),
  });

export const apiKeysQuery = queryOptions({
  queryKey: listKey("api-key"),
  queryFn: ({ signal }) => dataOf(dashboard["api-keys"].get({ fetch: { signal } })),
  // When a key was last used is told by no event.
  refetchInterval: 30_000,
});

export const peopleQuery = queryOptions({
  queryKey: listKey("person"),
  queryFn: ({ signal }) => dataOf(dashboard.people.get({ fetch: { signal } })),
});

export const invitationsQuery = queryOptions({
  queryKey: listKey("invitation"),
  queryFn: ({ signal }) => dataOf(dashboard.invitations.get({ fetch: { signal } })),
});

export const sessionsQuery = queryOptions({
  queryKey: [...listKey("person"), "sessions"],
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
  queryKey: ["administrators"],
  queryFn: ({ signal }) => dataOf(dashboard.administrators.get({ fetch: { signal } })),
  staleTime: 0,
});

export const backupQuery = queryOptions({
  queryKey: ["backup"],
  queryFn: ({ signal }) => dataOf(dashboard.backup.get({ fetch: { signal } })),
  staleTime: 0,
});

/** For what no event of this organization tells of, and what was hidden comes back. */
export const invalidate = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryClient.invalidateQueries({ queryKey });
