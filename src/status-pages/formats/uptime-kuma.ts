/** Serves badges and page data in the formats of Uptime Kuma, for existing badges and widgets. */
import { dayMs, hourMs } from "../../core/time/clock.ts";
import { formatPercent } from "../../core/text/formatting.ts";
import { forEachYielding, yieldToEventLoop } from "../../core/time/event-loop.ts";
import type { Store } from "../../database/store.ts";
import { addSums, computeRatio } from "../../monitoring/uptime/rules.ts";
import { listSums, computeUptime24h } from "../../monitoring/uptime/store.ts";
import { renderBadge, getTone } from "../rendering/badges.ts";
import { findPagesShowingMonitor, type PageCandidate } from "../store.ts";
import type { PublicData, PublicMonitor } from "./public-data.ts";
import { stateTones } from "../rendering/view.ts";
import type { Tenant } from "../../database/rows.ts";

// The formats are defined in https://github.com/louislam/uptime-kuma/blob/master/server/routers/api-router.js
// and status-page-router.js. Imported monitors have their number from there, other monitors their id here.

/** Maximum heartbeats in a response. Pages with very many monitors get fewer per monitor. */
const maxHeartbeats = 20_000;
/** Maximum heartbeats per monitor. */
const heartbeatsPerMonitor = 100;

export type KumaMeasure = "status" | "uptime" | "ping" | "avg-response" | "response" | "cert-exp";

type Labels = Partial<Record<(typeof labelNames)[number], string>>;

const labelNames = ["label", "upLabel", "downLabel"] as const;
const maxLabelLength = 60;

/** Reads the labels that the query of a badge sets. */
export function parseLabels(query: URLSearchParams): Labels {
  return Object.fromEntries(
    labelNames.flatMap((name) => {
      const value = query.get(name);
      return value === null ? [] : [[name, value.toWellFormed().slice(0, maxLabelLength)]];
    }),
  );
}

/** Finds the monitor that was imported with this number and is on a public page; null for none. */
export async function findPagesShowingNumber(store: Store, number: string) {
  const found: (PageCandidate & { monitorId: string })[] = [];
  for (const monitorId of await findMonitorsByNumber(store, number))
    for (const page of await findPagesShowingMonitor(store, monitorId))
      found.push({ ...page, monitorId });
  return found;
}

/** Finds the ids of monitors that were imported with this number, the earliest import first. */
async function findMonitorsByNumber(store: Store, number: string): Promise<string[]> {
  const rows = await store.query<{ id: string }>(
    `select record_id as id from external_records where noun = 'monitor' and external_id = ?
       and source like 'uptime-kuma:%' order by import_id, record_id limit 20`,
    [number],
  );
  return rows.map(({ id }) => id);
}

