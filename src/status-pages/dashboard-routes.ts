import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import { previewInTurn, previewStatusPage } from "./preview-service.ts";
import { StatusPagePatch, StatusPagePreview } from "./schema.ts";

/** What only the admin page asks of status pages. */
export const statusPageDashboardRoutes = routesUnder("/status-pages").post(
  ...endpoint("/:id/preview", {
    name: "previewStatusPage",
    access: "write",
    compressed: true,
    summary: "See a status page as it would be after a change",
    body: StatusPagePatch,
    data: StatusPagePreview,
    handle: ({ scope, params, body, services }) =>
      previewInTurn(services, scope, () => previewStatusPage(scope, params.id, body)),
  }),
);
