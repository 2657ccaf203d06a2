/** The sections of the settings, and the roles that can open them. */
import { type ComponentType, lazy } from "react";
import type { Role } from "../../../src/core/roles.ts";
import { createChunk } from "../../data/chunks.ts";
import type { IconName } from "../../components/display/icons.tsx";

export type Section = {
  path: string;
  label: string;
  icon: IconName;
  /** The lowest role in the organization that can open it, `administrator`, or everyone who is not limited to groups. */
  role: Role | "administrator" | "unlimited";
  /** Names of its settings, by which the search finds it. */
  settings: string[];
  page: ComponentType;
  /** Action to offer in the command palette. */
  act?: { label: string; role: Role; isForAll?: boolean };
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
        settings: [
          "Name",
          "Time zone",
          "SLA target in percent",
          "One alert per cause",
          "Password sign-in",
        ],
        page: lazy(createChunk(() => import("./organization/general.tsx"))),
      },
      {
        path: "people",
        label: "People",
        icon: "people",
        role: "viewer",
        settings: ["Role", "E-mail", "Invitation link", "Two-factor sign-in of members"],
        page: lazy(createChunk(() => import("./organization/people.tsx"))),
        act: { label: "Invite people", role: "admin" },
      },
      {
        path: "mail-server",
        label: "Mail server",
        icon: "mail",
        role: "admin",
        settings: [
          "Host",
          "Port",
          "Encryption",
          "From",
          "Authentication",
          "Mailbox",
          "Test e-mail",
          "SMTP",
        ],
        page: lazy(createChunk(() => import("./organization/mail-server.tsx"))),
      },
      {
        path: "certificate-authorities",
        label: "Certificate authorities",
        icon: "lock",
        role: "admin",
        settings: ["Certificates", "Trusted authorities", "TLS"],
        page: lazy(createChunk(() => import("./organization/certificate-authorities.tsx"))),
      },
      {
        path: "api-keys",
        label: "API keys",
        icon: "key",
        role: "admin",
        settings: ["Access", "Expires", "Name", "Token"],
        page: lazy(createChunk(() => import("./organization/api-keys.tsx"))),
        act: { label: "Create API key", role: "admin" },
      },
      {
        path: "incident-templates",
        label: "Incident templates",
        icon: "warning",
        role: "viewer",
        settings: ["Title of a new incident", "Severity of a new incident", "Message", "Status"],
        page: lazy(createChunk(() => import("./organization/incident-templates.tsx"))),
        act: { label: "Create incident template", role: "member", isForAll: true },
      },
      {
        path: "import",
        label: "Import",
        icon: "download",
        role: "admin",
        settings: ["Import from", "Uptime Kuma", "Gatus", "Earlier imports"],
        page: lazy(createChunk(() => import("./organization/import.tsx"))),
      },
      {
        path: "configuration",
        label: "Configuration",
        icon: "code",
        role: "unlimited",
        settings: ["Differences", "signalbox apply"],
        page: lazy(createChunk(() => import("./organization/configuration.tsx"))),
      },
      {
        path: "deleted",
        label: "Recently deleted",
        icon: "trash",
        role: "unlimited",
        settings: ["Days until deleted records are removed", "Restore", "Bin"],
        page: lazy(createChunk(() => import("./organization/deleted-records.tsx"))),
      },
      {
        path: "audit-log",
        label: "Audit log",
        icon: "list",
        role: "admin",
        settings: ["History", "Who changed what"],
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
        settings: [
          "Name",
          "E-mail",
          "Time zone",
          "Clock",
          "Single-key shortcuts",
          "Password",
          "Ways to sign in",
          "Passkeys",
          "Two-factor sign-in",
          "Recovery codes",
          "Sessions",
        ],
        page: lazy(createChunk(() => import("./account/profile.tsx"))),
      },
      {
        path: "contact-methods",
        label: "Contact methods",
        icon: "phone",
        role: "viewer",
        settings: ["Type", "Send through", "Enabled"],
        page: lazy(createChunk(() => import("./account/contact-methods.tsx"))),
        act: { label: "Add contact method", role: "viewer" },
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
        settings: ["Create organization", "Name of the new organization"],
        page: lazy(createChunk(() => import("./appliance/organizations.tsx"))),
      },
      {
        path: "administrators",
        label: "Administrators",
        icon: "lock",
        role: "administrator",
        settings: ["Step down"],
        page: lazy(createChunk(() => import("./appliance/administrators.tsx"))),
      },
      {
        path: "single-sign-on",
        label: "Single sign-on",
        icon: "key",
        role: "administrator",
        settings: [
          "Provider",
          "OpenID Connect",
          "Issuer",
          "Client secret",
          "Redirect address",
          "Add people at their first sign-in",
          "Roles by group",
          "Sign in here directly",
          "Trust the addresses of this provider",
          "Allowed domains",
          "Turned on",
        ],
        page: lazy(createChunk(() => import("./appliance/single-sign-on.tsx"))),
      },
      {
        path: "backup",
        label: "Backup",
        icon: "download",
        role: "administrator",
        settings: [
          "Download backup",
          "Passphrase",
          "Include secret.key",
          "Back up every day",
          "Days to keep",
          "Weeks to keep",
          "Months to keep",
          "Destination",
          "Folder",
          "Bucket",
        ],
        page: lazy(createChunk(() => import("./appliance/backup.tsx"))),
      },
      {
        path: "about",
        label: "About",
        icon: "info",
        role: "unlimited",
        settings: [
          "Version",
          "License",
          "Data directory",
          "Memory",
          "Log level",
          "Machines",
          "API reference",
        ],
        page: lazy(createChunk(() => import("./appliance/about.tsx"))),
      },
    ],
  },
];

export const sections: Section[] = sectionGroups.flatMap(({ sections }) => sections);

/** The sections whose label or settings contain the text, with the settings that do. */
export const searchSections = (found: readonly Section[], text: string) => {
  const words = text.trim().toLowerCase();
  const has = (name: string) => name.toLowerCase().includes(words);
  return found.flatMap((section) => {
    const settings = words === "" ? [] : section.settings.filter(has);
    return has(section.label) || settings.length > 0 ? [{ section, settings }] : [];
  });
};
