/** Lists the monitors of an organization page by page, with filters and search. */
import { computeOffset } from "../../core/paging.ts";
import { splitByBytes, type ListOrStream, StreamedList } from "../../core/text/streamed-list.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import {
  combineConditions,
  type Condition,
  buildContains,
  findMatchingIds,
  collectPage,
} from "../../database/search.ts";
import { limitToGroups } from "../../database/group-limit.ts";
import type { Parameter } from "../../database/store.ts";
import type { MonitorQuery } from "./schema.ts";
import {
  bytesSql,
  type Reading,
  selectMonitors,
  type StoredMonitor,
  monitorsWithStates,
} from "./store.ts";

/** SQL condition of each filter. `m` is the monitor, `s` its state. */
const filters = {
  type: "m.type = ?",
  groupId: "m.group_id = ?",
  paused: "m.paused = ?",
  status: "case when s.paused then 'paused' else s.status end = ?",
  tag: "? in (select value from json_each(m.tags))",
};

type SearchContext = Reading & { signal?: AbortSignal | null };

/** Returns one page of an organization's monitors, newest first, and the total. */
export async function listMonitorPage(
  reading: SearchContext,
  query: MonitorQuery,
): Promise<{ monitors: ListOrStream<StoredMonitor>; total: number }> {
  const conditions = buildConditions(query);
  if (conditions.length > 0) return listFilteredPage(reading, combineConditions(conditions), query);
  const { store, organizationId } = reading;
  const limit = limitToGroups(reading);
  const ownParameters = [organizationId, ...limit.parameters];
  const [found, [count]] = await Promise.all([
    store.query<MonitorSize>(`${sizedSql}${limit.text} ${orderSql}`, [
      ...ownParameters,
      query.per_page,
      computeOffset(query),
    ]),
    store.query<{ total: number }>(`${countSql}${limit.text}`, ownParameters),
  ]);
  return { monitors: await listSized(reading, found), total: count?.total ?? 0 };
}

/** Pages above this size are read in portions while the response is sent. */
const listedBytes = 4 * 1024 * 1024;
const portionBytes = 512 * 1024;

type MonitorSize = { id: string; bytes: number };
const sizedSql = `select m.id, ${bytesSql} as bytes from monitors m where m.organization_id = ?`;
const orderSql = "order by m.id desc limit ? offset ?";
const isAmongSql = "m.organization_id = ? and m.id in (select value from json_each(?))";

/** Returns these monitors, newest first. Reads pages above `listedBytes` in portions. */
async function listSized(
  reading: Reading,
  all: readonly MonitorSize[],
): Promise<ListOrStream<StoredMonitor>> {
  const selectAmong = (ids: readonly string[]) =>
    selectMonitors(reading, isAmongSql, [
      reading.organizationId,
      JSON.stringify(ids),
      ids.length,
      0,
    ]);
  const ids = all.map(({ id }) => id);
  if (all.reduce((sum, { bytes }) => sum + bytes, 0) <= listedBytes) return selectAmong(ids);
  return new StreamedList(async function* () {
    for (const portion of splitByBytes(all, portionBytes)) {
      yield await selectAmong(portion.map(({ id }) => id));
      await yieldToEventLoop();
    }
  });
}

const countSql = "select count(*) as total from monitors m where m.organization_id = ?";

function buildConditions(query: MonitorQuery): Condition[] {
  const values: { [K in keyof typeof filters]?: Parameter | undefined } = {
    ...query,
    paused: query.paused && Number(query.paused === "true"),
  };
  const conditions: Condition[] = Object.entries(filters).flatMap(([name, text]) => {
    const value = values[name as keyof typeof filters];
    return value === undefined ? [] : [{ text, parameters: [value], cost: 1 }];
  });
  return query.q === undefined ? conditions : [...conditions, buildContains("m.name", query.q)];
}

const monitorsByIdSql = `${sizedSql} and m.id in (select value from json_each(?)) order by m.id desc`;

async function listFilteredPage(reading: SearchContext, matching: Condition, query: MonitorQuery) {
  const { store, organizationId, signal } = reading;
  const limit = limitToGroups(reading);
  const where = {
    text: `m.organization_id = ?${limit.text}`,
    parameters: [organizationId, ...limit.parameters],
    cost: 0,
  };
  const source = { store, from: monitorsWithStates, id: "m.id", where };
  const portions = findMatchingIds(source, matching, signal);
  const { ids, total } = await collectPage(portions, computeOffset(query), query.per_page);
  const parameters = [organizationId, JSON.stringify(ids)];
  const found = await store.query<MonitorSize>(monitorsByIdSql, parameters);
  return { monitors: await listSized(reading, found), total };
}
