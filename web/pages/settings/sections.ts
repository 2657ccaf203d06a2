/** The sections of the settings, and the roles that can open them. */
import { type ComponentType, lazy } from "react";
import type { Role } from "../../../src/core/roles.ts";
import { createChunk } from "../../data/chunks.ts";
import type { IconName } from "../../components/display/icons.tsx";
import { t } from "../../language/text.ts";

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
    title: t("Organization"),
    sections: [
      {
        path: "organization",
        label: t("Organization"),
        icon: "folder",
        role: "viewer",
        settings: [
          t("Name"),
          t("Time zone"),
          t("SLA target in percent"),
          t("One alert per cause"),
          t("Password sign-in"),
        ],
        page: lazy(createChunk(() => import("./organization/general.tsx"))),
      },
      {
        path: "people",
        label: t("People"),
        icon: "people",
        role: "viewer",
        settings: [
          t("Role"),
          t("E-mail"),
          t("Invitation link"),
          t("Two-factor sign-in of members"),
        ],
        page: lazy(createChunk(() => import("./organization/people.tsx"))),
        act: { label: t("Invite people"), role: "admin" },
      },
      {
        path: "mail-server",
        label: t("Mail server"),
        icon: "mail",
        role: "admin",
        settings: [
          t("Host"),
          t("Port"),
          t("Encryption"),
          t("From"),
          t("Authentication"),
          t("Mailbox"),
          t("Test e-mail"),
          "SMTP",
        ],
        page: lazy(createChunk(() => import("./organization/mail-server.tsx"))),
      },
      {
        path: "certificate-authorities",
        label: t("Certificate authorities"),
        icon: "lock",
        role: "admin",
        settings: [t("Certificates"), t("Trusted authorities"), "TLS"],
        page: lazy(createChunk(() => import("./organization/certificate-authorities.tsx"))),
      },
      {
        path: "api-keys",
        label: t("API keys"),
        icon: "key",
        role: "admin",
        settings: [t("Access"), t("Expires"), t("Name"), t("Token")],
        page: lazy(createChunk(() => import("./organization/api-keys.tsx"))),
        act: { label: t("Create API key"), role: "admin" },
      },
      {
        path: "incident-templates",
        label: t("Incident templates"),
        icon: "warning",
        role: "viewer",
        settings: [
          t("Title of a new incident"),
          t("Severity of a new incident"),
          t("Message"),
          t("Status"),
        ],
        page: lazy(createChunk(() => import("./organization/incident-templates.tsx"))),
        act: { label: t("Create incident template"), role: "member", isForAll: true },
      },
      {
        path: "import",
        label: t("Import"),
        icon: "download",
        role: "admin",
        settings: [t("Import from"), "Uptime Kuma", "Gatus", t("Earlier imports")],
        page: lazy(createChunk(() => import("./organization/import.tsx"))),
      },
      {
        path: "configuration",
        label: t("Configuration"),
        icon: "code",
        role: "unlimited",
        settings: [t("Differences"), "signalbox apply"],
        page: lazy(createChunk(() => import("./organization/configuration.tsx"))),
      },
      {
        path: "deleted",
        label: t("Recently deleted"),
        icon: "trash",
        role: "unlimited",
        settings: [t("Days until deleted records are removed"), t("Restore"), t("Bin")],
        page: lazy(createChunk(() => import("./organization/deleted-records.tsx"))),
      },
      {
        path: "audit-log",
        label: t("Audit log"),
        icon: "list",
        role: "admin",
        settings: [t("History"), t("Who changed what")],
        page: lazy(createChunk(() => import("./organization/audit-log.tsx"))),
      },
    ],
  },
  {
    title: t("You"),
    sections: [
      {
        path: "profile",
        label: t("My profile"),
        icon: "person",
        role: "viewer",
        settings: [
          t("Name"),
          t("E-mail"),
          t("Time zone"),
          t("Clock"),
          t("Language"),
          t("Single-key shortcuts"),
          t("Password"),
          t("Ways to sign in"),
          t("Passkeys"),
          t("Two-factor sign-in"),
          t("Recovery codes"),
          t("Sessions"),
        ],
        page: lazy(createChunk(() => import("./account/profile.tsx"))),
      },
      {
        path: "contact-methods",
        label: t("Contact methods"),
        icon: "phone",
        role: "viewer",
        settings: [t("Type"), t("Send through"), t("Enabled")],
        page: lazy(createChunk(() => import("./account/contact-methods.tsx"))),
        act: { label: t("Add contact method"), role: "viewer" },
      },
    ],
  },
  {
    title: t("Appliance"),
    sections: [
      {
        path: "organizations",
        label: t("Organizations"),
        icon: "folder",
        role: "administrator",
        settings: [t("Create organization"), t("Name of the new organization")],
        page: lazy(createChunk(() => import("./appliance/organizations.tsx"))),
      },
      {
        path: "administrators",
        label: t("Administrators"),
        icon: "lock",
        role: "administrator",
        settings: [t("Step down")],
        page: lazy(createChunk(() => import("./appliance/administrators.tsx"))),
      },
      {
        path: "single-sign-on",
        label: t("Single sign-on"),
        icon: "key",
        role: "administrator",
        settings: [
          t("Provider"),
          "OpenID Connect",
          t("Issuer"),
          t("Client secret"),
          t("Redirect address"),
          t("Add people at their first sign-in"),
          t("Roles by group"),
          t("Sign in here directly"),
          t("Trust the addresses of this provider"),
          t("Allowed domains"),
          t("Turned on"),
        ],
        page: lazy(createChunk(() => import("./appliance/single-sign-on.tsx"))),
      },
      {
        path: "backup",
        label: t("Backup"),
        icon: "download",
        role: "administrator",
        settings: [
          t("Download backup"),
          t("Passphrase"),
          t("Include secret.key"),
          t("Back up every day"),
          t("Days to keep"),
          t("Weeks to keep"),
          t("Months to keep"),
          t("Destination"),
          t("Folder"),
          t("Bucket"),
        ],
        page: lazy(createChunk(() => import("./appliance/backup.tsx"))),
      },
      {
        path: "about",
        label: t("About"),
        icon: "info",
        role: "unlimited",
        settings: [
          t("Version"),
          t("License"),
          t("Data directory"),
          t("Memory"),
          t("Log level"),
          t("Machines"),
          t("API reference"),
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
