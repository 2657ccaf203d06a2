/** Valid bodies, queries and records for every route of the API. */
import { api as routes } from "./routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import { type Client, engineOfClient, type Options, unknownId } from "./appliance.ts";
import { emptyFont, pixel } from "./images.ts";

/** The routes of `/api/v1`, each with its endpoint. */
export const apiRoutes = routes.routes as unknown as Route[];

let pages = 0;

/** For each resource: the body that creates one, and a change. */
export const sampleBodies: Record<string, { create: Record<string, unknown>; patch: object }> = {
  incidents: { create: { title: "Slow" }, patch: { title: "Slower" } },
  "incident-templates": {
    create: { name: "Slow", message: "{{monitors}} answers slowly." },
    patch: { name: "Slower" },
  },
  "monitor-groups": { create: { name: "Payments" }, patch: { name: "Billing" } },
  monitors: {
    // Fails at once on any machine, because some routes connect to it.
    create: { type: "tcp", name: "Router", host: "127.0.0.1", port: 1 },
    patch: { name: "Gateway" },
  },
  "alert-channels": {
    create: { type: "email", name: "On-call", to: ["oncall@team.example"] },
    patch: { name: "Office" },
  },
  "alert-sources": {
    create: { name: "Prometheus", type: "alertmanager" },
    patch: { name: "Alertmanager" },
  },
  "escalation-policies": { create: { name: "Shop" }, patch: { name: "Payments" } },
  "maintenance-windows": {
    create: {
      title: "Firmware",
      startsAt: "2026-11-22T02:00:00.000Z",
      endsAt: "2026-11-22T04:00:00.000Z",
    },
    patch: { title: "New firmware" },
  },
  schedules: { create: { name: "Platform" }, patch: { name: "Network" } },
  "status-pages": {
    // Unique among all organizations.
    get create() {
      return { slug: `page-${++pages}`, title: "Payments" };
    },
    patch: { title: "Billing" },
  },
};

/** People of the sample overrides and of the examples in the documentation: see `createSampleMembers`. */
export const samplePeople = [
  "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4c",
  "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4d",
] as const;

/** Monitor of the sample bulk changes and of the examples in the documentation. */
export const sampleMonitor = "01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35";

export const sampleOverride = {
  personId: samplePeople[0],
  startsAt: "2026-12-01T17:00:00.000Z",
  endsAt: "2026-12-01T19:00:00.000Z",
};

/** A contact method of the first sample person. */
const sampleContactMethod = {
  type: "email",
  name: "Mail",
  personId: samplePeople[0],
  to: ["ada@team.example"],
};

/** Whether a route needs a code that only the receiver of a message has, or a mail that was rejected. */
export const needsSentCode = (path: string) =>
  path.endsWith("/contact-methods/:id/verify") || path.endsWith("/:subscriberId/release");

/** Bodies of routes below a record. */
const children: Record<string, object> = {
  "access-tokens": { name: "Feed reader" },
  "host-check": { host: "status.team.example" },
  subscribers: { type: "webhook", url: "https://hooks.team.example/status" },
  notes: { message: "The key is cached." },
  postmortem: { message: "The key was cached." },
  snooze: { until: "2026-11-21T07:00:00.000Z" },
  updates: { message: "We found the cause." },
  restore: {},
  verify: { code: "482913" },
  overrides: sampleOverride,
  swaps: {
    first: { startsAt: "2026-12-07T08:00:00.000Z", endsAt: "2026-12-14T08:00:00.000Z" },
    second: { startsAt: "2026-12-14T08:00:00.000Z", endsAt: "2026-12-21T08:00:00.000Z" },
  },
  bulk: { monitorIds: [sampleMonitor], change: { muted: true } },
  publishing: { url: "https://status.team.example" },
};

/** The resource of a path of the API or the admin page. */
export const nounOf = (path: string) =>
  path.replace(/^\/(dashboard\/)?(api\/v1\/)?/, "").split("/")[0] ?? "";

/** Fills ids into a path. */
export const fillIds = (path: string, id: string, childId = unknownId) =>
  path.replace(":id", id).replace(/:\w+Id/, childId);

