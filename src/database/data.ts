import { type Data, type OpenOptions, openDataDirectory } from "./file/data-directory.ts";
import { type ClusterAddress, clusterAddressOf } from "./address.ts";
import { openOnRqlite } from "./rqlite/data.ts";

/** Where the data is, as people say it. */
export type DataPlace = {
  dataDir: string;
  database?: string | undefined;
  databasePasswordFile?: string | undefined;
};

/** The cluster that holds the data; null where it is in the data directory. Throws DATA_UNUSABLE. */
export function clusterOf({ database, databasePasswordFile }: DataPlace): ClusterAddress | null {
  return database === undefined ? null : clusterAddressOf(database, databasePasswordFile);
}

/** Throws DataError: DATA_UNUSABLE, MIGRATION_REFUSED or ALREADY_RUNNING; nothing is overwritten then. */
export async function openData(place: DataPlace, options: OpenOptions): Promise<Data> {
  const cluster = clusterOf(place);
  if (cluster !== null) return openOnRqlite(place.dataDir, cluster, options);
  const opened = openDataDirectory(place.dataDir, options);
  const { database, ...data } = opened;
  return {
    ...data,
    shared: null,
    async scrub() {
      database.run("VACUUM");
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    async close() {
      opened.close();
    },
  };
}
