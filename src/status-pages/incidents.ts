/** Reads the incidents that a status page shows, with their updates and postmortems. */
import { formatTimestamp, dayMs } from "../core/time/clock.ts";
import { buildFirstId } from "../core/ids.ts";
import { statusPageBounds } from "../core/limits.ts";
import type { Tenant } from "../database/rows.ts";
import type { Store } from "../database/store.ts";
import {
  type AutomaticTitle,
  type AutomaticUpdate,
  parseFacts,
  type ImpactChange,
  parseImpactChanges,
  parseImpacts,
  parseTranslations,
} from "../incidents/rules.ts";
import { rewindIncidents } from "../incidents/past-store.ts";
import {
  type IncidentHead,
  type MonitorColumns,
  parseMonitorIds,
  type ShownIncident,
} from "../incidents/store.ts";
import { yieldToEventLoop } from "../core/time/event-loop.ts";

import type { IncidentImpact, Translations } from "../incidents/schema.ts";
import type { IncidentMark, PublicIncident } from "./formats/public-data.ts";
import { getLanguage } from "./languages/catalog.ts";
import { composeAutomaticTitle, describeUpdate } from "./languages/updates.ts";
import { measureText, createTextBudget, limitUpdates } from "./site/text-budget.ts";

type Page = { organizationId: string; isDefault: boolean };

/** Monitors of the page under their public names. */
type ShownMonitors = ReadonlyMap<string, { name: string }>;

/**
 * Creates a reader of the incidents that a page publishes. Omits incidents whose monitors on the page are all
 * `concealed`. With `at`, returns the state at that time of incidents that the page still publishes.
 */
export function createIncidentReader(
  store: Store,
  page: Page,
  shownMonitors: ShownMonitors,
  concealed: ReadonlySet<string>,
  at: number | null,
) {
  const { organizationId, isDefault } = page;
  const published = [
    JSON.stringify([...shownMonitors.keys()]),
    isDefault ? 1 : 0,
    JSON.stringify([...concealed]),
  ];
  const rules = { isDefault, shownMonitors, concealed };
  const endId = at === null ? lastId : buildFirstId(at + 1);
  const queryIncidents = async (text: string, ...parameters: (string | number)[]) => {
    const rows = await store.query<StoredIncident>(text, [organizationId, ...parameters]);
    return at === null ? rows : selectPublishedThen({ store, organizationId }, rows, rules, at);
  };
  const queryOpened = (from: number, to: number) =>
    queryIncidents(betweenSql, buildFirstId(from), buildFirstId(to), ...published, maxIncidents);
  return {
    /** Open incidents, and incidents with an update or postmortem in the last 8 days, newest first. */
    currentIncidents: async (now: number) => {
      const since = formatTimestamp(now - 8 * dayMs);
      const [open, recent] = await Promise.all([
        queryIncidents(openSql, endId, ...published, maxIncidents),
        queryIncidents(recentSql, endId, since, since, ...published, maxIncidents),
      ]);
      const rows = [...new Map([...open, ...recent].map((row) => [row.id, row])).values()];
      rows.sort((a, b) => (a.id < b.id ? 1 : -1));
      return loadWithinBudget(store, page, shownMonitors, rows, at);
    },
    /**
     * An incident of any age with its latest updates, the updates before `before`, or the update `only`. Null if the
     * page does not show the incident.
     */
    async findIncident(id: string, { before, only }: { before?: string; only?: string } = {}) {
      const rows = await queryIncidents(incidentSql, id, ...published);
      const limit = updatesPerIncidentPage;
      const incidentQuery = { at, limit, ...(before && { before }), ...(only && { only }) };
      const found = await loadIncidents(store, page, shownMonitors, rows, incidentQuery);
      if (before !== undefined && found[0]?.updates.length === 0) return null;
      return limitUpdates(found, measureText, createTextBudget(maxIncidentTextBytes))[0] ?? null;
    },
    /** Incidents opened in this period, newest first. */
    listOpenedBetween: async (from: number, to: number) =>
      loadWithinBudget(store, page, shownMonitors, await queryOpened(from, to), at),
    /** Incidents opened in this period, without their timelines. */
    async listMarksBetween(from: number, to: number): Promise<IncidentMark[]> {
      const withoutTimeline = { updates: [], earlier: 0, postmortem: null };
      const rows = await queryOpened(from, to);
      return rows.map((row) =>
        toPublicIncident(parseIncidentRow(row), withoutTimeline, shownMonitors),
      );
    },
    hasBefore: async (at: number) =>
      (await queryIncidents(earlierSql, buildFirstId(at), ...published)).length > 0,
    /** Time of the last change to an incident on the page; null without incidents. */
    lastChange: async () => (await queryIncidents(lastSql, ...published))[0]?.updatedAt ?? null,
    /** An unsaved draft as the page would show it; null if the page would not show it. */
    publishDraft(draft: ShownIncident): PublicIncident | null {
      if (!isPublishedIncident(draft, rules)) return null;
      const postmortem = toPublicPostmortem(draft);
      const timeline = { updates: draft.updates.toReversed(), earlier: 0, postmortem };
      return toPublicIncident(draft, timeline, shownMonitors);
    },
  };
}

