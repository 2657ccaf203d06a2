import { dayMs } from "../uptime/rules.ts";
import type { Loaded } from "./load.ts";
import type { MonitorState, Published, PublishedIncident } from "./published.ts";
import type { StatusView, Tone } from "./view.ts";

/** The public API of Statuspage, version 2, as existing widgets and bots read it: https://metastatuspage.com/api */
export const v2Names = [
  "summary",
  "status",
  "components",
  "incidents",
  "incidents/unresolved",
  "scheduled-maintenances",
] as const;
export type V2Name = (typeof v2Names)[number];

const componentStatus: Record<MonitorState, string> = {
  up: "operational",
  degraded: "degraded_performance",
  down: "major_outage",
  maintenance: "under_maintenance",
  pending: "operational",
  paused: "operational",
};

const indicators: Record<Tone, string> = {
  up: "none",
  none: "none",
  degraded: "minor",
  down: "major",
  maintenance: "maintenance",
};

/** `url` is the page's whole address. */
export async function v2Of(
  name: V2Name,
  published: Loaded,
  view: StatusView,
  url: string,
  now: number,
): Promise<object> {
  const at = new Date(now).toISOString();
  const { page } = published;
  const head = {
    page: { id: page.slug, name: page.title, url, time_zone: page.timeZone, updated_at: at },
  };
  const open = published.incidents.filter(({ status }) => status !== "resolved");
  const incident = (one: PublishedIncident) => incidentOf(one, page.slug, url);
  const status = { indicator: indicators[view.headline.tone], description: view.headline.text };
  const maintenances = published.windows.map((window) => windowOf(window, page.slug, url));
  switch (name) {
    case "status":
      return { ...head, status };
    case "components":
      return { ...head, components: componentsOf(published, at) };
    case "incidents": {
      const all = await published.openedBetween(now - 365 * dayMs, now + dayMs);
      return { ...head, incidents: all.slice(0, 50).map(incident) };
    }
    case "incidents/unresolved":
      return { ...head, incidents: open.map(incident) };
    case "scheduled-maintenances":
      return { ...head, scheduled_maintenances: maintenances };
    case "summary":
      return {
        ...head,
        components: componentsOf(published, at),
        incidents: open.map(incident),
        scheduled_maintenances: maintenances,
        status,
      };
  }
}

function componentsOf({ page, sections }: Published, at: string) {
  const common = {
    created_at: at,
    updated_at: at,
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
        ...common,
      },
      ...monitors.map((monitor, place) => ({
        id: monitor.id,
        name: monitor.name,
        status: componentStatus[monitor.state],
        position: place + 1,
        group_id: groupId,
        group: false,
        ...common,
      })),
    ];
  });
}

function incidentOf(
  { id, title, status, severity, monitor, createdAt, resolvedAt, updates }: PublishedIncident,
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
    updated_at: updates[0]?.createdAt ?? createdAt,
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
  { id, title, description, startsAt, endsAt, isRunning }: Published["windows"][number],
  pageId: string,
  url: string,
) {
  return {
    id,
    name: title,
    status: isRunning ? "in_progress" : "scheduled",
    impact: "maintenance",
    created_at: startsAt,
    started_at: startsAt,
    updated_at: startsAt,
    monitoring_at: null,
    resolved_at: null,
    scheduled_for: startsAt,
    scheduled_until: endsAt,
    shortlink: url,
    page_id: pageId,
    incident_updates: [
      {
        id: `${id}-announced`,
        status: isRunning ? "in_progress" : "scheduled",
        body: description || title,
        incident_id: id,
        created_at: startsAt,
        updated_at: startsAt,
        display_at: startsAt,
        affected_components: [],
        deliver_notifications: false,
      },
    ],
    components: [],
  };
}
