import { Elysia } from "elysia";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { OrganizationPatch, OrganizationRecord } from "./schema.ts";
import { getOwnOrganization, updateOrganization } from "./service.ts";

export const organizationRoutes = new Elysia({ prefix: "/organization" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "getOrganization",
        access: "read",
        cached: true,
        summary: "Get the organization",
        response: dataOf(OrganizationRecord),
      },
      async ({ scope }) => ({ data: await getOwnOrganization(scope) }),
    ),
  )
  .patch(
    ...endpoint(
      "/",
      {
        name: "updateOrganization",
        access: "write",
        role: "admin",
        summary: "Rename the organization, or set its time zone",
        body: OrganizationPatch,
        response: dataOf(OrganizationRecord),
        errors: ["PRECONDITION_FAILED"],
      },
      async ({ scope, body }) => ({ data: await updateOrganization(scope, body) }),
    ),
  );
