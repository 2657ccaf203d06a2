/** Routes of the About page, and of administration of the whole appliance. */
import { z } from "zod";
import { Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { NewOrganization } from "../../accounts/organizations/schema.ts";
import { OwnMembership } from "../../accounts/people/schema.ts";
import { getAbout } from "./about.ts";
import {
  About,
  Administrator,
  ApplianceFigures,
  NewAdministrator,
  OrganizationEntry,
} from "./schema.ts";
import {
  deleteOrganization,
  type FigureDependencies,
  figuresOf,
  foundOrganization,
  grantAdministrator,
  listAdministrators,
  listOrganizationEntries,
  revokeAdministrator,
  runningBy,
} from "./service.ts";

/** Routes about the appliance as a whole. All except `/about` require an administrator. */
export const applianceRoutes = (dependencies: FigureDependencies) =>
  routesUnder("")
    .get(
      ...endpoint("/about", {
        name: "getAbout",
        access: "read",
        summary: "Get the version, how long it has been running, and what the organization has",
        data: About,
        handle: ({ scope }) => getAbout(scope),
      }),
    )
    .get(
      ...endpoint("/appliance", {
        name: "getApplianceFigures",
        access: "administrator",
        summary: "Get the totals of all organizations, and the state of the machines",
        data: ApplianceFigures,
        handle: ({ context }) => figuresOf({ ...context, ...dependencies }),
      }),
    )
    .get(
      ...endpoint("/organizations", {
        name: "listOrganizations",
        access: "administrator",
        summary: "List all organizations by name, with their record counts",
        data: z.array(OrganizationEntry),
        handle: ({ context }) => listOrganizationEntries(runningBy(context)),
      }),
    )
    .post(
      ...endpoint("/organizations", {
        name: "foundOrganization",
        access: "administrator",
        summary: "Create an organization and own it",
        body: NewOrganization,
        data: OwnMembership,
        status: 201,
        isLocated: false,
        handle: ({ context, body }) => foundOrganization(context, body),
      }),
    )
    .delete(
      ...endpoint("/organizations/:id", {
        name: "deleteOrganization",
        access: "administrator",
        summary: "Delete an organization permanently, with all its data",
        response: Deleted,
        errors: ["CONFLICT"],
        handle: async ({ context, params }) => {
          await deleteOrganization(runningBy(context), params.id);
          return deleted;
        },
      }),
    )
    .get(
      ...endpoint("/administrators", {
        name: "listAdministrators",
        access: "administrator",
        summary: "List the administrators of the appliance",
        data: z.array(Administrator),
        handle: ({ context }) => listAdministrators(runningBy(context)),
      }),
    )
    .post(
      ...endpoint("/administrators", {
        name: "grantAdministrator",
        access: "administrator",
        summary: "Make a person an administrator of the appliance",
        body: NewAdministrator,
        data: Administrator,
        errors: ["NOT_FOUND", "CONFLICT"],
        handle: ({ context, body }) => grantAdministrator(runningBy(context), body.personId),
      }),
    )
    .delete(
      ...endpoint("/administrators/:id", {
        name: "revokeAdministrator",
        access: "administrator",
        summary: "Remove an administrator",
        description: "The last administrator can't be removed.",
        response: Deleted,
        errors: ["CONFLICT"],
        handle: async ({ context, params }) => {
          await revokeAdministrator(runningBy(context), params.id);
          return deleted;
        },
      }),
    );
