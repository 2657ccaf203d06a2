import { problemTitles } from "../alerting/deciding/problem-titles.ts";
import { findStorageProblem } from "../events/problems.ts";
import type { Scope } from "../events/scope.ts";
import type { Problems } from "./problem-schema.ts";
import { findFailingChannels, findProblems } from "./problem-store.ts";

/** Lists failing and stuck alert channels. Organizations of administrators also get problems of the appliance. */
export async function listProblems(scope: Scope): Promise<Problems> {
  const now = scope.clock();
  const [channels, appliance] = await Promise.all([
    findFailingChannels(scope, now),
    findProblems(scope, now),
  ]);
  // Messages about the appliance can name any monitor.
  if (scope.groupIds !== null) return { channels, appliance: [] };
  const storage = findStorageProblem(scope.store);
  return {
    channels,
    appliance: [...(storage === null ? [] : [storage]), ...appliance].map((one) => ({
      ...one,
      title: problemTitles[one.name].start,
    })),
  };
}
