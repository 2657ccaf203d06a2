import { Elysia } from "elysia";
import { dataOf } from "../core/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import { previewInTurn } from "../status-pages/preview-service.ts";
import {
  IncidentAudience,
  IncidentAudienceQuery,
  IncidentDraft,
  IncidentPreview,
  IncidentTraces,
} from "./incident-schema.ts";
import { audienceOf, previewIncident, tracesOf } from "./incident-service.ts";

export const incidentDashboardRoutes = new Elysia()
  .post(
    "/incident-preview",
    ...endpoint(
      {
        name: "previewIncident",
        access: "read",
        summary: "An incident as the default status page would show it",
        body: IncidentDraft,
        answer: dataOf(IncidentPreview),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, body, appliance }) => ({
        data: await previewInTurn(appliance, scope, () => previewIncident(scope, body)),
      }),
    ),
  )
  .get(
    "/incident-audience",
    ...endpoint(
      {
        name: "getIncidentAudience",
        access: "read",
        summary: "Who would be told of an incident",
        query: IncidentAudienceQuery,
        answer: dataOf(IncidentAudience),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, query }) => ({ data: await audienceOf(scope, query) }),
    ),
  )
  .get(
    "/incidents/:id/traces",
    ...endpoint(
      {
        name: "getIncidentTraces",
        access: "read",
        summary: "Who posted to an incident, and who was told of it",
        answer: dataOf(IncidentTraces),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await tracesOf(scope, id) }),
    ),
  );
