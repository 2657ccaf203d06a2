/** Tables of organizations' settings, people, sessions, invitations and API keys. */
import { keyScopes, roles } from "../../core/statuses.ts";
import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { adminLanguages } from "../../core/admin-languages.ts";
import type { PageLanguage } from "../../core/languages.ts";
import { flag, oneOf, organizationId } from "./columns.ts";

type ReportMail = {
  interval: "weekly" | "monthly";
  groupId: string | null;
  statusPageId: string | null;
  slaTarget: number | null;
  maintenance: "excluded" | "down";
  to: { email: string | null; personId: string | null; language: PageLanguage | null }[];
};

/** Settings of an organization. Each organization has one row. */
export const organizationSettings = sqliteTable(
  "organization_settings",
  {
    organizationId: organizationId(),
    /** Same as the organization's ID. */
    id: text("id").notNull(),
    /** JSON of the mail server, without its password; null if none is configured. */
    smtp: text("smtp"),
    /** JSON of the encrypted secrets, by field. */
    secrets: text("secrets").notNull(),
    /** IANA name of the organization's time zone. */
    timeZone: text("time_zone").notNull(),
    /** Uptime target of reports, 0–1; null for no target. */
    slaTarget: real("sla_target"),
    /** Additional CA certificates for checks, in PEM; null for none. */
    certificateAuthorities: text("certificate_authorities"),
    /** Days for which deleted records can be restored. */
    keepDeletedDays: integer("keep_deleted_days").notNull().default(30),
    /** Whether outages with a common cause are one alert. */
    oneAlertPerCause: flag("one_alert_per_cause").notNull().default(true),
    /** Reports that are sent by mail. `since` is the time at which each was set up, in Unix milliseconds. */
    reportMails: text("report_mails", { mode: "json" })
      .$type<(ReportMail & { since: number })[]>()
      .notNull()
      .default([]),
    /** Whether sign-ins by password give access to the organization. */
    passwordSignIn: flag("password_sign_in").notNull().default(true),
    version: integer("version").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

/** Accounts of the admin page. */
export const people = sqliteTable(
  "people",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    email: text("email").notNull(),
    /**
     * Lower-case address for comparisons. It is unique only per organization, so that organizations can't detect each
     * other's accounts.
     */
    emailKey: text("email_key").notNull(),
    /** Argon2id hash in PHC format. The hash of a random text if the person has no password. */
    passwordHash: text("password_hash").notNull(),
    /** Whether the person knows a password. Someone whom a sign-in provider added does not. */
    hasPassword: flag("has_password").notNull().default(true),
    /** Encrypted secret of two-factor authentication; null if it is disabled. */
    totpSecret: text("totp_secret"),
    /** Encrypted secret that no code has confirmed yet. */
    totpPending: text("totp_pending"),
    /** Time step of the last accepted code, which prevents reuse of codes. */
    totpStep: integer("totp_step").notNull(),
    /** Whether the passkeys are a second factor after the password, even without an authenticator app. */
    passkeyFactor: flag("passkey_factor").notNull().default(false),
    /** IANA name; null for the organization's time zone. */
    timeZone: text("time_zone"),
    /** Clock of the admin page: 24 hours (`h23`) or 12 hours with am and pm (`h12`). */
    hourCycle: text("hour_cycle", { enum: ["h23", "h12"] })
      .notNull()
      .default("h23"),
    /** Language of the admin page; null for the browser's. */
    language: text("language", { enum: adminLanguages }),
    /** Whether the person is an administrator of the appliance. At least one person always is. */
    administrator: flag("administrator").notNull().default(false),
    /**
     * Number of wrong codes after a correct password that were not reported to the person yet. The next column is the
     * time of the last one.
     */
    wrongCodes: integer("wrong_codes").notNull().default(0),
    wrongCodeAt: text("wrong_code_at"),
    /** Time of the first wrong code, and network address of the last one; null if unknown. */
    wrongCodeSince: text("wrong_code_since"),
    wrongCodeFrom: text("wrong_code_from"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    index("people_by_email").on(t.emailKey),
    index("administrators")
      .on(t.id)
      .where(sql`administrator`),
  ],
);

const personId = () =>
  text("person_id")
    .notNull()
    .references(() => people.id, { onDelete: "cascade" });

const role = () => text("role", { enum: roles }).notNull();

/** IDs of the monitor groups to which the rights are limited; null for all monitors. */
const groupIds = () => text("group_ids", { mode: "json" }).$type<string[]>();

export const memberships = sqliteTable(
  "memberships",
  {
    organizationId: organizationId(),
    personId: personId(),
    role: role(),
    groupIds: groupIds(),
    createdAt: text("created_at").notNull(),
    /** JSON of the day and the hours of monthly drills; null for none. */
    drill: text("drill"),
    /** Time of the next monthly drill, in Unix milliseconds; null for none. */
    drillDueAt: integer("drill_due_at"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.personId] }),
    index("memberships_by_person").on(t.personId),
    index("memberships_drill_due")
      .on(t.drillDueAt)
      .where(sql`drill_due_at is not null`),
    oneOf("memberships_role", t.role),
  ],
);

/** One-time recovery codes for a lost phone. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    personId: personId(),
    /** SHA-256, hexadecimal. */
    hash: text("hash").notNull(),
  },
  (t) => [primaryKey({ columns: [t.personId, t.hash] })],
);

/** Sign-in providers (OpenID Connect) of the appliance. */
export const identityProviders = sqliteTable("identity_providers", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  enabled: flag("enabled").notNull(),
  /** JSON of the other fields, without secrets. */
  settings: text("settings").notNull(),
  /** JSON of the encrypted secrets, by field. */
  secrets: text("secrets").notNull(),
  version: integer("version").notNull(),
  createdAt: text("created_at").notNull(),
  updatedAt: text("updated_at").notNull(),
});

