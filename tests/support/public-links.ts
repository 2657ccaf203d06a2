import { createPublicLinkRoutes } from "../../src/alerting/records/routes.ts";
import { createNetworkLimit, createRateLimit } from "../../src/http/access/rate-limit.ts";
import type { TestAppliance } from "./appliance.ts";

/** The links in alerts on the port of public pages. */
export function createPublicLinks(services: TestAppliance["appliance"], publicUrl?: string) {
  const { clock, log } = services;
  const limits = {
    wrongTokens: createNetworkLimit(60, clock),
    requests: createRateLimit(60, clock),
    linkOrigin: () => publicUrl ?? null,
  };
  return createPublicLinkRoutes({ services, limits, addressOf: () => "192.0.2.1", log });
}
