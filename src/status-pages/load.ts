/** Loads the published data of a status page: its sections, monitors, incidents and maintenance. */
import { dayMs } from "../core/time/clock.ts";
import { deriveId } from "../core/ids.ts";
import { forEachYielding, yieldToEventLoop } from "../core/time/event-loop.ts";
import { cachePerStore, type Store } from "../database/store.ts";
import { findSettings } from "../accounts/settings/service.ts";

import { badgeDays } from "./rendering/badges.ts";
import { createDayReader, readDaysUntil } from "./rendering/days.ts";
import { createIncidentReader } from "./incidents.ts";
import type {
  IncidentMark,
  PublicData,
  PublicIncident,
  PublicMonitor,
} from "./formats/public-data.ts";
import { addImpacts, applyImpact, findOpenImpacts, listImpactSpans } from "./rendering/impacts.ts";
import {
  maxShownMonitors,
  limitShownDays,
  selectNested,
  takesChats,
  takesVisitors,
} from "./rules.ts";
import type { PublicPage } from "./store.ts";
import { measureText, createWindowBudget, limitDescriptions } from "./site/text-budget.ts";
import { type ConcealedRecords, createWindowReader } from "./windows.ts";
import type { MonitorStatus } from "../core/statuses.ts";
import { findPastStates } from "../monitoring/monitors/past-service.ts";
import {
  adjustToPresent,
  determineShownStatus,
} from "../monitoring/monitors/shown-status-rules.ts";

