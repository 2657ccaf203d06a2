import { Elysia } from "elysia";
import { dataOf, Deleted, deleted, pageOf } from "../core/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import { Incident, IncidentPatch, IncidentQuery, IncidentSummary, NewIncident } from "./schema.ts";
import {
  deleteIncident,
  getIncident,
  listIncidents,
  openIncident,
  resolveIncident,
  updateIncident,
} from "./service.ts";

export const incidentRoutes = new Elysia({ prefix: "/api/v1/incidents" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listIncidents",
        access: "read",
        cached: true,
        summary: "List incidents",
        description: "Newest first; without their timelines.",
        query: IncidentQuery,
        answer: pageOf(IncidentSummary),
      },
      ({ scope, query }) => listIncidents(scope, query),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "openIncident",
        access: "write",
        summary: "Open an incident",
        description: "Its first update, with status `investigating`, is posted with it.",
        body: NewIncident,
        answer: dataOf(Incident),
        status: 201,
        errors: ["NOT_FOUND"],
      },
      async ({ scope, body }) => ({ data: await openIncident(scope, body) }),
    ),
  )
  .get(
    "/:id",
    ...endpoint(
      {
        name: "getIncident",
        access: "read",
        cached: true,
        summary: "Get an incident with its timeline",
        answer: dataOf(Incident),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await getIncident(scope, id) }),
    ),
  )
  .patch(
    "/:id",
    ...endpoint(
      {
        name: "updateIncident",
        access: "write",
        summary: "Post a status update",
        description:
          "With `status` or `message` it adds one update to the timeline: without `status` the current one is repeated, without `message` a default is used. `title`, `severity` and `public` correct the record and alone add no update.",
        body: IncidentPatch,
        answer: dataOf(Incident),
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, id, body }) => ({ data: await updateIncident(scope, id, body) }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "deleteIncident",
        access: "write",
        summary: "Delete an incident with its timeline",
        answer: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, id }) => {
        await deleteIncident(scope, id);
        return deleted;
      },
    ),
  )
  .post(
    "/:id/resolve",
    ...endpoint(
      {
        name: "resolveIncident",
        access: "write",
        summary: "Resolve an incident",
        description: "The same as a PATCH to `resolved` with the message “Incident resolved.”",
        answer: dataOf(Incident),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await resolveIncident(scope, id) }),
    ),
  );
