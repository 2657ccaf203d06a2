import { unwrapData, withIdempotencyKey } from "../../data/client.ts";
import { createProvisionalId } from "../../data/record.ts";
import { getPageRoutes } from "../../data/status-pages.ts";

/** Sends to a quarantined address again. */
export function releaseSubscriber(pageId: string, id: string) {
  const route = getPageRoutes(pageId).subscribers({ subscriberId: id }).release;
  return unwrapData(route.post(undefined, withIdempotencyKey(createProvisionalId())));
}
