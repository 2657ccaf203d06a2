/** Wire format of an incident's preview, audience and traces on the admin page. */
import { z } from "zod";
import { Id, idSet, line, paragraphs, Severity, Timestamp } from "../core/fields.ts";
import { pageLanguages } from "../core/languages.ts";
import { IncidentImpact, IncidentStatus, IncidentTranslations } from "../incidents/schema.ts";

/** A draft: an update of this incident, or a new incident. */
export const IncidentDraft = z.strictObject({
  incidentId: Id.nullable().default(null),
  monitorIds: idSet(100).optional(),
  impacts: z.array(IncidentImpact).max(100).optional(),
  title: line(500).optional(),
  severity: Severity.optional(),
  status: IncidentStatus.optional(),
  message: paragraphs(5000).optional(),
  translations: IncidentTranslations.optional(),
  public: z.boolean().optional(),
  /** Default: the default status page. */
  statusPageId: Id.optional(),
  /** Default: the default language of the status page. */
  language: z.enum(pageLanguages).optional(),
});
export type IncidentDraft = z.output<typeof IncidentDraft>;

/** `html` is null if the status page would not show the incident. */
export const IncidentPreview = z.object({
  html: z.string().nullable(),
  style: z.record(z.string(), z.string()),
});
export type IncidentPreview = z.infer<typeof IncidentPreview>;

export const IncidentAudienceQuery = z.strictObject({
  incidentId: Id.optional(),
  /** Separated by commas. */
  monitorIds: z
    .string()
    .max(100 * 37)
    .transform((text) => text.split(","))
    .pipe(idSet(100))
    .optional(),
});
export type IncidentAudienceQuery = z.output<typeof IncidentAudienceQuery>;

const Channel = z.object({ id: Id, name: z.string(), type: z.string() });

export const IncidentAudience = z.object({
  updates: z.array(Channel),
  resolution: z.array(Channel),
  /** Visible status pages that show the incident if it is public. */
  pages: z.array(
    z.object({
      id: Id,
      slug: z.string(),
      title: z.string(),
      subscribers: z.int(),
      /** Languages that the page offers, the default first. */
      languages: z.array(z.enum(pageLanguages)),
    }),
  ),
});
export type IncidentAudience = z.infer<typeof IncidentAudience>;

const Receiver = z.object({
  /** Name of the channel; null for subscribers with this outcome. */
  name: z.string().nullable(),
  count: z.int(),
  /** `retrying` after failed attempts, with the reason of the last one. */
  state: z.enum(["waiting", "retrying", "delivered", "failed"]),
  reason: z.string().nullable(),
});
export type Receiver = z.infer<typeof Receiver>;

const author = { type: z.string(), id: z.string().nullable(), name: z.string() };

export const IncidentTraces = z.object({
  authors: z.array(z.object({ updateId: Id, ...author })),
  /** Monitor states during the incident, including trouble at its start, oldest first. */
  states: z.array(
    z.object({
      at: Timestamp,
      monitorId: Id,
      name: z.string(),
      status: z.enum(["up", "degraded", "down", "maintenance"]),
      message: z.string().nullable(),
      /** Duration of the trouble that this state ended; null for other states. */
      troubleSeconds: z.number().nullable(),
    }),
  ),
  /** Changes other than updates, oldest first. */
  changes: z.array(
    z.object({ at: Timestamp, action: z.string(), fields: z.array(z.string()), ...author }),
  ),
  /** Receivers of each update, with the outcome of their deliveries. */
  receipts: z.array(z.object({ updateId: Id, receivers: z.array(Receiver) })),
  /** Notified channels, each with the time of its last delivery. */
  told: z.array(Channel.extend({ at: Timestamp })),
});
/** Receivers of the announcement of a maintenance window, with the outcome of their deliveries. */
export const WindowReceipt = z.object({ receivers: z.array(Receiver) });
export type WindowReceipt = z.infer<typeof WindowReceipt>;

export type IncidentTraces = z.infer<typeof IncidentTraces>;
