/** Serves a status page in the format of Statuspage's public API, version 2. */
import { dayMs } from "../../core/time/clock.ts";
import { statusPageBounds } from "../../core/limits.ts";
import { deriveId } from "../../core/ids.ts";
import type { ImpactLevel, MonitorStatus } from "../../core/statuses.ts";
import { escapeTags } from "../../core/text/formatting.ts";

import type { Language } from "../languages/language.ts";
import type { LoadedPage } from "../load.ts";
import type { PublicData, PublicIncident, PublicMonitor } from "./public-data.ts";
import { formatMaintenanceAnchor } from "../rendering/view.ts";
import type { PublicWindow } from "../windows.ts";
import { type RenderText, renderWords, collectTexts } from "../rendering/words.ts";

/** Documents of the API, which existing widgets and bots read: https://metastatuspage.com/api */
export const v2Names = [
  "summary",
  "status",
  "components",
  "incidents",
  "incidents/unresolved",
  "scheduled-maintenances",
  "scheduled-maintenances/upcoming",
  "scheduled-maintenances/active",
] as const;
type V2Name = (typeof v2Names)[number];

/** Whether a name is one of the fixed documents, not a single component. */
export const isV2Name = (name: string) => (v2Names as readonly string[]).includes(name);

/** Prefix of the document of a single component. */
const componentPrefix = "components/";

/** Whether a name is the document of a single component. */
export const isComponentName = (name: string) => name.startsWith(componentPrefix);

const componentStatus: Record<MonitorStatus, string> = {
  up: "operational",
  degraded: "degraded_performance",
  down: "major_outage",
  maintenance: "under_maintenance",
  pending: "operational",
  paused: "operational",
};

const impactStatus: Record<ImpactLevel, string> = {
  degraded: "degraded_performance",
  "partial-outage": "partial_outage",
  "major-outage": "major_outage",
};

const findComponentStatus = ({ impact, lastKnown }: PublicMonitor) =>
  impact === null ? componentStatus[lastKnown] : impactStatus[impact];

/** Maximum incidents or maintenances in a list, as at Statuspage. */
const maxListed = 50;
/** Maximum components of a maintenance. */
const maxComponents = 100;
/** Maximum bytes of the incidents in a response. Maintenances have the same limit. */
const maxBytes = statusPageBounds.texts.value / 2;

type Component = ReturnType<typeof buildComponents>[number];

/** Data that the descriptions of all incidents and maintenances share. */
type Context = {
  words: RenderText;
  language: Language;
  pageId: string;
  /** Full address of the page. */
  url: string;
  /** Components by id. */
  components: ReadonlyMap<string, Component>;
};

/** Returns the document with this name; null for a component that the page does not show. */
export async function buildV2Response(
  name: string,
  published: LoadedPage,
  { url, now, language }: { url: string; now: number; language: Language },
): Promise<object | null> {
  const { page, windows } = published;
  const endedWindows = await published.readLimitedEndedWindows();
  const year =
    name === "incidents" ? await published.listOpenedBetween(now - 365 * dayMs, now + dayMs) : [];
  const listedIncidents = year.slice(0, maxListed);
  const words = await renderWords(
    collectTexts({
      ...published,
      windows: [...windows, ...endedWindows],
      incidents: [...published.incidents, ...listedIncidents],
    }),
  );
  const components = buildComponents(published, words);
  const byId = new Map(components.map((component) => [component.id, component]));
  const context: Context = { words, language, pageId: page.slug, url, components: byId };
  const updated_at = await findLastChange(published, endedWindows);
  const head = {
    page: {
      id: page.slug,
      name: escapeTags(page.title),
      url,
      time_zone: page.timeZone,
      updated_at,
    },
  };
  if (isComponentName(name)) {
    const component = byId.get(name.slice(componentPrefix.length));
    return component === undefined ? null : { ...head, component };
  }
  return {
    ...head,
    ...buildContent(name as V2Name, published, {
      endedWindows,
      listed: listedIncidents,
      components,
      context,
    }),
  };
}

type ResponseContext = {
  endedWindows: readonly PublicWindow[];
  listed: readonly PublicIncident[];
  components: readonly Component[];
  context: Context;
};

function buildContent(
  name: V2Name,
  published: LoadedPage,
  { endedWindows, listed, components, context }: ResponseContext,
) {
  const { windows } = published;
  const open = published.incidents.filter(({ status }) => status !== "resolved");
  const describeIncidents = (portion: readonly PublicIncident[]) => ({
    incidents: describeWithinLimit(portion, (one) => buildIncident(one, context)),
  });
  const describeMaintenances = (portion: readonly PublicWindow[]) => ({
    scheduled_maintenances: describeWithinLimit(portion.slice(0, maxListed), (one) =>
      buildMaintenance(one, context),
    ),
  });
  switch (name) {
    case "status":
      return { status: summarizeStatus(published, context.language) };
    case "components":
      return { components };
    case "incidents":
      return describeIncidents(listed);
    case "incidents/unresolved":
      return describeIncidents(open);
    case "scheduled-maintenances":
      return describeMaintenances([...windows.toReversed(), ...endedWindows]);
    case "scheduled-maintenances/upcoming":
      return describeMaintenances(windows.filter(({ isRunning }) => !isRunning));
    case "scheduled-maintenances/active":
      return describeMaintenances(windows.filter(({ isRunning }) => isRunning));
    case "summary":
      return {
        components,
        ...describeIncidents(open),
        ...describeMaintenances(windows),
        status: summarizeStatus(published, context.language),
      };
  }
}