type MonitorRow = Omit<PublicMonitor, "description" | "state" | "impact" | "lastKnown" | "days"> & {
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

const listedSql = `select ${monitorColumns}
  from json_each(?) wanted
    cross join monitors m on m.organization_id = ? and m.id = wanted.value
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id`;

/** Monitors per query. Other work can run between two queries. */
const monitorsPerQuery = 1_000;

const groupedSql = `select ${monitorColumns}
  from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  where m.organization_id = ? and m.group_id = ? order by m.position, m.id limit ${monitorsPerQuery} offset ?`;

/** Reads the monitors of each group in their order, up to the limit of a page. */
async function readGroupMembers(store: Store, organizationId: string, groupIds: readonly string[]) {
  const members = new Map<string, MonitorRow[]>();
  let monitorsLeft = maxShownMonitors;
  await forEachYielding(new Set(groupIds), async (groupId) => {
    const rows: MonitorRow[] = [];
    members.set(groupId, rows);
    for (let isWhole = false; !isWhole && monitorsLeft > 0;) {
      if (rows.length > 0) await yieldToEventLoop();
      const pageParameters = [organizationId, groupId, rows.length];
      const portion = await store.query<MonitorRow>(groupedSql, pageParameters);
      rows.push(...portion);
      monitorsLeft -= portion.length;
      isWhole = portion.length < monitorsPerQuery;
    }
  });
  return members;
}

const groupSql = `select g.id, g.name from json_each(?) wanted
  cross join monitor_groups g on g.organization_id = ? and g.id = wanted.value`;

/** Reads the sections of a page with their monitors, in order and under public names, with their states `at` a time. */
async function readSections(store: Store, page: PublicPage, at: number | null) {
  const parts = await readCurrentSections(store, page);
  return at === null ? parts : rewindSections(store, page, parts, at);
}

async function readCurrentSections(
  store: Store,
  { organizationId, id: pageId, sections }: PublicPage,
) {
  const queryRows = <Row>(text: string, ids: readonly string[]) =>
    store.query<Row>(text, [JSON.stringify([...new Set(ids)]), organizationId]);
  const groupIds = sections.flatMap(({ groupId }) => (groupId === null ? [] : [groupId]));
  const free = sections.filter(({ groupId }) => groupId === null);
  const groups = await queryRows<{ id: string; name: string }>(groupSql, groupIds);
  const byGroup = await readGroupMembers(store, organizationId, groupIds);
  const listedRows: MonitorRow[] = [];
  const freeIds = free.flatMap(({ monitors }) => monitors.map(({ id }) => id));
  for (let from = 0; from < freeIds.length; from += monitorsPerQuery) {
    await yieldToEventLoop();
    listedRows.push(
      ...(await queryRows<MonitorRow>(listedSql, freeIds.slice(from, from + monitorsPerQuery))),
    );
  }
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const byId = new Map(listedRows.map((row) => [row.id, row]));
  const takenIds = new Set<string>();
  const published = new Map(
    sections.flatMap(({ monitors }) => monitors).map((monitor) => [monitor.id, monitor]),
  );
  const toPublicMonitor = ({ description, ...row }: MonitorRow) => {
    const { name, showDescription = false, link = null } = published.get(row.id) ?? {};
    const isShown = showDescription && description !== "";
    return { ...row, name: name ?? row.name, description: isShown ? description : null, link };
  };
  let monitorsLeft = maxShownMonitors;
  const ids = deriveSectionIds(pageId, sections);
  return sections.map(({ name, groupId, monitors, nested, folding }, index) => {
    const rows =
      groupId === null
        ? monitors.flatMap(({ id }) => byId.get(id) ?? [])
        : (byGroup.get(groupId) ?? []);
    return {
      id: ids[index] ?? "",
      name: name ?? names.get(groupId ?? "") ?? "",
      nested,
      folding,
      monitors: rows
        .filter(({ id }) => !takenIds.has(id) && monitorsLeft-- > 0 && takenIds.add(id))
        .map(toPublicMonitor),
    };
  });
}

const concealedSql = `select id, group_id as groupId from monitors
  where organization_id = ?1 and (id in (select value from json_each(?2))
    or group_id in (select value from json_each(?3)))`;

/** Reads the monitors and groups that only concealed sections show. */
async function readConcealed(
  store: Store,
  { organizationId, concealed }: PublicPage,
  shownMonitors: ReadonlyMap<string, unknown>,
): Promise<ConcealedRecords> {
  if (concealed.length === 0) return { monitorIds: new Set(), groupIds: new Set() };
  const ids = concealed.flatMap(({ groupId, monitors }) =>
    groupId === null ? monitors.map(({ id }) => id) : [],
  );
  const groupIds = concealed.flatMap(({ groupId }) => groupId ?? []);
  const rows = await store.query<{ id: string; groupId: string | null }>(concealedSql, [
    organizationId,
    JSON.stringify(ids),
    JSON.stringify(groupIds),
  ]);
  const hiddenRows = rows.filter(({ id }) => !shownMonitors.has(id));
  return {
    monitorIds: new Set(hiddenRows.map(({ id }) => id)),
    groupIds: new Set([...groupIds, ...hiddenRows.flatMap(({ groupId }) => groupId ?? [])]),
  };
}

/** Derives section ids from their content, so that they don't depend on their order or on other sections. */
function deriveSectionIds(pageId: string, sections: PublicPage["sections"]): string[] {
  const used = new Map<string, number>();
  return sections.map(({ groupId, name }) => {
    const key = groupId === null ? `section ${name ?? ""}` : `group ${groupId}`;
    const count = (used.get(key) ?? 0) + 1;
    used.set(key, count);
    return deriveId(pageId, count === 1 ? key : `${key} ${count}`);
  });
}

const takesMail = async (store: Store, page: PublicPage) =>
  takesVisitors(page) && (await findSettings(store, page.organizationId)).smtp !== null;

type Parts = Awaited<ReturnType<typeof readCurrentSections>>;

/**
 * Creates the list of components that subscribers can choose from, and the lookup of the components that an update
 * affects.
 */
function createComponents(
  page: PublicPage,
  parts: Parts,
  shownSections: readonly { id: string; monitors: readonly { id: string }[] }[],
) {
  const groupOf = new Map(
    parts.flatMap(({ monitors }) => monitors).map(({ id, groupId }) => [id, groupId]),
  );
  const shownIds = new Set(shownSections.flatMap(({ monitors }) => monitors.map(({ id }) => id)));
  return {
    /** IDs of these monitors and their groups; null for an empty list, which means the whole page. */
    listComponentIds: (affected: readonly { id: string }[]): string[] | null =>
      affected.length === 0
        ? null
        : [...new Set(affected.flatMap(({ id }) => [id, groupOf.get(id) ?? []].flat()))],
    /** Sections with their monitors. A section of a group can be chosen as a whole. */
    components: parts.map(({ id, name, monitors }, index) => ({
      id,
      name,
      groupId: page.sections[index]?.groupId ?? null,
      monitors: monitors
        .filter((monitor) => shownIds.has(monitor.id))
        .map(({ id, name }) => ({ id, name })),
    })),
  };
}

const joinById = (...lists: readonly (readonly IncidentMark[])[]) => [
  ...new Map(lists.flat().map((one) => [one.id, one])).values(),
];

const noDays: PublicMonitor["days"] = new Map();

type DayCounting = {
  days: PublicMonitor["days"];
  /** Impacts that count in the figures, by monitor. */
  spans: ReturnType<typeof listImpactSpans>;
  failingSince: number | null;
};

function buildPublicMonitor(
  stored: Omit<MonitorRow, "description"> & { description: string | null },
  { days, spans, failingSince }: DayCounting,
): PublicMonitor {
  const {
    key: _key,
    groupId: _group,
    status,
    lastMessage,
    ...row
  } = adjustToPresent(stored, failingSince);
  const state = determineShownStatus({ status, lastMessage });
  const shownDays = addImpacts(days, spans.get(row.id));
  return { ...row, state, impact: null, lastKnown: status, days: shownDays };
}

type Section = PublicData["sections"][number];

/** Returns a function that builds the sections of a page with the impacts of incidents on their monitors. */
function createSectionBuilder(
  sections: readonly (Section & { nested: boolean })[],
  { showPaused }: PublicPage,
) {
  const hasMonitors = ({ monitors }: Section | undefined = { id: "", name: "", monitors: [] }) =>
    monitors.length > 0;
  const countNested = (from: number) => {
    const end = sections.findIndex(({ nested }, index) => index >= from && !nested);
    return (end === -1 ? sections.length : end) - from;
  };
  const listedSections = selectNested(
    sections,
    (section, index) =>
      showPaused ||
      hasMonitors(section) ||
      (!section.nested &&
        sections.slice(index + 1, index + 1 + countNested(index + 1)).some(hasMonitors)),
  );
  return (incidents: readonly PublicIncident[]): Section[] => {
    const impacts = findOpenImpacts(incidents);
    return listedSections.map((section) => ({
      ...section,
      monitors: section.monitors.map((monitor) => applyImpact(monitor, impacts.get(monitor.id))),
    }));
  };
}

/** Replaces the states of monitors by those at a past time. Omits monitors that did not exist then. */
async function rewindSections(
  store: Store,
  { organizationId }: PublicPage,
  parts: Parts,
  at: number,
): Promise<Parts> {
  const ids = parts.flatMap(({ monitors }) => monitors.map(({ id }) => id));
  const states = await findPastStates({ store, organizationId }, ids, at);
  return parts.map((part) => ({
    ...part,
    monitors: part.monitors.flatMap((monitor) => {
      const pastState = states.get(monitor.id);
      if (pastState === undefined) return [];
      const { status, since } = pastState;
      const unknowns = { lastMessage: null, notJudgedSince: null, latencyMs: null };
      return [
        {
          ...monitor,
          ...unknowns,
          status: status === "unknown" ? ("pending" as const) : status,
          since,
          lastCheckedAt: null,
        },
      ];
    }),
  }));
}

/** Whether the page lists a monitor in this state. */
const isListed = ({ showPaused }: PublicPage, { status }: Pick<MonitorRow, "status">) =>
  showPaused || status !== "paused";

/** Selects the listed monitors of each section, with their days and impacts. */
const buildSections = (
  page: PublicPage,
  parts: Parts,
  days: ReadonlyMap<number, PublicMonitor["days"]>,
  counting: Omit<DayCounting, "days">,
) =>
  parts.map(({ monitors, ...part }) => ({
    ...part,
    monitors: monitors
      .filter((monitor) => isListed(page, monitor))
      .map((monitor) =>
        buildPublicMonitor(monitor, { ...counting, days: days.get(monitor.key) ?? noDays }),
      ),
  }));

/**
 * Creates the loader of a page's published data, which reads nothing that the page does not show. With `at`, it reads
 * the states, incidents and maintenance of that past time, on the page as it is today.
 */
function createPageLoader(store: Store) {
  const daysOf = createDayReader(store);

  return async (page: PublicPage, currentTime: number, at: number | null = null) => {
    const now = at ?? currentTime;
    const parts = await readSections(store, page, at);
    const monitors = parts.flatMap(({ monitors }) => monitors);
    const shownMonitors = new Map(monitors.map((monitor) => [monitor.id, monitor]));
    const today = Math.floor(now / dayMs);
    const keys = monitors.filter((monitor) => isListed(page, monitor)).map(({ key }) => key);
    const historyDays = limitShownDays(page.historyDays, monitors.length);
    const dayCount = Math.max(historyDays, badgeDays);
    const days = await (at === null
      ? daysOf(keys, today, dayCount)
      : readDaysUntil(store, keys, at, dayCount));
    const concealed = await readConcealed(store, page, shownMonitors);
    const { monitorIds } = concealed;
    const incidentReader = createIncidentReader(store, page, shownMonitors, monitorIds, at);
    const { currentIncidents, ...incidentReads } = incidentReader;
    const incidents = await currentIncidents(now);
    const marks = await incidentReads.listMarksBetween((today - historyDays + 1) * dayMs, now + 1);
    const counted = page.countImpacts ? joinById(marks, incidents) : [];
    const spans = listImpactSpans(counted, now);
    const failingSince = at === null ? store.writes.getFailingSince() : null;
    const showImpacts = createSectionBuilder(
      buildSections(page, parts, days, { spans, failingSince }),
      page,
    );
    const sections = showImpacts(incidents);
    const windowReader = createWindowReader(store, page, monitors, concealed, currentTime, at);
    const { currentWindows, ...windowReads } = windowReader;
    return {
      page: { ...page, historyDays },
      sections,
      sectionsDuring: showImpacts,
      incidents,
      windows: limitDescriptions(await currentWindows(), measureText, createWindowBudget()),
      marks,
      takesMail: await takesMail(store, page),
      takesChats: takesChats(page),
      ...createComponents(page, parts, sections),
      ...incidentReads,
      ...windowReads,
      readLimitedEndedWindows: async () =>
        limitDescriptions(await windowReads.readEndedWindows(), measureText, createWindowBudget()),
    };
  };
}

/** Returns the loader of a store. There is one per store, so that all callers share its cached days. */
export const loaderOf = cachePerStore(createPageLoader);

/** Published data of a page, with functions that read further incidents and maintenance. */
export type LoadedPage = Awaited<ReturnType<ReturnType<typeof createPageLoader>>>;
