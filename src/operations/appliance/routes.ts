/** Routes of the About page, and of administration of the whole appliance. */
import { z } from "zod";
import { Deleted, deletedBody } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
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
  readFigures,
  createOwnedOrganization,
  grantAdministrator,
  listAdministrators,
  listOrganizationEntries,
  revokeAdministrator,
  createRunningContext,
} from "./service.ts";

/** Routes about the appliance as a whole. All except `/about` require an administrator. */
export const createApplianceRoutes = (
  dependencies: FigureDependencies & { smtpPort: number | null },
) =>
  createRouter("")
    .get(
      ...defineEndpoint("/about", {
        name: "getAbout",
        access: "read",
        limited: "denied",
        summary: "Get the version, how long it has been running, and what the organization has",
        data: About,
        handle: ({ scope }) => getAbout(scope, dependencies.smtpPort),
      }),
    )
    .get(
      ...defineEndpoint("/appliance", {
        name: "getApplianceFigures",
        access: "administrator",
        summary: "Get the totals of all organizations, and the state of the machines",
        data: ApplianceFigures,
        handle: ({ context }) => readFigures({ ...context, ...dependencies }),
      }),
    )
    .get(
      ...defineEndpoint("/organizations", {
        name: "listOrganizations",
        access: "administrator",
        summary: "List all organizations by name, with their record counts",
        data: z.array(OrganizationEntry),
        handle: ({ context }) => listOrganizationEntries(createRunningContext(context)),
      }),
    )
    .post(
      ...defineEndpoint("/organizations", {
        name: "foundOrganization",
        access: "administrator",
        summary: "Create an organization and own it",
        body: NewOrganization,
        data: OwnMembership,
        status: 201,
        isLocated: false,
        handle: ({ context, body }) => createOwnedOrganization(context, body),
      }),
    )
    .delete(
      ...defineEndpoint("/organizations/:id", {
        name: "deleteOrganization",
        access: "administrator",
        summary: "Delete an organization permanently, with all its data",
        response: Deleted,
        errors: ["CONFLICT"],
        handle: async ({ context, params }) => {
          await deleteOrganization(createRunningContext(context), params.id);
          return deletedBody;
        },
      }),
    )
    .get(
      ...defineEndpoint("/administrators", {
        name: "listAdministrators",
        access: "administrator",
        summary: "List the administrators of the appliance",
        data: z.array(Administrator),
        handle: ({ context }) => listAdministrators(createRunningContext(context)),
      }),
    )
    .post(
      ...defineEndpoint("/administrators", {
        name: "grantAdministrator",
        access: "administrator",
        summary: "Make a person an administrator of the appliance",
        body: NewAdministrator,
        data: Administrator,
        errors: ["NOT_FOUND", "CONFLICT"],
        handle: ({ context, body }) =>
          grantAdministrator(createRunningContext(context), body.personId),
      }),
    )
    .delete(
      ...defineEndpoint("/administrators/:id", {
        name: "revokeAdministrator",
        access: "administrator",
        summary: "Remove an administrator",
        description: "The last administrator can't be removed.",
        response: Deleted,
        errors: ["CONFLICT"],
        handle: async ({ context, params }) => {
          await revokeAdministrator(createRunningContext(context), params.id);
          return deletedBody;
        },
      }),
    );
