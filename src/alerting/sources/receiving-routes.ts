/** The addresses to which other tools send their alerts. The token in the request is the credential. */
import { createRouter, type RequestContext } from "../../http/request-context.ts";
import { receiveOpsgenie, receivePagerDuty, receiveReport, type SourceContext } from "./receive.ts";

const unparsed = { parse: "none" } as const;

/**
 * Creates the routes of sources, and routes of other APIs that tools already support, so that only the host name
 * changes.
 */
export function createReceivingRoutes(sources: SourceContext) {
  type Received = { request: Request; requestContext: RequestContext };
  const clientOf = ({ address, services }: RequestContext) => ({
    address,
    isKnown: services.knownNetworks.has(address),
  });
  const receive = ({ request, params, requestContext }: Received & { params: { token: string } }) =>
    receiveReport(
      request,
      params.token,
      clientOf(requestContext),
      requestContext.services,
      sources,
    );
  const receiveEvent = ({ request, requestContext }: Received) =>
    receivePagerDuty(request, clientOf(requestContext), requestContext.services, sources);
  const receiveAlert = ({ request, requestContext }: Received) =>
    receiveOpsgenie(request, clientOf(requestContext), requestContext.services, sources);
  return createRouter("")
    .post(
      "/in/:token",
      ({ request, params, requestContext }) => receive({ request, params, requestContext }),
      unparsed,
    )
    .post(
      "/v2/enqueue",
      ({ request, requestContext }) => receiveEvent({ request, requestContext }),
      unparsed,
    )
    .post(
      "/v2/alerts",
      ({ request, requestContext }) => receiveAlert({ request, requestContext }),
      unparsed,
    )
    .post(
      "/v2/alerts/:id/:action",
      ({ request, requestContext }) => receiveAlert({ request, requestContext }),
      unparsed,
    );
}
