/** Lists all routes, and the dependencies that they declare. */
import { Elysia } from "elysia";
import { createImportRoutes } from "./imports/routes.ts";
import { createApplianceRoutes } from "./operations/appliance/routes.ts";
import { alertChannelRoutes } from "./alerting/channels/routes.ts";
import {
  onCallRoutes,
  scheduleDashboardRoutes,
  scheduleRoutes,
} from "./alerting/schedules/routes.ts";
import { createAlertSourceRoutes } from "./alerting/sources/routes.ts";
import { recordRoutes } from "./alerting/records/routes.ts";
import { createAlertRoutes } from "./alerting/routes.ts";
import { createDrillRoutes } from "./alerting/drills/routes.ts";
import { createContactMethodRoutes } from "./alerting/contact-methods/routes.ts";
import { escalationPolicyRoutes } from "./alerting/policies/routes.ts";
import { mailInvitation } from "./alerting/service.ts";
import { checkDashboardRoutes } from "./monitoring/checks/dashboard-routes.ts";
import {
  createTestMailRoutes,
  createTryChannelRoutes,
  webPushRoutes,
} from "./alerting/dashboard-routes.ts";
import { apiKeyRoutes } from "./accounts/api-keys/routes.ts";
import { auditLogRoutes } from "./operations/audit-log/routes.ts";
import { deletedRecordRoutes } from "./operations/deleted-records/routes.ts";
import { createBackupRoutes } from "./operations/backups/routes.ts";
import { configDashboardRoutes } from "./configuration/dashboard-routes.ts";
import { configRoutes } from "./configuration/routes.ts";
import { checkRoutes } from "./monitoring/checks/routes.ts";
import { createIncidentDashboardRoutes } from "./dashboard/incident-routes.ts";
import { problemRoutes } from "./dashboard/problem-routes.ts";
import { createDashboardRoutes } from "./dashboard/routes.ts";
import { settingsDashboardRoutes } from "./accounts/settings/dashboard-routes.ts";
import { incidentRoutes } from "./incidents/routes.ts";
import { incidentTemplateRoutes } from "./incidents/templates/routes.ts";
import { identityRoutes } from "./accounts/identities/routes.ts";
import { identityProviderRoutes } from "./accounts/identity-providers/routes.ts";
import { createInvitationRoutes } from "./accounts/invitations/routes.ts";
import { maintenanceDashboardRoutes } from "./monitoring/maintenance/dashboard-routes.ts";
import { maintenanceRoutes } from "./monitoring/maintenance/routes.ts";
import { groupDashboardRoutes } from "./monitoring/groups/dashboard-routes.ts";
import { monitorGroupRoutes } from "./monitoring/groups/routes.ts";
import { monitorDashboardRoutes } from "./monitoring/monitors/dashboard-routes.ts";
import { monitorRoutes } from "./monitoring/monitors/routes.ts";
import { organizationRoutes } from "./accounts/organizations/routes.ts";
import { peopleApiRoutes, peopleRoutes, profileRoutes } from "./accounts/people/routes.ts";
import { sessionRoutes } from "./accounts/sessions/routes.ts";
import { settingsRoutes } from "./accounts/settings/routes.ts";
import { trustedHeaderRoutes } from "./accounts/trusted-header/routes.ts";
import { createSingleSignOnRoutes } from "./accounts/single-sign-on/routes.ts";
import { findSignOutUrl } from "./accounts/single-sign-on/service.ts";
import { createSignInRoutes } from "./accounts/sign-in/routes.ts";
import { heldChangeRoutes } from "./http/held-changes/routes.ts";
import { createReportRoutes } from "./reports/routes.ts";
import { createStatusPageDashboardRoutes } from "./status-pages/dashboard-routes.ts";
import { statusPageRoutes } from "./status-pages/routes.ts";
import { createPublishingRoutes } from "./status-pages/publishing/routes.ts";
import { accessTokenRoutes } from "./status-pages/access-tokens/routes.ts";
import { subscriberRoutes } from "./status-pages/subscribers/routes.ts";
import { passkeyRoutes } from "./accounts/passkeys/routes.ts";
import { twoFactorRoutes } from "./accounts/two-factor/routes.ts";
import { jobDashboardRoutes, jobRoutes } from "./monitoring/pings/routes.ts";
import { uptimeRoutes } from "./monitoring/uptime/routes.ts";

