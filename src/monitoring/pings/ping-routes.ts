/** Routes that accept pings and queries of clients of Healthchecks and Gatus. */
import { createRouter } from "../../http/request-context.ts";
import type { RequestServices } from "../../http/services.ts";
import { serveChecks } from "./checks.ts";
import { type PingContext, receiveGatusResult, receivePing } from "./ping.ts";

/** Path to which clients of Gatus report the results of external endpoints. */
const gatusPath = "/api/v1/endpoints/:key/external";

/** Versions of the management API of Healthchecks whose checks can be read. */
const checksVersions = ["v1", "v2", "v3"] as const;

export const checksPaths: readonly string[] = checksVersions.flatMap((version) => [
  `/api/${version}/checks`,
  `/api/${version}/checks/:code`,
]);

/** Headers for dashboards that read checks in a browser, such as Homer, with the values of Healthchecks. */
export const checksPreflight = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "X-Api-Key",
  "Access-Control-Allow-Methods": "GET, OPTIONS",
  "Access-Control-Max-Age": "600",
};

/** Paths below `/api/v1` in the formats of other programs, with their own authentication. */
export const foreignPaths: readonly string[] = [gatusPath, ...checksPaths];

/** Paths of pings, with the parameters of PingPath. */
const pingPaths = ["/ping/:code", "/ping/:code/:second", "/ping/:code/:second/:third"] as const;

const buildClient = (address: string, { knownNetworks }: RequestServices) => ({
  address,
  isKnown: knownNetworks.has(address),
});

/** Creates the routes of pings. HEAD has the effect of GET, as in Healthchecks. */
export function createPingRoutes(push: PingContext) {
  const router = createRouter("");
  for (const path of pingPaths)
    for (const method of ["GET", "POST"])
      router.route(
        method,
        path,
        ({ request, params, requestContext: { address, services } }) =>
          receivePing(request, params, buildClient(address, services), { ...push, services }),
        { parse: "none" },
      );
  for (const version of checksVersions)
    router
      .get(`/api/${version}/checks`, ({ request, requestContext }) =>
        serveChecks(request, { version, code: null }, requestContext),
      )
      .get(`/api/${version}/checks/:code`, ({ request, params, requestContext }) =>
        serveChecks(request, { version, code: params.code }, requestContext),
      );
  return router.post(
    gatusPath,
    ({ request, params, requestContext: { address, services } }) =>
      receiveGatusResult(request, params.key, buildClient(address, services), {
        ...push,
        services,
      }),
    { parse: "none" },
  );
}
