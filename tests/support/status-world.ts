/** A machine with public pages in a described state, including their history. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { createServerClient, createMachineWithKey, type ServerClient } from "./machine.ts";

export type State = "up" | "degraded" | "down" | "pending" | "paused";

/** Seconds per state of one day; null when nothing was measured. */
export type DaySeconds = { up?: number; degraded?: number; down?: number; maintenance?: number };

export type ShownMonitor = {
  name: string;
  state?: State;
  /** Measured seconds by days ago; 0 is today. */
  day?: (back: number) => DaySeconds | null;
};

export type ReportedIncident = {
  title: string;
  severity?: "minor" | "major" | "critical";
  /** Index of its monitor on the page. */
  monitor?: number;
  message?: string;
  /** One update per text. */
  updates?: { status: string; message: string }[];
  /** Opened this many hours ago, with one update every 20 minutes. */
  hoursAgo?: number;
};

export type PageScene = {
  page?: object;
  sections?: { name: string; monitors: ShownMonitor[] }[];
  incidents?: ReportedIncident[];
};

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** A machine whose default page, `/status/acme`, shows this scene. Older history is written into its database. */
export async function createStatusWorld(scene: PageScene = {}, flags: string[] = []) {
  const { pages, ...world } = await createStatusWorlds({ acme: scene }, flags);
  return { ...world, ...pages.acme };
}

/** One machine with a page for each of these scenes, under the scene's name. */
export async function createStatusWorlds<Name extends string>(
  scenes: Readonly<Record<Name, PageScene>>,
  flags: string[] = [],
) {
  const box = await createMachineWithKey();
  const start = async () => {
    const server = await box.serve({ flags: ["--rate-limit", "0", ...flags] });
    return { ...server, api: createServerClient(server.url, box.key) };
  };
  let server = await start();
  const smtp = { host: "mail.team.example", from: "status@team.example" };
  await server.api("PATCH", "/api/v1/settings", { smtp });
  const createdPages: [Name, CreatedPage][] = [];
  for (const [name, scene] of Object.entries<PageScene>(scenes))
    createdPages.push([name as Name, await createStatusPage(server, name, scene)]);
  const all = createdPages.map(([, page]) => page);
  const monitors = all.flatMap(({ monitors }) => monitors);
  const opened = all.flatMap(({ opened }) => opened);
  if (monitors.some(({ day }) => day) || opened.some(({ incident }) => incident.hoursAgo)) {
    await server.stop();
    writePast(join(box.dataDir, "signalbox.db"), monitors, opened);
    server = await start();
  }
  const { url } = server;
  const pages = Object.fromEntries(
    createdPages.map(([name, { pageId, monitors, opened }]) => [
      name,
      {
        pageId,
        monitorIds: monitors.map(({ id }) => id),
        incidentIds: opened.map(({ id }) => id),
        address: `${url}/status/${name}`,
      },
    ]),
  ) as Record<Name, StatusPage>;
  return { ...box, ...server, pages };
}

export type StatusWorld = Awaited<ReturnType<typeof createStatusWorld>>;

export type StatusPage = {
  pageId: string;
  monitorIds: string[];
  incidentIds: string[];
  address: string;
};

type StoredMonitor = ShownMonitor & { id: string };
type StoredIncident = { id: string; incident: ReportedIncident };
type CreatedPage = { pageId: string; monitors: StoredMonitor[]; opened: StoredIncident[] };

/** Creates a page for this scene, or uses the default page if it has this name. */
async function createStatusPage(
  server: { url: string; api: ServerClient },
  slug: string,
  { page = {}, sections = [], incidents = [] }: PageScene,
): Promise<CreatedPage> {
  const monitors: StoredMonitor[] = [];
  const listed = [];
  for (const { name, monitors: shownMonitors } of sections) {
    const all = await Promise.all(
      shownMonitors.map(async (one) => ({ ...one, id: await createPushMonitor(server, one) })),
    );
    monitors.push(...all);
    listed.push({ name, monitors: all.map(({ id }) => ({ id })) });
  }
  const opened: StoredIncident[] = [];
  for (const incident of incidents)
    opened.push({ id: await openIncident(server.api, incident, monitors), incident });
  const { json } = await server.api("GET", "/api/v1/status-pages");
  const known = (json.data as { id: string; slug: string }[]).find((one) => one.slug === slug);
  const fields = { sections: listed, ...page };
  const response = known
    ? await server.api("PATCH", `/api/v1/status-pages/${known.id}`, fields)
    : await server.api("POST", "/api/v1/status-pages", { slug, title: "Acme", ...fields });
  if (response.status > 201) throw new Error(JSON.stringify(response.json));
  return { pageId: response.json.data.id, monitors, opened };
}

