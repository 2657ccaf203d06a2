import type { Prepared } from "../../database/store.ts";
import type { EventType } from "../../events/catalogue.ts";

/** States that don't know yet whether their monitor is paused now, by itself or with its group. */
const turned = (among: string) => `monitor_states where organization_id = ?1 ${among}
  and paused <> (select m.paused or coalesce(g.paused, 0) from monitors m
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
    where m.organization_id = ?1 and m.id = monitor_states.monitor_id)`;

const paused: EventType = "monitor.paused";
const resumed: EventType = "monitor.resumed";

const textsFor = (among: string) => [
  `insert into events (organization_id, at, type, subject_id)
    select ?1, ?2, case when paused then '${resumed}' else '${paused}' end, monitor_id
    from ${turned(among)}`,
  `update monitor_states
    set paused = not paused, status = 'pending', since = ?2, failures = 0, epoch = epoch + 1
    where key in (select key from ${turned(among)})`,
];
const ofAll = textsFor("");
const ofSome = textsFor("and monitor_id in (select value from json_each(?3))");

/**
 * Has states follow the pauses that this write has changed, whichever way: of a monitor, of its group,
 * or because it came into a group or left one. Who is paused or resumed is to be checked anew, and what
 * a check under way finds is void. Belongs last into every such write; `monitorIds` are those it may
 * concern, null for all of the organization.
 */
export function followPauses(
  organizationId: string,
  at: string,
  monitorIds: readonly string[] | null = null,
): Prepared[] {
  const shared = [organizationId, at];
  return monitorIds === null
    ? ofAll.map((text) => ({ text, parameters: shared }))
    : ofSome.map((text) => ({ text, parameters: [...shared, JSON.stringify(monitorIds)] }));
}