async function findMonitorKeys({ store, organizationId }: Tenant, ids: readonly string[]) {
  const rows = await store.query<{ id: string; key: number; endsAt: string | null }>(
    `select monitor_id as id, key, certificate_expires_at as endsAt from monitor_states
     where organization_id = ? and monitor_id in (select value from json_each(?))`,
    [organizationId, JSON.stringify(ids)],
  );
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

/** Draws a badge like Uptime Kuma's; null for a monitor without a stored state. */
export async function renderKumaBadge(
  tenant: Tenant,
  { measure, span, labels }: { measure: KumaMeasure; span: string; labels: Labels },
  monitor: PublicMonitor,
  showLatency: boolean,
  now: number,
): Promise<string | null> {
  const { state, id } = monitor;
  const pickLabel = (name: string) => labels.label ?? name;
  if (measure === "status") {
    const words = { up: labels.upLabel ?? "Up", down: labels.downLabel ?? "Down" };
    const other = state === "unknown" ? "not judged" : state;
    const text = state === "up" || state === "down" ? words[state] : other;
    return renderBadge(pickLabel("Status"), text, stateTones[state]);
  }
  const found = (await findMonitorKeys(tenant, [id])).get(id);
  if (found === undefined) return null;
  if (measure === "cert-exp") {
    if (found.endsAt === null) return renderBadge(pickLabel("Cert Exp."), "No/Bad Cert", "none");
    const days = Math.floor((Date.parse(found.endsAt) - now) / dayMs);
    const tone = days > 14 ? "up" : days > 7 ? "degraded" : "down";
    return renderBadge(pickLabel("Cert Exp."), `${days} days`, tone);
  }
  if (measure === "response") {
    const ms = showLatency ? monitor.latencyMs : null;
    return renderBadge(
      pickLabel("Response"),
      ms === null ? "N/A" : `${ms} ms`,
      ms === null ? "none" : "up",
    );
  }
  const [, count = "24", letter = "h"] = /^(\d+)([mhdy]?)$/.exec(span) ?? [];
  const name = `${count}${letter === "" ? "h" : letter}`;
  const hours = Math.max(1, Number(count) * ({ m: 1 / 60, d: 24, y: 8_760 }[letter] ?? 1));
  const [unit, periodMs] = hours <= 72 ? (["hours", hourMs] as const) : (["days", dayMs] as const);
  const pointCount = Math.min(400, Math.ceil((hours * hourMs) / periodMs));
  const last = Math.floor(now / periodMs);
  const periods = Array.from({ length: pointCount }, (_, index) => last - pointCount + 1 + index);
  const sums = addSums(await listSums(tenant.store, found.key, unit, periods));
  if (measure === "uptime") {
    const ratio = computeRatio(sums);
    const text = ratio === null ? "N/A" : formatPercent(ratio).replace(/\s/g, "");
    return renderBadge(pickLabel(`Uptime (${name})`), text, getTone(ratio));
  }
  const label = pickLabel(measure === "ping" ? `Ping (${name})` : `Avg. Response (${name})`);
  if (!showLatency || sums.latencyCount === 0) return renderBadge(label, "N/A", "none");
  return renderBadge(label, `${Math.round(sums.latencySum / sums.latencyCount)} ms`, "up");
}

const formatTime = (at: string | number) =>
  new Date(at).toISOString().replace("T", " ").slice(0, 23);

/** Returns the number of each imported monitor in Uptime Kuma, and the id of every other one. */
export async function findNumbers({ store, organizationId }: Tenant, ids: readonly string[]) {
  const rows = await store.query<{ id: string; number: string }>(
    `select record_id as id, external_id as number from external_records
     where organization_id = ? and noun = 'monitor' and source like 'uptime-kuma:%'
       and record_id in (select value from json_each(?)) order by import_id desc`,
    [organizationId, JSON.stringify(ids)],
  );
  const numbers = new Map(rows.map(({ id, number }) => [id, Number(number)]));
  // Imports from two installations can have the same numbers. The second monitor uses its id instead.
  const takenNumbers = new Set<number>();
  return new Map(
    ids.map((id): [string, number | string] => {
      const number = numbers.get(id);
      const isFree = number !== undefined && !takenNumbers.has(number);
      if (isFree) takenNumbers.add(number);
      return [id, isFree ? number : id];
    }),
  );
}

const listMonitorIds = ({ sections }: PublicData) =>
  sections.flatMap(({ monitors }) => monitors.map(({ id }) => id));

const styles = { critical: "danger", major: "warning", minor: "info" };

const describeIncident = ({
  id,
  title,
  severity,
  updates,
  createdAt,
  updatedAt,
}: PublicData["incidents"][number]) => ({
  id,
  style: styles[severity],
  title,
  content: updates[0]?.message ?? "",
  createdDate: formatTime(createdAt),
  lastUpdatedDate: formatTime(updatedAt),
});

/** Returns the recent incidents of a page in the format of Uptime Kuma 2.1, as its only portion. */
export async function renderKumaHistory(_: Tenant, { incidents }: PublicData): Promise<string> {
  const list = incidents.map((incident) => ({
    ...describeIncident(incident),
    pin: incident.resolvedAt === null,
    active: incident.resolvedAt === null,
  }));
  return JSON.stringify({
    ok: true,
    incidents: list,
    total: list.length,
    nextCursor: null,
    hasMore: false,
  });
}

/** Returns the web app manifest of a page, as Uptime Kuma does. */
export async function renderKumaManifest(_: Tenant, { page }: PublicData): Promise<string> {
  return JSON.stringify({
    name: page.title,
    start_url: `/status/${page.slug}`,
    display: "standalone",
    icons: page.logoUrl === null ? [] : [{ src: page.logoUrl, sizes: "128x128" }],
  });
}

/** Draws the badge of a whole page. Maintenance precedes all other states; unchecked monitors don't count. */
export function renderKumaPageBadge({ sections }: PublicData, label: string): string {
  const states = new Set(sections.flatMap(({ monitors }) => monitors.map(({ state }) => state)));
  const isUp = states.has("up") || states.has("degraded");
  if (states.has("maintenance")) return renderBadge(label, "Maintenance", "maintenance");
  if (states.has("down"))
    return isUp ? renderBadge(label, "Degraded", "degraded") : renderBadge(label, "Down", "down");
  return isUp ? renderBadge(label, "Up", "up") : renderBadge(label, "N/A", "none");
}

/** Describes a page in Uptime Kuma's format. */
export async function renderKumaPage(tenant: Tenant, data: PublicData): Promise<string> {
  const { page, sections, incidents, windows } = data;
  const numbers = await findNumbers(tenant, listMonitorIds(data));
  const open = incidents
    .filter(({ resolvedAt }) => resolvedAt === null)
    .map((incident) => ({ ...describeIncident(incident), pin: 1 }));
  return JSON.stringify({
    config: {
      slug: page.slug,
      title: page.title,
      description: page.description,
      icon: page.logoUrl ?? "/icon.svg",
      autoRefreshInterval: 300,
      theme: page.theme,
      published: true,
      showTags: false,
      customCSS: "",
      footerText: null,
      showPoweredBy: false,
      analyticsId: null,
      showCertificateExpiry: false,
      showOnlyLastHeartbeat: false,
    },
    incident: open[0] ?? null,
    incidents: open,
    publicGroupList: sections.map(({ name, monitors }, index) => ({
      id: index + 1,
      name,
      weight: index + 1,
      monitorList: monitors.map((monitor) => ({
        id: numbers.get(monitor.id) ?? monitor.id,
        name: monitor.name,
        sendUrl: 0,
        type: "http",
      })),
    })),
    maintenanceList: windows
      .filter(({ isRunning }) => isRunning)
      .map(({ id, title, description, startsAt, endsAt }) => ({
        id,
        title,
        description,
        status: "under-maintenance",
        timeslotList: [{ startDate: startsAt, endDate: endsAt }],
      })),
  });
}

/** Monitors per query. Other work can run between two queries. */
const monitorsPerQuery = 250;
const heartbeatsSql = `select k.value as key, h.at, h.status, h.latency_ms as latencyMs from json_each(?) k
     cross join heartbeats h on h.monitor_key = k.value and h.at >= coalesce((
       select at from heartbeats where monitor_key = k.value order by at desc limit 1 offset ?), 0)
   order by k.value, h.at`;

type Beat = { key: number; at: number; status: number; latencyMs: number | null };

/** Uptime Kuma's numbers for the result of a heartbeat: 0 down, 1 up, 2 pending, 3 maintenance. */
const down = 0;
const pending = 2;
const statusNumbers = [1, 1, down, pending, 3];

/** Returns the latest heartbeats and the 24-hour uptime of a page's monitors, in Uptime Kuma's format. */
export async function renderKumaHeartbeats(
  tenant: Tenant,
  data: PublicData,
  now: number,
): Promise<string> {
  const ids = listMonitorIds(data);
  const [numbers, states] = [await findNumbers(tenant, ids), await findMonitorKeys(tenant, ids)];
  const keys = [...states.values()].map(({ key }) => key);
  const each = Math.max(1, Math.min(heartbeatsPerMonitor, Math.floor(maxHeartbeats / keys.length)));
  const beatsOf = new Map<number, Beat[]>();
  const uptimeOf = new Map<number, number>();
  for (let from = 0; from < keys.length; from += monitorsPerQuery) {
    const portion = keys.slice(from, from + monitorsPerQuery);
    const beats = await tenant.store.query<Beat>(heartbeatsSql, [
      JSON.stringify(portion),
      each - 1,
    ]);
    for (const [key, monitorBeats] of Map.groupBy(beats, (beat) => beat.key))
      beatsOf.set(key, monitorBeats);
    const uptime = await computeUptime24h(tenant.store, portion, now);
    for (const key of portion) uptimeOf.set(key, uptime(key) ?? 0);
    await yieldToEventLoop();
  }
  /** States that the last heartbeat does not show. */
  const positions = new Map<string, number>();
  for (const { id, state, impact } of data.sections.flatMap(({ monitors }) => monitors)) {
    if (state === "unknown") positions.set(id, pending);
    if (impact === "major-outage") positions.set(id, down);
  }
  const heartbeatList: string[] = [];
  const uptimeList: Record<string, number> = {};
  await forEachYielding(states, ([id, { key }]) => {
    const number = String(numbers.get(id));
    const list = (beatsOf.get(key) ?? []).map(({ at, status, latencyMs }) => ({
      status: statusNumbers[status],
      time: formatTime(at),
      msg: "",
      ping: data.page.showLatency ? latencyMs : null,
    }));
    // Clients show the last heartbeat as the current state of the monitor.
    const status = positions.get(id);
    if (status !== undefined && list.at(-1)?.status !== status)
      list.push({ status, time: formatTime(now), msg: "", ping: null });
    heartbeatList.push(`${JSON.stringify(number)}:${JSON.stringify(list)}`);
    uptimeList[`${number}_24`] = uptimeOf.get(key) ?? 0;
  });
  return `{"heartbeatList":{${heartbeatList.join(",")}},"uptimeList":${JSON.stringify(uptimeList)}}`;
}
