import type { Store } from "../database/store.ts";

/** Whether several organizations share this appliance, as of the last refresh. */
export function sharingOf(store: Store) {
  let revision: string | null = null;
  let isShared = false;
  return {
    isShared: () => isShared,
    async refresh() {
      const now = store.revision();
      if (now !== null && now === revision) return;
      isShared = (await store.query("select 1 from organizations limit 2", [])).length > 1;
      revision = now;
    },
  };
}
