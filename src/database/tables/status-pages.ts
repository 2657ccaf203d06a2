import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { flag, oneOf, organizationId, reference } from "./columns.ts";
import { monitorGroups, monitors } from "./monitoring.ts";

export const statusPages = sqliteTable(
  "status_pages",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    /** Names the page in its address, among those of all organizations. */
    slug: text("slug").notNull().unique(),
    /** The organization's own page: shows its incidents of any monitor, and can't be deleted. */
    isDefault: flag("is_default").notNull(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    /** `#rrggbb`; null for the usual one. */
    accentColor: text("accent_color"),
    theme: text("theme", { enum: ["auto", "light", "dark"] }).notNull(),
    visibility: text("visibility", { enum: ["public", "password", "hidden"] }).notNull(),
    /** argon2id; null where none is set. */
    passwordHash: text("password_hash"),
    showLatency: flag("show_latency").notNull(),
    historyDays: integer("history_days").notNull(),
    /** IANA name. */
    timeZone: text("time_zone").notNull(),
    /** Media type and Base64 of the image; null where there is none. */
    logoType: text("logo_type"),
    logoData: text("logo_data"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

const pageId = () => text("page_id").notNull();

/** Host names under which a page answers at `/`. */
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

/** Parts of a page, in order: a monitor group, or a free list of monitors. */
export const statusPageSections = sqliteTable(
  "status_page_sections",
  {
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    position: integer("position").notNull(),
    /** Null where the group's own name is shown. */
    name: text("name"),
    groupId: text("group_id"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.pageId, t.position] }),
    index("status_page_sections_by_group").on(t.organizationId, t.groupId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
    reference([t.organizationId, t.groupId], monitorGroups).onDelete("cascade"),
  ],
);

/** Monitors of a page's free lists, and public names of monitors in its groups. */
export const statusPageMonitors = sqliteTable(
  "status_page_monitors",
  {
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    /** Of its section. */
    section: integer("section").notNull(),
    position: integer("position").notNull(),
    monitorId: text("monitor_id").notNull(),
    /** Null where the monitor's own name is shown. */
    publicName: text("public_name"),
    /** Whether the monitor's description, which is internal, is public on this page. */
    showDescription: flag("show_description").notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.pageId, t.section, t.monitorId] }),
    index("status_page_monitors_by_monitor").on(t.organizationId, t.monitorId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

/** Who is notified of updates of a status page. */
export const subscribers = sqliteTable(
  "subscribers",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    pageId: pageId(),
    type: text("type", { enum: ["email", "webhook"] }).notNull(),
    /** The mailbox or the URL, as it was given. */
    address: text("address").notNull(),
    /** What makes two of them the same: of a mailbox in small letters. */
    addressKey: text("address_key").notNull(),
    /** JSON: the sealed secret that signs what a webhook gets. */
    secrets: text("secrets").notNull(),
    /** Null while its owner has not said yes. */
    confirmedAt: text("confirmed_at"),
    /** It is told of events behind this one. */
    heardFrom: integer("heard_from"),
    /** Whether somebody gave it on the page itself, and not through the API. */
    byVisitor: flag("by_visitor").notNull().default(false),
    /** How often it was asked, and when last, in Unix milliseconds. */
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

/** What a status page told its subscribers. */
export const notices = sqliteTable(
  "notices",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    pageId: pageId(),
    type: text("type").notNull(),
    at: text("at").notNull(),
    /** JSON of what there is to tell, as it was then. */
    data: text("data").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("notices_by_time").on(t.at),
    index("notices_by_page").on(t.organizationId, t.pageId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);
