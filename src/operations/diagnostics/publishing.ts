/** Examines whether the status pages that are published as files reach their place, by organization. */
import { createOkFinding, createProblemFinding } from "../../core/finding.ts";
import { type Clock, formatTimestamp, minuteMs } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { formatPlace } from "../../status-pages/publishing/rules.ts";
import {
  listFailingPublications,
  listFailingRemovals,
} from "../../status-pages/publishing/store.ts";
import type { Diagnosis } from "./diagnostic.ts";
import { createDiagnosis } from "./on-call.ts";

const advice =
  "See the Addresses tab of the status page. Files that can't be removed must be removed by hand.";

/** Duration of a failure that is reported: readers are warned at the same time. */
const toleratedMs = 5 * minuteMs;

/** Finds pages whose files are older than their readers accept. */
export async function examinePublishing({
  store,
  clock,
}: {
  store: Store;
  clock: Clock;
}): Promise<Diagnosis[]> {
  const before = formatTimestamp(clock() - toleratedMs);
  const publications = await listFailingPublications(store, before);
  const removals = await listFailingRemovals(store, before);
  if (publications.length + removals.length === 0)
    return [createOkFinding("publishing", "no status page fails to be published")];
  const sentences = [
    ...publications.map((one) => ({
      ...one,
      key: one.pageId,
      message: `“${one.title}” has not been published since ${one.since}: ${one.reason}`,
    })),
    ...removals.map((one) => ({
      ...one,
      key: `${one.root} ${one.prefix}`,
      message: `Files of ${one.title === null ? "a deleted status page" : `“${one.title}”`} can't be removed from ${formatPlace(one)} since ${one.since}: ${one.reason}`,
    })),
  ];
  return [...Map.groupBy(sentences, (one) => one.organizationId)].map(([organizationId, own]) => {
    const subject = "publishing";
    if (organizationId === null)
      return createProblemFinding(subject, own.map(({ message }) => message).join(" "), advice);
    const organization = own[0]?.organization ?? "";
    return createDiagnosis({ name: subject, subject, organizationId, organization }, own, advice);
  });
}
