import { eq } from "drizzle-orm";
import type { Statement, Store } from "../../database/store.ts";
import { organizationSettings } from "../../database/tables/accounts.ts";

export type SettingsRow = typeof organizationSettings.$inferSelect;

/** Every organization has its row from the beginning. */
export async function findSettings(store: Store, organizationId: string): Promise<SettingsRow> {
  const [row] = await store.db
    .select()
    .from(organizationSettings)
    .where(eq(organizationSettings.organizationId, organizationId));
  if (row === undefined) throw new Error("An organization has no settings.");
  return row;
}

export function changeSettings(store: Store, row: SettingsRow): Statement {
  return store.db
    .update(organizationSettings)
    .set(row)
    .where(eq(organizationSettings.organizationId, row.organizationId));
}
