/** Describes the public endpoints of status pages for the OpenAPI document. */
import { incidentStatuses, monitorStatuses } from "../../core/statuses.ts";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { Id, Severity, Timestamp } from "../../core/fields.ts";
import { badgeKinds } from "./badges.ts";
import { v2Names } from "../formats/statuspage-v2.ts";
import { toPathTemplate } from "../../http/openapi.ts";
import { publicPaths } from "../site/public-paths.ts";

const slug = z.string().meta({ description: "The page's slug.", example: "acme" });
const pastTime = z.iso.datetime({ offset: true }).meta({
  description: "Returns the page as of the minute of this time, from its creation until now.",
  example: "2026-11-20T15:05:00Z",
});
const onPage = z.object({ slug });
const ratio = z.number().nullable().meta({ description: "0…1, never rounded; null is no data." });

const PublicMonitor = z.object({
  id: Id,
  name: z.string(),
  description: z.string().optional().meta({ description: "Present if the page shows it." }),
  status: z.enum(monitorStatuses),
  uptime: ratio,
  latencyMs: z.int().nullable().optional().meta({ description: "Present if the page shows it." }),
  lastCheckedAt: Timestamp.nullable(),
  days: z.array(
    z.object({
      day: z.iso.date(),
      uptime: ratio,
      downSeconds: z.int(),
      degradedSeconds: z.int(),
      maintenanceSeconds: z.int(),
    }),
  ),
});

const AffectedMonitor = z.object({ id: Id, name: z.string() });

const PublicIncident = z.object({
  id: Id,
  title: z.string(),
  status: z.enum(incidentStatuses),
  severity: Severity,
  monitor: AffectedMonitor.nullable().meta({ description: "The first of `monitors`." }),
  monitors: z
    .array(AffectedMonitor)
    .meta({ description: "Affected monitors that the page shows." }),
  createdAt: Timestamp,
  resolvedAt: Timestamp.nullable(),
  postmortem: z
    .object({ message: z.string(), publishedAt: Timestamp })
    .nullable()
    .meta({ description: "Null unless published." }),
  updates: z.array(
    z.object({
      id: Id,
      status: z.string(),
      message: z.string(),
      createdAt: Timestamp,
      editedAt: Timestamp.nullable(),
    }),
  ),
});

/** A status page as JSON. */
const PublicStatus = z
  .object({
    page: z.object({
      slug: z.string(),
      title: z.string(),
      description: z.string(),
      timeZone: z.string(),
    }),
    status: z.enum(["up", "degraded", "down", "maintenance", "none"]),
    headline: z.string(),
    updatedAt: Timestamp,
    sections: z.array(z.object({ name: z.string(), monitors: z.array(PublicMonitor) })),
    incidents: z.array(PublicIncident).meta({
      description: "Open incidents, and incidents of the last days, newest first.",
    }),
    maintenance: z.array(
      z.object({
        id: Id,
        title: z.string(),
        description: z.string(),
        startsAt: Timestamp,
        endsAt: Timestamp,
        isRunning: z.boolean(),
      }),
    ),
  })
  .meta({ id: "PublicStatus" });

const notFoundResponse = { description: "There is nothing public at this path." };
const rateLimitedResponse = {
  description:
    "Too many requests, from this network or in total. `Retry-After` contains the seconds to wait.",
};

type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  path?: z.ZodObject;
  query?: z.ZodObject;
  /** Description of the response. */
  result: string;
  /** Media type of the response. */
  type: string;
  schema?: z.ZodType;
};

function describeOperation({
  path = onPage,
  query,
  result,
  type,
  schema = z.string(),
  ...words
}: Operation) {
  return {
    get: {
      ...words,
      tags: ["Status pages"],
      security: [],
      requestParams: { path, ...(query && { query }) },
      responses: {
        "200": { description: result, content: { [type]: { schema } } },
        ...(query && { "422": { description: "A parameter of the query is invalid." } }),
        "404": notFoundResponse,
        "429": rateLimitedResponse,
      },
    },
  };
}

/** Public operations in the OpenAPI document. A page with a password also requires its cookie. */
export const publicOperations: ZodOpenApiPathsObject = {
  [toPathTemplate(publicPaths.json)]: describeOperation({
    operationId: "readStatus",
    summary: "Read a public status page",
    description: "Needs no key, and any web page can read it. Rendered at most once a second.",
    query: z.object({ at: pastTime.optional() }),
    result: "The page.",
    type: "application/json",
    schema: PublicStatus,
  }),
  [toPathTemplate(publicPaths.v2)]: describeOperation({
    operationId: "readStatuspage",
    summary: "Read a public status page in the format of Statuspage's public API",
    description:
      "For widgets and bots that use version 2 of that API. A name can contain a slash, such as `incidents/unresolved`.",
    path: z.object({ slug, name: z.enum(v2Names) }),
    result: "The document in Statuspage's format.",
    type: "application/json",
    schema: z.object({ page: z.object({}).loose() }).loose(),
  }),
  [toPathTemplate(publicPaths.rss)]: describeOperation({
    operationId: "readRss",
    summary: "Read incidents and maintenance as RSS",
    result: "The feed.",
    type: "application/rss+xml",
  }),
  [toPathTemplate(publicPaths.atom)]: describeOperation({
    operationId: "readAtom",
    summary: "Read incidents and maintenance as Atom",
    result: "The feed.",
    type: "application/atom+xml",
  }),
  [toPathTemplate(publicPaths.ics)]: describeOperation({
    operationId: "readCalendar",
    summary: "Read maintenance as a calendar",
    result: "The feed.",
    type: "text/calendar",
  }),
  [toPathTemplate(publicPaths.badge)]: describeOperation({
    operationId: "getBadge",
    summary: "Get a monitor's badge",
    description:
      "Only for monitors on a public page, under their public name. `uptime` covers 30 days. `latency` needs a page that shows it.",
    path: z.object({ id: Id, kind: z.enum(badgeKinds) }),
    result: "The badge.",
    type: "image/svg+xml",
  }),
};
