import type { Store } from "../database/store.ts";
import { occurrencesBetween } from "../maintenance/rules.ts";
import { publicWindows } from "../maintenance/store.ts";
import { findSettings } from "../settings/store.ts";
import { dayMs } from "../uptime/rules.ts";
import type {
  DayTotals,
  MonitorState,
  Published,
  PublishedIncident,
  PublishedMonitor,
  PublishedWindow,
} from "./published.ts";

/** A page as its record says it. */
export type PageRecord = Published["page"] & {
  organizationId: string;
  isDefault: boolean;
  sections: readonly {
    name: string | null;
    groupId: string | null;
    monitors: readonly { id: string; name: string | null }[];
  }[];
};

type MonitorRow = {
  key: number;
  id: string;
  groupId: string | null;
  name: string;
  state: Exclude<MonitorState, "paused">;
  paused: number;
  latencyMs: number | null;
  lastCheckedAt: string | null;
};

const monitorColumns = `s.key, m.id, m.group_id as groupId, m.name, s.status as state,
  s.paused, s.latency_ms as latencyMs,
  s.last_checked_at as lastCheckedAt`;

const listedText = `select ${monitorColumns}
  from json_each(?) wanted
    cross join monitors m on m.organization_id = ? and m.id = wanted.value
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id`;

const groupedText = `select ${monitorColumns}
  from json_each(?) wanted
    cross join monitors m indexed by monitors_by_group
      on m.organization_id = ? and m.group_id = wanted.value
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  order by m.group_id, m.position, m.id`;

const groupText = `select g.id, g.name from json_each(?) wanted
  cross join monitor_groups g on g.organization_id = ? and g.id = wanted.value`;

/** Monitors of a page's sections in their order, under their public names. */
async function sectionsOf(store: Store, { organizationId, sections }: PageRecord) {
  const read = <Row>(text: string, ids: readonly string[]) =>
    store.query<Row>(text, [JSON.stringify([...new Set(ids)]), organizationId]);
  const groupIds = sections.flatMap(({ groupId }) => (groupId === null ? [] : [groupId]));
  const free = sections.filter(({ groupId }) => groupId === null);
  const [groups, grouped, listed] = await Promise.all([
    read<{ id: string; name: string }>(groupText, groupIds),
    read<MonitorRow>(groupedText, groupIds),
    read<MonitorRow>(
      listedText,
      free.flatMap(({ monitors }) => monitors.map(({ id }) => id)),
    ),
  ]);
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const byId = new Map(listed.map((row) => [row.id, row]));
  const byGroup = Map.groupBy(grouped, ({ groupId }) => groupId);
  const taken = new Set<string>();
  const publicNames = new Map(
    sections
      .flatMap(({ monitors }) => monitors)
      .flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])),
  );
  return sections.map(({ name, groupId, monitors }) => {
    const rows =
      groupId === null
        ? monitors.flatMap(({ id }) => byId.get(id) ?? [])
        : (byGroup.get(groupId) ?? []);
    return {
      name: name ?? names.get(groupId ?? "") ?? "",
      monitors: rows
        .filter(({ id }) => !taken.has(id) && taken.add(id))
        .map((row) => ({ ...row, name: publicNames.get(row.id) ?? row.name })),
    };
  });
}

const dayText = `select u.monitor_key as key, u.up_seconds as upSeconds,
    u.degraded_seconds as degradedSeconds, u.down_seconds as downSeconds,
    u.maintenance_seconds as maintenanceSeconds
  from json_each(?) wanted cross join uptime_days u
    on u.day = ? and u.monitor_key = wanted.value`;

type Days = Map<number, DayTotals>;