/** A push monitor whose job reported this state. */
async function createPushMonitor(
  { url, api }: { url: string; api: ServerClient },
  { name, state = "up" }: ShownMonitor,
) {
  const { status, json } = await api("POST", "/api/v1/monitors", {
    type: "push",
    name,
    retries: 0,
    interval: 86_400,
    degradedAfterMs: 1_000,
    paused: state === "paused",
  });
  if (status !== 201) throw new Error(JSON.stringify(json));
  const reports: Partial<Record<State, string>> = {
    up: "status=up&latency_ms=42",
    degraded: "status=up&latency_ms=2400",
    down: "status=down",
  };
  const report = reports[state];
  if (report !== undefined) {
    const response = await fetch(`${url}${new URL(json.data.pushUrl).pathname}?${report}`);
    if (!response.ok) throw new Error(`${name} could not be reported: ${await response.text()}`);
  }
  return json.data.id as string;
}

async function openIncident(
  api: ServerClient,
  incident: ReportedIncident,
  monitors: readonly StoredMonitor[],
) {
  const { title, severity = "minor", monitor, message, updates = [] } = incident;
  const { status, json } = await api("POST", "/api/v1/incidents", {
    title,
    severity,
    ...(monitor !== undefined && { monitorId: monitors[monitor]?.id }),
    ...(message !== undefined && { message }),
  });
  if (status !== 201) throw new Error(JSON.stringify(json));
  for (const update of updates) await api("PATCH", `/api/v1/incidents/${json.data.id}`, update);
  return json.data.id as string;
}

/** Writes old days and incidents into the database, like an appliance that ran then. */
function writePast(
  file: string,
  monitors: readonly StoredMonitor[],
  opened: readonly StoredIncident[],
) {
  const now = Date.now();
  const today = Math.floor(now / dayMs);
  using database = new Database(file, { strict: true });
  database.run("PRAGMA foreign_keys = OFF");
  const keyOf = database.query<{ key: number }, [string]>(
    "SELECT key FROM monitor_states WHERE monitor_id = ?",
  );
  database.transaction(() => {
    for (const { id, day } of monitors) {
      const key = keyOf.get(id)?.key ?? 0;
      for (let back = 0; day !== undefined && back < 365; back++) {
        const seconds = day(back);
        if (seconds === null) continue;
        const { up = 0, degraded = 0, down = 0, maintenance = 0 } = seconds;
        database.run(
          `INSERT OR REPLACE INTO uptime_days (day, monitor_key, up_seconds, degraded_seconds,
             down_seconds, unknown_seconds, maintenance_seconds, latency_count, latency_sum)
           VALUES (?, ?, ?, ?, ?, 0, ?, 0, 0)`,
          [today - back, key, up, degraded, down, maintenance],
        );
      }
    }
    for (const one of opened) {
      const { hoursAgo } = one.incident;
      if (hoursAgo !== undefined) one.id = moveToPast(database, one.id, now - hoursAgo * 3_600_000);
    }
  })();
}

/** Moves an incident into the past and returns its new id. */
function moveToPast(database: Database, id: string, openedAt: number): string {
  const hex = openedAt.toString(16).padStart(12, "0");
  const past = `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
  const formatTimeAfter = (minutes: number) =>
    new Date(openedAt + minutes * minuteMs).toISOString();
  const updates = database
    .query<{ seq: number }, [string]>(
      "SELECT seq FROM incident_updates WHERE incident_id = ? ORDER BY seq",
    )
    .all(id);
  for (const [index, { seq }] of updates.entries())
    database.run(
      "UPDATE incident_updates SET incident_id = ?, created_at = ? WHERE incident_id = ? AND seq = ?",
      [past, formatTimeAfter(index * 20), id, seq],
    );
  for (const table of ["incident_monitors", "incident_notes"])
    database.run(`UPDATE ${table} SET incident_id = ? WHERE incident_id = ?`, [past, id]);
  database.run(
    `UPDATE incidents SET id = ?, created_at = ?, updated_at = ?,
       resolved_at = iif(resolved_at IS NULL, NULL, ?) WHERE id = ?`,
    [
      past,
      formatTimeAfter(0),
      formatTimeAfter((updates.length - 1) * 20),
      formatTimeAfter((updates.length - 1) * 20),
      id,
    ],
  );
  return past;
}
