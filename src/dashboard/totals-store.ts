import { turn } from "../core/yielding.ts";
import { containing } from "../database/references.ts";
import type { Tenant } from "../database/rows.ts";
import { notJudged } from "../core/text.ts";
import { watchedSql } from "../monitoring/monitors/store.ts";
import type { FolderTotals, OverviewFilters, OverviewMonitor } from "./schema.ts";

type Status = OverviewMonitor["status"];

/** Monitors that are counted in one go, after which others have their turn. */
const stride = 1_000;

/** `shownStatus` of `rules.ts`. */
const shownStatus = `case when s.paused then 'paused'
  when s.status in ('up', 'degraded', 'pending') and s.last_message glob '${notJudged}*' then 'unknown'
  else s.status end`;

export const joined = `from monitors m
  join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id`;

/** What the Monitors page looks for in a monitor: name, target and group. */
const searched = `m.name || ' ' || coalesce(m.settings ->> 'url', ${watchedSql}, '')
  || coalesce(':' || (m.settings ->> 'port'), '') || ' ' || coalesce(g.name, '')`;

/** The condition that a monitor is among what the page is narrowed to, after ` and `. */
export function narrowed({ q, status, type, tag }: OverviewFilters) {
  const conditions: string[] = [];
  const parameters: string[] = [];
  const add = (condition: string, ...values: string[]) => {
    conditions.push(` and ${condition}`);
    parameters.push(...values);
  };
  const like = `${searched} like ? escape '\\'`;
  // LIKE knows the case of ASCII alone.
  for (const word of q?.split(/\s+/).filter(Boolean) ?? [])
    add(`(${like} or ${like})`, containing(word.toLowerCase()), containing(word.toUpperCase()));
  if (status !== undefined) add(`${shownStatus} = ?`, status);
  if (type !== undefined) add("m.type = ?", type);
  if (tag !== undefined)
    add(
      `? in (select value from json_each(m.tags)
        union all select value from json_each(coalesce(g.tags, '[]')))`,
      tag,
    );
  return { text: conditions.join(""), parameters };
}

type Counted = { groupId: string | null; status: Status; type: string; count: number };
type Troubled = { id: string; status: Status; since: string };

const nextText = `select id from monitors where organization_id = ? and id > ?
  order by id limit 1 offset ${stride - 1}`;

/** Up to so many monitors in trouble are shown of those that an answer does not have. */
const mostTroubled = 50;

/** What there is in all, by folder, and what is worst; null where `most` monitors or fewer match. */
export async function totalsOf(
  { store, organizationId }: Tenant,
  filters: OverviewFilters,
  most: number,
) {
  const [there] = await store.query<{ count: number }>(
    "select count(*) as count from monitors where organization_id = ?",
    [organizationId],
  );
  if ((there?.count ?? 0) <= most) return null;
  const { text, parameters } = narrowed(filters);
  const place = `m.organization_id = ? and m.id > ? and m.id <= ?${text}`;
  const countText = `select m.group_id as groupId, m.type, ${shownStatus} as status, count(*) as count
    ${joined} where ${place} group by 1, 2, 3`;
  const troubledText = `select m.id, s.status, s.since ${joined}
    where ${place} and s.status in ('down', 'degraded') and ${shownStatus} = s.status
    order by s.status = 'degraded', s.since desc limit ${mostTroubled}`;
  const tagText = `select distinct value as tag ${joined}, json_each(m.tags) where ${place} and m.tags <> '[]'`;
  const folders = new Map<string | null, FolderTotals>();
  const types = new Set<string>();
  const tags = new Set<string>();
  const troubled: Troubled[] = [];
  let total = 0;
  for (let after = ""; ;) {
    const [next] = await store.query<{ id: string }>(nextText, [organizationId, after]);
    const wanted = [organizationId, after, next?.id ?? "~", ...parameters];
    for (const { groupId, type, status, count } of await store.query<Counted>(countText, wanted)) {
      const folder = folders.get(groupId) ?? { groupId, states: {} };
      folders.set(groupId, folder);
      folder.states[status] = (folder.states[status] ?? 0) + count;
      types.add(type);
      total += count;
    }
    // Only the whole page has these.
    if (text === "") {
      await turn();
      troubled.push(...(await store.query<Troubled>(troubledText, wanted)));
      await turn();
      for (const { tag } of await store.query<{ tag: string }>(tagText, wanted)) tags.add(tag);
    }
    if (next === undefined) break;
    after = next.id;
    await turn();
  }
  if (total <= most) return null;
  troubled.sort(
    (one, other) =>
      Number(one.status === "degraded") - Number(other.status === "degraded") ||
      other.since.localeCompare(one.since),
  );
  return {
    folders: [...folders.values()],
    troubledIds: troubled.slice(0, mostTroubled).map(({ id }) => id),
    types: [...types].sort(),
    tags: [...tags].sort(),
  };
}
