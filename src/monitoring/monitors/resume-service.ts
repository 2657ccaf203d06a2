/** Resumes monitors whose pause has an end, once that time is reached. */
import { LeaseLost } from "../../cluster/leases.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import type { Log } from "../../core/log.ts";
import { buildScope, type ScopeServices, system } from "../../events/scope.ts";
import type { Store } from "../../database/store.ts";

/** Maximum monitors of an organization in one write. Organizations take turns. */
const monitorsPerWrite = 500;

/**
 * Resumes all monitors whose pause is over, as an ordinary change by the system. Failed writes are tried again at the
 * next call. Throws LeaseLost.
 */
export async function resumeDueMonitors(services: ScopeServices, log: Log): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const due = await findEndedPauses(services.store, formatTimestamp(services.clock()));
    const turns = [...due].filter(([organizationId]) => !failed.has(organizationId));
    if (turns.length === 0) return;
    const { resumeMonitors } = await import("./bulk-service.ts");
    for (const [organizationId, ids] of turns) {
      const scope = buildScope(services, organizationId, system);
      await resumeMonitors(scope, ids).catch((error: unknown) => {
        if (error instanceof LeaseLost) throw error;
        failed.add(organizationId);
        log.error("monitors can't be resumed at the end of their pause", { cause: String(error) });
      });
    }
    await yieldToEventLoop();
  }
}

/** Selects the first ended pauses of each organization. The index starts with the organization. */
const dueSql = `with recursive o(id) as (
    select min(organization_id) from monitors indexed by monitors_by_pause_end
      where paused_until is not null
    union all select (select min(organization_id) from monitors indexed by monitors_by_pause_end
      where paused_until is not null and organization_id > o.id)
    from o where o.id is not null)
  select o.id as organizationId, m.id
  from o join organizations g on g.id = o.id and g.deleted_at is null
    cross join monitors m on m.organization_id = o.id and m.id in (
      select id from monitors indexed by monitors_by_pause_end
      where organization_id = o.id and paused_until <= ?1 order by paused_until limit ?2)`;

/** Returns the IDs of monitors whose pause has ended, by organization. */
async function findEndedPauses(store: Store, at: string): Promise<Map<string, string[]>> {
  const rows = await store.query<{ organizationId: string; id: string }>(dueSql, [
    at,
    monitorsPerWrite,
  ]);
  const byOrganization = Map.groupBy(rows, ({ organizationId }) => organizationId);
  return new Map([...byOrganization].map(([id, own]) => [id, own.map((one) => one.id)]));
}
