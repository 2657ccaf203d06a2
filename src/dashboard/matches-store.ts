/** Finds the monitors that match the filters of the Monitors page. */
import { yieldToEventLoop } from "../core/time/event-loop.ts";
import { buildContains, createWorkCounter, computeStride } from "../database/search.ts";
import { canSeeGroup } from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import type { Parameter } from "../database/store.ts";
import { notJudgedPrefix } from "../core/text/formatting.ts";
import { watchedSql } from "../monitoring/monitors/store.ts";
import type { FolderTotals, OverviewFilters, OverviewMonitor } from "./schema.ts";

type Status = OverviewMonitor["status"];

/** Monitors per query without a search. Other work can run between two queries. */
const plainStride = 1_000;
/** Cost of searching the target of a monitor, which requires parsing its settings. */
const targetCost = 10;

/** SQL expression equal to `determineShownStatus`. */
const buildStatusSql = ({ store }: Tenant) => {
  const isUnknown =
    store.writes.getFailingSince() === null ? `s.last_message glob '${notJudgedPrefix}*'` : "true";
  return `case when s.paused then 'paused'
    when s.status in ('up', 'degraded', 'pending') and ${isUnknown} then 'unknown'
    else s.status end`;
};

const joinsSql = `join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id`;

/** SQL for the searchable text of a monitor: name, target and group. */
const searchedSql = `m.name || ' ' || coalesce(m.settings ->> 'url', ${watchedSql}, '')
  || coalesce(':' || (m.settings ->> 'port'), '') || ' ' || coalesce(g.name, '')`;

/** Builds the SQL condition of the filters, which starts with ` and `. */
function buildFilterCondition({ q, status, type, tag }: OverviewFilters, shownStatus: string) {
  const conditions: string[] = [];
  const parameters: string[] = [];
  let cost = 0;
  const add = (condition: string, ...values: string[]) => {
    conditions.push(` and ${condition}`);
    parameters.push(...values);
  };
  for (const word of q?.split(/\s+/).filter(Boolean) ?? []) {
    const found = buildContains(searchedSql, word);
    add(found.text, ...found.parameters);
    cost += targetCost + found.cost;
  }
  if (status !== undefined) add(`${shownStatus} = ?`, status);
  if (type !== undefined) add("m.type = ?", type);
  if (tag !== undefined)
    add(
      `? in (select value from json_each(m.tags)
        union all select value from json_each(coalesce(g.tags, '[]')))`,
      tag,
    );
  const stride = cost === 0 ? plainStride : computeStride(cost);
  return { text: conditions.join(""), parameters, stride, cost };
}

/** Maximum monitors in trouble that are listed in addition to the first rows. */
const maxTroubled = 50;

type Match = {
  id: string;
  type: string;
  status: Status;
  tags: string;
  /** Start of the current trouble; null without trouble. */
  troubledSince: string | null;
};

/** SQL for the matches among the next monitors of a folder, in order. */
const buildWindowSql = (columns: string, condition: string) => `select ${columns} from (
    select * from monitors where organization_id = ? and group_id is ? and (position, id) > (?, ?)
    order by position, id limit ?) m
  ${joinsSql} where true${condition} order by m.position, m.id`;
const endSql = `select position, id from monitors
  where organization_id = ? and group_id is ? and (position, id) > (?, ?)
  order by position, id limit 1 offset ?`;

/** Yields the parameters of `buildWindowSql` for each window of a folder in turn. */
async function* iterateWindows(
  { store, organizationId }: Tenant,
  groupId: string | null,
  stride: number,
): AsyncGenerator<Parameter[]> {
  for (let last = { position: Number.MIN_SAFE_INTEGER, id: "" }; ;) {
    const windowParameters = [organizationId, groupId, last.position, last.id];
    const [end] = await store.query<{ position: number; id: string }>(endSql, [
      ...windowParameters,
      stride - 1,
    ]);
    yield [...windowParameters, stride];
    if (end === undefined) return;
    last = end;
    await yieldToEventLoop();
  }
}

const matchColumns = (shownStatus: string) => `m.id, m.type, m.tags, ${shownStatus} as status,
  case when s.status in ('down', 'degraded') and ${shownStatus} = s.status then s.since end as troubledSince`;