/** Describes the first entries that fit into a response, at least one. */
function describeWithinLimit<T>(all: readonly T[], describe: (one: T) => object): object[] {
  const portion: object[] = [];
  let bytes = 0;
  for (const one of all) {
    const described = describe(one);
    bytes += Buffer.byteLength(JSON.stringify(described));
    if (bytes > maxBytes && portion.length > 0) break;
    portion.push(described);
  }
  return portion;
}

async function findLastChange(
  published: LoadedPage,
  endedWindows: readonly PublicWindow[],
): Promise<string> {
  const { page, sections, windows } = published;
  return findLatest([
    page.updatedAt,
    ...sections.flatMap(({ monitors }) => monitors.map(({ since }) => since)),
    ...[...windows, ...endedWindows].map(({ changedAt }) => changedAt),
    (await published.lastChange()) ?? page.updatedAt,
  ]);
}

function findLatest(times: readonly string[]): string {
  return times.reduce((last, time) => (time > last ? time : last));
}

/**
 * Returns the overall status in Statuspage's words: the worst of its components and of the impacts of open
 * incidents. An outage of all components is critical, an outage of some is major:
 * https://support.atlassian.com/statuspage/docs/top-level-status-and-incident-impact-calculations/
 */
function summarizeStatus({ sections, incidents, windows }: PublicData, language: Language) {
  const states = sections
    .flatMap(({ monitors }) => monitors.map(({ state }) => state))
    .filter((state) => state !== "paused" && state !== "pending");
  const impacts = new Set<string>(
    incidents.filter(({ status }) => status !== "resolved").map(({ severity }) => severity),
  );
  const hasMinorIncident = impacts.has("minor");
  if (states.includes("down"))
    impacts.add(states.every((state) => state === "down") ? "critical" : "major");
  // Statuspage has no word for an unknown state, and "none" would mean that all is well.
  if (states.includes("degraded") || states.includes("unknown")) impacts.add("minor");
  const worst = (["critical", "major", "minor"] as const).find((impact) => impacts.has(impact));
  if (worst === "minor" && !hasMinorIncident)
    return { indicator: worst, description: language.translate("v2Degraded") };
  if (worst !== undefined)
    return { indicator: worst, description: language.translate(outageKeys[worst]) };
  const isMaintained = states.includes("maintenance") || windows.some(({ isRunning }) => isRunning);
  return isMaintained
    ? { indicator: "maintenance", description: language.translate("v2Maintenance") }
    : { indicator: "none", description: language.translate("v2Operational") };
}

const outageKeys = { critical: "v2Critical", major: "v2Major", minor: "v2Minor" } as const;

/** Returns the status of a group. With only some of its monitors down, it is a partial outage. */
function deriveGroupStatus(monitors: PublicData["sections"][number]["monitors"]): string {
  const states = monitors
    .map(({ impact, state, lastKnown }) => (impact === null ? lastKnown : state))
    .filter((state) => state !== "paused" && state !== "pending");
  if (states.includes("down"))
    return states.every((state) => state === "down") ? "major_outage" : "partial_outage";
  if (monitors.some(({ impact }) => impact === "partial-outage")) return "partial_outage";
  const worst = (["degraded", "maintenance"] as const).find((state) => states.includes(state));
  return componentStatus[worst ?? "up"];
}

function buildComponents({ page, sections }: PublicData, words: RenderText) {
  const common = {
    showcase: false,
    start_date: null,
    page_id: page.slug,
    only_show_if_degraded: false,
  };
  return sections.flatMap(({ id: groupId, name, monitors }, index) => [
    {
      id: groupId,
      name: escapeTags(name),
      status: deriveGroupStatus(monitors),
      description: null,
      position: index + 1,
      group_id: null,
      group: true,
      components: monitors.map(({ id }) => id),
      created_at: page.createdAt,
      updated_at: findLatest([page.updatedAt, ...monitors.map(({ since }) => since)]),
      ...common,
    },
    ...monitors.map((monitor, position) => ({
      id: monitor.id,
      name: escapeTags(monitor.name),
      status: findComponentStatus(monitor),
      not_judged_since: monitor.notJudgedSince,
      description: monitor.description && escapeTags(words(monitor.description).text),
      position: position + 1,
      group_id: groupId,
      group: false,
      created_at: monitor.createdAt,
      updated_at: monitor.since,
      ...common,
    })),
  ]);
}

