import { derivedId } from "../core/ids.ts";
import { dayMs } from "../monitoring/uptime/rules.ts";
import type { Loaded } from "./load.ts";
import type { PublicData, PublicIncident } from "./public-data.ts";
import type { PublicWindow } from "./windows.ts";
import { type WordsOf, wordsOf, writtenIn } from "./words.ts";
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
  const head = {
    page: { id: page.slug, name: page.title, url, time_zone: page.timeZone, updated_at },
  };
  const open = published.incidents.filter(({ status }) => status !== "resolved");
  const incident = (one: PublicIncident) => incidentOf(one, words, page.slug, url);
  const status = { indicator: indicatorOf(published), description: view.headline.text };
  const maintenances = (some: readonly PublicWindow[]) => ({
    scheduled_maintenances: some
      .slice(0, maxListed)
      .map((window) => windowOf(window, words, page.slug, url)),
  });
  switch (name) {
    case "status":
      return { ...head, status };
    case "components":
      return { ...head, components: componentsOf(published, words) };
    case "incidents":
      return { ...head, incidents: listed.map(incident) };
    case "incidents/unresolved":
      return { ...head, incidents: open.map(incident) };
    case "scheduled-maintenances": {
      const latestFirst = [...windows.toReversed(), ...over];
      return { ...head, ...maintenances(latestFirst) };
    }
    case "scheduled-maintenances/upcoming":
      return { ...head, ...maintenances(windows.filter(({ isRunning }) => !isRunning)) };
    case "scheduled-maintenances/active":
      return { ...head, ...maintenances(windows.filter(({ isRunning }) => isRunning)) };
    case "summary":
      return {
        ...head,
        components: componentsOf(published, words),
        incidents: open.map(incident),
        ...maintenances(windows),
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
  const isUnknown = states.includes("unknown");
  const impacts = new Set<string>(
    incidents.filter(({ status }) => status !== "resolved").map(({ severity }) => severity),
  );
  if (states.includes("down"))
    impacts.add(states.every((state) => state === "down") ? "critical" : "major");
  // The vocabulary has no word for it, and "none" would mean that all is well.
  if (states.includes("degraded") || isUnknown) impacts.add("minor");
  const worst = ["critical", "major", "minor"].find((impact) => impacts.has(impact));
  if (worst !== undefined) return worst;
  const isMaintained = states.includes("maintenance") || windows.some(({ isRunning }) => isRunning);
  return isMaintained ? "maintenance" : "none";
}

function componentsOf({ page, sections }: PublicData, words: WordsOf) {
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
        status: componentStatus[monitor.lastKnown],
        not_judged_since: monitor.notJudgedSince,
        position: place + 1,
        group_id: groupId,
        group: false,
        created_at: monitor.createdAt,
        updated_at: monitor.since,
        ...common,
        description: monitor.description && words(monitor.description).text,
      })),
    ];
  });
}

type Component = { id: string; name: string };
type Update = { id: string; status: string; body: string; at: string; editedAt?: string | null };

/** The updates and components that an incident or a maintenance has. */
function timelineOf(id: string, updates: readonly Update[], components: readonly Component[]) {
  return {
    incident_updates: updates.map(({ at, editedAt, ...update }) => ({
      ...update,
      incident_id: id,
      created_at: at,
      updated_at: editedAt ?? at,
      display_at: at,
      affected_components: components.map(({ id, name }) => ({ code: id, name })),
      deliver_notifications: false,
    })),
    components: components.map(({ id, name }) => ({ id, name })),
  };
}

function incidentOf(incident: PublicIncident, words: WordsOf, pageId: string, url: string) {
  const { id, monitors, createdAt, updates, postmortem } = incident;
  const status = "postmortem";
  const review = postmortem && {
    id: derivedId(id, status),
    status,
    body: words(postmortem.message).text,
    at: postmortem.publishedAt,
  };
  return {
    id,
    name: incident.title,
    status: postmortem === null ? incident.status : status,
    impact: incident.severity,
    created_at: createdAt,
    started_at: createdAt,
    updated_at: incident.updatedAt,
    monitoring_at: updates.find(({ status }) => status === "monitoring")?.createdAt ?? null,
    resolved_at: incident.resolvedAt,
    shortlink: `${url}/incidents/${id}`,
    page_id: pageId,
    ...timelineOf(
      id,
      [
        ...(review === null ? [] : [review]),
        ...updates.map(({ id, status, message, createdAt, editedAt }) => ({
          id,
          status,
          body: words(message).text,
          at: createdAt,
          editedAt,
        })),
      ],
      monitors,
    ),
  };
}

function windowOf(window: PublicWindow, words: WordsOf, pageId: string, url: string) {
  const { occurrenceId: id, title, startsAt, endsAt, announcedAt, isOver } = window;
  const step = (status: string, at: string, body: string): Update => ({
    id: derivedId(id, status),
    status,
    body,
    at,
  });
  const updates = [
    ...(isOver ? [step("completed", endsAt, "The maintenance is completed.")] : []),
    ...(isOver || window.isRunning
      ? [step("in_progress", startsAt, "The maintenance is in progress.")]
      : []),
    step("scheduled", announcedAt, words(window.description).text || title),
  ];
  return {
    id,
    name: title,
    status: updates[0]?.status,
    impact: "maintenance",
    created_at: announcedAt,
    started_at: startsAt,
    updated_at: window.changedAt,
    monitoring_at: null,
    resolved_at: isOver ? endsAt : null,
    scheduled_for: startsAt,
    scheduled_until: endsAt,
    shortlink: url,
    page_id: pageId,
    ...timelineOf(id, updates, window.monitors.slice(0, maxComponents)),
  };
}
