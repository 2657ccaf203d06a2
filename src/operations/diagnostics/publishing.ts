/** Examines whether the status pages that are published as files reach their place, by organization. */
import { okFinding } from "../../core/finding.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { listFailingPublications } from "../../status-pages/publishing/store.ts";
import type { Diagnosis } from "./diagnostic.ts";
import { createDiagnosis } from "./on-call.ts";

/** Duration of a failure that is reported: readers are warned at the same time. */
const toleratedMs = 5 * 60_000;

/** Finds pages whose files are older than their readers accept. */
export async function examinePublishing({
  store,
  clock,
}: {
  store: Store;
  clock: Clock;
}): Promise<Diagnosis[]> {
  const before = formatTimestamp(clock() - toleratedMs);
  const failing = await listFailingPublications(store, before);
  if (failing.length === 0)
    return [okFinding("publishing", "no status page fails to be published")];
  return [...Map.groupBy(failing, (one) => one.organizationId)].map(([organizationId, own]) =>
    createDiagnosis(
      {
        name: "publishing",
        subject: "publishing",
        organizationId,
        organization: own[0]?.organization ?? "",
      },
      own.map(({ pageId, title, since, reason }) => ({
        key: pageId,
        message: `“${title}” has not been published since ${since}: ${reason}`,
      })),
      "See the Addresses tab of the status page.",
    ),
  );
}
