import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { problemSeverities } from "../../core/problems.ts";
import { organizationId } from "./columns.ts";

/** What is wrong with the appliance itself, by who was told of it and not yet of its end. */
export const problems = sqliteTable(
  "problems",
  {
    organizationId: organizationId(),
    /** Of the problem, and of the machine where it is one machine's. */
    name: text("name").notNull(),
    /** How far it had come when it was told last. */
    stage: text("stage").notNull(),
    severity: text("severity", { enum: problemSeverities }).notNull(),
    message: text("message").notNull(),
    since: text("since").notNull(),
    /** When it is over unless it shows again, in Unix milliseconds; null for what lasts until it is mended. */
    until: integer("until"),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.name] })],
);

/** The one row of what administrators set for scheduled backups, and what became of them; none until they do. */
export const backupSchedule = sqliteTable(
  "backup_schedule",
  {
    id: integer("id").primaryKey(),
    /** JSON of its fields. */
    settings: text("settings").notNull(),
    /** JSON of the sealed secrets by field. */
    secrets: text("secrets").notNull(),
    version: integer("version").notNull(),
    updatedAt: text("updated_at").notNull(),
    /** The moment of the schedule that was tried last, in Unix milliseconds. */
    triedFor: integer("tried_for").notNull(),
    /** When a failed one is tried again, in Unix milliseconds; null where the last one did not fail. */
    retryAt: integer("retry_at"),
    lastSuccessAt: text("last_success_at"),
    lastFile: text("last_file"),
    lastBytes: integer("last_bytes"),
    failingSince: text("failing_since"),
    lastError: text("last_error"),
  },
  (t) => [check("backup_schedule_row", sql`${t.id} = 1`)],
);
