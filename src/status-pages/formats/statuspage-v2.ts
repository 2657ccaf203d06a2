/** Serves a status page in the format of Statuspage's public API, version 2. */
import { statusPageBounds } from "../../core/limits.ts";
import { derivedId } from "../../core/ids.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import { withoutTags } from "../../core/text/words.ts";
import { dayMs } from "../../monitoring/uptime/rules.ts";
import type { Loaded } from "../load.ts";
import type { PublicData, PublicIncident } from "./public-data.ts";
import { maintenanceAnchor } from "../rendering/view.ts";
import type { PublicWindow } from "../windows.ts";
import { type WordsOf, wordsOf, writtenIn } from "../rendering/words.ts";

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

/** Maximum incidents or maintenances in a list, as at Statuspage. */
const maxListed = 50;
/** Maximum components of a maintenance. */
const maxComponents = 100;
/** Maximum bytes of the incidents in a response. Maintenances have the same limit. */
const maxBytes = statusPageBounds.texts.value / 2;

type Component = ReturnType<typeof componentsOf>[number];

/** Data that the descriptions of all incidents and maintenances share. */
type Context = {
  words: WordsOf;
  pageId: string;
  /** Full address of the page. */
  url: string;
  /** Components by id. */
  components: ReadonlyMap<string, Component>;
};

