/** Plans and applies configurations. */
import { AppError } from "../core/errors.ts";
import { percent } from "../core/text/words.ts";
import { mapYielding } from "../core/time/yielding.ts";
import { invalid } from "../core/validation.ts";
import { compiled, retrying } from "../database/store.ts";
import { changedSince, commitEach, ifMatchNames } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { type Configuration, configurationOf } from "./entries.ts";
import { type ApplyOptions, planOf } from "./plan.ts";
import { inTurn } from "./records.ts";
import { longTagsOf } from "../http/responses/api-response.ts";
import { exported } from "./export-service.ts";
import { ConfigExport, type ConfigQuery, type ConfigResult } from "./schema.ts";
import { isEmpty, statementsOf } from "./write.ts";
import { getOwnOrganization } from "../accounts/organizations/service.ts";

/** So much of what a source has made goes without being asked for twice. */
const prunedShare = 0.2;

const isSet = (flag: string | undefined) => flag === "true" || flag === "";

export const applyOptionsOf = ({ dryRun, prune, yes, adopt }: ConfigQuery): ApplyOptions => ({
  dryRun: isSet(dryRun),
  prune: isSet(prune),
  yes: isSet(yes),
  adopt: isSet(adopt),
});

/**
 * Makes the organization as a configuration says, in one write. Throws VALIDATION_ERROR where it can't be,
 * CONFLICT for what is there already and where it would delete too much, PRECONDITION_FAILED; nothing is changed then.
 */
export const applyConfiguration = (
  scope: Scope,
  document: unknown,
  options: ApplyOptions,
): Promise<ConfigResult> => inTurn(scope, () => applied(scope, document, options));

async function applied(
  scope: Scope,
  document: unknown,
  options: ApplyOptions,
): Promise<ConfigResult> {
  const configuration = await configurationOf(document);
  await mustBeFor(scope, configuration);
  return retrying(async () => {
    await mustBeAsRead(scope);
    const plan = await planOf(scope, configuration, options);
    const { source, changes, steps, removed, removedShare } = plan;
    const changed = changes.filter(({ action }) => action !== "delete" && action !== "release");
    const result = { source, changes, unchanged: steps.length - changed.length };
    if (options.dryRun) return { ...result, applied: false };
    if (removedShare > prunedShare && !options.yes)
      throw new AppError(
        "CONFLICT",
        `This would delete ${removed.length === 1 ? "1 record" : `${removed.length} records`}, ${percent(removedShare)} of what ${source} has made. Nothing was changed. Confirm that (--yes), or leave prune out.`,
      );
    if (await isEmpty(plan)) return { ...result, applied: false };
    const { statements, newMonitorIds } = await statementsOf(scope, plan);
    await commitEach(
      scope,
      // Their text is made here, where others get their turn meanwhile.
      await mapYielding(statements, compiled),
      { action: "monitor.created", subjectIds: newMonitorIds },
      {},
    );
    return { ...result, applied: changes.length > 0 };
  });
}

/** Throws PRECONDITION_FAILED where the caller's If-Match names another state of the organization than GET has now. */
async function mustBeAsRead(scope: Scope) {
  if (scope.ifMatch === null) return;
  const tags = await longTagsOf(ConfigExport, await exported(scope));
  if (!ifMatchNames(scope, (tag) => tags.includes(tag))) throw changedSince();
}

/** A configuration that names an organization is for that one alone. */
async function mustBeFor(scope: Scope, { organization }: Configuration) {
  if (organization === null || organization === (await getOwnOrganization(scope)).slug) return;
  throw invalid("organization", "must be the slug of the organization that it is applied to");
}
