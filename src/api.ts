import { Elysia } from "elysia";
import { aboutRoutes } from "./operations/about/routes.ts";
import { importRoutes } from "./imports/routes.ts";
import { applianceRoutes } from "./operations/appliance/routes.ts";
import { alertChannelRoutes } from "./alerting/channels/routes.ts";
import { alertRoutes } from "./alerting/routes.ts";
import { checkDashboardRoutes } from "./monitoring/checks/dashboard-routes.ts";
import { testMailRoutes, tryChannelRoutes } from "./alerting/dashboard-routes.ts";
import { apiKeyRoutes } from "./accounts/api-keys/routes.ts";
import { auditLogRoutes } from "./operations/audit-log/routes.ts";
import { backupRoutes } from "./operations/backups/routes.ts";
import { configDashboardRoutes } from "./configuration/dashboard-routes.ts";
import { configRoutes } from "./configuration/routes.ts";
import { checkRoutes } from "./monitoring/checks/routes.ts";
import { incidentDashboardRoutes } from "./dashboard/incident-routes.ts";
import { problemRoutes } from "./dashboard/problem-routes.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { settingsDashboardRoutes } from "./accounts/settings/dashboard-routes.ts";
import { incidentRoutes } from "./incidents/routes.ts";
import { incidentTemplateRoutes } from "./incidents/templates/routes.ts";
import { invitationRoutes } from "./accounts/invitations/routes.ts";
import { maintenanceRoutes } from "./monitoring/maintenance/routes.ts";
import { groupDashboardRoutes } from "./monitoring/groups/dashboard-routes.ts";
import { monitorGroupRoutes } from "./monitoring/groups/routes.ts";
import { monitorDashboardRoutes } from "./monitoring/monitors/dashboard-routes.ts";
import { monitorRoutes } from "./monitoring/monitors/routes.ts";
import { organizationRoutes } from "./accounts/organizations/routes.ts";
import { peopleRoutes, profileRoutes } from "./accounts/people/routes.ts";
import { sessionRoutes } from "./accounts/sessions/routes.ts";
import { settingsRoutes } from "./accounts/settings/routes.ts";
import { signInRoutes } from "./accounts/sign-in/routes.ts";
import { reportRoutes } from "./reports/routes.ts";
import { statusPageDashboardRoutes } from "./status-pages/dashboard-routes.ts";
import { statusPageRoutes } from "./status-pages/routes.ts";
import { subscriberRoutes } from "./status-pages/subscribers/routes.ts";
import { twoFactorRoutes } from "./accounts/two-factor/routes.ts";
import { uptimeRoutes } from "./monitoring/uptime/routes.ts";

/** Every resource of `/api/v1`; the OpenAPI document (`document.ts`) is made from these routes. */
export const api = new Elysia({ name: "api" })
  .use(incidentRoutes)
  .use(incidentTemplateRoutes)
  .use(maintenanceRoutes)
  .use(monitorGroupRoutes)
  .use(monitorRoutes)
  .use(uptimeRoutes)
  .use(checkRoutes)
  .use(alertChannelRoutes)
  .use(alertRoutes)
  .use(statusPageRoutes)
  .use(subscriberRoutes)
  .use(reportRoutes)
  .use(settingsRoutes)
  .use(configRoutes);

/** Everything the admin page asks for: its own routes, and those of `/api/v1` with a session in a key's place. */
export const dashboard = new Elysia({ name: "dashboard", prefix: "/dashboard" })
  .use(api)
  .use(groupDashboardRoutes)
  .use(monitorDashboardRoutes)
  .use(checkDashboardRoutes)
  .use(statusPageDashboardRoutes)
  .use(settingsDashboardRoutes)
  .use(dashboardRoutes)
  .use(problemRoutes)
  .use(incidentDashboardRoutes)
  .use(signInRoutes)
  .use(profileRoutes)
  .use(twoFactorRoutes)
  .use(sessionRoutes)
  .use(organizationRoutes)
  .use(peopleRoutes)
  .use(invitationRoutes)
  .use(apiKeyRoutes)
  .use(auditLogRoutes)
  .use(testMailRoutes)
  .use(tryChannelRoutes)
  .use(backupRoutes)
  .use(importRoutes)
  .use(configDashboardRoutes)
  .use(applianceRoutes)
  .use(aboutRoutes);

/** Its paths, queries, bodies and answers, for the admin page's client. */
export type App = typeof dashboard;