/** Dependencies of all routes, which are declared by their features. */
export type ApiDependencies = Parameters<typeof checkRoutes>[0] &
  Parameters<typeof checkDashboardRoutes>[0] &
  Parameters<typeof createAlertRoutes>[0] &
  Parameters<typeof createContactMethodRoutes>[0] &
  Parameters<typeof createAlertSourceRoutes>[0] &
  Parameters<typeof createStatusPageDashboardRoutes>[0] &
  Parameters<typeof createPublishingRoutes>[0] &
  Parameters<typeof createDashboardRoutes>[0] &
  Pick<Parameters<typeof createSignInRoutes>[0], "setUp"> &
  Parameters<typeof createSingleSignOnRoutes>[0] &
  Parameters<typeof createBackupRoutes>[0] &
  Parameters<typeof createReportRoutes>[0] &
  Parameters<typeof createImportRoutes>[0] &
  Parameters<typeof createApplianceRoutes>[0];

/** Routes of people, organizations and sign-in without further dependencies. */
const accountRoutes = new Elysia({ name: "accounts" })
  .use(profileRoutes)
  .use(twoFactorRoutes)
  .use(passkeyRoutes)
  .use(sessionRoutes)
  .use(organizationRoutes)
  .use(peopleRoutes)
  .use(identityRoutes)
  .use(identityProviderRoutes);

/** Routes to sign in, by password or through a provider. */
const createEntranceRoutes = (dependencies: ApiDependencies) =>
  new Elysia({ name: "entrance" })
    .use(
      createSignInRoutes({
        ...dependencies,
        findSignOutUrl: (context) => findSignOutUrl(context, dependencies),
      }),
    )
    .use(createSingleSignOnRoutes(dependencies))
    .use(trustedHeaderRoutes);

const createAllStatusPageRoutes = (dependencies: ApiDependencies) =>
  new Elysia({ name: "status-pages" })
    .use(statusPageRoutes)
    .use(accessTokenRoutes)
    .use(createPublishingRoutes(dependencies))
    .use(subscriberRoutes);

export function createRoutes(dependencies: ApiDependencies) {
  /** Routes of `/api/v1`, which the OpenAPI document describes. */
  const api = new Elysia({ name: "api" })
    .use(incidentRoutes)
    .use(incidentTemplateRoutes)
    .use(heldChangeRoutes)
    .use(maintenanceRoutes)
    .use(monitorGroupRoutes)
    .use(monitorRoutes)
    .use(uptimeRoutes)
    .use(jobRoutes)
    .use(checkRoutes(dependencies))
    .use(alertChannelRoutes)
    .use(createAlertSourceRoutes(dependencies))
    .use(recordRoutes)
    .use(createAlertRoutes(dependencies))
    .use(scheduleRoutes)
    .use(onCallRoutes)
    .use(escalationPolicyRoutes)
    .use(createDrillRoutes(dependencies))
    .use(createContactMethodRoutes(dependencies))
    .use(peopleApiRoutes)
    .use(createAllStatusPageRoutes(dependencies))
    .use(createReportRoutes(dependencies))
    .use(deletedRecordRoutes)
    .use(settingsRoutes)
    .use(configRoutes);
  /** Routes of the admin page. They include those of `/api/v1`, with a session instead of a key. */
  const dashboard = new Elysia({ name: "dashboard", prefix: "/dashboard" })
    .use(api)
    .use(groupDashboardRoutes)
    .use(maintenanceDashboardRoutes)
    .use(scheduleDashboardRoutes)
    .use(monitorDashboardRoutes)
    .use(checkDashboardRoutes(dependencies))
    .use(jobDashboardRoutes)
    .use(createStatusPageDashboardRoutes(dependencies))
    .use(settingsDashboardRoutes)
    .use(createDashboardRoutes(dependencies))
    .use(problemRoutes)
    .use(createIncidentDashboardRoutes(dependencies))
    .use(createEntranceRoutes(dependencies))
    .use(accountRoutes)
    .use(
      createInvitationRoutes({
        ...dependencies,
        mailInvitation: (scope, invitation) => mailInvitation(scope, dependencies, invitation),
      }),
    )
    .use(apiKeyRoutes)
    .use(auditLogRoutes)
    .use(createTestMailRoutes(dependencies))
    .use(createTryChannelRoutes(dependencies))
    .use(webPushRoutes)
    .use(createBackupRoutes(dependencies))
    .use(createImportRoutes(dependencies))
    .use(configDashboardRoutes)
    .use(createApplianceRoutes(dependencies));
  return { api, dashboard };
}

type Routes = ReturnType<typeof createRoutes>;
export type Api = Routes["api"];

/** Types of paths, queries, bodies and responses, for the client of the admin page. */
export type App = Routes["dashboard"];

/** Lists the routes without their dependencies, as for the OpenAPI document. */
export const listRoutes = () => createRoutes({} as ApiDependencies);