/** Rules that decide whether a page shows an incident. */
type PublishingRules = {
  isDefault: boolean;
  shownMonitors: ShownMonitors;
  concealed: ReadonlySet<string>;
};

/** Returns incidents of a page as they were at a time, without those that it did not show then. */
async function selectPublishedThen(
  tenant: Tenant,
  rows: readonly StoredIncident[],
  rules: PublishingRules,
  at: number,
): Promise<StoredIncident[]> {
  const pastIncidents = await rewindIncidents(tenant, rows, at);
  return pastIncidents.filter((row) =>
    isPublishedIncident({ ...row, monitorIds: parseMonitorIds(row) }, rules),
  );
}

/** Whether the page shows an incident, by the same rule as `isPublished`. */
function isPublishedIncident(
  { monitorIds, origin, ...incident }: Pick<ShownIncident, "public" | "origin" | "monitorIds">,
  page: PublishingRules,
): boolean {
  if (!incident.public) return false;
  if (monitorIds.some((id) => page.shownMonitors.has(id))) return true;
  if (origin !== "manual") return false;
  const isConcealed = monitorIds.some((id) => page.concealed.has(id));
  return monitorIds.length === 0 || (page.isDefault && !isConcealed);
}

/** Reads incidents with their latest updates, within the text budget of one page. */
async function loadWithinBudget(
  store: Store,
  page: Page,
  shownMonitors: ShownMonitors,
  rows: readonly StoredIncident[],
  at: number | null,
): Promise<PublicIncident[]> {
  const budget = createTextBudget();
  const all: PublicIncident[] = [];
  const limit = updatesPerIncident;
  for (let from = 0; from < rows.length; from += incidentsPerPortion) {
    if (from > 0) await yieldToEventLoop();
    const portion = rows.slice(from, from + incidentsPerPortion);
    const loaded = await loadIncidents(store, page, shownMonitors, portion, { at, limit });
    all.push(...limitUpdates(loaded, measureText, budget));
  }
  return all;
}

type IncidentRow = Omit<
  PublicIncident,
  "title" | "automatic" | "monitors" | "impactChanges" | "updates" | "earlier" | "postmortem"
> & {
  /** All affected monitors, including monitors that the page does not show. */
  monitorIds: readonly string[];
  impacts: readonly IncidentImpact[];
  impactChanges: readonly ImpactChange[] | null;
} & Words<AutomaticTitle, "title">;

type UpdateRow = Omit<
  PublicIncident["updates"][number],
  "message" | "isMarkdown" | "reports" | "sources" | "lang"
> &
  Words<AutomaticUpdate, "message"> & { translations: Translations | null };

/** A text by people, or the facts of an automatic text. Stored automatic texts contain private names and reasons. */
type Words<T, K extends string> = { automatic: T | null } & Record<K, string>;

const incidentColumns = `id, case when automatic is null then title else '' end as title, automatic,
  status, severity, origin, monitor_id as monitorId, monitor_ids as monitorIds, impacts, impact_changes as impactChanges, created_at as createdAt, updated_at as updatedAt,
  resolved_at as resolvedAt`;

const isAffectedSql = `exists (select 1 from incident_monitors linked
    where linked.organization_id = incidents.organization_id and linked.incident_id = incidents.id
      and linked.monitor_id in (select value from json_each(?)))`;

const isPublishedSql = `public and (${isAffectedSql}
  or (origin = 'manual' and (monitor_id is null or (? and not ${isAffectedSql}))))`;

/** Greater than any ID. */
const lastId = "~";

// The plus keeps the primary key out of the plan: at present, all incidents are before `lastId`.
const openSql = `select ${incidentColumns} from incidents
  where organization_id = ? and +id < ? and status in ('investigating', 'identified', 'monitoring')
    and ${isPublishedSql}
  order by id desc limit ?`;

