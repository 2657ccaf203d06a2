/** Tables of on-call schedules, their people, their overrides and the notices before shifts. */
import { sql } from "drizzle-orm";
import { foreignKey, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { memberships } from "./accounts.ts";
import { organizationId, reference } from "./columns.ts";

export const schedules = sqliteTable(
  "schedules",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    /** IANA name of the time zone of all local times in the layers. */
    timeZone: text("time_zone").notNull(),
    /** JSON list of the layers, lowest precedence first. */
    layers: text("layers").notNull(),
    /** JSON of the sealed token of the calendar's address, as in the secrets of other records. */
    secrets: text("secrets").notNull(),
    /** SHA-256 of the same token, hexadecimal, by which a request is looked up. */
    calendarTokenHash: text("calendar_token_hash").notNull().unique(),
    /** Hours before the start of a shift at which its person is notified; null for no notices. */
    noticeHours: integer("notice_hours"),
    /** When to examine the next shifts, in Unix milliseconds; null without notices. */
    noticeDueAt: integer("notice_due_at"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("schedules_notice_due")
      .on(t.noticeDueAt)
      .where(sql`notice_due_at is not null`),
  ],
);

/** People in the layers of schedules. A member who is in one can't leave the organization. */
export const schedulePeople = sqliteTable(
  "schedule_people",
  {
    organizationId: text("organization_id").notNull(),
    scheduleId: text("schedule_id").notNull(),
    personId: text("person_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.scheduleId, t.personId] }),
    index("schedule_people_by_person").on(t.organizationId, t.personId),
    reference([t.organizationId, t.scheduleId], schedules).onDelete("cascade"),
    foreignKey({
      columns: [t.organizationId, t.personId],
      foreignColumns: [memberships.organizationId, memberships.personId],
    }),
  ],
);

/** Times in which a person is on call instead of the people in the layers. Times are RFC 3339 in UTC. */
export const scheduleOverrides = sqliteTable(
  "schedule_overrides",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    scheduleId: text("schedule_id").notNull(),
    personId: text("person_id").notNull(),
    startsAt: text("starts_at").notNull(),
    endsAt: text("ends_at").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("schedule_overrides_by_schedule").on(t.organizationId, t.scheduleId, t.endsAt),
    index("schedule_overrides_by_person").on(t.organizationId, t.personId, t.endsAt),
    index("schedule_overrides_by_end").on(t.endsAt),
    reference([t.organizationId, t.scheduleId], schedules).onDelete("cascade"),
    // Only past overrides are left when a member leaves.
    foreignKey({
      columns: [t.organizationId, t.personId],
      foreignColumns: [memberships.organizationId, memberships.personId],
    }).onDelete("cascade"),
  ],
);

/** Shifts whose person was notified before the start. */
export const scheduleNotices = sqliteTable(
  "schedule_notices",
  {
    organizationId: text("organization_id").notNull(),
    scheduleId: text("schedule_id").notNull(),
    personId: text("person_id").notNull(),
    /** Start of the shift, in Unix milliseconds. */
    startsAt: integer("starts_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.scheduleId, t.startsAt, t.personId] }),
    index("schedule_notices_by_start").on(t.startsAt),
    reference([t.organizationId, t.scheduleId], schedules).onDelete("cascade"),
  ],
);
