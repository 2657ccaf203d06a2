/** Opens the data directory or the cluster for one command. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import {
  getOrganization,
  listOrganizations,
  type Organization,
} from "../../accounts/organizations/service.ts";
import { assets } from "../../core/assets.ts";
import { commandLine, type Scope, buildScope } from "../../events/scope.ts";
import { readSystemClock } from "../../core/time/clock.ts";
import { noLimits } from "../../core/limits.ts";
import { createOwnHosts } from "../../core/security/own-hosts.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { hasPassword } from "../../database/address.ts";
import { createTargetGuard } from "../../core/security/target-guard.ts";
import { parseConfig } from "../../config.ts";
import type { Data } from "../../database/file/data-directory.ts";
import { getDataFiles, unusableError } from "../../database/file/data-files.ts";
import { type DataLocation, openData } from "../../database/data.ts";
import { printMessage } from "./output.ts";

export type DataOptions = {
  dataDir?: string;
  database?: string;
  databasePasswordFile?: string;
  json?: boolean;
};

/** Adds the options of commands that use the data. */
export function addDataOptions(command: Command): Command {
  return addDatabaseOptions(
    command.option("--data-dir <dir>", "data directory (SIGNALBOX_DATA_DIR)"),
  ).option("--json", "print JSON");
}

/** Adds the options of a database cluster. */
export function addDatabaseOptions(command: Command): Command {
  return command
    .option(
      "--database <address>",
      "rqlite cluster with the data, such as rqlite://user@host1:4001,host2:4001 (SIGNALBOX_DATABASE)",
    )
    .option("--database-password-file <file>", "file with the database password");
}

/** Returns the location of the data, from options and variables. Warns of a password in the address. */
export function resolveLocation({
  dataDir,
  database,
  databasePasswordFile,
}: DataOptions): DataLocation {
  warnOfPassword(database);
  return parseConfig({ dataDir, database, databasePasswordFile });
}

export function warnOfPassword(database: string | undefined) {
  if (database !== undefined && hasPassword(database))
    process.stderr.write(
      "signalbox: other users of this machine can read the password in --database: " +
        "use SIGNALBOX_DATABASE or --database-password-file\n",
    );
}

/**
 * Returns the data directory for commands that don't apply to a cluster. On a cluster, it throws an
 * error with the alternative `instead`.
 */
export function resolveDirectory(options: DataOptions, instead: string): string {
  const { dataDir, database } = resolveLocation(options);
  if (database !== undefined) throw createClusterError(instead);
  return dataDir;
}

const createClusterError = (instead: string) =>
  invalidFieldError("--database", `is not for this command: ${instead}`);

/**
 * Returns the location of existing data. Throws DATA_UNUSABLE if there is none, so that a mistyped
 * path creates nothing.
 */
export function resolveExistingLocation(options: DataOptions): DataLocation {
  const location = resolveLocation(options);
  const path = resolve(location.dataDir);
  if (!existsSync(path))
    throw unusableError(`${path} does not exist. Name the data directory with --data-dir.`);
  if (location.database === undefined && !isInUse(path))
    throw unusableError(
      `There is no data of Signalbox in ${path}. Name the data directory with --data-dir.`,
    );
  return location;
}

const isInUse = (path: string) =>
  [getDataFiles(path).database, getDataFiles(path).marker].some((file) => existsSync(file));

/** Runs `use` on existing data, even while a server runs on it. */
export function withData<T>(options: DataOptions, use: (data: Data) => Promise<T>): Promise<T> {
  return useData(resolveExistingLocation(options), use);
}

/** Runs `use` on the data, creating the data directory if there is none. Reports that on stderr. */
export function useNewData<T>(options: DataOptions, use: (data: Data) => Promise<T>): Promise<T> {
  const location = resolveLocation(options);
  const path = resolve(location.dataDir);
  const isNew = !existsSync(getDataFiles(path).marker) && location.database === undefined;
  return useData(location, (data) => {
    if (isNew) printMessage(`Created the data directory ${path}.`);
    return use(data);
  });
}

async function useData<T>(location: DataLocation, use: (data: Data) => Promise<T>): Promise<T> {
  const { migrations } = assets;
  const data = await openData(location, { migrations, clock: readSystemClock });
  try {
    return await use(data);
  } finally {
    await data.close();
  }
}

/** Creates the scope of the command line in one organization. */
export function createCommandLineScope(
  data: Pick<Data, "store" | "vault">,
  organizationId: string,
): Scope {
  const services = {
    store: data.store,
    clock: readSystemClock,
    vault: data.vault,
    targets: createTargetGuard(() => []),
    ownHosts: createOwnHosts([]),
    limits: noLimits,
  };
  return buildScope(services, organizationId, commandLine);
}

/** Joins the lists of one organization, or of all if `slug` is undefined. */
export async function collectFromOrganizations<T>(
  { store, vault }: Data,
  slug: string | undefined,
  list: (scope: Scope, organization: Organization) => Promise<T[]>,
): Promise<T[]> {
  const organizations =
    slug === undefined ? await listOrganizations(store) : [await getOrganization(store, slug)];
  const lists = organizations.map((organization) =>
    list(createCommandLineScope({ store, vault }, organization.id), organization),
  );
  return (await Promise.all(lists)).flat();
}