// A correction alone does not bring an old incident back to the page.
const recentSql = `select ${incidentColumns} from incidents
  where organization_id = ? and +id < ? and updated_at >= ? and ? <= max(
    coalesce((select max(created_at) from incident_updates u
      where u.organization_id = incidents.organization_id and u.incident_id = incidents.id), ''),
    coalesce((select published_at from incident_postmortems p
      where p.organization_id = incidents.organization_id and p.incident_id = incidents.id), ''))
    and ${isPublishedSql}
  order by updated_at desc limit ?`;

const betweenSql = `select ${incidentColumns} from incidents
  where organization_id = ? and id >= ? and id < ? and ${isPublishedSql} order by id desc limit ?`;

const updatesSql = `select u.incident_id as incidentId, u.id, u.status, u.automatic, u.translations,
    case when u.automatic is null then u.message else '' end as message, u.created_at as createdAt,
    u.edited_at as editedAt
  from json_each(?) wanted
    cross join incident_updates u on u.organization_id = ? and u.incident_id = wanted.value
  where u.seq < ?3 and u.created_at <= ?6
    and u.seq >= coalesce((select seq from incident_updates later
      where later.organization_id = u.organization_id and later.incident_id = u.incident_id
        and later.seq < ?3 and later.created_at <= ?6 order by seq desc limit 1 offset ?4), 0)
    and (?5 is null or u.id = ?5)
  order by u.seq desc`;

/** Counts the updates of each incident before a position in its timeline. */
const countsSql = `select u.incident_id as incidentId, count(*) as count from json_each(?) wanted
    cross join incident_updates u on u.organization_id = ? and u.incident_id = wanted.value
  where u.seq < ? and u.created_at <= ? group by u.incident_id`;

const seqSql = `select seq from incident_updates
  where organization_id = ? and incident_id = ? and id = ?`;

const postmortemsSql = `select p.incident_id as incidentId, p.message, p.published_at as publishedAt
  from json_each(?) wanted
    cross join incident_postmortems p on p.organization_id = ? and p.incident_id = wanted.value
  where p.published_at <= ?`;

const incidentSql = `select ${incidentColumns} from incidents
  where organization_id = ? and id = ? and ${isPublishedSql}`;

const earlierSql = `select 1 from incidents
  where organization_id = ? and id < ? and ${isPublishedSql} limit 1`;

// Examines at most the latest 1,000 incidents, even if the page shows none of them.
const lastSql = `select updated_at as updatedAt from (select * from incidents
    where organization_id = ? order by updated_at desc limit 1000) incidents
  where ${isPublishedSql} limit 1`;

/** Maximum incidents on a page. */
const maxIncidents = statusPageBounds.shownIncidents.value;
/** Maximum updates of an incident in a list. */
const updatesPerIncident = statusPageBounds.updatesPerIncident.value;
/** Maximum updates on the page of an incident. */
const updatesPerIncidentPage = statusPageBounds.updatesPerIncidentPage.value;
/** Maximum text on the page of an incident, in bytes: the longest postmortem and the same size for updates. */
const maxIncidentTextBytes = statusPageBounds.texts.value;
/** Incidents per query. Other work can run between two queries. */
const incidentsPerPortion = 20;

/** The updates to read: the last ones, those before an update, or only one. None are later than `at`. */
type TimelineQuery = { at: number | null; limit: number; before?: string; only?: string };

/** Greater than any time in RFC 3339. */
const endOfTime = "~";

