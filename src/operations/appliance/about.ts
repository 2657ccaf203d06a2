import { eq } from "drizzle-orm";
import { version } from "../../core/assets.ts";
import type { Scope } from "../../events/scope.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { apiKeys, memberships } from "../../database/tables/accounts.ts";
import { incidentCounts } from "../../database/tables/incidents.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { statusPages } from "../../database/tables/status-pages.ts";
import type { About } from "./schema.ts";

/** Counts the organization's records for the About page. */
export async function getAbout(
  { store, organizationId }: Scope,
  smtpPort: number | null,
): Promise<About> {
  const countRows = (
    table:
      | typeof alertChannels
      | typeof apiKeys
      | typeof memberships
      | typeof monitorGroups
      | typeof monitors
      | typeof statusPages,
  ) => store.db.$count(table, eq(table.organizationId, organizationId));
  const incidents = await store.db
    .select({ count: incidentCounts.count })
    .from(incidentCounts)
    .where(eq(incidentCounts.organizationId, organizationId));
  return {
    version,
    startedAt: formatTimestamp(Math.round(performance.timeOrigin)),
    smtpPort,
    counts: {
      monitors: await countRows(monitors),
      monitorGroups: await countRows(monitorGroups),
      incidents: incidents.reduce((sum, { count }) => sum + count, 0),
      alertChannels: await countRows(alertChannels),
      statusPages: await countRows(statusPages),
      people: await countRows(memberships),
      apiKeys: await countRows(apiKeys),
    },
  };
}