/** Creates a record of this resource and returns its id. */
export async function createSampleRecord(
  api: Client,
  noun: string,
  fields: object = {},
): Promise<string> {
  if (noun === "held-changes") {
    const { json } = await api("POST", "/api/v1/incidents?hold=60", { body: { title: "Held" } });
    return json.data.id;
  }
  if (noun === "alerts") {
    const incidentId = await createSampleRecord(api, "incidents");
    await engineOfClient.get(api)?.runOnce();
    const { json } = await api("GET", `/api/v1/alerts?incidentId=${incidentId}`);
    return json.data[0].id;
  }
  if (noun === "people") return samplePeople[0] ?? "";
  const sample = noun === "contact-methods" ? sampleContactMethod : sampleBodies[noun]?.create;
  const body = { ...sample, ...fields };
  const { status, json, text } = await api("POST", `/api/v1/${noun}`, { body });
  if (status !== 201) throw new Error(`${noun} could not be made: ${text}`);
  return json.data.id;
}

/** Creates the record that this route needs: a deleted one for a restoration. Returns its id. */
export async function createRecordForRoute(
  api: Client,
  { path }: Pick<Route, "path">,
): Promise<string> {
  const isDeleted = nounOf(path) === "deleted-records";
  const noun = isDeleted ? "incidents" : nounOf(path);
  const layers = [{ personIds: samplePeople, start: "2026-11-30T08:00" }];
  const targets = [{ type: "person", id: samplePeople[0] }];
  const isDrill = noun === "escalation-policies" && /\/drill(-preview)?$/.test(path);
  const id = await createSampleRecord(api, noun, {
    ...(path.endsWith("/swaps") && { layers }),
    ...(isDrill && { steps: [{ afterMinutes: 0, targets }] }),
  });
  if (isDeleted || path.endsWith("/restore")) await api("DELETE", `/api/v1/${noun}/${id}`);
  return id;
}

/** Creates a subscriber of a status page and returns its id. */
export async function createSampleSubscriber(api: Client, id: string): Promise<string> {
  const body = { type: "email", email: "ann@team.example", confirmed: true };
  return (await api("POST", `/api/v1/status-pages/${id}/subscribers`, { body })).json.data.id;
}

/** A valid body for this route; undefined without a body. */
export function buildRouteBody({ method, path, hooks }: Route): object | undefined {
  if (hooks.detail?.endpoint?.body === undefined) return undefined;
  if (nounOf(path) === "imports")
    return path.endsWith("/uploads") ? { name: "kuma.db", size: 10 } : { source: "gatus" };
  if (path.endsWith("/alerting/replay")) return { days: 14, retries: 2 };
  if (path.endsWith("/alert-sources/preview"))
    return { type: "alertmanager", body: '{"alerts":[]}' };
  if (path.endsWith("/mail/send")) return { interval: "monthly" };
  if (path.endsWith("/drill")) return { priority: "normal" };
  if (path.endsWith("/monthly-drill"))
    return { drill: { day: 15, from: "10:00", until: "12:00", timeZone: "UTC" } };
  if (nounOf(path) === "passkeys" && method === "PATCH") return { name: "Phone" };
  if (path.endsWith("/schedules/preview")) return { timeZone: "Europe/Berlin", layers: [] };
  if (path.endsWith("/subscribers-import"))
    return { csv: "email\nann@team.example\n", confirmed: true };
  if (path.endsWith("/:subscriberId")) return { minimumSeverity: "major" };
  const child = path.split("/").findLast((part) => Object.hasOwn(children, part));
  if (child !== undefined) return children[child];
  if (nounOf(path) === "contact-methods") {
    const { personId, ...own } = sampleContactMethod;
    if (method === "PATCH") return { name: "Work mail" };
    // On the admin page, everyone has their own.
    return path.startsWith("/dashboard") ? own : { personId, ...own };
  }
  return method === "PATCH"
    ? sampleBodies[nounOf(path)]?.patch
    : sampleBodies[nounOf(path)]?.create;
}

/** The required query of a route. */
export function buildRouteQuery(path: string): string {
  if (path.endsWith("/timeline"))
    return "?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&step=3600";
  if (path.endsWith("/contact-methods")) return `?personId=${samplePeople[0]}`;
  if (path.endsWith("/figures")) return "?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z";
  return path.endsWith("/uploads/:id") ? "?offset=0" : "";
}

/** A valid body of this route, as JSON or bytes. */
export function buildInput(route: Route): Options {
  const upload = route.hooks.detail?.endpoint?.upload;
  if (upload === undefined) return { body: buildRouteBody(route) };
  const [type = ""] = upload;
  return { raw: type === "font/woff2" ? emptyFont : pixel.png, headers: { "Content-Type": type } };
}
