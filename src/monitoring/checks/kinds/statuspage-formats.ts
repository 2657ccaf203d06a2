/** Reads the documents that other status pages publish for programs, in one common form. */
import { z } from "zod";

export type PageState = "up" | "degraded" | "down" | "maintenance";

type Component = { id: string; name: string; state: PageState };

/** An open incident. Without `componentIds` it concerns the whole page, or its page does not name them. */
type Incident = { title: string; componentIds: readonly string[] };

export type FollowedPage = {
  name: string;
  /** The page's own verdict about everything on it. */
  state: PageState;
  components: readonly Component[];
  incidents: readonly Incident[];
  /** Whether the page lists only components with trouble. */
  isPartial?: boolean;
};

type FollowedFormat = {
  /** Addresses of the documents of a page. Only the first one is required. */
  addresses: (page: URL) => readonly URL[];
  /** Returns null for documents in another format. An absent document is null. */
  read: (documents: readonly unknown[]) => FollowedPage | null;
};

const buildUrlBelow = (page: URL, path: string) =>
  new URL(`${page.pathname.replace(/\/+$/, "")}${path}`, page.origin);

/** Looks up a state. An unknown word means that not all is well. */
function createStates(words: Readonly<Record<string, PageState>>) {
  const states = new Map(Object.entries(words));
  return (word: string) => states.get(word.toLowerCase()) ?? "degraded";
}

const severity: Record<PageState, number> = { up: 0, maintenance: 1, degraded: 2, down: 3 };

const findWorst = (states: readonly PageState[]) =>
  states.reduce<PageState>((worst, one) => (severity[one] > severity[worst] ? one : worst), "up");

const parseWith = <T>(schema: z.ZodType<T>, document: unknown) =>
  schema.safeParse(document).data ?? null;

/** A list, which some pages give as null while it is empty. */
const listSchema = <T extends z.ZodType>(entry: T) =>
  z
    .array(entry)
    .nullish()
    .transform((list) => list ?? []);

const Id = z.union([z.string(), z.number()]).transform(String);
const Ids = z.array(z.object({ id: Id })).catch([]);

/** https://metastatuspage.com/api; incident.io and Signalbox serve this format, too. */
const Statuspage = z.object({
  page: z.object({ name: z.string() }),
  status: z.object({ indicator: z.string() }),
  components: z
    .array(z.object({ id: Id, name: z.string(), status: z.string() }))
    .nullable()
    .transform((list) => list ?? []),
  incidents: listSchema(
    z.object({ name: z.string(), status: z.string(), components: Ids.default([]) }),
  ),
});

const componentState = createStates({
  operational: "up",
  degraded_performance: "degraded",
  partial_outage: "degraded",
  major_outage: "down",
  full_outage: "down",
  under_maintenance: "maintenance",
});

const indicatorState = createStates({
  none: "up",
  minor: "degraded",
  major: "degraded",
  critical: "down",
  maintenance: "maintenance",
});

const isOver = (status: string) => ["resolved", "postmortem", "completed"].includes(status);

const statuspage: FollowedFormat = {
  addresses: (page) => [buildUrlBelow(page, "/api/v2/summary.json")],
  read([document]) {
    const found = parseWith(Statuspage, document);
    if (found === null) return null;
    return {
      name: found.page.name,
      state: indicatorState(found.status.indicator),
      components: found.components.map(({ id, name, status }) => ({
        id,
        name,
        state: componentState(status),
      })),
      incidents: found.incidents
        .filter(({ status }) => !isOver(status))
        .map(({ name, components }) => ({
          title: name,
          componentIds: components.map(({ id }) => id),
        })),
    };
  },
};

/** https://instatus.com/help/api/public-data */
const InstatusSummary = z.object({
  page: z.object({ name: z.string(), status: z.string() }),
  activeIncidents: z
    .array(z.object({ name: z.string(), impact: z.string().default("") }))
    .catch([]),
});

const InstatusComponents = z.object({
  components: z.array(
    z.object({
      id: Id,
      name: z.string(),
      status: z.string(),
      activeIncidents: z.array(z.object({ name: z.string() })).catch([]),
    }),
  ),
});

const instatusState = createStates({
  up: "up",
  hasissues: "degraded",
  operational: "up",
  degradedperformance: "degraded",
  minoroutage: "degraded",
  partialoutage: "degraded",
  majoroutage: "down",
  undermaintenance: "maintenance",
});

const instatus: FollowedFormat = {
  addresses: (page) => [
    buildUrlBelow(page, "/summary.json"),
    buildUrlBelow(page, "/v2/components.json"),
  ],
  read([document, list]) {
    const found = parseWith(InstatusSummary, document);
    if (found === null) return null;
    const components = parseWith(InstatusComponents, list)?.components ?? [];
    const impacts = found.activeIncidents
      .filter(({ impact }) => impact !== "")
      .map(({ impact }) => instatusState(impact));
    return {
      name: found.page.name,
      state: findWorst([instatusState(found.page.status), ...impacts]),
      components: components.map(({ id, name, status }) => ({
        id,
        name,
        state: instatusState(status),
      })),
      incidents: [
        ...components.flatMap(({ id, activeIncidents }) =>
          activeIncidents.map(({ name }) => ({ title: name, componentIds: [id] })),
        ),
        ...found.activeIncidents.map(({ name }) => ({ title: name, componentIds: [] })),
      ],
    };
  },
};

const affected = z
  .array(z.object({ id: Id, name: z.string(), current_status: z.string().optional() }))
  .catch([]);

