import { queryOptions } from "@tanstack/react-query";
import type { About } from "../../../src/operations/about/schema.ts";
import type {
  Administrator,
  ApplianceFigures,
  OrganizationEntry,
} from "../../../src/operations/appliance/schema.ts";
import type { ApiKey } from "../../../src/accounts/api-keys/schema.ts";
import type { BackupOffer } from "../../../src/operations/backups/schema.ts";
import type { Invitation } from "../../../src/accounts/invitations/schema.ts";
import type { OrganizationRecord } from "../../../src/accounts/organizations/schema.ts";
import type { Member } from "../../../src/accounts/people/schema.ts";
import type { SessionEntry } from "../../../src/accounts/sessions/schema.ts";
import type { Settings } from "../../../src/accounts/settings/schema.ts";
import { get } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";

// Named as events name what happens to them, which makes them ask again.
export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ["organization", id],
    queryFn: ({ signal }) => get<OrganizationRecord>("/organization", undefined, signal),
  });

export const settingsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ["settings", organizationId],
    queryFn: ({ signal }) => get<Settings>("/api/v1/settings", undefined, signal),
  });

export const apiKeysQuery = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => get<ApiKey[]>("/api-keys", undefined, signal),
  // When a key was last used is told by no event.
  refetchInterval: 30_000,
});

export const peopleQuery = queryOptions({
  queryKey: ["persons"],
  queryFn: ({ signal }) => get<Member[]>("/people", undefined, signal),
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => get<Invitation[]>("/invitations", undefined, signal),
});

export const sessionsQuery = queryOptions({
  queryKey: ["persons", "sessions"],
  queryFn: ({ signal }) => get<SessionEntry[]>("/sessions", undefined, signal),
});

export const aboutQuery = queryOptions({
  queryKey: ["about"],
  queryFn: ({ signal }) => get<About>("/about", undefined, signal),
  staleTime: 0,
});

export const figuresQuery = queryOptions({
  queryKey: ["appliance"],
  queryFn: ({ signal }) => get<ApplianceFigures>("/appliance", undefined, signal),
  staleTime: 0,
});

export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: ({ signal }) => get<OrganizationEntry[]>("/organizations", undefined, signal),
  // What others' organizations hold is told by no event of this one.
  staleTime: 0,
});

export const administratorsQuery = queryOptions({
  queryKey: ["persons", "administrators"],
  queryFn: ({ signal }) => get<Administrator[]>("/administrators", undefined, signal),
  staleTime: 0,
});

export const backupQuery = queryOptions({
  queryKey: ["backup"],
  queryFn: ({ signal }) => get<BackupOffer>("/backup", undefined, signal),
  staleTime: 0,
});

/** What was just done shows at once, not only when the live stream tells of it. */
export const again = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryClient.invalidateQueries({ queryKey });
