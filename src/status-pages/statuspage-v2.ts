import { derivedId } from "../core/ids.ts";
import { dayMs } from "../monitoring/uptime/rules.ts";
import type { Loaded } from "./load.ts";
import type { PublicData, PublicIncident } from "./public-data.ts";
import type { PublicWindow } from "./windows.ts";
import type { StatusView } from "./view.ts";
import type { MonitorStatus } from "../core/statuses.ts";

/** The public API of Statuspage, version 2, as existing widgets and bots read it: https://metastatuspage.com/api */
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
export type V2Name = (typeof v2Names)[number];

const componentStatus: Record<MonitorStatus, string> = {
  up: "operational",
  degraded: "degraded_performance",
  down: "major_outage",
  maintenance: "under_maintenance",
  pending: "operational",
  paused: "operational",
};

/** As many incidents and maintenances Statuspage lists; of the components of one work so many are named. */
const maxListed = 50;
const maxComponents = 100;

/** `url` is the page's whole address. */
export async function v2Of(
  name: V2Name,
  published: Loaded,
  view: StatusView,
  url: string,
  now: number,
): Promise<object> {
  const { page, windows } = published;
  const over = await published.windowsOver();
  const updated_at = latest([
    page.updatedAt,
    ...published.sections.flatMap(({ monitors }) => monitors.map(({ since }) => since)),
    ...[...windows, ...over].map(({ changedAt }) => changedAt),
    (await published.lastChange()) ?? page.updatedAt,
  ]);
  const head = {
    page: { id: page.slug, name: page.title, url, time_zone: page.timeZone, updated_at },
  };
  const open = published.incidents.filter(({ status }) => status !== "resolved");
  const incident = (one: PublicIncident) => incidentOf(one, page.slug, url);
  const status = { indicator: indicatorOf(published), description: view.headline.text };
  const maintenances = (some: readonly PublicWindow[]) =>
    some.slice(0, maxListed).map((window) => windowOf(window, page.slug, url));
  switch (name) {
    case "status":
      return { ...head, status };
    case "components":
      return { ...head, components: componentsOf(published) };
    case "incidents": {
      const all = await published.openedBetween(now - 365 * dayMs, now + dayMs);
      return { ...head, incidents: all.slice(0, maxListed).map(incident) };
    }
    case "incidents/unresolved":
      return { ...head, incidents: open.map(incident) };
    case "scheduled-maintenances": {
      const latestFirst = [...windows.toReversed(), ...over];
      return { ...head, scheduled_maintenances: maintenances(latestFirst) };
    }
    case "scheduled-maintenances/upcoming":
      return {
        ...head,
        scheduled_maintenances: maintenances(windows.filter(({ isRunning }) => !isRunning)),
      };
    case "scheduled-maintenances/active":
      return {
        ...head,
        scheduled_maintenances: maintenances(windows.filter(({ isRunning }) => isRunning)),
      };
    case "summary":
      return {
        ...head,
        components: componentsOf(published),
        incidents: open.map(incident),
        scheduled_maintenances: maintenances(windows),
        status,
      };
  }
}

function latest(times: readonly string[]): string {
  return times.reduce((last, time) => (time > last ? time : last));
}

/**
 * How bad it is: the worst of its components and of its open incidents' impacts. An outage of all
 * components is critical, one of some is major:
 * https://support.atlassian.com/statuspage/docs/top-level-status-and-incident-impact-calculations/
 */
function indicatorOf({ sections, incidents, windows }: PublicData): string {
  const states = sections
    .flatMap(({ monitors }) => monitors.map(({ state }) => state))
    .filter((state) => state !== "paused" && state !== "pending");
  const impacts = new Set<string>(
    incidents.filter(({ status }) => status !== "resolved").map(({ severity }) => severity),
  );
  if (states.includes("down"))
    impacts.add(states.every((state) => state === "down") ? "critical" : "major");
  if (states.includes("degraded")) impacts.add("minor");
  const worst = ["critical", "major", "minor"].find((impact) => impacts.has(impact));
  if (worst !== undefined) return worst;
  const isMaintained = states.includes("maintenance") || windows.some(({ isRunning }) => isRunning);
  return isMaintained ? "maintenance" : "none";
}

function componentsOf({ page, sections }: PublicData) {
  const common = {
    description: null,
    showcase: false,
    start_date: null,
    page_id: page.slug,
    only_show_if_degraded: false,
  };
  return sections.flatMap(({ name, monitors }, index) => {
    const groupId = `section-${index + 1}`;
    const worst = (["down", "degraded", "maintenance"] as const).find((state) =>
      monitors.some((monitor) => monitor.state === state),
    );
    return [
      {
        id: groupId,
        name,
        status: componentStatus[worst ?? "up"],
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
        name: monitor.name,
        status: componentStatus[monitor.state],
        position: place + 1,
        group_id: groupId,
        group: false,
        created_at: monitor.createdAt,
        updated_at: monitor.since,
        ...common,
      })),
    ];
  });
}

function incidentOf(
  {
    id,
    title,
    status,
    severity,
    monitor,
    createdAt,
    updatedAt,
    resolvedAt,
    updates,
  }: PublicIncident,
  pageId: string,
  url: string,
) {
  return {
    id,
    name: title,
    status,
    impact: severity,
    created_at: createdAt,
    started_at: createdAt,
    updated_at: updatedAt,
    monitoring_at: updates.find((update) => update.status === "monitoring")?.createdAt ?? null,
    resolved_at: resolvedAt,
    shortlink: `${url}/incidents/${id}`,
    page_id: pageId,
    incident_updates: updates.map((update) => ({
      id: update.id,
      status: update.status,
      body: update.message,
      incident_id: id,
      created_at: update.createdAt,
      updated_at: update.createdAt,
      display_at: update.createdAt,
      affected_components: monitor === null ? [] : [{ code: monitor.id, name: monitor.name }],
      deliver_notifications: false,
    })),
    components: monitor === null ? [] : [{ id: monitor.id, name: monitor.name }],
  };
}

function windowOf(
  {
    occurrenceId: id,
    title,
    description,
    monitors,
    startsAt,
    endsAt,
    announcedAt,
    changedAt,
    isRunning,
    isOver,
  }: PublicWindow,
  pageId: string,
  url: string,
) {
  const steps = [
    ...(isOver ? [["completed", endsAt, "The maintenance is completed."]] : []),
    ...(isOver || isRunning ? [["in_progress", startsAt, "The maintenance is under way."]] : []),
    ["scheduled", announcedAt, description || title],
  ] as [string, string, string][];
  const components = monitors.slice(0, maxComponents);
  return {
    id,
    name: title,
    status: steps[0]?.[0],
    impact: "maintenance",
    created_at: announcedAt,
    started_at: startsAt,
    updated_at: changedAt,
    monitoring_at: null,
    resolved_at: isOver ? endsAt : null,
    scheduled_for: startsAt,
    scheduled_until: endsAt,
    shortlink: url,
    page_id: pageId,
    incident_updates: steps.map(([status, at, body]) => ({
      id: derivedId(id, status),
      status,
      body,
      incident_id: id,
      created_at: at,
      updated_at: at,
      display_at: at,
      affected_components: components.map(({ id, name }) => ({ code: id, name })),
      deliver_notifications: false,
    })),
    components: components.map(({ id, name }) => ({ id, name })),
  };
}