/**
 * Finds the matching monitors in dashboard order. If there are more than `max`, it returns only the first
 * `first`, with totals and the worst monitors.
 */
export async function findMatches(
  tenant: Tenant,
  filters: OverviewFilters,
  groupIds: readonly string[],
  { first, max }: { first: number; max: number },
) {
  const { store } = tenant;
  const shownStatus = buildStatusSql(tenant);
  const { text, parameters, stride, cost } = buildFilterCondition(filters, shownStatus);
  const matchSql = buildWindowSql(matchColumns(shownStatus), text);
  const folders = new Map<string | null, FolderTotals>();
  const types = new Set<string>();
  const tags = new Set<string>();
  const troubled: Match[] = [];
  const ids: string[] = [];
  let total = 0;
  const count = createWorkCounter(cost);
  const addFound = (groupId: string | null, found: readonly Match[]) => {
    const { states } = folders.get(groupId) ?? { states: {} as FolderTotals["states"] };
    folders.set(groupId, { groupId, states });
    for (const match of found) {
      states[match.status] = (states[match.status] ?? 0) + 1;
      types.add(match.type);
      if (ids.length < max) ids.push(match.id);
      // Only the unfiltered page shows these.
      if (text !== "") continue;
      if (match.troubledSince !== null) troubled.push(match);
      if (match.tags !== "[]") tags.add(match.tags);
    }
    total += found.length;
  };
  for (const groupId of listFolders(tenant, groupIds))
    for await (const window of iterateWindows(tenant, groupId, stride)) {
      const found = await store.query<Match>(matchSql, [...window, ...parameters]);
      if (found.length > 0) addFound(groupId, found);
      count(stride);
    }
  if (total <= max) return { ids, totals: null };
  troubled.sort(
    (one, other) =>
      Number(one.status === "degraded") - Number(other.status === "degraded") ||
      (other.troubledSince ?? "").localeCompare(one.troubledSince ?? ""),
  );
  return {
    ids: ids.slice(0, first),
    totals: {
      folders: [...folders.values()],
      troubledIds: troubled.slice(0, maxTroubled).map(({ id }) => id),
      types: [...types].sort(),
      tags: [...new Set([...tags].flatMap((list) => JSON.parse(list) as string[]))].sort(),
    },
  };
}

/** Limited callers can't see ungrouped monitors, whose folder is null. */
const listFolders = ({ groupIds: limit }: Tenant, groupIds: readonly string[]) =>
  limit == null ? [...groupIds, null] : groupIds;

/** Returns the ids of all matching monitors in dashboard order. */
export async function findAllMatchingIds(
  tenant: Tenant,
  filters: OverviewFilters,
  groupIds: readonly string[],
): Promise<string[]> {
  const all = { from: 0, count: Number.MAX_SAFE_INTEGER };
  const ids: string[] = [];
  for (const groupId of listFolders(tenant, groupIds))
    ids.push(...(await findMatchingIds(tenant, filters, groupId, all)));
  return ids;
}

const placesSql = `select id from monitors where organization_id = ? and group_id is ?
  order by position, id limit ? offset ?`;

/** Returns the ids of matching monitors in a folder, in order: `count` ids after the first `from`. */
export async function findMatchingIds(
  tenant: Tenant,
  filters: OverviewFilters,
  groupId: string | null,
  { from, count }: { from: number; count: number },
): Promise<string[]> {
  const { store, organizationId } = tenant;
  if (!canSeeGroup(tenant, groupId)) return [];
  const { text, parameters, stride, cost } = buildFilterCondition(filters, buildStatusSql(tenant));
  const ids: string[] = [];
  if (text === "") {
    const parameters = [organizationId, groupId, count, from];
    return (await store.query<{ id: string }>(placesSql, parameters)).map(({ id }) => id);
  }
  const idSql = buildWindowSql("m.id", text);
  const countWork = createWorkCounter(cost);
  for await (const window of iterateWindows(tenant, groupId, stride)) {
    const found = await store.query<{ id: string }>(idSql, [...window, ...parameters]);
    ids.push(...found.map(({ id }) => id));
    if (ids.length >= from + count) break;
    countWork(stride);
  }
  return ids.slice(from, from + count);
}