/** Returns the document with this name; null for a component that the page does not show. */
export async function v2Of(
  name: string,
  published: Loaded,
  url: string,
  now: number,
): Promise<object | null> {
  const { page, windows } = published;
  const over = await published.windowsOver();
  const year =
    name === "incidents" ? await published.openedBetween(now - 365 * dayMs, now + dayMs) : [];
  const listed = year.slice(0, maxListed);
  const words = await wordsOf(
    writtenIn({
      ...published,
      windows: [...windows, ...over],
      incidents: [...published.incidents, ...listed],
    }),
  );
  const components = componentsOf(published, words);
  const byId = new Map(components.map((component) => [component.id, component]));
  const context: Context = { words, pageId: page.slug, url, components: byId };
  const updated_at = await lastChangeOf(published, over);
  const head = {
    page: {
      id: page.slug,
      name: withoutTags(page.title),
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
    ...contentOf(name as V2Name, published, { over, listed, components, context }),
  };
}

type Listed = {
  over: readonly PublicWindow[];
  listed: readonly PublicIncident[];
  components: readonly Component[];
  context: Context;
};

function contentOf(name: V2Name, published: Loaded, { over, listed, components, context }: Listed) {
  const { windows } = published;
  const open = published.incidents.filter(({ status }) => status !== "resolved");
  const incidents = (some: readonly PublicIncident[]) => ({
    incidents: fitting(some, (one) => incidentOf(one, context)),
  });
  const maintenances = (some: readonly PublicWindow[]) => ({
    scheduled_maintenances: fitting(some.slice(0, maxListed), (one) => windowOf(one, context)),
  });
  switch (name) {
    case "status":
      return { status: statusOf(published) };
    case "components":
      return { components };
    case "incidents":
      return incidents(listed);
    case "incidents/unresolved":
      return incidents(open);
    case "scheduled-maintenances":
      return maintenances([...windows.toReversed(), ...over]);
    case "scheduled-maintenances/upcoming":
      return maintenances(windows.filter(({ isRunning }) => !isRunning));
    case "scheduled-maintenances/active":
      return maintenances(windows.filter(({ isRunning }) => isRunning));
    case "summary":
      return {
        components,
        ...incidents(open),
        ...maintenances(windows),
        status: statusOf(published),
      };
  }
}

/** Describes as many of the first entries as fit into a response, but at least one. */
function fitting<T>(all: readonly T[], describe: (one: T) => object): object[] {
  const some: object[] = [];
  let bytes = 0;
  for (const one of all) {
    const described = describe(one);
    bytes += Buffer.byteLength(JSON.stringify(described));
    if (bytes > maxBytes && some.length > 0) break;
    some.push(described);
  }
  return some;
}

async function lastChangeOf(published: Loaded, over: readonly PublicWindow[]): Promise<string> {
  const { page, sections, windows } = published;
  return latest([
    page.updatedAt,
    ...sections.flatMap(({ monitors }) => monitors.map(({ since }) => since)),
    ...[...windows, ...over].map(({ changedAt }) => changedAt),
    (await published.lastChange()) ?? page.updatedAt,
  ]);
}

function latest(times: readonly string[]): string {
  return times.reduce((last, time) => (time > last ? time : last));
}

/**
 * Returns the overall status in Statuspage's words: the worst of its components and of the impacts of open
 * incidents. An outage of all components is critical, an outage of some is major:
 * https://support.atlassian.com/statuspage/docs/top-level-status-and-incident-impact-calculations/
 */
function statusOf({ sections, incidents, windows }: PublicData) {
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
    return { indicator: worst, description: "Partially Degraded Service" };
  if (worst !== undefined) return { indicator: worst, description: outageDescriptions[worst] };
  const isMaintained = states.includes("maintenance") || windows.some(({ isRunning }) => isRunning);
  return isMaintained
    ? { indicator: "maintenance", description: "Service Under Maintenance" }
    : { indicator: "none", description: "All Systems Operational" };
}

const outageDescriptions = {
  critical: "Major Service Outage",
  major: "Partial System Outage",
  minor: "Minor Service Outage",
};

/** Returns the status of a group. With only some of its monitors down, it is a partial outage. */
function groupStatusOf(monitors: PublicData["sections"][number]["monitors"]): string {
  const states = monitors
    .map(({ lastKnown }) => lastKnown)
    .filter((state) => state !== "paused" && state !== "pending");
  if (states.includes("down"))
    return states.every((state) => state === "down") ? "major_outage" : "partial_outage";
  const worst = (["degraded", "maintenance"] as const).find((state) => states.includes(state));
  return componentStatus[worst ?? "up"];
}

function componentsOf({ page, sections }: PublicData, words: WordsOf) {
  const common = {
    showcase: false,
    start_date: null,
    page_id: page.slug,
    only_show_if_degraded: false,
  };
  return sections.flatMap(({ id: groupId, name, monitors }, index) => [
    {
      id: groupId,
      name: withoutTags(name),
      status: groupStatusOf(monitors),
      description: null,
      position: index + 1,
      group_id: null,
      group: true,
      components: monitors.map(({ id }) => id),
      created_at: page.createdAt,
      updated_at: latest([page.updatedAt, ...monitors.map(({ since }) => since)]),
      ...common,
    },
    ...monitors.map((monitor, place) => ({
      id: monitor.id,
      name: withoutTags(monitor.name),
      status: componentStatus[monitor.lastKnown],
      not_judged_since: monitor.notJudgedSince,
      description: monitor.description && withoutTags(words(monitor.description).text),
      position: place + 1,
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
  /** Returns the change of the component at this position. */
  changeOf: (index: number) => Change;
};

type Affected = readonly { id: string; name: string }[];

/** Describes the updates and components of an incident or a maintenance. */
function timelineOf(id: string, updates: readonly Update[], affected: Affected, context: Context) {
  return {
    incident_updates: updates.map((update) => ({
      id: update.id,
      status: update.status,
      body: withoutTags(update.body),
      incident_id: id,
      created_at: update.at,
      updated_at: update.editedAt ?? update.at,
      display_at: update.at,
      affected_components:
        affected.length === 0
          ? null
          : affected.map((component, index) => ({
              code: component.id,
              name: withoutTags(component.name),
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
function incidentOf(incident: PublicIncident, context: Context) {
  const { id, monitors, createdAt, updates, postmortem } = incident;
  const { words, url } = context;
  const status = "postmortem";
  const review = postmortem && {
    id: derivedId(id, status),
    status,
    body: words(postmortem.message).text,
    at: postmortem.publishedAt,
    isNotified: false,
    changeOf: () => unknownChange,
  };
  const told = updates.map(({ id, status, message, createdAt, editedAt }, index): Update => ({
    id,
    status,
    body: words(message).text,
    at: createdAt,
    editedAt,
    isNotified: true,
    // An automatic update reports only the first monitor.
    changeOf: (place) => (place === 0 ? changeIn(incident, index) : unknownChange),
  }));
  return {
    id,
    name: withoutTags(incident.title),
    status: postmortem === null ? incident.status : status,
    impact: incident.severity,
    created_at: createdAt,
    started_at: createdAt,
    updated_at: incident.updatedAt,
    monitoring_at: updates.find(({ status }) => status === "monitoring")?.createdAt ?? null,
    resolved_at: incident.resolvedAt,
    shortlink: `${url}/incidents/${id}`,
    page_id: context.pageId,
    ...timelineOf(id, [...(review === null ? [] : [review]), ...told], monitors, context),
  };
}

/** Returns the status that an automatic update reports, and the status that the previous one reported. */
function changeIn({ updates, earlier }: PublicIncident, index: number): Change {
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

function windowOf(window: PublicWindow, context: Context) {
  const { occurrenceId: id, title, startsAt, endsAt, announcedAt, isOver } = window;
  const step = (status: keyof typeof stepChanges, at: string, body: string): Update => ({
    id: derivedId(id, status),
    status,
    body,
    at,
    isNotified: status === "scheduled",
    changeOf: () => stepChanges[status],
  });
  const updates = [
    ...(isOver ? [step("completed", endsAt, "The maintenance is completed.")] : []),
    ...(isOver || window.isRunning
      ? [step("in_progress", startsAt, "The maintenance is in progress.")]
      : []),
    step("scheduled", announcedAt, context.words(window.description).text || title),
  ];
  return {
    id,
    name: withoutTags(title),
    status: updates[0]?.status,
    impact: "maintenance",
    created_at: announcedAt,
    started_at: startsAt,
    updated_at: window.changedAt,
    monitoring_at: null,
    resolved_at: isOver ? endsAt : null,
    scheduled_for: startsAt,
    scheduled_until: endsAt,
    shortlink: `${context.url}#${maintenanceAnchor(id)}`,
    page_id: context.pageId,
    ...timelineOf(id, updates, window.monitors.slice(0, maxComponents), context),
  };
}
