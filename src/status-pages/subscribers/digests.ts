/** Decides when the weekly digests of pages are due, and selects the notices in each subscriber's digest. */
import { dayMs, formatTimestamp, hourMs } from "../../core/time/clock.ts";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";
import { guardCondition, type Statement, type Store } from "../../database/store.ts";
import type { OwnWork } from "../../events/fair-follower.ts";
import { appendEvent } from "../../events/log.ts";
import { severities } from "../../core/statuses.ts";
import type { NoticeScope } from "./rules.ts";
import type { SubscriberRow } from "./store.ts";

/** Local time at which a week ends, after midnight of Monday. */
const digestHour = 8;
const weekMs = 7 * dayMs;
/** Maximum notices that a digest considers. The latest one of each incident and window is shown. */
const maxNotices = 1_000;

/** Returns the last end of a week: Monday at 8:00 in this time zone, in Unix milliseconds. */
export function findWeekEnd(now: number, timeZone: string): number {
  const local = toLocal(now, timeZone);
  // 1970-01-05 was a Monday.
  const monday = Math.floor((local - 4 * dayMs - digestHour * hourMs) / weekMs) * weekMs;
  return toInstant(monday + 4 * dayMs + digestHour * hourMs, timeZone);
}

const prefix = "digest ";

/**
 * Appends an event for each page whose week is over, once. The first week of a page begins when its first subscriber
 * chooses the digest.
 */
export async function listDueDigests(store: Store, now: number): Promise<OwnWork[]> {
  const pages = await store.query<{ organizationId: string; id: string; timeZone: string }>(
    `select organization_id as organizationId, id, time_zone as timeZone from status_pages
     where (organization_id, id) in (select distinct organization_id, page_id from subscribers
       where frequency = 'weekly' and confirmed_at is not null)`,
    [],
  );
  const marks = await store.query<{ name: string; seq: number }>(
    "select name, seq from followers where name like ?",
    [`${prefix}%`],
  );
  const reachedBy = new Map(marks.map(({ name, seq }) => [name, seq]));
  const nameOf = ({ organizationId, id }: (typeof pages)[number]) =>
    `${prefix}${organizationId} ${id}`;
  const names = new Set(pages.map(nameOf));
  const removeUnused = (organizationId: string) =>
    marks
      .filter(({ name }) => name.startsWith(`${prefix}${organizationId} `) && !names.has(name))
      .map(({ name }) => ({ text: "delete from followers where name = ?", parameters: [name] }));
  const markEnd = ({ organizationId, id, timeZone }: (typeof pages)[number]): Statement[] => {
    const name = nameOf({ organizationId, id, timeZone });
    const reached = reachedBy.get(name) ?? 0;
    const end = findWeekEnd(now, timeZone);
    if (end <= reached) return [];
    const data = { from: formatTimestamp(reached), to: formatTimestamp(end) };
    return [
      guardCondition("coalesce((select seq from followers where name = ?), 0) = ?", [
        name,
        reached,
      ]),
      {
        text: "insert or replace into followers (name, seq, version) values (?, ?, 1)",
        parameters: [name, end],
      },
      ...(reached === 0
        ? []
        : [
            appendEvent({
              organizationId,
              at: formatTimestamp(now),
              type: "status-page.digest-due",
              subjectId: id,
              data,
            }),
          ]),
    ];
  };
  const ids = new Set(
    [...pages.map(nameOf), ...marks.map(({ name }) => name)].map(
      (name) => name.split(" ")[1] ?? "",
    ),
  );
  return [...ids].map((organizationId) => ({
    organizationId,
    decide: () => [
      ...removeUnused(organizationId),
      ...pages.filter((page) => page.organizationId === organizationId).flatMap(markEnd),
    ],
  }));
}

type DigestItem = { type: string; at: string; data: string };

/**
 * Reads the latest notice of each incident and window of the week that the subscriber chose, oldest first. Omits
 * notices that are no longer public, and cancellations of maintenance that no earlier digest announced.
 */
export async function findDigestItems(
  store: Store,
  subscriber: SubscriberRow,
  { from, to }: { from: string; to: string },
): Promise<DigestItem[]> {
  const { organizationId, pageId, confirmedAt } = subscriber;
  const rows = await store.query<DigestItem & { subject: string; scope: string | null }>(
    `select type, at, data, scope, data ->> 'id' as subject from notices n
     where organization_id = ?1 and page_id = ?2 and at >= ?3 and at < ?4 and at >= ?5
       and (type like 'incident.%' and exists (select 1 from incidents i
           where i.organization_id = n.organization_id and i.id = n.data ->> 'id' and i.public)
         or type like 'maintenance.%' and exists (select 1 from maintenance_windows w
           where w.organization_id = n.organization_id and w.id = n.data ->> 'id' and w.public)
         or type = 'maintenance.cancelled' and exists (select 1 from notices e
           where e.organization_id = ?1 and e.page_id = ?2 and e.at >= ?5 and e.at < ?3
             and e.type like 'maintenance.%' and e.data ->> 'id' = n.data ->> 'id')
           and not exists (select 1 from maintenance_windows w
             where w.organization_id = n.organization_id and w.id = n.data ->> 'id'))
     order by id desc limit ?6`,
    [organizationId, pageId, from, to, confirmedAt ?? to, maxNotices],
  );
  const items = new Map<string, DigestItem>();
  for (const { subject, scope, ...item } of rows)
    if (!items.has(subject) && isChosen(subscriber, scope)) items.set(subject, item);
  return [...items.values()].toReversed();
}

function isChosen(
  { incidents, maintenance, minimumSeverity, components }: SubscriberRow,
  stored: string | null,
): boolean {
  if (stored === null) return true;
  const { severity, componentIds } = JSON.parse(stored) as NoticeScope;
  const isKind =
    severity === null
      ? maintenance
      : incidents && severities.indexOf(minimumSeverity) <= severities.indexOf(severity);
  if (!isKind || components === null || componentIds === null) return isKind;
  const chosen = new Set([...components.monitorIds, ...components.groupIds]);
  return componentIds.some((id) => chosen.has(id));
}
