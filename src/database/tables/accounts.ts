import { roles } from "../../core/statuses.ts";
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
import { flag, oneOf, organizationId } from "./columns.ts";

/** What an organization sets for itself; each has one row. */
export const organizationSettings = sqliteTable(
  "organization_settings",
  {
    organizationId: organizationId(),
    /** Equal to the organization's. */
    id: text("id").notNull(),
    /** JSON of the mail server, without its password; null where none is set. */
    smtp: text("smtp"),
    /** JSON of the sealed secrets by field. */
    secrets: text("secrets").notNull(),
    /** IANA name: in which the admin page tells times. */
    timeZone: text("time_zone").notNull(),
    /** Share of time that reports judge by; null for none. */
    slaTarget: real("sla_target"),
    /** Certificates in PEM that checks trust beside the usual ones; null for none. */
    certificateAuthorities: text("certificate_authorities"),
    version: integer("version").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

/** Who signs in to the admin page. */
export const people = sqliteTable(
  "people",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    email: text("email").notNull(),
    /** The address as it is compared: in lower case. Unique in an organization, not in the appliance: nobody learns who else signs in. */
    emailKey: text("email_key").notNull(),
    /** argon2id. */
    passwordHash: text("password_hash").notNull(),
    /** Sealed; null without two-factor. */
    totpSecret: text("totp_secret"),
    /** Sealed; to be confirmed by a first code. */
    totpPending: text("totp_pending"),
    /** The latest step a code was taken of: none is taken twice. */
    totpStep: integer("totp_step").notNull(),
    /** IANA name; null for the organization's. */
    timeZone: text("time_zone"),
    /** Runs the appliance; one of the people does, always. */
    administrator: flag("administrator").notNull().default(false),
    /** Wrong codes after the right password that the person has not been told of yet, and when the last one came. */
    wrongCodes: integer("wrong_codes").notNull().default(0),
    wrongCodeAt: text("wrong_code_at"),
    /** When the first of them came, and the address of the last; null where that is not known. */
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

export const memberships = sqliteTable(
  "memberships",
  {
    organizationId: organizationId(),
    personId: personId(),
    role: role(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.personId] }),
    index("memberships_by_person").on(t.personId),
    oneOf("memberships_role", t.role),
  ],
);

/** Codes that stand in once each for a lost phone. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    personId: personId(),
    /** SHA-256, hexadecimal. */
    hash: text("hash").notNull(),
  },
  (t) => [primaryKey({ columns: [t.personId, t.hash] })],
);

export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    personId: personId(),
    /** SHA-256 of the cookie, hexadecimal; the cookie itself is never stored. */
    tokenHash: text("token_hash").notNull().unique(),
    /** `two-factor` waits for a code and opens nothing yet. */
    stage: text("stage", { enum: ["two-factor", "signed-in"] }).notNull(),
    /** Codes that were wrong while it waited. */
    wrongCodes: integer("wrong_codes").notNull(),
    address: text("address").notNull(),
    userAgent: text("user_agent").notNull(),
    createdAt: text("created_at").notNull(),
    /** Written at most once a minute. */
    lastSeenAt: text("last_seen_at").notNull(),
  },
  (t) => [index("sessions_by_person").on(t.personId), oneOf("sessions_stage", t.stage)],
);

export const invitations = sqliteTable(
  "invitations",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    email: text("email").notNull(),
    emailKey: text("email_key").notNull(),
    role: role(),
    /** SHA-256 of the link's token, hexadecimal. */
    tokenHash: text("token_hash").notNull().unique(),
    invitedBy: text("invited_by").notNull(),
    /** The person who invites; theirs end when they may no longer invite. */
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
    scope: text("scope", { enum: ["read", "write"] }).notNull(),
    /** SHA-256 of the key, hexadecimal; the key itself is never stored. */
    hash: text("hash").notNull().unique(),
    /** The person who made it; null for the command line. */
    createdById: text("created_by_id"),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at"),
    revokedAt: text("revoked_at"),
    /** Written at most once a minute. */
    lastUsedAt: text("last_used_at"),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] }), oneOf("api_keys_scope", t.scope)],
);
