import type { Store } from "../database/store.ts";
import { dayMs } from "../uptime/rules.ts";
import type { PublishedIncident } from "./published.ts";

type Page = { organizationId: string; isDefault: boolean };

/** Monitors of the page under their public names. */
type Shown = ReadonlyMap<string, { name: string }>;

export type IncidentReader = {
  /** Those that are open, and the last ones. */
  current: (now: number) => Promise<PublishedIncident[]>;
  /** However old; null where the page does not show it. */
  one: (id: string) => Promise<PublishedIncident | null>;
  /** Those that were opened in this time, newest first. */
  openedBetween: (from: number, to: number) => Promise<PublishedIncident[]>;
  hasBefore: (at: number) => Promise<boolean>;
  /** One that is not stored like this, as the page would show it; null where it would not. */
  asShown: (draft: IncidentDraft) => PublishedIncident | null;
};

/** An incident with its updates oldest first. */
export type IncidentDraft = IncidentRow & {
  public: boolean;
  updates: PublishedIncident["updates"];
};

/** Reads the incidents that a page publishes. */
export function incidentReader(store: Store, page: Page, shown: Shown): IncidentReader {
  const { organizationId, isDefault } = page;
  const told = [JSON.stringify([...shown.keys()]), isDefault ? 1 : 0];
  const read = (text: string, ...parameters: (string | number)[]) =>
    store.query<IncidentRow>(text, [organizationId, ...parameters]);
  const whole = (rows: readonly IncidentRow[]) => incidentsOf(store, page, shown, rows);
  const opened = (from: number, to: number) =>
    read(betweenText, firstIdAt(from), firstIdAt(to), ...told, maxIncidents);
  return {
    async current(now) {
      const [open, recent] = await Promise.all([
        read(openText, ...told, maxIncidents),
        opened(now - 8 * dayMs, now + dayMs),
      ]);
      const rows = [...new Map([...open, ...recent].map((row) => [row.id, row])).values()];
      rows.sort((a, b) => (a.id < b.id ? 1 : -1));
      return whole(rows);
    },
    one: async (id) => (await whole(await read(oneText, id, ...told)))[0] ?? null,
    openedBetween: async (from, to) => whole(await opened(from, to)),
    hasBefore: async (at) => (await read(beforeText, firstIdAt(at), ...told)).length > 0,
    asShown(draft) {
      const { monitorId, origin } = draft;
      const isTold =
        (monitorId !== null && shown.has(monitorId)) ||
        (origin === "manual" && (monitorId === null || isDefault));
      return draft.public && isTold ? publishedAs(draft, draft.updates.toReversed(), shown) : null;
    },
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

const oneText = `select ${incidentColumns} from incidents
  where organization_id = ? and id = ? and ${isTold}`;

const beforeText = `select 1 from incidents
  where organization_id = ? and id < ? and ${isTold} limit 1`;

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
  { organizationId }: Page,
  shown: Shown,
  rows: readonly IncidentRow[],
): Promise<PublishedIncident[]> {
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const updates = await store.query<PublishedIncident["updates"][number] & { incidentId: string }>(
    updatesText,
    [ids, organizationId],
  );
  const byIncident = Map.groupBy(updates, ({ incidentId }) => incidentId);
  return rows.map((row) => publishedAs(row, byIncident.get(row.id) ?? [], shown));
}

function publishedAs(
  { id, title, status, severity, monitorId, origin, createdAt, resolvedAt }: IncidentRow,
  updates: PublishedIncident["updates"],
  shown: Shown,
): PublishedIncident {
  const monitor = monitorId === null ? undefined : shown.get(monitorId);
  const inPublic = (text: string) =>
    monitor === undefined || origin === "manual" ? text : renamed(text, monitor.name);
  return {
    id,
    title: inPublic(title),
    status,
    severity,
    monitor: monitor && monitorId !== null ? { id: monitorId, name: monitor.name } : null,
    createdAt,
    resolvedAt,
    updates: updates.map(({ id, status, message, createdAt }) => ({
      id,
      status,
      message: inPublic(message),
      createdAt,
    })),
  };
}

/** What a monitor says of itself begins with its name, whichever it had then; `incidents/by-monitor.ts` says it. */
const said =
  /^.+?(?= (?:is down$|is down again\.|is up again[ .]|answers again, but is degraded))/s;

function renamed(text: string, name: string): string {
  return text.replace(said, () => name);
}
