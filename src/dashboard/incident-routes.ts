import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import { type PreviewDependencies, previewInTurn } from "../status-pages/site/preview-service.ts";
import {
  IncidentAudience,
  IncidentAudienceQuery,
  IncidentDraft,
  IncidentPreview,
  IncidentTraces,
} from "./incident-schema.ts";
import { audienceOf, previewIncident, tracesOf } from "./incident-service.ts";

export const incidentDashboardRoutes = (dependencies: PreviewDependencies) =>
  routesUnder("")
    .post(
      ...endpoint("/incident-preview", {
        name: "previewIncident",
        access: "read",
        summary: "Preview an incident on the default status page",
        body: IncidentDraft,
        data: IncidentPreview,
        errors: ["NOT_FOUND"],
        handle: ({ scope, body }) =>
          previewInTurn(dependencies, scope, () => previewIncident(scope, body)),
      }),
    )
    .get(
      ...endpoint("/incident-audience", {
        name: "getIncidentAudience",
        access: "read",
        summary: "List the channels and status pages that an incident would notify",
        query: IncidentAudienceQuery,
        data: IncidentAudience,
        errors: ["NOT_FOUND"],
        handle: ({ scope, query }) => audienceOf(scope, query),
      }),
    )
    .get(
      ...endpoint("/incidents/:id/traces", {
        name: "getIncidentTraces",
        access: "read",
        summary: "List the authors of an incident's updates, its changes and its recipients",
        data: IncidentTraces,
        handle: ({ scope, params }) => tracesOf(scope, params.id),
      }),
    );
