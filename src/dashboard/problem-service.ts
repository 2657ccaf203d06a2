import { problemTitles } from "../alerting/deciding/problem-titles.ts";
import { storageProblem } from "../events/problems.ts";
import type { Scope } from "../events/scope.ts";
import type { Problems } from "./problem-schema.ts";
import { failingChannels, problemsOf } from "./problem-store.ts";

/** Alert channels that fail or are stuck, and what is wrong with the appliance, where somebody belongs to the organization who runs it. */
export async function listProblems(scope: Scope): Promise<Problems> {
  const now = scope.clock();
  const [channels, appliance] = await Promise.all([
    failingChannels(scope, now),
    problemsOf(scope, now),
  ]);
  const storage = storageProblem(scope.store);
  return {
    channels,
    appliance: [...(storage === null ? [] : [storage]), ...appliance].map((one) => ({
      ...one,
      title: problemTitles[one.name].begins,
    })),
  };
}
