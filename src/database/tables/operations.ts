import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { problemSeverities } from "../../core/problems.ts";
import { organizationId } from "./columns.ts";

/** Unsolved problems of the appliance, by organization that was notified of them. */
export const problems = sqliteTable(
  "problems",
  {
    organizationId: organizationId(),
    /** Name of the problem, followed by the machine if it affects only one: `clock@ID`. */
    name: text("name").notNull(),
    /** Stage at the last notification. */
    stage: text("stage").notNull(),
    severity: text("severity", { enum: problemSeverities }).notNull(),
    message: text("message").notNull(),
    since: text("since").notNull(),
    /** Expiry in Unix milliseconds if the problem is not found again; null if it lasts until it is solved. */
    until: integer("until"),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.name] })],
);

/** Settings and results of scheduled backups. A single row, or none before the first configuration. */
export const backupSchedule = sqliteTable(
  "backup_schedule",
  {
    id: integer("id").primaryKey(),
    /** JSON of the settings. */
    settings: text("settings").notNull(),
    /** JSON of the encrypted secrets, by field. */
    secrets: text("secrets").notNull(),
    version: integer("version").notNull(),
    updatedAt: text("updated_at").notNull(),
    /** Scheduled time of the last attempt, in Unix milliseconds. */
    triedFor: integer("tried_for").notNull(),
    /** Time of the next attempt after a failure, in Unix milliseconds; null after a success. */
    retryAt: integer("retry_at"),
    lastSuccessAt: text("last_success_at"),
    lastFile: text("last_file"),
    lastBytes: integer("last_bytes"),
    failingSince: text("failing_since"),
    lastError: text("last_error"),
  },
  (t) => [check("backup_schedule_row", sql`${t.id} = 1`)],
);
