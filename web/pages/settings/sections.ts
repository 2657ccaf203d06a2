/** The sections of the settings, and the roles that can open them. */
import { type ComponentType, lazy } from "react";
import type { Role } from "../../../src/core/roles.ts";
import { createChunk } from "../../data/chunks.ts";
import type { IconName } from "../../components/display/icons.tsx";

export type Section = {
  path: string;
  label: string;
  icon: IconName;
  /** The lowest role in the organization that can open it, or `administrator`. */
  role: Role | "administrator";
  page: ComponentType;
  /** Action to offer in the command palette. */
  act?: { label: string; role: Role };
};

/** The sections by scope: organization, appliance and the person's account. */
export const sectionGroups: { title: string; sections: Section[] }[] = [
  {
    title: "Organization",
    sections: [
      {
        path: "organization",
        label: "Organization",
        icon: "folder",
        role: "viewer",
        page: lazy(createChunk(() => import("./organization/general.tsx"))),
      },
      {
        path: "people",
        label: "People",
        icon: "people",
        role: "viewer",
        page: lazy(createChunk(() => import("./organization/people.tsx"))),
        act: { label: "Invite people", role: "admin" },
      },
      {
        path: "mail-server",
        label: "Mail server",
        icon: "mail",
        role: "admin",
        page: lazy(createChunk(() => import("./organization/mail-server.tsx"))),
      },
      {
        path: "certificate-authorities",
        label: "Certificate authorities",
        icon: "lock",
        role: "admin",
        page: lazy(createChunk(() => import("./organization/certificate-authorities.tsx"))),
      },
      {
        path: "api-keys",
        label: "API keys",
        icon: "key",
        role: "admin",
        page: lazy(createChunk(() => import("./organization/api-keys.tsx"))),
        act: { label: "Create API key", role: "admin" },
      },
      {
        path: "incident-templates",
        label: "Incident templates",
        icon: "warning",
        role: "viewer",
        page: lazy(createChunk(() => import("./organization/incident-templates.tsx"))),
        act: { label: "Create incident template", role: "member" },
      },
      {
        path: "import",
        label: "Import",
        icon: "download",
        role: "admin",
        page: lazy(createChunk(() => import("./organization/import.tsx"))),
      },
      {
        path: "configuration",
        label: "Configuration",
        icon: "code",
        role: "viewer",
        page: lazy(createChunk(() => import("./organization/configuration.tsx"))),
      },
      {
        path: "deleted",
        label: "Recently deleted",
        icon: "trash",
        role: "viewer",
        page: lazy(createChunk(() => import("./organization/deleted-records.tsx"))),
      },
      {
        path: "audit-log",
        label: "Audit log",
        icon: "list",
        role: "admin",
        page: lazy(createChunk(() => import("./organization/audit-log.tsx"))),
      },
    ],
  },
  {
    title: "You",
    sections: [
      {
        path: "profile",
        label: "My profile",
        icon: "person",
        role: "viewer",
        page: lazy(createChunk(() => import("./account/profile.tsx"))),
      },
    ],
  },
  {
    title: "Appliance",
    sections: [
      {
        path: "organizations",
        label: "Organizations",
        icon: "folder",
        role: "administrator",
        page: lazy(createChunk(() => import("./appliance/organizations.tsx"))),
      },
      {
        path: "administrators",
        label: "Administrators",
        icon: "lock",
        role: "administrator",
        page: lazy(createChunk(() => import("./appliance/administrators.tsx"))),
      },
      {
        path: "backup",
        label: "Backup",
        icon: "download",
        role: "administrator",
        page: lazy(createChunk(() => import("./appliance/backup.tsx"))),
      },
      {
        path: "about",
        label: "About",
        icon: "info",
        role: "viewer",
        page: lazy(createChunk(() => import("./appliance/about.tsx"))),
      },
    ],
  },
];

export const sections: Section[] = sectionGroups.flatMap(({ sections }) => sections);
