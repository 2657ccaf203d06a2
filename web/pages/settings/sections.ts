import type { Role } from "../../../src/core/roles.ts";
import type { IconName } from "../../components/icons.tsx";

export type Section = {
  path: string;
  label: string;
  icon: IconName;
  /** Who has it: a role in the organization, or those who run the appliance. */
  role: Role | "administrator";
  /** What of it the command palette does. */
  act?: { label: string; role: Role };
};

/** The sub-pages of the settings, by whose they are. */
export const parts: { title: string; sections: Section[] }[] = [
  {
    title: "Organization",
    sections: [
      { path: "organization", label: "Organization", icon: "folder", role: "viewer" },
      {
        path: "people",
        label: "People",
        icon: "people",
        role: "viewer",
        act: { label: "Invite people", role: "admin" },
      },
      { path: "mail-server", label: "Mail server", icon: "mail", role: "admin" },
      {
        path: "api-keys",
        label: "API keys",
        icon: "key",
        role: "admin",
        act: { label: "Create API key", role: "admin" },
      },
      { path: "audit-log", label: "Audit log", icon: "list", role: "admin" },
    ],
  },
  {
    title: "You",
    sections: [{ path: "profile", label: "My profile", icon: "person", role: "viewer" }],
  },
  {
    title: "Appliance",
    sections: [
      { path: "organizations", label: "Organizations", icon: "folder", role: "administrator" },
      { path: "administrators", label: "Administrators", icon: "lock", role: "administrator" },
      { path: "backup", label: "Backup", icon: "download", role: "administrator" },
      { path: "about", label: "About", icon: "info", role: "viewer" },
    ],
  },
];

export const sections: Section[] = parts.flatMap((part) => part.sections);
