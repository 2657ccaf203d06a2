/** Routes of incidents and their timelines. */
import { z } from "zod";
import { Deleted, pageSchema } from "../core/paging.ts";
import { HoldQuery } from "../http/held-changes/schema.ts";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import {
  Incident,
  IncidentNote,
  IncidentPatch,
  IncidentQuery,
  IncidentSummary,
  IncidentUpdatePatch,
  IncidentUpdateRevision,
  NewIncident,
  NewIncidentNote,
  PostmortemPatch,
} from "./schema.ts";
import {
  addNote,
  deleteIncident,
  deleteNote,
  deletePostmortem,
  editUpdate,
  getIncident,
  listIncidents,
  listRevisions,
  openIncident,
  updateIncident,
  updatePostmortem,
} from "./service.ts";

export const incidentRoutes = createRouter("/api/v1/incidents")
  .get(
    ...defineEndpoint("/", {
      name: "listIncidents",
      access: "read",
      limited: "filtered",
      cached: true,
      summary: "List incidents",
      description: "Newest first; without their timelines.",
      query: IncidentQuery,
      response: pageSchema(IncidentSummary),
      handle: ({ scope, query }) => listIncidents(scope, query),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "openIncident",
      access: "write",
      limited: "filtered",
      summary: "Open an incident",
      description: "Its first update, with status `investigating`, is posted with it.",
      query: HoldQuery,
      body: NewIncident,
      data: Incident,
      status: 201,
      errors: ["NOT_FOUND"],
      handle: ({ scope, body }) => openIncident(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getIncident",
      access: "read",
      limited: "incident",
      cached: true,
      summary: "Get an incident with its timeline",
      data: Incident,
      handle: ({ scope, params }) => getIncident(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateIncident",
      access: "write",
      limited: "incident",
      summary: "Post a status update",
      description:
        "With `status` or `message` it adds one update to the timeline: without `status` the current one is repeated, without `message` a default is used. `title`, `severity` and `public` correct the record and alone add no update.",
      query: HoldQuery,
      body: IncidentPatch,
      data: Incident,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateIncident(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteIncident",
      access: "write",
      limited: "incident",
      summary: "Delete an incident with its timeline",
      query: HoldQuery,
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteIncident(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id/updates/:updateId", {
      name: "editIncidentUpdate",
      access: "write",
      limited: "incident",
      summary: "Edit the text of an update",
      description:
        "Status pages show that it was edited; no one is notified. The earlier text is stored.",
      body: IncidentUpdatePatch,
      data: Incident,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => editUpdate(scope, params.id, params.updateId, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id/updates/:updateId/revisions", {
      name: "listIncidentUpdateRevisions",
      access: "read",
      limited: "incident",
      cached: true,
      summary: "List the earlier texts of an update",
      description: "Oldest first.",
      data: z.array(IncidentUpdateRevision),
      handle: ({ scope, params }) => listRevisions(scope, params.id, params.updateId),
    }),
  )
  .patch(
    ...defineEndpoint("/:id/postmortem", {
      name: "updateIncidentPostmortem",
      access: "write",
      limited: "incident",
      summary: "Write or publish the postmortem of an incident",
      description:
        "A draft until it is `published`. Publishing before the incident is resolved is a conflict. `notify` notifies the subscribers of status pages.",
      query: HoldQuery,
      body: PostmortemPatch,
      data: Incident,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updatePostmortem(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/postmortem", {
      name: "deleteIncidentPostmortem",
      access: "write",
      limited: "incident",
      summary: "Delete the postmortem of an incident",
      query: HoldQuery,
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deletePostmortem(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/:id/notes", {
      name: "addIncidentNote",
      access: "write",
      limited: "incident",
      summary: "Add an internal note to an incident",
      description: "Visible only to people who can read the incident. No one is notified.",
      body: NewIncidentNote,
      data: IncidentNote,
      status: 201,
      isLocated: false,
      handle: ({ scope, params, body }) => addNote(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/notes/:noteId", {
      name: "deleteIncidentNote",
      access: "write",
      limited: "incident",
      summary: "Delete an internal note",
      query: HoldQuery,
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteNote(scope, params.id, params.noteId),
    }),
  )
  .post(
    ...defineEndpoint("/:id/resolve", {
      name: "resolveIncident",
      access: "write",
      limited: "incident",
      summary: "Resolve an incident",
      description: "The same as a PATCH to `resolved` with the message “Incident resolved.”",
      query: HoldQuery,
      data: Incident,
      handle: ({ scope, params }) => updateIncident(scope, params.id, { status: "resolved" }),
    }),
  );
