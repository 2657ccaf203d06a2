import { guard, StaleRead, type Statement, type Store } from "../../database/store.ts";
import { sql } from "drizzle-orm";
import { backupSchedule } from "../../database/tables/operations.ts";

export type ScheduleRow = typeof backupSchedule.$inferSelect;

/** Reads the schedule; null if none was ever stored. */
export async function findSchedule(store: Store): Promise<ScheduleRow | null> {
  const [row] = await store.db.select().from(backupSchedule);
  return row ?? null;
}

/** Returns statements that replace the schedule that was read. They throw StaleRead after another write. */
export function putSchedule(store: Store, row: ScheduleRow): Statement[] {
  const { id: _id, ...columns } = row;
  return [
    guard(
      sql`coalesce((select version from ${backupSchedule}), 0) = ${row.version - 1}`,
      () => new StaleRead(),
    ),
    store.db
      .insert(backupSchedule)
      .values(row)
      .onConflictDoUpdate({ target: backupSchedule.id, set: columns }),
  ];
}

/** Returns a statement that stores the outcome of a backup, without changing the settings. */
export function recordOutcome(
  store: Store,
  outcome: Partial<Omit<ScheduleRow, "id" | "settings" | "secrets" | "version" | "updatedAt">>,
): Statement {
  return store.db.update(backupSchedule).set(outcome);
}
