import { problemTitles } from "../alerting/deciding/problem-titles.ts";
import { storageProblem } from "../events/problems.ts";
import type { Scope } from "../events/scope.ts";
import type { Problems } from "./problem-schema.ts";
import { failingChannels, problemsOf } from "./problem-store.ts";

/** Lists failing and stuck alert channels. Organizations of administrators also get problems of the appliance. */
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
