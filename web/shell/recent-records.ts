import { createStoredSet } from "../components/stored-set.ts";

const stored = createStoredSet("signalbox.recent");

/** More than the palette shows, because records can be deleted or belong to another organization. */
const maxRecords = 20;

/** IDs of the records last opened in this browser, the latest first. */
export const recentRecords = {
  use: stored.use,
  add: (id: string) =>
    stored.set(
      new Set([id, ...[...stored.get()].filter((one) => one !== id)].slice(0, maxRecords)),
    ),
};
