/** Routes of incident templates. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { IncidentTemplate, IncidentTemplatePatch, NewIncidentTemplate } from "./schema.ts";
import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  updateTemplate,
} from "./service.ts";

export const incidentTemplateRoutes = createRouter("/api/v1/incident-templates")
  .get(
    ...defineEndpoint("/", {
      name: "listIncidentTemplates",
      access: "read",
      limited: "unrelated",
      cached: ["incident_templates"],
      long: true,
      summary: "List incident templates",
      description: "All of them, by name.",
      data: z.array(IncidentTemplate),
      handle: ({ scope }) => listTemplates(scope),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createIncidentTemplate",
      access: "write",
      limited: "denied",
      summary: "Create an incident template",
      body: NewIncidentTemplate,
      data: IncidentTemplate,
      status: 201,
      errors: ["CONFLICT"],
      handle: ({ scope, body }) => createTemplate(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getIncidentTemplate",
      access: "read",
      limited: "unrelated",
      cached: ["incident_templates"],
      summary: "Get an incident template",
      data: IncidentTemplate,
      handle: ({ scope, params }) => getTemplate(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateIncidentTemplate",
      access: "write",
      limited: "denied",
      summary: "Change an incident template",
      body: IncidentTemplatePatch,
      data: IncidentTemplate,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateTemplate(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteIncidentTemplate",
      access: "write",
      limited: "denied",
      summary: "Delete an incident template",
      query: HoldQuery,
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteTemplate(scope, params.id),
    }),
  );