const providerId = () =>
  text("provider_id")
    .notNull()
    .references(() => identityProviders.id, { onDelete: "cascade" });

/** Organizations that a sign-in provider opens. */
export const identityProviderOrganizations = sqliteTable(
  "identity_provider_organizations",
  {
    providerId: providerId(),
    organizationId: organizationId(),
    /** Role of people without a mapped group; null if they are not added. */
    defaultRole: text("default_role", { enum: roles }),
    /** JSON list of `{ group, role }`. If it is empty, the provider changes no roles. */
    groupRoles: text("group_roles").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.providerId, t.organizationId] }),
    index("identity_providers_by_organization").on(t.organizationId),
    oneOf("identity_provider_organizations_role", t.defaultRole),
  ],
);

/** Accounts of people at sign-in providers. */
export const identities = sqliteTable(
  "identities",
  {
    id: text("id").primaryKey(),
    personId: personId(),
    providerId: providerId(),
    /** The provider's permanent ID of the account: the claim `sub`. */
    subject: text("subject").notNull(),
    /** Address that the provider sent last, only for display; null for none. */
    email: text("email"),
    /** JSON list of the organizations whose role comes from a group of this account. */
    grantedOrganizations: text("granted_organizations").notNull(),
    createdAt: text("created_at").notNull(),
    lastUsedAt: text("last_used_at").notNull(),
  },
  (t) => [
    uniqueIndex("identities_by_subject").on(t.providerId, t.subject),
    index("identities_by_person").on(t.personId),
  ],
);

/** Passkeys (WebAuthn credentials). Each works only on the host on which it was added. */
export const passkeys = sqliteTable(
  "passkeys",
  {
    id: text("id").primaryKey(),
    personId: personId(),
    name: text("name").notNull(),
    /** Host of the admin page for which the passkey was created (the RP ID). */
    rpId: text("rp_id").notNull(),
    /** ID that the authenticator assigned, in base64url. */
    credentialId: text("credential_id").notNull().unique(),
    /** COSE key, in base64url. */
    publicKey: text("public_key").notNull(),
    /** Last sign counter; 0 for authenticators without one. */
    signCount: integer("sign_count").notNull(),
    /** JSON list of transports that browsers use to find the authenticator. */
    transports: text("transports").notNull(),
    /** Unix milliseconds at which the last used challenge was created. Older challenges are rejected. */
    challengedAt: integer("challenged_at").notNull(),
    createdAt: text("created_at").notNull(),
    lastUsedAt: text("last_used_at"),
  },
  (t) => [index("passkeys_by_person").on(t.personId), index("passkeys_by_host").on(t.rpId)],
);

/** Links of the command line that sign a person in once. */
export const signInLinks = sqliteTable(
  "sign_in_links",
  {
    /** SHA-256 of the token, hexadecimal. */
    tokenHash: text("token_hash").primaryKey(),
    personId: personId(),
    expiresAt: text("expires_at").notNull(),
  },
  (t) => [index("sign_in_links_by_person").on(t.personId)],
);

export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    personId: personId(),
    /** SHA-256 of the cookie, hexadecimal. The cookie itself is never stored. */
    tokenHash: text("token_hash").notNull().unique(),
    /** A session in stage `two-factor` waits for a code and grants no access. */
    stage: text("stage", { enum: ["two-factor", "signed-in"] }).notNull(),
    /** Whether the session was started by password. */
    byPassword: flag("by_password").notNull().default(true),
    /** User of the trusted header. The session is valid only in requests with this user. */
    headerUser: text("header_user"),
    /** Number of wrong codes in stage `two-factor`. */
    wrongCodes: integer("wrong_codes").notNull(),
    address: text("address").notNull(),
    userAgent: text("user_agent").notNull(),
    /**
     * Sign-in provider of the session, which opens only the organizations of the provider. Null after a sign-in by
     * password or passkey, which opens all organizations of the person.
     */
    providerId: text("provider_id").references(() => identityProviders.id, { onDelete: "cascade" }),
    createdAt: text("created_at").notNull(),
    /** Time of the last request, updated at most once per minute. */
    lastSeenAt: text("last_seen_at").notNull(),
  },
  (t) => [
    index("sessions_by_person").on(t.personId),
    index("sessions_by_provider")
      .on(t.providerId)
      .where(sql`provider_id is not null`),
    oneOf("sessions_stage", t.stage),
  ],
);

export const invitations = sqliteTable(
  "invitations",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    email: text("email").notNull(),
    emailKey: text("email_key").notNull(),
    role: role(),
    groupIds: groupIds(),
    /** SHA-256 of the link's token, hexadecimal. */
    tokenHash: text("token_hash").notNull().unique(),
    invitedBy: text("invited_by").notNull(),
    /** ID of the inviting person. Invitations become invalid if that person loses the right to invite. */
    invitedById: text("invited_by_id"),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    uniqueIndex("invitations_by_email").on(t.organizationId, t.emailKey),
    oneOf("invitations_role", t.role),
  ],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    scope: text("scope", { enum: keyScopes }).notNull(),
    /** Whether AI assistants can use the key at `/mcp`. */
    mcp: flag("mcp").notNull().default(false),
    groupIds: groupIds(),
    /** SHA-256 of the key, hexadecimal. The key itself is never stored. */
    hash: text("hash").notNull().unique(),
    /** ID of the person who created the key; null for the command line. */
    createdById: text("created_by_id"),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at"),
    revokedAt: text("revoked_at"),
    /** Time of the last request, updated at most once per minute. */
    lastUsedAt: text("last_used_at"),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] }), oneOf("api_keys_scope", t.scope)],
);