/** Daily sums by monitor. What is over stays in memory: only today is read again. */
export function dayReader(store: Store) {
  const known = new Map<number, { since: number; until: number; days: Days }>();
  let turn: Promise<unknown> = Promise.resolve();

  async function read(keys: readonly number[], from: number, to: number) {
    const wanted = JSON.stringify(keys);
    const found = new Map(keys.map((key) => [key, new Map() as Days]));
    for (let day = from; day <= to; day++) {
      const rows = await store.query<DayTotals & { key: number }>(dayText, [wanted, day]);
      for (const { key, ...totals } of rows) found.get(key)?.set(day, totals);
      // A first reading of many monitors is long; others have their turn between two days.
      await Bun.sleep(0);
    }
    return found;
  }

  async function daysOf(keys: readonly number[], today: number, count: number) {
    const since = today - count + 1;
    const fresh = keys.filter((key) => {
      const one = known.get(key);
      return one === undefined || one.since > since || one.until < today - 1;
    });
    if (fresh.length > 0)
      for (const [key, days] of await read(fresh, since, today - 2))
        known.set(key, { since, until: today, days });
    // Results of the last seconds of a day are written on the next.
    for (const [key, days] of await read(keys, Math.max(since, today - 1), today)) {
      const one = known.get(key);
      if (one === undefined) continue;
      one.until = today;
      for (const [day, totals] of days) one.days.set(day, totals);
    }
    return (key: number): ReadonlyMap<number, DayTotals> => known.get(key)?.days ?? new Map();
  }

  /** One at a time: pages share what they know. */
  return (keys: readonly number[], today: number, count: number) => {
    const result = turn.then(() => daysOf(keys, today, count));
    turn = result.catch(() => {});
    return result;
  };
}

type IncidentRow = Omit<PublishedIncident, "monitor" | "updates"> & {
  monitorId: string | null;
  origin: "manual" | "monitor";
};

const incidentColumns = `id, title, status, severity, origin, monitor_id as monitorId,
  created_at as createdAt, resolved_at as resolvedAt`;

const isTold = `public and (monitor_id in (select value from json_each(?))
  or (origin = 'manual' and (monitor_id is null or ?)))`;

const openText = `select ${incidentColumns} from incidents
  where organization_id = ? and status in ('investigating', 'identified', 'monitoring') and ${isTold}
  order by id desc limit ?`;

const betweenText = `select ${incidentColumns} from incidents
  where organization_id = ? and id >= ? and id < ? and ${isTold} order by id desc limit ?`;

const updatesText = `select u.incident_id as incidentId, u.id, u.status, u.message,
    u.created_at as createdAt
  from json_each(?) wanted
    cross join incident_updates u on u.organization_id = ? and u.incident_id = wanted.value
  order by u.seq desc`;

/** So many incidents a page shows at most. */
const maxIncidents = 200;

