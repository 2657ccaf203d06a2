import { alertsApi } from "./opsgenie.ts";

/**
 * Operations of Jira Service Management, where Opsgenie has gone: the same keys and bodies at one address
 * for all regions.
 * https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/
 */
export const jsm = alertsApi<"jsm">(
  "Jira Service Management",
  () => "https://api.atlassian.com/jsm/ops/integration/v2/alerts",
);
