import { Elysia } from "elysia";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { OrganizationPatch, OrganizationRecord } from "./schema.ts";
import { getOwnOrganization, updateOrganization } from "./service.ts";

export const organizationRoutes = new Elysia({ prefix: "/organization" })
  .get(
    "/",
    ...endpoint(
      {
        name: "getOrganization",
        access: "read",
        cached: true,
        summary: "Get the organization",
        answer: dataOf(OrganizationRecord),
      },
      async ({ scope }) => ({ data: await getOwnOrganization(scope) }),
    ),
  )
  .patch(
    "/",
    ...endpoint(
      {
        name: "updateOrganization",
        access: "write",
        role: "admin",
        summary: "Rename the organization, or set its time zone",
        body: OrganizationPatch,
        answer: dataOf(OrganizationRecord),
        errors: ["PRECONDITION_FAILED"],
      },
      async ({ scope, body }) => ({ data: await updateOrganization(scope, body) }),
    ),
  );