/** The widget API. Its fields are those that its clients read; incident.io documents it only in its application. */
const IncidentIo = z.object({
  page_title: z.string(),
  ongoing_incidents: z.array(
    z.object({
      name: z.string(),
      current_worst_impact: z.string().default(""),
      affected_components: affected,
    }),
  ),
  in_progress_maintenances: z.array(z.object({ affected_components: affected })).catch([]),
});

const incidentIo: FollowedFormat = {
  addresses: (page) => [buildUrlBelow(page, "/api/v1/summary")],
  read([document]) {
    const found = parseWith(IncidentIo, document);
    if (found === null) return null;
    const { ongoing_incidents: incidents, in_progress_maintenances: maintenances } = found;
    return {
      name: found.page_title,
      state: findWorst([
        ...maintenances.map(() => "maintenance" as const),
        ...incidents.map((incident) => componentState(incident.current_worst_impact)),
      ]),
      components: [
        ...incidents.flatMap((incident) =>
          incident.affected_components.map(({ id, name, current_status }) => ({
            id,
            name,
            state: componentState(current_status ?? incident.current_worst_impact),
          })),
        ),
        ...maintenances.flatMap((maintenance) =>
          maintenance.affected_components.map(({ id, name }) => ({
            id,
            name,
            state: "maintenance" as const,
          })),
        ),
      ],
      incidents: incidents.map(({ name, affected_components: components }) => ({
        title: name,
        componentIds: components.map(({ id }) => id),
      })),
      isPartial: true,
    };
  },
};

/** https://betterstack.com/docs/uptime/status-pages/subscribing-to-status-updates/subscribing-to-api */
const BetterStack = z.object({
  data: z.object({
    attributes: z.object({ company_name: z.string().nullish(), aggregate_state: z.string() }),
  }),
  included: z.array(z.object({ id: Id, type: z.string(), attributes: z.unknown() })).default([]),
});

const BetterStackResource = z.object({ public_name: z.string(), status: z.string() });

const BetterStackReport = z.object({
  title: z.string(),
  report_type: z.string().nullish(),
  aggregate_state: z.string().nullish(),
  ends_at: z.string().nullish(),
  affected_resources: z.array(z.object({ status_page_resource_id: Id })).catch([]),
});

const betterStackState = createStates({
  operational: "up",
  not_monitored: "up",
  resolved: "up",
  degraded: "degraded",
  downtime: "down",
  maintenance: "maintenance",
});

const betterStack: FollowedFormat = {
  addresses: (page) => [buildUrlBelow(page, "/index.json")],
  read([document]) {
    const found = parseWith(BetterStack, document);
    if (found === null) return null;
    const { company_name: name, aggregate_state: state } = found.data.attributes;
    return {
      name: name ?? "",
      state: betterStackState(state),
      components: found.included.flatMap(({ id, type, attributes }) => {
        const resource = parseWith(BetterStackResource, attributes);
        if (type !== "status_page_resource" || resource === null) return [];
        return [{ id, name: resource.public_name, state: betterStackState(resource.status) }];
      }),
      incidents: found.included.flatMap(({ type, attributes }) => {
        const report = parseWith(BetterStackReport, attributes);
        if (type !== "status_report" || report === null || report.ends_at != null) return [];
        if (report.report_type === "maintenance" || report.aggregate_state === "resolved")
          return [];
        const componentIds = report.affected_resources.map((one) => one.status_page_resource_id);
        return [{ title: report.title, componentIds }];
      }),
    };
  },
};

const Titled = z.object({ title: z.string() });

/** https://github.com/louislam/uptime-kuma/blob/master/server/routers/status-page-router.js */
const KumaPage = z.object({
  config: Titled,
  incident: Titled.nullish().catch(null),
  incidents: z.array(Titled).catch([]),
  publicGroupList: z.array(
    z.object({ monitorList: z.array(z.object({ id: Id, name: z.string() })) }),
  ),
});

const KumaBeats = z.object({
  heartbeatList: z.record(z.string(), z.array(z.unknown())),
});

const KumaBeat = z.object({ status: z.number() });

/** Down, up, pending, maintenance. A pending monitor is not down yet. */
const kumaStates: readonly PageState[] = ["down", "up", "up", "maintenance"];

const uptimeKuma: FollowedFormat = {
  addresses(page) {
    const slug = /^\/status\/([^/]+)\/?$/.exec(page.pathname)?.[1] ?? "default";
    const buildUrl = (name: string) => new URL(`/api/status-page/${name}`, page.origin);
    return [buildUrl(slug), buildUrl(`heartbeat/${slug}`)];
  },
  read([document, list]) {
    const found = parseWith(KumaPage, document);
    const beats = parseWith(KumaBeats, list)?.heartbeatList;
    if (found === null || beats === undefined) return null;
    const monitors = found.publicGroupList.flatMap(({ monitorList }) => monitorList);
    const beatsOf = new Map(Object.entries(beats));
    const components = monitors.map(({ id, name }) => {
      // A monitor without results is pending.
      const { status } = parseWith(KumaBeat, beatsOf.get(id)?.at(-1)) ?? { status: 2 };
      return { id, name, state: kumaStates[status] ?? "degraded" };
    });
    const states = components.map(({ state }) => state);
    const isOnlyPartly = states.includes("down") && states.some((state) => state === "up");
    const pinned = found.incident ? [found.incident] : found.incidents;
    return {
      name: found.config.title,
      state: isOnlyPartly ? "degraded" : findWorst(states),
      components,
      incidents: pinned.map(({ title }) => ({ title, componentIds: [] })),
    };
  },
};

export const followedFormats = {
  statuspage,
  signalbox: statuspage,
  "incident-io": incidentIo,
  "better-stack": betterStack,
  instatus,
  "uptime-kuma": uptimeKuma,
} as const satisfies Record<string, FollowedFormat>;

export type FormatName = keyof typeof followedFormats;
