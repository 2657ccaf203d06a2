import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { OrganizationPatch, OrganizationRecord } from "./schema.ts";
import { getOwnOrganization, updateOrganization } from "./service.ts";

export const organizationRoutes = createRouter("/organization")
  .get(
    ...defineEndpoint("/", {
      name: "getOrganization",
      access: "read",
      limited: "unrelated",
      cached: true,
      summary: "Get the organization",
      data: OrganizationRecord,
      handle: ({ scope }) => getOwnOrganization(scope),
    }),
  )
  .patch(
    ...defineEndpoint("/", {
      name: "updateOrganization",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Rename the organization, or set its time zone and uptime target",
      body: OrganizationPatch,
      data: OrganizationRecord,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, body }) => updateOrganization(scope, body),
    }),
  );
