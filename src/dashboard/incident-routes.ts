import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { type PreviewDependencies, previewInTurn } from "../status-pages/site/preview-service.ts";
import {
  IncidentAudience,
  IncidentAudienceQuery,
  IncidentDraft,
  IncidentPreview,
  IncidentTraces,
  WindowReceipt,
} from "./incident-schema.ts";
import { findAudience, getWindowReceipt, previewIncident, getTraces } from "./incident-service.ts";

export const createIncidentDashboardRoutes = (dependencies: PreviewDependencies) =>
  createRouter("")
    .post(
      ...defineEndpoint("/incident-preview", {
        name: "previewIncident",
        access: "read",
        limited: "filtered",
        summary: "Preview an incident on a status page",
        body: IncidentDraft,
        data: IncidentPreview,
        errors: ["NOT_FOUND"],
        handle: ({ scope, body }) =>
          previewInTurn(dependencies, scope, () => previewIncident(scope, body)),
      }),
    )
    .get(
      ...defineEndpoint("/incident-audience", {
        name: "getIncidentAudience",
        access: "read",
        limited: "filtered",
        summary: "List the channels and status pages that an incident would notify",
        query: IncidentAudienceQuery,
        data: IncidentAudience,
        errors: ["NOT_FOUND"],
        handle: ({ scope, query }) => findAudience(scope, query),
      }),
    )
    .get(
      ...defineEndpoint("/incidents/:id/traces", {
        name: "getIncidentTraces",
        access: "read",
        limited: "incident",
        summary: "List the authors of an incident's updates, its changes and its recipients",
        data: IncidentTraces,
        handle: ({ scope, params }) => getTraces(scope, params.id),
      }),
    )
    .get(
      ...defineEndpoint("/maintenance-windows/:id/receipt", {
        name: "getMaintenanceWindowReceipt",
        access: "read",
        limited: "maintenance-window",
        summary: "List the receivers of the announcement of a maintenance window",
        data: WindowReceipt,
        handle: ({ scope, params }) => getWindowReceipt(scope, params.id),
      }),
    );