/** Statuses of a component before and after an update; null if unknown. */
type Change = { old_status: string | null; new_status: string | null };
const unknownChange: Change = { old_status: null, new_status: null };

type Update = {
  id: string;
  status: string;
  body: string;
  at: string;
  editedAt?: string | null;
  /** Whether subscribers were notified of the update. */
  isNotified: boolean;
  /** Returns the state change of the component at this position. */
  changeOf: (index: number) => Change;
};

type AffectedMonitors = readonly { id: string; name: string }[];

/** Describes the updates and components of an incident or a maintenance. */
function buildTimeline(
  id: string,
  updates: readonly Update[],
  affected: AffectedMonitors,
  context: Context,
) {
  return {
    incident_updates: updates.map((update) => ({
      id: update.id,
      status: update.status,
      body: escapeTags(update.body),
      incident_id: id,
      created_at: update.at,
      updated_at: update.editedAt ?? update.at,
      display_at: update.at,
      affected_components:
        affected.length === 0
          ? null
          : affected.map((component, index) => ({
              code: component.id,
              name: escapeTags(component.name),
              ...update.changeOf(index),
            })),
      deliver_notifications: update.isNotified,
      custom_tweet: null,
      tweet_id: null,
    })),
    components: affected.flatMap((component) => context.components.get(component.id) ?? []),
    reminder_intervals: null,
  };
}

/** Describes an incident. Its impact is its severity, so Statuspage's `none` never occurs. */
function buildIncident(incident: PublicIncident, context: Context) {
  const { id, monitors, createdAt, updates, postmortem } = incident;
  const { words, url } = context;
  const status = "postmortem";
  const review = postmortem && {
    id: deriveId(id, status),
    status,
    body: words(postmortem.message).text,
    at: postmortem.publishedAt,
    isNotified: false,
    changeOf: () => unknownChange,
  };
  const shownUpdates = updates.map(
    ({ id, status, message, createdAt, editedAt }, index): Update => ({
      id,
      status,
      body: words(message).text,
      at: createdAt,
      editedAt,
      isNotified: true,
      // An automatic update reports only the first monitor.
      changeOf: (place) => (place === 0 ? findReportedChange(incident, index) : unknownChange),
    }),
  );
  return {
    id,
    name: escapeTags(incident.title),
    status: postmortem === null ? incident.status : status,
    impact: incident.severity,
    created_at: createdAt,
    started_at: createdAt,
    updated_at: incident.updatedAt,
    monitoring_at: updates.find(({ status }) => status === "monitoring")?.createdAt ?? null,
    resolved_at: incident.resolvedAt,
    shortlink: `${url}/incidents/${id}`,
    page_id: context.pageId,
    ...buildTimeline(
      id,
      [...(review === null ? [] : [review]), ...shownUpdates],
      monitors,
      context,
    ),
  };
}

/** Returns the status that an automatic update reports, and the status that the previous one reported. */
function findReportedChange({ updates, earlier }: PublicIncident, index: number): Change {
  const reported = updates[index]?.reports ?? null;
  if (reported === null) return unknownChange;
  const before = updates.slice(index + 1).find(({ reports }) => reports !== null)?.reports ?? null;
  const isFirst = before === null && earlier === 0;
  return {
    old_status: before === null ? (isFirst ? "operational" : null) : componentStatus[before],
    new_status: componentStatus[reported],
  };
}

/** Statuses of the components of a maintenance before and after each of its steps. */
const stepChanges = {
  scheduled: { old_status: "operational", new_status: "operational" },
  in_progress: { old_status: "operational", new_status: "under_maintenance" },
  completed: { old_status: "under_maintenance", new_status: "operational" },
} as const satisfies Record<string, Change>;

function buildMaintenance(window: PublicWindow, context: Context) {
  const { occurrenceId: id, title, startsAt, endsAt, announcedAt, isOver } = window;
  const { language } = context;
  const buildStep = (status: keyof typeof stepChanges, at: string, body: string): Update => ({
    id: deriveId(id, status),
    status,
    body,
    at,
    isNotified: status === "scheduled",
    changeOf: () => stepChanges[status],
  });
  const updates = [
    ...(isOver
      ? [buildStep("completed", endsAt, language.translate("maintenanceIsCompleted"))]
      : []),
    ...(isOver || window.isRunning
      ? [buildStep("in_progress", startsAt, language.translate("maintenanceIsInProgress"))]
      : []),
    buildStep("scheduled", announcedAt, context.words(window.description).text || title),
  ];
  return {
    id,
    name: escapeTags(title),
    status: updates[0]?.status,
    impact: "maintenance",
    created_at: announcedAt,
    started_at: startsAt,
    updated_at: window.changedAt,
    monitoring_at: null,
    resolved_at: isOver ? endsAt : null,
    scheduled_for: startsAt,
    scheduled_until: endsAt,
    shortlink: `${context.url}#${formatMaintenanceAnchor(id)}`,
    page_id: context.pageId,
    ...buildTimeline(id, updates, window.monitors.slice(0, maxComponents), context),
  };
}
