import { eq } from "drizzle-orm";
import { version } from "../../core/assets.ts";
import type { Scope } from "../../events/scope.ts";
import { timestamp } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { apiKeys, memberships } from "../../database/tables/accounts.ts";
import { incidentCounts } from "../../database/tables/incidents.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { statusPages } from "../../database/tables/status-pages.ts";
import type { About } from "./schema.ts";

export async function aboutAppliance({ store, organizationId }: Scope): Promise<About> {
  const countOf = (
    table:
      | typeof alertChannels
      | typeof apiKeys
      | typeof memberships
      | typeof monitorGroups
      | typeof monitors
      | typeof statusPages,
  ) => store.db.$count(table, eq(table.organizationId, organizationId));
  return {
    version,
    startedAt: timestamp(Math.round(performance.timeOrigin)),
    counts: {
      monitors: await countOf(monitors),
      monitorGroups: await countOf(monitorGroups),
      incidents: await incidentsOf(store, organizationId),
      alertChannels: await countOf(alertChannels),
      statusPages: await countOf(statusPages),
      people: await countOf(memberships),
      apiKeys: await countOf(apiKeys),
    },
  };
}

async function incidentsOf(store: Store, organizationId: string): Promise<number> {
  const rows = await store.db
    .select({ count: incidentCounts.count })
    .from(incidentCounts)
    .where(eq(incidentCounts.organizationId, organizationId));
  return rows.reduce((sum, { count }) => sum + count, 0);
}
