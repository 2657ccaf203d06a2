import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { checkHost, type HostCheckDependencies } from "./site/host-check-service.ts";
import {
  type PreviewDependencies,
  previewInTurn,
  previewStatusPage,
} from "./site/preview-service.ts";
import { HostCheck, HostToCheck, StatusPagePatch, StatusPagePreview } from "./schema.ts";

/** Status page routes that only the admin page uses. */
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
        body: StatusPagePatch,
        data: StatusPagePreview,
        handle: ({ scope, params, body }) =>
          previewInTurn(dependencies, scope, () => previewStatusPage(scope, params.id, body)),
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
