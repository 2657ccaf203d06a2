/** The route of the admin host that leads visitors of status pages to a sign-in provider and back. */
import type { SingleSignOnDependencies } from "../../accounts/single-sign-on/service.ts";
import { createRouter } from "../../http/request-context.ts";
import { buildVisitorContext } from "../../http/visitor-context.ts";
import { visitorPath, visitProvider } from "./sign-in-service.ts";

/** Time that the requests to a provider can take together, in seconds. */
const providerSeconds = 30;

/** Elysia serves HEAD with the handler of GET. It stores nothing, apart from a cookie of the browser. */
export const createVisitorSignInRoutes = (
  dependencies: Pick<SingleSignOnDependencies, "providerDocuments">,
) =>
  createRouter("").get(visitorPath, async ({ request, requestContext }) => {
    requestContext.services.extendTimeout(request, providerSeconds);
    const context = buildVisitorContext(requestContext, request);
    const query = new URLSearchParams(request.url.split("?", 2)[1]);
    const response = await visitProvider(context, dependencies, query);
    for (const cookie of requestContext.setCookies) response.headers.append("Set-Cookie", cookie);
    return response;
  });
