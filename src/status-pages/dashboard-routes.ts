/** Status page routes that only the admin page uses: preview, sign-in, and the check of a host name. */
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { checkHost, type HostCheckDependencies } from "./site/host-check-service.ts";
import {
  type PreviewDependencies,
  previewInTurn,
  previewStatusPage,
} from "./site/preview-service.ts";
import {
  HostCheck,
  HostToCheck,
  PreviewQuery,
  StatusPagePatch,
  StatusPagePreview,
  VisitAddress,
  VisitStart,
} from "./schema.ts";
import { approveVisit } from "./site/sign-in-service.ts";

export const createStatusPageDashboardRoutes = (
  dependencies: PreviewDependencies & HostCheckDependencies,
) =>
  createRouter("/status-pages")
    .post(
      ...defineEndpoint("/:id/preview", {
        name: "previewStatusPage",
        access: "write",
        limited: "denied",
        long: true,
        summary: "Preview a change to a status page",
        query: PreviewQuery,
        body: StatusPagePatch,
        data: StatusPagePreview,
        handle: ({ scope, params, query, body }) =>
          previewInTurn(dependencies, scope, () =>
            previewStatusPage(scope, params.id, body, query.audience),
          ),
      }),
    )
    .post(
      ...defineEndpoint("/visit", {
        name: "approveStatusPageVisit",
        access: "person",
        summary: "Complete a sign-in that a status page started",
        body: VisitStart,
        data: VisitAddress,
        errors: ["NOT_FOUND"],
        handle: ({ context, body }) => approveVisit(context, body.visit),
      }),
    )
    .post(
      ...defineEndpoint("/:id/host-check", {
        name: "checkStatusPageHost",
        access: "write",
        limited: "denied",
        summary: "Check one of a status page's host names by DNS, TLS and HTTP",
        body: HostToCheck,
        data: HostCheck,
        handle: ({ scope, params, body }) => checkHost(scope, dependencies, params.id, body.host),
      }),
    );
