import type { Store } from "../../database/store.ts";

/** Whether several organizations share this appliance, as of the last refresh. */
export function sharingOf(store: Store) {
  let revision: string | null = null;
  let isShared = false;
  return {
    isShared: () => isShared,
    async refresh() {
      const now = store.revision();
      if (now !== null && now === revision) return;
      const some = "select 1 from organizations where deleted_at is null limit 2";
      isShared = (await store.query(some, [])).length > 1;
      revision = now;
    },
  };
}
