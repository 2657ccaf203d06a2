import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { NewOrganization } from "../../accounts/organizations/schema.ts";
import { OwnMembership } from "../../accounts/people/schema.ts";
import { Administrator, ApplianceFigures, NewAdministrator, OrganizationEntry } from "./schema.ts";
import {
  deleteOrganization,
  figuresOf,
  foundOrganization,
  grantAdministrator,
  listAdministrators,
  listOrganizationEntries,
  revokeAdministrator,
  runningBy,
} from "./service.ts";

/** What concerns the appliance as a whole: for its administrators alone. */
export const applianceRoutes = new Elysia()
  .get(
    "/appliance",
    ...endpoint(
      {
        name: "getApplianceFigures",
        access: "administrator",
        summary: "Get how much there is in all organizations together",
        answer: dataOf(ApplianceFigures),
      },
      async ({ visit }) => ({ data: await figuresOf(runningBy(visit)) }),
    ),
  )
  .get(
    "/organizations",
    ...endpoint(
      {
        name: "listOrganizations",
        access: "administrator",
        summary: "List all organizations by name, with how much there is of each",
        answer: dataOf(z.array(OrganizationEntry)),
      },
      async ({ visit }) => ({ data: await listOrganizationEntries(runningBy(visit)) }),
    ),
  )
  .post(
    "/organizations",
    ...endpoint(
      {
        name: "foundOrganization",
        access: "administrator",
        summary: "Make a further organization and own it",
        body: NewOrganization,
        answer: dataOf(OwnMembership),
        status: 201,
        isLocated: false,
      },
      async ({ visit, body }) => ({ data: await foundOrganization(visit, body.name) }),
    ),
  )
  .delete(
    "/organizations/:id",
    ...endpoint(
      {
        name: "deleteOrganization",
        access: "administrator",
        summary: "Delete an organization with everything in it, for good",
        answer: Deleted,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ visit, id }) => {
        await deleteOrganization(runningBy(visit), id);
        return deleted;
      },
    ),
  )
  .get(
    "/administrators",
    ...endpoint(
      {
        name: "listAdministrators",
        access: "administrator",
        summary: "List who runs the appliance",
        answer: dataOf(z.array(Administrator)),
      },
      async ({ visit }) => ({ data: await listAdministrators(runningBy(visit)) }),
    ),
  )
  .post(
    "/administrators",
    ...endpoint(
      {
        name: "grantAdministrator",
        access: "administrator",
        summary: "Make somebody an administrator of the appliance",
        body: NewAdministrator,
        answer: dataOf(Administrator),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ visit, body }) => ({
        data: await grantAdministrator(runningBy(visit), body.personId),
      }),
    ),
  )
  .delete(
    "/administrators/:id",
    ...endpoint(
      {
        name: "revokeAdministrator",
        access: "administrator",
        summary: "Take that from an administrator, or from oneself",
        description: "Not from the last one.",
        answer: Deleted,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ visit, id }) => {
        await revokeAdministrator(runningBy(visit), id);
        return deleted;
      },
    ),
  );
