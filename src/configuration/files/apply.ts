import { listOrganizations } from "../../accounts/organizations/service.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Scope } from "../../events/scope.ts";
import type { Variables } from "./variables.ts";

type Dependencies = Pick<Scope, "store" | "clock" | "vault" | "targets" | "ownHosts" | "limits"> & {
  log: Log;
  origin: () => string;
};

export type ConfigurationFiles = ReturnType<typeof configurationFiles>;

/** What the files say is all that they have made: more than a fifth of it goes by `signalbox apply --yes` alone. */
const options = { dryRun: false, prune: true, yes: false, adopt: false };

/**
 * Applies the configurations of a folder each time it is asked to, one after the other. What can't be applied
 * stays as it is, and the log says why.
 */
export function configurationFiles(dependencies: Dependencies, variables: Variables) {
  const { log } = dependencies;
  let done = Promise.resolve();
  const attempt = async (from: string) => {
    try {
      await applyFiles(from, dependencies, variables);
    } catch (error) {
      const { InvalidFiles } = await import("./yaml.ts");
      const isSaid = error instanceof AppError || error instanceof InvalidFiles;
      log.error("the configuration was not applied, and nothing was changed", {
        from,
        cause: isSaid ? error.message : String(error),
      });
    }
  };
  return {
    apply: (from: string | undefined) => {
      if (from !== undefined) done = done.then(() => attempt(from));
    },
    /** Resolves when what was asked for is done. */
    settled: () => done,
  };
}

async function applyFiles(from: string, services: Dependencies, variables: Variables) {
  const { log, store, clock, vault, targets, ownHosts, limits, origin } = services;
  const { readConfigurations } = await import("./read.ts");
  const { applyConfiguration } = await import("../service.ts");
  const organizations = await listOrganizations(store);
  for (const { document, organization, issuesOf } of await readConfigurations(from, variables)) {
    const found =
      organization === null && organizations.length === 1
        ? organizations[0]
        : organizations.find(({ slug }) => slug === organization);
    if (found === undefined) {
      log.warn("a configuration names no organization that there is", { from, organization });
      continue;
    }
    const scope: Scope = {
      store,
      clock,
      vault,
      targets,
      ownHosts,
      limits,
      origin: origin(),
      organizationId: found.id,
      actor: { type: "command-line", id: null, name: "configuration files" },
      mayWrite: true,
      requestId: null,
      ifMatch: null,
      remember: null,
    };
    try {
      const { source, changes, unchanged } = await applyConfiguration(scope, document, options);
      const count = (...actions: string[]) =>
        changes.filter(({ action }) => actions.includes(action)).length;
      log.info("the configuration was applied", {
        source,
        organization: found.slug,
        made: count("create"),
        changed: count("update", "adopt"),
        removed: count("delete", "release"),
        unchanged,
      });
    } catch (error) {
      throw error instanceof AppError && error.details !== undefined ? issuesOf(error) : error;
    }
  }
}
