/** Wire format of the Monitors page and the live stream. */
import { monitorStatuses } from "../core/statuses.ts";
import { z } from "zod";
import { Id, instant, line, searchText, Timestamp } from "../core/fields.ts";
import { createCountField, WholeNumber } from "../core/paging.ts";
import { IncidentSummary } from "../incidents/schema.ts";

const Status = z.enum(monitorStatuses);
/** `unknown` replaces up, degraded and pending if the last check could not be judged. */
const ShownStatus = z.enum([...Status.options, "unknown"]);

/** A folder of the Monitors page. */
export const OverviewGroup = z.object({
  id: Id,
  name: z.string(),
  description: z.string(),
  color: z.string(),
  tags: z.array(z.string()),
  paused: z.boolean(),
  muted: z.boolean(),
  alertChannelIds: z.array(Id),
  version: z.int(),
});
export type OverviewGroup = z.infer<typeof OverviewGroup>;

/** A row of the Monitors page. `paused` and `muted` ignore the group of the monitor. */
export const OverviewMonitor = z.object({
  id: Id,
  name: z.string(),
  type: z.string(),
  groupId: Id.nullable(),
  tags: z.array(z.string()),
  status: ShownStatus,
  statusSince: Timestamp,
  lastMessage: z.string().nullable(),
  latencyMs: z.int().nullable(),
  uptime24h: z.number().nullable(),
  uptime30d: z.number().nullable(),
  /** Start of the measurements, if they don't cover the last 30 days. */
  since: Timestamp.nullable(),
  paused: z.boolean(),
  pausedUntil: Timestamp.nullable(),
  muted: z.boolean(),
  target: z.string().nullable(),
  /** One letter per hour of the last 24 hours. */
  day: z.string(),
  /** One letter per day of the last 30 days, from the first measured one. */
  month: z.string(),
  /** Latency in the same hours, one digit per hour; empty without measurements. */
  spark: z.string(),
});
export type OverviewMonitor = z.infer<typeof OverviewMonitor>;

/** Monitors of a folder by state; `groupId` is null for ungrouped monitors. */
const FolderTotals = z.object({
  groupId: Id.nullable(),
  states: z.partialRecord(ShownStatus, z.int()),
});
export type FolderTotals = z.infer<typeof FolderTotals>;

/** Totals of all monitors, for a response that has only the first rows. */
type Totals<Row> = {
  /** Folders with matching monitors. */
  folders: FolderTotals[];
  /** The worst monitors of all folders. */
  troubled: Row[];
  types: string[];
  tags: string[];
};

/** The Monitors page in dashboard order, ungrouped monitors last. With `totals`, it has only the first rows. */
export type Overview = {
  groups: OverviewGroup[];
  monitors: OverviewMonitor[];
  position: string;
  totals?: Totals<OverviewMonitor>;
  openIncidents?: IncidentSummary[];
};

/** A row of a response, without the default values in `rules.ts`. */
const { type, groupId, tags, status, lastMessage, latencyMs, uptime24h, uptime30d } =
  OverviewMonitor.shape;
const { since, paused, pausedUntil, muted, target, day, month, spark } = OverviewMonitor.shape;
export const CompactMonitor = OverviewMonitor.extend({
  type: type.exactOptional(),
  groupId: groupId.exactOptional(),
  tags: tags.exactOptional(),
  status: status.exactOptional(),
  lastMessage: lastMessage.exactOptional(),
  latencyMs: latencyMs.exactOptional(),
  uptime24h: uptime24h.exactOptional(),
  uptime30d: uptime30d.exactOptional(),
  since: since.exactOptional(),
  paused: paused.exactOptional(),
  pausedUntil: pausedUntil.exactOptional(),
  muted: muted.exactOptional(),
  target: target.exactOptional(),
  day: day.exactOptional(),
  month: month.exactOptional(),
  spark: spark.exactOptional(),
});
export type CompactMonitor = z.infer<typeof CompactMonitor>;

/** The overview as a response. Rows are nested in their folder and omit its id. */
export const CompactOverview = z.object({
  groups: z.array(OverviewGroup.extend({ monitors: z.array(CompactMonitor) })),
  ungrouped: z.array(CompactMonitor),
  totals: z
    .object({
      folders: z.array(FolderTotals),
      troubled: z.array(CompactMonitor),
      types: z.array(z.string()),
      tags: z.array(z.string()),
    })
    .exactOptional(),
  /** Open incidents of a past time, newest first. At present, the list of incidents has them. */
  openIncidents: z.array(IncidentSummary).exactOptional(),
  /** Position from which the live stream continues. */
  position: z.string(),
});
export type CompactOverview = z.infer<typeof CompactOverview>;

/** Filters of the Monitors page. */
const filters = {
  q: searchText().optional(),
  status: line(50).optional(),
  type: line(50).optional(),
  tag: line(50).optional(),
};
export const OverviewQuery = z.strictObject({
  ...filters,
  /** Shows the states of this time. */
  at: instant.optional(),
});
export type OverviewQuery = z.infer<typeof OverviewQuery>;
export type OverviewFilters = Omit<OverviewQuery, "at">;

/** Query of further rows of a folder, or of ungrouped monitors: `count` rows after the first `from`. */
export const RowsQuery = z.strictObject({
  ...filters,
  groupId: Id.optional(),
  from: WholeNumber.default(0),
  count: createCountField(500, 100, "Rows"),
});
export type RowsQuery = z.infer<typeof RowsQuery>;

export const LiveQuery = z.strictObject({
  after: z
    .string()
    .regex(/^[\w-]{22}$/, "must be the position of an overview or the id of an event")
    .optional(),
});

export const StatesQuery = z
  .strictObject({
    /** Only states of this span, including the one in which it starts. */
    from: instant.optional(),
    to: instant.optional(),
    limit: createCountField(500, 50, "States"),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ["from"],
    message: "must be before to",
  });
export type StatesQuery = z.infer<typeof StatesQuery>;

/** A period in one state, until the next newer one. */
export const PastState = z.object({
  status: Status,
  since: Timestamp,
  message: z.string().nullable(),
});
export type PastState = z.infer<typeof PastState>;

export const ChannelUse = z.object({ channelId: Id, monitors: z.int(), groups: z.int() });
export type ChannelUse = z.infer<typeof ChannelUse>;

export const UsersOfChannel = z.object({ monitorIds: z.array(Id), groupIds: z.array(Id) });
export type UsersOfChannel = z.infer<typeof UsersOfChannel>;

export const SubscriberCount = z.object({
  pageId: Id,
  confirmed: z.int(),
  pending: z.int(),
});
export type SubscriberCount = z.infer<typeof SubscriberCount>;

export const WhereQuery = z.strictObject({
  kind: z.enum([
    "monitor",
    "incident",
    "maintenance-window",
    "alert-channel",
    "alert-source",
    "schedule",
    "status-page",
  ]),
  id: Id,
});
export type WhereQuery = z.infer<typeof WhereQuery>;
