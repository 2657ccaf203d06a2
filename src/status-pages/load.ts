/** Loads the published data of a status page: its sections, monitors, incidents and maintenance. */
import { derivedId } from "../core/ids.ts";
import { eachYielding, turn } from "../core/time/yielding.ts";
import { perStore, type Store } from "../database/store.ts";
import { findSettings } from "../accounts/settings/service.ts";
import { dayMs } from "../monitoring/uptime/rules.ts";
import { badgeDays } from "./rendering/badges.ts";
import { dayReader } from "./rendering/days.ts";
import { incidentReader } from "./incidents.ts";
import type { PublicMonitor } from "./formats/public-data.ts";
import { maxShownMonitors, shownDays } from "./rules.ts";
import type { PublicPage } from "./store.ts";
import { bytesOfText, windowBudget, windowsWithin } from "./site/text-budget.ts";
import { windowReader } from "./windows.ts";
import type { MonitorStatus } from "../core/statuses.ts";
import { asJudged, shownStatus } from "../monitoring/monitors/judgement-rules.ts";

type MonitorRow = Omit<PublicMonitor, "description" | "state" | "lastKnown" | "days"> & {
  description: string;
  key: number;
  groupId: string | null;
  status: MonitorStatus;
  lastMessage: string | null;
};

const monitorColumns = `s.key, m.id, m.group_id as groupId, m.name, m.description,
  case when s.paused then 'paused' else s.status end as status, s.last_message as lastMessage,
  s.not_judged_since as notJudgedSince, s.latency_ms as latencyMs,
  s.last_checked_at as lastCheckedAt, m.created_at as createdAt, s.since`;

const listedText = `select ${monitorColumns}
  from json_each(?) wanted
    cross join monitors m on m.organization_id = ? and m.id = wanted.value
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id`;

/** Monitors per query. Other work can run between two queries. */
const stride = 1_000;

const groupedText = `select ${monitorColumns}
  from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  where m.organization_id = ? and m.group_id = ? order by m.position, m.id limit ${stride} offset ?`;

/** Reads the monitors of each group in their order, up to the limit of a page. */
async function membersOf(store: Store, organizationId: string, groupIds: readonly string[]) {
  const members = new Map<string, MonitorRow[]>();
  let left = maxShownMonitors;
  await eachYielding(new Set(groupIds), async (groupId) => {
    const rows: MonitorRow[] = [];
    members.set(groupId, rows);
    for (let isWhole = false; !isWhole && left > 0;) {
      if (rows.length > 0) await turn();
      const place = [organizationId, groupId, rows.length];
      const some = await store.query<MonitorRow>(groupedText, place);
      rows.push(...some);
      left -= some.length;
      isWhole = some.length < stride;
    }
  });
  return members;
}

const groupText = `select g.id, g.name from json_each(?) wanted
  cross join monitor_groups g on g.organization_id = ? and g.id = wanted.value`;

/** Reads the sections of a page with their monitors, in order and under public names. */
async function sectionsOf(store: Store, { organizationId, id: pageId, sections }: PublicPage) {
  const read = <Row>(text: string, ids: readonly string[]) =>
    store.query<Row>(text, [JSON.stringify([...new Set(ids)]), organizationId]);
  const groupIds = sections.flatMap(({ groupId }) => (groupId === null ? [] : [groupId]));
  const free = sections.filter(({ groupId }) => groupId === null);
  const groups = await read<{ id: string; name: string }>(groupText, groupIds);
  const byGroup = await membersOf(store, organizationId, groupIds);
  const listed: MonitorRow[] = [];
  const freeIds = free.flatMap(({ monitors }) => monitors.map(({ id }) => id));
  for (let from = 0; from < freeIds.length; from += stride) {
    await turn();
    listed.push(...(await read<MonitorRow>(listedText, freeIds.slice(from, from + stride))));
  }
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const byId = new Map(listed.map((row) => [row.id, row]));
  const taken = new Set<string>();
  const published = new Map(
    sections.flatMap(({ monitors }) => monitors).map((monitor) => [monitor.id, monitor]),
  );
  const publicOf = ({ description, ...row }: MonitorRow) => {
    const { name, showDescription = false } = published.get(row.id) ?? {};
    const isShown = showDescription && description !== "";
    return { ...row, name: name ?? row.name, description: isShown ? description : null };
  };
  let left = maxShownMonitors;
  const ids = sectionIds(pageId, sections);
  return sections.map(({ name, groupId, monitors }, index) => {
    const rows =
      groupId === null
        ? monitors.flatMap(({ id }) => byId.get(id) ?? [])
        : (byGroup.get(groupId) ?? []);
    return {
      id: ids[index] ?? "",
      name: name ?? names.get(groupId ?? "") ?? "",
      monitors: rows
        .filter(({ id }) => !taken.has(id) && left-- > 0 && taken.add(id))
        .map(publicOf),
    };
  });
}

/** Derives section ids from their content, so that they don't depend on their order or on other sections. */
function sectionIds(pageId: string, sections: PublicPage["sections"]): string[] {
  const used = new Map<string, number>();
  return sections.map(({ groupId, name }) => {
    const key = groupId === null ? `section ${name ?? ""}` : `group ${groupId}`;
    const count = (used.get(key) ?? 0) + 1;
    used.set(key, count);
    return derivedId(pageId, count === 1 ? key : `${key} ${count}`);
  });
}

const noDays: PublicMonitor["days"] = new Map();

/** Creates the loader of a page's published data, which reads nothing that the page does not show. */
function pageLoader(store: Store) {
  const daysOf = dayReader(store);

  return async (page: PublicPage, now: number) => {
    const parts = await sectionsOf(store, page);
    const monitors = parts.flatMap(({ monitors }) => monitors);
    const shown = new Map(monitors.map((monitor) => [monitor.id, monitor]));
    const today = Math.floor(now / dayMs);
    const keys = monitors.map(({ key }) => key);
    const historyDays = shownDays(page.historyDays, monitors.length);
    const days = await daysOf(keys, today, Math.max(historyDays, badgeDays));
    const failingSince = store.writes.failingSince();
    const publicMonitor = (
      stored: Omit<MonitorRow, "description"> & { description: string | null },
    ): PublicMonitor => {
      const { key, groupId: _group, status, lastMessage, ...row } = asJudged(stored, failingSince);
      const state = shownStatus({ status, lastMessage });
      return { ...row, state, lastKnown: status, days: days.get(key) ?? noDays };
    };
    const sections = parts.map(({ id, name, monitors }) => ({
      id,
      name,
      monitors: monitors.map(publicMonitor),
    }));
    const { currentIncidents, ...incidentReads } = incidentReader(store, page, shown);
    const { currentWindows, ...windowReads } = windowReader(store, page, monitors, now);
    return {
      page: { ...page, historyDays },
      sections,
      incidents: await currentIncidents(now),
      windows: windowsWithin(await currentWindows(), bytesOfText, windowBudget()),
      marks: await incidentReads.marksBetween((today - historyDays + 1) * dayMs, now + 1),
      takesMail: (await findSettings(store, page.organizationId)).smtp !== null,
      ...incidentReads,
      ...windowReads,
      windowsOver: async () =>
        windowsWithin(await windowReads.windowsOver(), bytesOfText, windowBudget()),
    };
  };
}

/** Returns the loader of a store. There is one per store, so that all callers share its cached days. */
export const loaderOf = perStore(pageLoader);

/** Published data of a page, with functions that read further incidents and maintenance. */
export type Loaded = Awaited<ReturnType<ReturnType<typeof pageLoader>>>;
