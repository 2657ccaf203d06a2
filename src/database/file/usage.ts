import type { AppError } from "../../core/errors.ts";
import { guardCondition, type Prepared, type Store } from "../store.ts";

/** Tables whose rows and bytes per organization are counted by triggers, in `organization_usage`. */
type CountedTable = "monitors" | "idempotent_answers";

type Usage = { rows: number; bytes: number };

const usageSql = `select row_count as rows, byte_count as bytes from organization_usage
  where organization_id = ? and table_name = ?`;

/** Returns an organization's rows and bytes in a table. */
export async function findUsage(
  store: Store,
  organizationId: string,
  table: CountedTable,
): Promise<Usage> {
  const [usage] = await store.query<Usage>(usageSql, [organizationId, table]);
  return usage ?? { rows: 0, bytes: 0 };
}

/** Guard that fails if the organization exceeds this usage. Must follow the statement that adds rows. */
export const guardRoom = (
  organizationId: string,
  table: CountedTable,
  { rows = Number.MAX_SAFE_INTEGER, bytes = Number.MAX_SAFE_INTEGER }: Partial<Usage>,
  otherwise: () => AppError,
): Prepared =>
  guardCondition(
    `not exists (select 1 from organization_usage
  where organization_id = ? and table_name = ? and (row_count > ? or byte_count > ?))`,
    [organizationId, table, rows, bytes],
    otherwise,
  );
