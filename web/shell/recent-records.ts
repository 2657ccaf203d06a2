import { createStoredSet } from "../components/stored-set.ts";

const recentStore = createStoredSet("signalbox.recent");

/** More than the palette shows, because records can be deleted or belong to another organization. */
const maxRecords = 20;

/** IDs of the records last opened in this browser, the latest first. */
export const recentRecords = {
  use: recentStore.use,
  add: (id: string) =>
    recentStore.set(
      new Set([id, ...[...recentStore.get()].filter((one) => one !== id)].slice(0, maxRecords)),
    ),
};
