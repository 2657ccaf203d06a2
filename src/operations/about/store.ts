import type { Store } from "../../database/store.ts";

/** Size of the whole database, of all organizations. */
export async function bytesOf(store: Store): Promise<number> {
  const [row] = await store.query<{ bytes: number }>(
    "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()",
    [],
  );
  return row?.bytes ?? 0;
}
