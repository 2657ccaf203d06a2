import { type Data, type OpenOptions, openDataDirectory } from "./file/data-directory.ts";
import { type ClusterAddress, parseClusterAddress } from "./address.ts";

/** Location of the data, from the configuration. */
export type DataLocation = {
  dataDir: string;
  database?: string | undefined;
  databasePasswordFile?: string | undefined;
};

/** Address of the cluster; null if the data is in the data directory. Throws DATA_UNUSABLE. */
export function resolveCluster({
  database,
  databasePasswordFile,
}: DataLocation): ClusterAddress | null {
  return database === undefined ? null : parseClusterAddress(database, databasePasswordFile);
}

/**
 * Opens the data. Throws DataError (DATA_UNUSABLE, MIGRATION_REFUSED or ALREADY_RUNNING); existing data is then
 * unchanged.
 */
export async function openData(location: DataLocation, options: OpenOptions): Promise<Data> {
  const cluster = resolveCluster(location);
  if (cluster !== null) {
    const { openOnRqlite } = await import("./rqlite/data.ts");
    return openOnRqlite(location.dataDir, cluster, options);
  }
  const directory = openDataDirectory(location.dataDir, options);
  const { database, ...data } = directory;
  return {
    ...data,
    shared: null,
    async scrub() {
      database.run("VACUUM");
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    async close() {
      directory.close();
    },
  };
}
