import { Elysia } from "elysia";
import { dataOf } from "../core/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import { previewInTurn, previewStatusPage } from "./preview-service.ts";
import { StatusPagePatch, StatusPagePreview } from "./schema.ts";

/** What only the admin page asks of status pages. */
export const statusPageDashboardRoutes = new Elysia({ prefix: "/status-pages" }).post(
  "/:id/preview",
  ...endpoint(
    {
      name: "previewStatusPage",
      access: "write",
      packed: true,
      summary: "See a status page as it would be after a change",
      body: StatusPagePatch,
      answer: dataOf(StatusPagePreview),
      errors: ["NOT_FOUND"],
    },
    async ({ scope, id, body, appliance }) => ({
      data: await previewInTurn(appliance, scope, () => previewStatusPage(scope, id, body)),
    }),
  ),
);
