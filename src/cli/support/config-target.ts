/** Applies or exports a configuration, on a server or in the data of this machine. */
import type { Command } from "commander";
import { getOrganization, listOrganizations } from "../../accounts/organizations/service.ts";
import type { ApplyOptions } from "../../configuration/plan.ts";
import type { ConfigExport, ConfigResult } from "../../configuration/schema.ts";
import { invalidFieldError } from "../../core/validation.ts";
import type { Data } from "../../database/file/data-directory.ts";
import { type ClientOptions, connectToServer, unwrapData, addServerOptions } from "./client.ts";
import {
  createCommandLineScope,
  type DataOptions,
  withData,
  addDatabaseOptions,
} from "./with-data.ts";

export type TargetOptions = DataOptions & ClientOptions & { org?: string };

/** Target or source of a configuration: a server, or the data on this machine. */
type ConfigTarget = {
  apply(
    document: object,
    options: ApplyOptions,
    organization: string | null,
  ): Promise<ConfigResult>;
  export(): Promise<ConfigExport>;
};

/** Adds the options of the target. An option for data selects this machine; otherwise the target is a server. */
export function addTargetOptions(command: Command): Command {
  return addDatabaseOptions(
    addServerOptions(command)
      .option("--org <slug>", "an organization on this machine instead of a server")
      .option("--data-dir <dir>", "data directory on this machine (SIGNALBOX_DATA_DIR)"),
  );
}

export async function useTarget<T>(
  options: TargetOptions,
  use: (target: ConfigTarget) => Promise<T>,
): Promise<T> {
  const { org, dataDir, database } = options;
  if (org === undefined && dataDir === undefined && database === undefined)
    return use(await createServerTarget(options));
  return withData(options, (data) => use(createDataTarget(data, org)));
}

async function createServerTarget(options: ClientOptions): Promise<ConfigTarget> {
  const { v1 } = await connectToServer(options);
  return {
    apply: (document, options) =>
      unwrapData(v1.config.put({ ...document }, { query: buildApplyQuery(options) })),
    export: () => unwrapData(v1.config.get()),
  };
}

const buildApplyQuery = (options: ApplyOptions) =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([, isSet]) => isSet)
      .map(([name]) => [name, "true" as const]),
  );

function createDataTarget(data: Data, org: string | undefined): ConfigTarget {
  const createScope = async (organization: string | null) => {
    const slug = org ?? organization ?? (await getOnlySlug(data));
    return createCommandLineScope(data, (await getOrganization(data.store, slug)).id);
  };
  return {
    async apply(document, options, organization) {
      const { applyConfiguration } = await import("../../configuration/service.ts");
      return applyConfiguration(await createScope(organization), document, options);
    },
    async export() {
      const { exportInMemory } = await import("../../configuration/export-service.ts");
      return exportInMemory(await createScope(null));
    },
  };
}

async function getOnlySlug({ store }: Data): Promise<string> {
  const [only, ...others] = await listOrganizations(store);
  if (only === undefined || others.length > 0)
    throw invalidFieldError("--org", "is needed: there is not just one organization");
  return only.slug;
}
