/** Plans and applies configurations. */
import { AppError } from "../core/errors.ts";
import { formatPercent } from "../core/text/formatting.ts";
import { mapYielding } from "../core/time/event-loop.ts";
import { invalidFieldError } from "../core/validation.ts";
import { compileStatement, retryOnStaleRead } from "../database/store.ts";
import { changedSinceError, commitEach, matchesIfMatch } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { rehearseUseCase } from "../http/held-changes/service.ts";
import { type Configuration, parseConfiguration } from "./entries.ts";
import { type ApplyOptions, planApply } from "./plan.ts";
import { runInConfigurationTurn } from "./records.ts";
import { computeTagsOfLongResponse } from "../http/responses/api-response.ts";
import { createExport } from "./export-service.ts";
import { ConfigExport, type ConfigQuery, type ConfigResult } from "./schema.ts";
import { isEmpty, buildStatements } from "./write.ts";
import { getOwnOrganization } from "../accounts/organizations/service.ts";

/** Fraction of a source's records that can be deleted without confirmation, 0–1. */
const prunedShare = 0.2;

const isSet = (flag: string | undefined) => flag === "true" || flag === "";

export const parseApplyOptions = ({ dryRun, prune, yes, adopt }: ConfigQuery): ApplyOptions => ({
  dryRun: isSet(dryRun),
  prune: isSet(prune),
  yes: isSet(yes),
  adopt: isSet(adopt),
});

/**
 * Applies a configuration atomically. Throws VALIDATION_ERROR for invalid entries, and CONFLICT for existing records
 * or too many deletions. Throws PRECONDITION_FAILED for a stale If-Match.
 */
export const applyConfiguration = (
  scope: Scope,
  document: unknown,
  options: ApplyOptions,
): Promise<ConfigResult> =>
  runInConfigurationTurn(scope, () => applyDocument(scope, document, options));

async function applyDocument(
  scope: Scope,
  document: unknown,
  options: ApplyOptions,
): Promise<ConfigResult> {
  const configuration = await parseConfiguration(document);
  await assertOwnOrganization(scope, configuration);
  return retryOnStaleRead(async () => {
    await assertUnchanged(scope);
    const plan = await planApply(scope, configuration, options);
    const { source, changes, steps, removed, removedShare } = plan;
    const changed = changes.filter(({ action }) => action !== "delete" && action !== "release");
    const result = { source, changes, unchanged: steps.length - changed.length };
    if (removedShare > prunedShare && !options.yes && !options.dryRun)
      throw new AppError(
        "CONFLICT",
        `This would delete ${removed.length === 1 ? "1 record" : `${removed.length} records`}, ${formatPercent(removedShare)} of the records of ${source}. Nothing was changed. Confirm that (--yes), or leave prune out.`,
      );
    if (await isEmpty(plan)) return { ...result, applied: false };
    const { statements, newMonitorIds } = await buildStatements(scope, plan);
    // Compiles the statements in steps that yield to the event loop.
    const compiled = await mapYielding(statements, compileStatement);
    const write = (written: Scope) =>
      commitEach(written, compiled, { action: "monitor.created", subjectIds: newMonitorIds }, {});
    // Some conflicts are found only by a write, such as cycles, addresses in use and limits.
    if (options.dryRun)
      await rehearseUseCase(() => write({ ...scope, isRehearsal: true, remember: null }));
    else await write(scope);
    return { ...result, applied: !options.dryRun && changes.length > 0 };
  });
}

/** Throws PRECONDITION_FAILED if the If-Match header differs from the organization's current ETag. */
async function assertUnchanged(scope: Scope) {
  if (scope.ifMatch === null) return;
  const tags = await computeTagsOfLongResponse(ConfigExport, await createExport(scope));
  if (!matchesIfMatch(scope, (tag) => tags.includes(tag))) throw changedSinceError();
}

/** Throws VALIDATION_ERROR if the configuration is for another organization. */
async function assertOwnOrganization(scope: Scope, { organization }: Configuration) {
  if (organization === null || organization === (await getOwnOrganization(scope)).slug) return;
  throw invalidFieldError(
    "organization",
    "must be the slug of the organization that it is applied to",
  );
}
