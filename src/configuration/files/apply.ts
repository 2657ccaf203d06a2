/** Applies the configuration files of a folder at startup and on reload. */
import { listOrganizations } from "../../accounts/organizations/service.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { buildScope, type ScopeServices } from "../../events/scope.ts";
import type { Variables } from "./variables.ts";
import { countChanges } from "../rules.ts";

type Dependencies = ScopeServices & { log: Log; origin: () => string };

export type ConfigurationFiles = ReturnType<typeof createConfigurationFiles>;

const actor = { type: "command-line", id: null, name: "configuration files" } as const;

/**
 * Files are authoritative: records that a source created and no longer contains are deleted. If
 * that is more than a fifth of them, `signalbox apply --yes` is required.
 */
const options = { prune: true };

/**
 * Applies the configurations of a folder, one run at a time. The first error ends the run and is
 * logged. A failed configuration changes nothing; those before it stay applied.
 */
export function createConfigurationFiles(dependencies: Dependencies, variables: Variables) {
  const { log } = dependencies;
  let done = Promise.resolve();
  const tryApply = async (from: string) => {
    const applied: string[] = [];
    try {
      await applyFiles(from, dependencies, variables, applied);
    } catch (error) {
      const { InvalidFiles } = await import("../../core/text/yaml.ts");
      const isExplained = error instanceof AppError || error instanceof InvalidFiles;
      const message =
        applied.length === 0
          ? "the configuration was not applied, and nothing was changed"
          : "a configuration was not applied; the ones before it were";
      log.error(message, {
        from,
        applied: applied.length === 0 ? undefined : applied.join(", "),
        cause: isExplained ? error.message : String(error),
      });
    }
  };
  return {
    apply: (from: string | undefined) => {
      if (from !== undefined) done = done.then(() => tryApply(from));
    },
    /** Resolves when all requested runs are done. */
    waitUntilApplied: () => done,
  };
}

/** Adds the source of each applied configuration to `applied`. */
async function applyFiles(
  from: string,
  services: Dependencies,
  variables: Variables,
  applied: string[],
) {
  const { log, store, origin } = services;
  const { readConfigurations } = await import("./read.ts");
  const { applyConfiguration } = await import("../service.ts");
  const organizations = await listOrganizations(store);
  for (const { document, organization, located } of await readConfigurations(from, variables)) {
    const found =
      organization === null && organizations.length === 1
        ? organizations[0]
        : organizations.find(({ slug }) => slug === organization);
    if (found === undefined) {
      log.warn("a configuration was skipped: it must name an organization of this appliance", {
        from,
        organization,
      });
      continue;
    }
    const scope = { ...buildScope(services, found.id, actor), origin: origin() };
    try {
      const { source, changes, unchanged } = await applyConfiguration(scope, document, options);
      applied.push(source);
      log.info("the configuration was applied", {
        source,
        organization: found.slug,
        ...countChanges(changes),
        unchanged,
      });
    } catch (error) {
      throw located(error);
    }
  }
}
