/** Drops messages that quiet hours hold, when their alert ends or a person takes care of it. */
import { alertBounds } from "../../core/limits.ts";
import type { Prepared } from "../../database/store.ts";
import { contactMethodName } from "../../database/subject-names.ts";
import type { Ending } from "./rules.ts";

/** Why a held message is not sent. `unwanted`: its channel is no longer notified of the alert. */
export type DropReason = Ending | "acknowledged" | "snoozed" | "unwanted";

const describeReason = (reason: DropReason): string => {
  if (reason === "recovered") return "The problem was over";
  if (reason === "unwanted") return "The channel was no longer notified of the alert";
  if (reason === "acknowledged" || reason === "snoozed") return `The alert was ${reason}`;
  return "The alert ended";
};

/**
 * The held messages about the alerts `?2`, or only the messages `?4` to the channel `?5`. An acknowledgment drops only those to
 * contact methods of people.
 */
const heldSql = `from json_each(?2) w
    cross join alerts a on a.organization_id = ?1 and a.record_id = w.value
      and (?4 is null or a.id in (select value from json_each(?4)))
    cross join delivery_alerts t on t.organization_id = ?1 and t.alert_id = a.id and not t.withheld
    cross join deliveries d on d.organization_id = ?1 and d.id = t.delivery_id
      and d.due_at is not null and d.quiet
    cross join alert_channels c on c.organization_id = ?1 and c.id = d.receiver_id
      and (?3 <> 'acknowledged' or c.person_id is not null or a.type = 'drill')
      and (?5 = '' or c.id = ?5)`;

const entriesSql = `insert into alert_timeline (organization_id, record_id, at, type, message)
  select distinct ?1, a.record_id, ?6, 'held', ?7 || ' before the quiet hours of '
    || ${contactMethodName}
    || ' ended, so the held message is not sent.'
  ${heldSql} left join people p on p.id = c.person_id
  where (select count(*) from alert_timeline e
    where e.organization_id = ?1 and e.record_id = a.record_id) < ${alertBounds.entries.value}`;

/** Channels that only know the problem from held messages must be notified if it returns. */
const forgetSql = `update open_alerts set notifications = (
    select json_group_array(json(n.value)) from json_each(notifications) n
    where n.value ->> 0 not in (select d.id ${heldSql}))
  where organization_id = ?1 and subject_id in (select r.subject_id from json_each(?2) w
      cross join alert_records r on r.organization_id = ?1 and r.id = w.value)
    and channel_id in (select d.receiver_id ${heldSql})`;

const withholdSql = `update delivery_alerts set withheld = 1
  where organization_id = ?1
    and (delivery_id, position) in (select t.delivery_id, t.position ${heldSql})`;

type Dropped = {
  /** The messages to drop; absent for all. */
  messageIds?: readonly string[];
  /** The channel of these messages. */
  channelId?: string;
};

/** Drops the held messages about these alerts, with an entry in the timeline of each alert. */
export function dropHeldMessages(
  organizationId: string,
  ids: readonly string[],
  reason: DropReason,
  at: string,
  { messageIds, channelId = "" }: Dropped = {},
): Prepared[] {
  const portion = messageIds === undefined ? null : JSON.stringify(messageIds);
  const parameters = [organizationId, JSON.stringify(ids), reason, portion, channelId];
  return [
    { text: entriesSql, parameters: [...parameters, at, describeReason(reason)] },
    { text: forgetSql, parameters: parameters },
    { text: withholdSql, parameters: parameters },
  ];
}