/** Reads the timelines of these incidents, and shows monitors under their public names. */
async function loadIncidents(
  store: Store,
  { organizationId }: Page,
  shownMonitors: ShownMonitors,
  rows: readonly StoredIncident[],
  { at, limit, before, only }: TimelineQuery,
): Promise<PublicIncident[]> {
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const resolvedIds = rows.filter(({ status }) => status === "resolved").map(({ id }) => id);
  const latest = at === null ? endOfTime : formatTimestamp(at);
  const until =
    before === undefined
      ? Number.MAX_SAFE_INTEGER
      : ((
          await store.query<{ seq: number }>(seqSql, [organizationId, rows[0]?.id ?? "", before])
        )[0]?.seq ?? 0);
  const [updates, counts, postmortems] = await Promise.all([
    store.query<StoredUpdate & { incidentId: string }>(updatesSql, [
      ids,
      organizationId,
      until,
      only === undefined ? limit - 1 : Number.MAX_SAFE_INTEGER,
      only ?? null,
      latest,
    ]),
    store.query<{ incidentId: string; count: number }>(countsSql, [
      ids,
      organizationId,
      until,
      latest,
    ]),
    resolvedIds.length === 0
      ? []
      : store.query<PublicPostmortem & { incidentId: string }>(postmortemsSql, [
          JSON.stringify(resolvedIds),
          organizationId,
          latest,
        ]),
  ]);
  const postmortemOf = new Map(postmortems.map(({ incidentId, ...one }) => [incidentId, one]));
  const countOf = new Map(counts.map(({ incidentId, count }) => [incidentId, count]));
  const byIncident = Map.groupBy(updates, ({ incidentId }) => incidentId);
  return rows.map((row) => {
    const ownUpdates = (byIncident.get(row.id) ?? []).map((update) => ({
      ...update,
      automatic: parseFacts<AutomaticUpdate>(update.automatic),
      translations: parseTranslations(update.translations),
    }));
    const earlier = (countOf.get(row.id) ?? 0) - ownUpdates.length;
    const postmortem = postmortemOf.get(row.id) ?? null;
    return toPublicIncident(
      parseIncidentRow(row),
      { updates: ownUpdates, earlier, postmortem },
      shownMonitors,
    );
  });
}

type PublicPostmortem = NonNullable<PublicIncident["postmortem"]>;
type StoredFacts<T> = Omit<T, "automatic" | "monitorIds" | "impacts" | "impactChanges"> & {
  automatic: string | null;
};
type StoredUpdate = Omit<StoredFacts<UpdateRow>, "translations"> & { translations: string | null };
type StoredIncident = StoredFacts<IncidentRow> &
  MonitorColumns & {
    impacts: string | null;
    impactChanges: string | null;
    origin: ShownIncident["origin"];
  };

const parseIncidentRow = (row: StoredIncident): IncidentRow => ({
  ...row,
  monitorIds: parseMonitorIds(row),
  impacts: parseImpacts(row.impacts, parseMonitorIds(row)),
  impactChanges: parseImpactChanges(row.impactChanges),
  automatic: parseFacts<AutomaticTitle>(row.automatic),
});

const toPublicPostmortem = ({
  status,
  postmortem,
}: Pick<IncidentHead, "status" | "postmortem">): PublicPostmortem | null =>
  status === "resolved" && postmortem !== null && postmortem.publishedAt !== null
    ? { message: postmortem.message, publishedAt: postmortem.publishedAt }
    : null;

type Timeline = {
  updates: readonly UpdateRow[];
  earlier: number;
  postmortem: PublicPostmortem | null;
};

function toPublicIncident(
  incident: IncidentRow,
  { updates, earlier, postmortem }: Timeline,
  shownMonitors: ShownMonitors,
): PublicIncident {
  const { id, title, automatic, status, severity, monitorIds, impacts, impactChanges, ...times } =
    incident;
  // Automatic texts are about the first monitor, even if the page shows only others.
  const subject = shownMonitors.get(monitorIds[0] ?? "")?.name ?? null;
  const hasTitle = automatic !== null;
  const isAutomatic = hasTitle || updates.some((update) => update.automatic !== null);
  return {
    id,
    title: hasTitle ? composeAutomaticTitle(getLanguage("en"), subject) : title,
    ...(isAutomatic && { automatic: { subject, hasTitle } }),
    status,
    severity,
    monitors: monitorIds.flatMap((id) => {
      const monitor = shownMonitors.get(id);
      const impact = impacts.find(({ monitorId }) => monitorId === id)?.impact ?? null;
      return monitor === undefined ? [] : [{ id, name: monitor.name, impact }];
    }),
    ...(impactChanges && {
      impactChanges: impactChanges.filter(([, id]) => shownMonitors.has(id)),
    }),
    createdAt: times.createdAt,
    updatedAt: times.updatedAt,
    resolvedAt: times.resolvedAt,
    postmortem,
    earlier,
    updates: updates.map(({ id, status, message, automatic, createdAt, editedAt, ...rest }) => ({
      id,
      status,
      message: automatic === null ? message : describeUpdate(getLanguage("en"), automatic, subject),
      isMarkdown: automatic === null,
      sources: { automatic, translations: rest.translations ?? null },
      createdAt,
      editedAt,
      reports: automatic === null ? null : reportedBy[automatic.kind],
    })),
  };
}

/** State that an automatic update reports. */
const reportedBy = {
  down: "down",
  "down-again": "down",
  degraded: "degraded",
  up: "up",
  removed: null,
} as const;