/** The smallest id that was made at this time or later. */
function firstIdAt(unixMs: number): string {
  const hex = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Incidents with their timelines, under the public names of their monitors. */
async function incidentsOf(
  store: Store,
  { organizationId }: PageRecord,
  shown: ReadonlyMap<string, { name: string }>,
  rows: readonly IncidentRow[],
): Promise<PublishedIncident[]> {
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const updates = await store.query<PublishedIncident["updates"][number] & { incidentId: string }>(
    updatesText,
    [ids, organizationId],
  );
  const byIncident = Map.groupBy(updates, ({ incidentId }) => incidentId);
  return rows.map(({ monitorId, origin, ...incident }) => {
    const monitor = monitorId === null ? undefined : shown.get(monitorId);
    const inPublic = (text: string) =>
      monitor === undefined || origin === "manual" ? text : renamed(text, monitor.name);
    return {
      ...incident,
      title: inPublic(incident.title),
      monitor: monitor && monitorId !== null ? { id: monitorId, name: monitor.name } : null,
      updates: (byIncident.get(incident.id) ?? []).map(({ id, status, message, createdAt }) => ({
        id,
        status,
        message: inPublic(message),
        createdAt,
      })),
    };
  });
}

/** What a monitor says of itself begins with its name, whichever it had then; `incidents/by-monitor.ts` says it. */
const said =
  /^.+?(?= (?:is down$|is down again\.|is up again[ .]|answers again, but is degraded))/s;

function renamed(text: string, name: string): string {
  return text.replace(said, () => name);
}

/** Planned work is announced so long before, each window so many times. */
const announcedMs = 30 * dayMs;
const maxOccurrences = 3;
/** Nothing is planned further ahead. */
const plannedMs = 50 * 366 * dayMs;

/** Maintenance under way or to come that concerns this page; the default page tells of all. */
async function windowsOf(
  store: Store,
  { organizationId, isDefault }: PageRecord,
  monitors: readonly { id: string; groupId: string | null }[],
  now: number,
  withinMs = announcedMs,
): Promise<PublishedWindow[]> {
  const windows = await publicWindows(store, organizationId, new Date(now).toISOString());
  const ids = new Set(monitors.map(({ id }) => id));
  const groups = new Set(monitors.map(({ groupId }) => groupId));
  return windows
    .filter(
      ({ monitorIds, groupIds }) =>
        isDefault ||
        monitorIds.length + groupIds.length === 0 ||
        monitorIds.some((id) => ids.has(id)) ||
        groupIds.some((id) => groups.has(id)),
    )
    .flatMap((window) =>
      occurrencesBetween(window, now, now + withinMs, maxOccurrences).map(({ start, end }) => ({
        id: window.id,
        title: window.title,
        description: window.description,
        startsAt: new Date(start).toISOString(),
        endsAt: new Date(end).toISOString(),
        isRunning: start <= now,
      })),
    )
    .sort((a, b) => (a.startsAt < b.startsAt ? -1 : 1));
}

const oneText = `select ${incidentColumns} from incidents
  where organization_id = ? and id = ? and ${isTold}`;

const beforeText = `select 1 from incidents
  where organization_id = ? and id < ? and ${isTold} limit 1`;

/** Reads what a page publishes now: nothing that is not on it. */
export function pageLoader(store: Store) {
  const daysOf = dayReader(store);

  return async (page: PageRecord, now: number): Promise<Loaded> => {
    const parts = await sectionsOf(store, page);
    const monitors = parts.flatMap(({ monitors }) => monitors);
    const shown = new Map(monitors.map((monitor) => [monitor.id, monitor]));
    const today = Math.floor(now / dayMs);
    const keys = monitors.map(({ key }) => key);
    const days = await daysOf(keys, today, page.historyDays);
    const sections = parts.map(({ name, monitors }) => ({
      name,
      monitors: monitors.map(
        ({ id, name, state, paused, latencyMs, lastCheckedAt, key }): PublishedMonitor => ({
          id,
          name,
          state: paused === 1 ? "paused" : state,
          latencyMs,
          lastCheckedAt,
          days: days(key),
        }),
      ),
    }));
    const { organizationId, isDefault } = page;
    const told = [JSON.stringify([...shown.keys()]), isDefault ? 1 : 0];
    const read = (text: string, ...parameters: (string | number)[]) =>
      store.query<IncidentRow>(text, [organizationId, ...parameters]);
    const incidents = (rows: readonly IncidentRow[]) => incidentsOf(store, page, shown, rows);
    const opened = (from: number, to: number) =>
      read(betweenText, firstIdAt(from), firstIdAt(to), ...told, maxIncidents);
    const [open, recent] = await Promise.all([
      read(openText, ...told, maxIncidents),
      opened(now - 8 * dayMs, now + dayMs),
    ]);
    const rows = [...new Map([...open, ...recent].map((row) => [row.id, row])).values()];
    rows.sort((a, b) => (a.id < b.id ? 1 : -1));
    return {
      page,
      sections,
      incidents: await incidents(rows),
      windows: await windowsOf(store, page, monitors, now),
      takesMail: (await findSettings(store, organizationId)).smtp !== null,
      incident: async (id) => (await incidents(await read(oneText, id, ...told)))[0] ?? null,
      window: async (id) =>
        (await windowsOf(store, page, monitors, now, plannedMs)).find((one) => one.id === id) ??
        null,
      openedBetween: async (from, to) => incidents(await opened(from, to)),
      hasBefore: async (at) => (await read(beforeText, firstIdAt(at), ...told)).length > 0,
    };
  };
}

/** What a page publishes, and its way to older incidents. */
export type Loaded = Published & {
  /** However old; null where the page does not show it. */
  incident(id: string): Promise<PublishedIncident | null>;
  /** Its next occurrence, however far ahead; null where the page does not announce it. */
  window(id: string): Promise<PublishedWindow | null>;
  /** Those that were opened in this time, newest first. */
  openedBetween(from: number, to: number): Promise<PublishedIncident[]>;
  hasBefore(at: number): Promise<boolean>;
};
