/** Tables of status pages, their contents and their subscribers. */
import { sql } from "drizzle-orm";
import type { PageLanguage } from "../../core/languages.ts";
import {
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { Role } from "../../core/roles.ts";
import type { Severity } from "../../core/fields.ts";
import { severities } from "../../core/statuses.ts";
import { flag, oneOf, organizationId, reference } from "./columns.ts";
import { monitorGroups, monitors } from "./monitoring.ts";

/** Chosen monitors and monitor groups of a subscriber. */
type ChosenComponents = { monitorIds: string[]; groupIds: string[] };

/** Recipients that a notice concerns, so that later notices of the same incident reach them too. */
type NoticeScope = {
  severity: Severity | null;
  /** Affected monitors and their groups; null for the whole page. */
  componentIds: string[] | null;
};

type VisitorProvider = { providerId: string; domains: string[] };

export const statusPages = sqliteTable(
  "status_pages",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    /** Name in the page's URL, unique on the appliance. */
    slug: text("slug").notNull().unique(),
    /**
     * Whether this is the default page of the organization. It shows the incidents of all monitors and can't be
     * deleted.
     */
    isDefault: flag("is_default").notNull(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    /** Color as `#rrggbb`; null for the default color. */
    accentColor: text("accent_color"),
    theme: text("theme", { enum: ["auto", "light", "dark"] }).notNull(),
    /** Chosen parts of the look. All others have their default. */
    look: text("look", { mode: "json" }).$type<object>().notNull().default({}),
    /** Base64 data of the font of the look (WOFF2); null if there is none. */
    fontData: text("font_data"),
    /** Media type and Base64 data of the icon of browser tabs; null for the default. */
    faviconType: text("favicon_type"),
    faviconData: text("favicon_data"),
    /** CSS of the look as it is served; null without any. */
    stylesheet: text("stylesheet"),
    visibility: text("visibility", {
      enum: ["public", "password", "signed-in", "addresses", "hidden"],
    }).notNull(),
    /** Roles that count as signed in; empty for all members. */
    allowedRoles: text("allowed_roles", { mode: "json" }).$type<Role[]>().notNull().default([]),
    /** Addresses and CIDR ranges that can open the page with the visibility `addresses`. */
    allowedAddresses: text("allowed_addresses", { mode: "json" })
      .$type<string[]>()
      .notNull()
      .default([]),
    /** Sign-in providers whose accounts count as signed in, without being members. */
    visitorProviders: text("visitor_providers", { mode: "json" })
      .$type<VisitorProvider[]>()
      .notNull()
      .default([]),
    /** Whether search engines may list the page. */
    indexing: flag("indexing").notNull().default(true),
    /** Hash with argon2id, in PHC format; null without a password. */
    passwordHash: text("password_hash"),
    showLatency: flag("show_latency").notNull(),
    showPaused: flag("show_paused").notNull().default(true),
    /** Whether impacts of incidents count in the page's uptime. */
    countImpacts: flag("count_impacts").notNull().default(false),
    /** Whether visitors can subscribe the webhook of a chat. */
    chatSubscriptions: flag("chat_subscriptions").notNull().default(false),
    historyDays: integer("history_days").notNull(),
    /** Uptime target of reports about the page, 0–1; null for the organization's target. */
    slaTarget: real("sla_target"),
    /** IANA time zone name. */
    timeZone: text("time_zone").notNull(),
    /** Default language, as a BCP 47 tag, and the languages that visitors can choose. */
    language: text("language").$type<PageLanguage>().notNull().default("en"),
    languages: text("languages", { mode: "json" }).$type<PageLanguage[]>().notNull().default([]),
    /** Media type and Base64 data of the image; null without a logo. */
    logoType: text("logo_type"),
    logoData: text("logo_data"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

const pageId = () => text("page_id").notNull();

/** Host names that serve a page at `/`. */
export const statusPageHosts = sqliteTable(
  "status_page_hosts",
  {
    host: text("host").primaryKey(),
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    position: integer("position").notNull(),
  },
  (t) => [
    index("status_page_hosts_by_page").on(t.organizationId, t.pageId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);

/** Sections of a page, by position: a monitor group or a list of monitors. */
export const statusPageSections = sqliteTable(
  "status_page_sections",
  {
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    position: integer("position").notNull(),
    /** Name of the section; null for the name of the group. */
    name: text("name"),
    groupId: text("group_id"),
    /** Whether it is part of the closest earlier section that is not nested. */
    nested: flag("nested").notNull().default(false),
    folding: text("folding", { enum: ["auto", "folded", "open"] })
      .notNull()
      .default("auto"),
    /** Visitors who see the section. */
    audience: text("audience", { enum: ["everyone", "signed-in"] })
      .notNull()
      .default("everyone"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.pageId, t.position] }),
    index("status_page_sections_by_group").on(t.organizationId, t.groupId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
    reference([t.organizationId, t.groupId], monitorGroups).onDelete("cascade"),
  ],
);

/** Monitors in a page's lists, and public names of monitors in its groups. */
export const statusPageMonitors = sqliteTable(
  "status_page_monitors",
  {
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    /** Position of the section. */
    section: integer("section").notNull(),
    position: integer("position").notNull(),
    monitorId: text("monitor_id").notNull(),
    /** Name on the page; null for the name of the monitor. */
    publicName: text("public_name"),
    /** Whether the page shows the monitor's description, which is internal otherwise. */
    showDescription: flag("show_description").notNull().default(false),
    /** Address that the page links to; null for none. */
    link: text("link"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.pageId, t.section, t.monitorId] }),
    index("status_page_monitors_by_monitor").on(t.organizationId, t.monitorId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

/** Access tokens of a page, for feed readers and dashboards. */
export const statusPageTokens = sqliteTable(
  "status_page_tokens",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    pageId: pageId(),
    name: text("name").notNull(),
    /** SHA-256 of the token. */
    hash: text("hash").notNull().unique(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("status_page_tokens_by_page").on(t.organizationId, t.pageId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);

/** Publication of a page as static files: its settings, and the last result. */
export const statusPagePublishing = sqliteTable(
  "status_page_publishing",
  {
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    /** JSON of the settings without secrets. */
    settings: text("settings").notNull(),
    /** JSON of the encrypted secrets. */
    secrets: text("secrets").notNull(),
    publishedAt: text("published_at"),
    failingSince: text("failing_since"),
    lastError: text("last_error"),
    version: integer("version").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.pageId] }),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);

/**
 * Folders and buckets with files of pages, each for one page of the appliance. A row outlives its page and its
 * organization, until its files are removed.
 */
export const publishedPlaces = sqliteTable(
  "published_places",
  {
    /** `folder`, or the endpoint and the name of a bucket. */
    root: text("root").notNull(),
    /** Start of the names of all files, with a slash at its end. */
    prefix: text("prefix").notNull(),
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    /** JSON of the bucket without its secret; null for a folder. */
    bucket: text("bucket"),
    /** JSON of the encrypted secrets, as in the settings of the page. */
    secrets: text("secrets").notNull(),
    /** Hash of each published file by its path; empty for a file that must be written in any case. */
    files: text("files", { mode: "json" }).$type<Record<string, string>>().notNull().default({}),
    /** Since when the files are being removed; null while the page uses the place. */
    removingSince: text("removing_since"),
    /** The current failure to remove them. */
    failingSince: text("failing_since"),
    lastError: text("last_error"),
  },
  (t) => [
    primaryKey({ columns: [t.root, t.prefix] }),
    index("published_places_by_page").on(t.organizationId, t.pageId),
  ],
);

/** Subscribers to updates of a status page. */
export const subscribers = sqliteTable(
  "subscribers",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    pageId: pageId(),
    type: text("type", { enum: ["email", "webhook", "slack", "teams", "discord"] }).notNull(),
    /** E-mail address or URL, as entered. The URL of a chat is a secret, so only its host is stored here. */
    address: text("address").notNull(),
    /** Normalized address for detecting duplicates; lower case for e-mail addresses, a hash for chats. */
    addressKey: text("address_key").notNull(),
    /** Language of its messages; null for the default language of the page. */
    language: text("language").$type<PageLanguage>(),
    /** JSON of the encrypted secret for signing webhook requests, or of the URL of a chat. */
    secrets: text("secrets").notNull(),
    /** Whether the subscriber gets notices of incidents, and from which severity. */
    incidents: flag("incidents").notNull().default(true),
    minimumSeverity: text("minimum_severity", { enum: severities }).notNull().default("minor"),
    maintenance: flag("maintenance").notNull().default(true),
    /** Null for the whole page. */
    components: text("components", { mode: "json" }).$type<ChosenComponents>(),
    /** Whether notices are sent at once, or together in a weekly e-mail. */
    frequency: text("frequency", { enum: ["immediately", "weekly"] })
      .notNull()
      .default("immediately"),
    /** Time at which the mail server of the recipient rejected the address; null while it is used. */
    quarantinedAt: text("quarantined_at"),
    /** Time of the confirmation; null for an unconfirmed address. */
    confirmedAt: text("confirmed_at"),
    /** Position in the event log. The subscriber is notified only of later events. */
    heardFrom: integer("heard_from"),
    /** Whether a visitor subscribed on the page, as opposed to an API client. */
    byVisitor: flag("by_visitor").notNull().default(false),
    /** Number of confirmation requests, and the time of the last one in Unix milliseconds. */
    asked: integer("asked").notNull(),
    askedAt: integer("asked_at"),
    lastDeliveryAt: text("last_delivery_at"),
    lastError: text("last_error"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    uniqueIndex("subscribers_by_address").on(t.organizationId, t.pageId, t.type, t.addressKey),
    index("subscribers_by_page").on(t.organizationId, t.pageId, t.id),
    index("subscribers_waiting")
      .on(t.organizationId, t.pageId, t.askedAt)
      .where(sql`confirmed_at is null and by_visitor`),
    index("subscribers_unconfirmed")
      .on(t.askedAt)
      .where(sql`confirmed_at is null`),
    oneOf("subscribers_type", t.type),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);

/** Notices to the subscribers of a status page. */
export const notices = sqliteTable(
  "notices",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    pageId: pageId(),
    type: text("type").notNull(),
    at: text("at").notNull(),
    /** JSON of the message data at the time of the notice. */
    data: text("data").notNull(),
    scope: text("scope", { mode: "json" }).$type<NoticeScope>(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("notices_by_time").on(t.at),
    index("notices_by_page").on(t.organizationId, t.pageId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);
