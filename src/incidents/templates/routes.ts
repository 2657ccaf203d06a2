/** Routes of incident templates. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { IncidentTemplate, IncidentTemplatePatch, NewIncidentTemplate } from "./schema.ts";
import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  updateTemplate,
} from "./service.ts";

export const incidentTemplateRoutes = routesUnder("/api/v1/incident-templates")
  .get(
    ...endpoint("/", {
      name: "listIncidentTemplates",
      access: "read",
      cached: ["incident_templates"],
      long: true,
      summary: "List incident templates",
      description: "All of them, by name.",
      data: z.array(IncidentTemplate),
      handle: ({ scope }) => listTemplates(scope),
    }),
  )
  .post(
    ...endpoint("/", {
      name: "createIncidentTemplate",
      access: "write",
      summary: "Create an incident template",
      body: NewIncidentTemplate,
      data: IncidentTemplate,
      status: 201,
      errors: ["CONFLICT"],
      handle: ({ scope, body }) => createTemplate(scope, body),
    }),
  )
  .get(
    ...endpoint("/:id", {
      name: "getIncidentTemplate",
      access: "read",
      cached: ["incident_templates"],
      summary: "Get an incident template",
      data: IncidentTemplate,
      handle: ({ scope, params }) => getTemplate(scope, params.id),
    }),
  )
  .patch(
    ...endpoint("/:id", {
      name: "updateIncidentTemplate",
      access: "write",
      summary: "Change an incident template",
      body: IncidentTemplatePatch,
      data: IncidentTemplate,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateTemplate(scope, params.id, body),
    }),
  )
  .delete(
    ...endpoint("/:id", {
      name: "deleteIncidentTemplate",
      access: "write",
      summary: "Delete an incident template",
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteTemplate(scope, params.id),
    }),
  );
