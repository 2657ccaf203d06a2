import type { AppError } from "../../core/errors.ts";
import { mustText, type Prepared, type Store } from "../store.ts";

/** Tables whose rows and bytes triggers count for each organization, in `organization_usage`. */
type CountedTable = "monitors" | "idempotent_answers";

type Usage = { rows: number; bytes: number };

const usageText = `select row_count as rows, byte_count as bytes from organization_usage
  where organization_id = ? and table_name = ?`;

/** What an organization has in the table. */
export async function usageOf(
  store: Store,
  organizationId: string,
  table: CountedTable,
): Promise<Usage> {
  const [usage] = await store.query<Usage>(usageText, [organizationId, table]);
  return usage ?? { rows: 0, bytes: 0 };
}

const room = mustText(`not exists (select 1 from organization_usage
  where organization_id = ? and table_name = ? and (row_count > ? or byte_count > ?))`);

/** Holds while the organization has no more than this in the table. It belongs after the statement that adds to it. */
export const mustHaveRoom = (
  organizationId: string,
  table: CountedTable,
  { rows = Number.MAX_SAFE_INTEGER, bytes = Number.MAX_SAFE_INTEGER }: Partial<Usage>,
  otherwise: () => AppError,
): Prepared => ({ ...room, parameters: [organizationId, table, rows, bytes], otherwise });
