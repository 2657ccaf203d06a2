import { eachYielding, turn } from "../core/yielding.ts";
import { containing } from "../database/references.ts";
import type { Tenant } from "../database/rows.ts";
import type { Parameter } from "../database/store.ts";
import { notJudged } from "../core/text.ts";
import { watchedSql } from "../monitoring/monitors/store.ts";
import type { FolderTotals, OverviewFilters, OverviewMonitor } from "./schema.ts";

type Status = OverviewMonitor["status"];

/** Monitors that are looked at in one go, after which others have their turn. */
const stride = 1_000;

/** The same as `shownStatus` of `judgement-rules.ts`. */
const statusIn = ({ store }: Tenant) => {
  const isUnknown =
    store.writes.failingSince() === null ? `s.last_message glob '${notJudged}*'` : "true";
  return `case when s.paused then 'paused'
    when s.status in ('up', 'degraded', 'pending') and ${isUnknown} then 'unknown'
    else s.status end`;
};

const joins = `join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id`;

/** What the Monitors page looks for in a monitor: name, target and group. */
const searched = `m.name || ' ' || coalesce(m.settings ->> 'url', ${watchedSql}, '')
  || coalesce(':' || (m.settings ->> 'port'), '') || ' ' || coalesce(g.name, '')`;

/** The condition that a monitor is among what the page is narrowed to, after ` and `. */
function narrowed({ q, status, type, tag }: OverviewFilters, shownStatus: string) {
  const conditions: string[] = [];
  const parameters: string[] = [];
  const add = (condition: string, ...values: string[]) => {
    conditions.push(` and ${condition}`);
    parameters.push(...values);
  };
  for (const word of q?.split(/\s+/).filter(Boolean) ?? []) {
    const found = containing(searched, word);
    add(found.text, ...found.parameters);
  }
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

/** Up to so many monitors in trouble are shown of those that an answer does not have. */
const mostTroubled = 50;

type Match = {
  id: string;
  type: string;
  status: Status;
  tags: string;
  /** Since when it is in the trouble that is shown. */
  troubledSince: string | null;
};

/** Places of a folder from one on, in its order, and those that match among its monitors there. */
const windowOf = (columns: string, condition: string) => `select ${columns} from (
    select * from monitors where organization_id = ? and group_id is ?
    order by position, id limit ? offset ?) m
  ${joins} where true${condition} order by m.position, m.id`;
const matchColumns = (shownStatus: string) => `m.id, m.type, m.tags, ${shownStatus} as status,
  case when s.status in ('down', 'degraded') and ${shownStatus} = s.status then s.since end as troubledSince`;

const sizesText = `select group_id as groupId, count(*) as count from monitors
  where organization_id = ? group by group_id`;

/**
 * Which monitors match, as far as the page shows them at once: the first `first` in dashboard order, or all
 * where there are `most` or fewer of them; of more, also what they add up to and which are worst.
 */
export async function matchesOf(
  tenant: Tenant,
  filters: OverviewFilters,
  groupIds: readonly string[],
  { first, most }: { first: number; most: number },
) {
  const { store, organizationId } = tenant;
  const shownStatus = statusIn(tenant);
  type Size = { groupId: string | null; count: number };
  const sizes = await store.query<Size>(sizesText, [organizationId]);
  const countOf = new Map(sizes.map(({ groupId, count }) => [groupId, count]));
  const { text, parameters } = narrowed(filters, shownStatus);
  const matchText = windowOf(matchColumns(shownStatus), text);
  const folders = new Map<string | null, FolderTotals>();
  const types = new Set<string>();
  const tags = new Set<string>();
  const troubled: Match[] = [];
  const ids: string[] = [];
  let total = 0;
  await eachYielding(windowsOf(groupIds, countOf), async ([groupId, from]) => {
    const place = [organizationId, groupId, stride, from];
    const found = await store.query<Match>(matchText, [...place, ...parameters]);
    if (found.length === 0) return;
    const { states } = folders.get(groupId) ?? { states: {} as FolderTotals["states"] };
    folders.set(groupId, { groupId, states });
    for (const match of found) {
      states[match.status] = (states[match.status] ?? 0) + 1;
      types.add(match.type);
      if (ids.length < most) ids.push(match.id);
      // Only the whole page has these.
      if (text !== "") continue;
      if (match.troubledSince !== null) troubled.push(match);
      if (match.tags !== "[]") tags.add(match.tags);
    }
    total += found.length;
  });
  if (total <= most) return { ids, totals: null };
  troubled.sort(
    (one, other) =>
      Number(one.status === "degraded") - Number(other.status === "degraded") ||
      (other.troubledSince ?? "").localeCompare(one.troubledSince ?? ""),
  );
  return {
    ids: ids.slice(0, first),
    totals: {
      folders: [...folders.values()],
      troubledIds: troubled.slice(0, mostTroubled).map(({ id }) => id),
      types: [...types].sort(),
      tags: [...new Set([...tags].flatMap((list) => JSON.parse(list) as string[]))].sort(),
    },
  };
}

function* windowsOf(
  groupIds: readonly string[],
  countOf: ReadonlyMap<string | null, number>,
): Generator<[groupId: string | null, from: number]> {
  for (const groupId of [...groupIds, null])
    for (let from = 0; from < (countOf.get(groupId) ?? 0); from += stride) yield [groupId, from];
}

const placesText = `select id from monitors where organization_id = ? and group_id is ?
  order by position, id limit ? offset ?`;
const sizeText =
  "select count(*) as count from monitors where organization_id = ? and group_id is ?";

/** Monitors of a folder that match, in its order: `count` of them behind the first `from`. */
export async function idsIn(
  tenant: Tenant,
  filters: OverviewFilters,
  groupId: string | null,
  { from, count }: { from: number; count: number },
): Promise<string[]> {
  const { store, organizationId } = tenant;
  const { text, parameters } = narrowed(filters, statusIn(tenant));
  const read = async (query: string, place: Parameter[]) =>
    (await store.query<{ id: string }>(query, [organizationId, groupId, ...place])).map(
      ({ id }) => id,
    );
  if (text === "") return read(placesText, [count, from]);
  const [folder] = await store.query<{ count: number }>(sizeText, [organizationId, groupId]);
  const idText = windowOf("m.id", text);
  const ids: string[] = [];
  for (let place = 0; place < (folder?.count ?? 0) && ids.length < from + count; place += stride) {
    if (place > 0) await turn();
    ids.push(...(await read(idText, [stride, place, ...parameters])));
  }
  return ids.slice(from, from + count);
}
