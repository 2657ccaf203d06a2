/** Wire format of incidents, their timelines, notes and postmortems. */
import { actorTypes, incidentImpacts, incidentStatuses } from "../core/statuses.ts";
import { type PageLanguage, pageLanguages } from "../core/languages.ts";
import { z } from "zod";
import {
  bodySchema,
  Id,
  idSet,
  line,
  paragraphs,
  PartialRecord,
  searchText,
  Severity,
  Timestamp,
  Origin,
} from "../core/fields.ts";
import { incidentBounds } from "../core/limits.ts";
import { pageFields } from "../core/paging.ts";

export const IncidentStatus = z.enum(incidentStatuses).meta({ id: "IncidentStatus" });
export type IncidentStatus = z.infer<typeof IncidentStatus>;

const maxMessageLength = 5000;

/** Texts of an update in other languages, by language. */
const translation = z.strictObject({ message: paragraphs(maxMessageLength) }).optional();
const translationFields = Object.fromEntries(
  pageLanguages.map((language) => [language, translation]),
) as Record<PageLanguage, typeof translation>;
export const IncidentTranslations = z.strictObject(translationFields).meta({
  id: "IncidentTranslations",
  description:
    "Texts in other languages of status pages, by language. Readers of a language without one get `message`.",
  example: { de: { message: "Wir haben die Ursache gefunden." } },
});
export type Translations = z.infer<typeof IncidentTranslations>;

export const IncidentUpdate = z
  .object({
    id: Id,
    status: IncidentStatus,
    message: z.string().meta({ example: "The upstream provider confirmed an outage." }),
    translations: IncidentTranslations.nullable().meta({ description: "Null without any." }),
    createdAt: Timestamp,
    editedAt: Timestamp.nullable().meta({ description: "Time of the last change of its text." }),
  })
  .meta({ id: "IncidentUpdate", description: "One entry of an incident's timeline." });
export type IncidentUpdate = z.infer<typeof IncidentUpdate>;

export const Postmortem = z
  .object({
    message: z.string(),
    publishedAt: Timestamp.nullable().meta({ description: "Null for a draft." }),
    updatedAt: Timestamp,
  })
  .meta({
    id: "Postmortem",
    description: "Impact, root cause and next steps, as Markdown.",
    example: {
      message: "**Root cause**\n\nWorkers read the signing key once, at start.",
      publishedAt: null,
      updatedAt: "2026-11-21T09:00:00.000Z",
    },
  });
export type Postmortem = z.infer<typeof Postmortem>;

export const IncidentImpact = z
  .strictObject({ monitorId: Id, impact: z.enum(incidentImpacts) })
  .meta({
    id: "IncidentImpact",
    description: "The state that public pages show for a monitor while the incident is open.",
  });
export type IncidentImpact = z.infer<typeof IncidentImpact>;

const Author = z.object({
  type: z.enum(actorTypes),
  id: z.string().nullable(),
  name: z.string(),
});
export type Author = z.infer<typeof Author>;

export const IncidentUpdateRevision = z
  .object({
    id: Id,
    message: z.string(),
    editedAt: Timestamp,
    author: Author.meta({ description: "Who edited it." }),
  })
  .meta({
    id: "IncidentUpdateRevision",
    description: "An earlier text of an update.",
    example: {
      id: "01a1fba2-77c0-7d5f-8b1a-9c0d1e2f3a4b",
      message: "We found teh cause and are rolling back.",
      editedAt: "2026-11-20T23:12:00.000Z",
      author: { type: "person", id: "01a1fb90-6a10-7c3d-9e21-0b1c2d3e4f50", name: "Ann" },
    },
  });
export type IncidentUpdateRevision = z.infer<typeof IncidentUpdateRevision>;

export const IncidentNote = z
  .object({
    id: Id,
    message: z.string().meta({ example: "The key is cached in the worker: restart it." }),
    createdAt: Timestamp,
    author: Author,
  })
  .meta({
    id: "IncidentNote",
    description:
      "An internal note, which is never sent to a status page, feed, subscriber or alert channel. Monitors note the reason for their updates.",
    example: {
      id: "01a1fb9a-02d1-7b1e-8c40-5d2f6a7b8c9d",
      message: "The key is cached in the worker: restart it.",
      createdAt: "2026-11-20T23:04:00.000Z",
      author: { type: "person", id: "01a1fb90-6a10-7c3d-9e21-0b1c2d3e4f50", name: "Ann" },
    },
  });
export type IncidentNote = z.infer<typeof IncidentNote>;

const record = {
  id: Id,
  title: z.string().meta({ example: "Checkout is slow" }),
  status: IncidentStatus,
  severity: Severity,
  monitorId: Id.nullable().meta({ description: "The first of the affected monitors." }),
  monitorIds: z.array(Id).meta({ description: "All affected monitors." }),
  partial: PartialRecord,
  origin: Origin,
  public: z.boolean().meta({ description: "Whether status pages show it." }),
  resolvedAt: Timestamp.nullable().meta({
    description: "Set exactly while the status is `resolved`.",
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const IncidentSummary = z
  .object({
    ...record,
    hasPostmortem: z
      .boolean()
      .meta({ description: "Whether it has a postmortem, published or not." }),
  })
  .meta({
    id: "IncidentSummary",
    description: "An incident as lists show it, without its timeline.",
  });
export type IncidentSummary = z.infer<typeof IncidentSummary>;

export const Incident = z
  .object({
    ...record,
    impacts: z.array(IncidentImpact).meta({
      description: "States that public pages show for affected monitors while it is open.",
    }),
    updates: z.array(IncidentUpdate).meta({ description: "The timeline, oldest first." }),
    notes: z.array(IncidentNote).meta({ description: "Internal notes, oldest first." }),
    postmortem: Postmortem.nullable(),
  })
  .meta({
    id: "Incident",
    description: "A record of a service problem with its timeline.",
    example: {
      id: "01a1fb99-1f06-7255-b6bc-740f65e2dffd",
      title: "Checkout is slow",
      status: "identified",
      severity: "major",
      monitorId: null,
      monitorIds: [],
      origin: "manual",
      public: true,
      resolvedAt: null,
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:10:00.000Z",
      impacts: [],
      updates: [
        {
          id: "01a1fb99-1f06-7254-893f-bf88db30cdfe",
          status: "investigating",
          message: "Incident opened.",
          translations: null,
          createdAt: "2026-11-20T23:02:00.000Z",
          editedAt: null,
        },
        {
          id: "01a1fba0-2c11-7d3e-9a60-52b1f0c4e7aa",
          status: "identified",
          message: "We found the cause and are rolling back.",
          translations: { de: { message: "Wir haben die Ursache gefunden." } },
          createdAt: "2026-11-20T23:10:00.000Z",
          editedAt: null,
        },
      ],
      notes: [],
      postmortem: null,
    },
  });
export type Incident = z.infer<typeof Incident>;

const title = line(500).meta({ example: "Checkout is slow" });
const message = paragraphs(maxMessageLength).meta({
  description: "Update text, as Markdown; shown on the timeline and on the public status page.",
  example: "We found the cause and are rolling back.",
});

const notify = z.boolean().optional().meta({
  description:
    "Whether the subscribers of status pages are notified. Default: `true`. Alert channels are always notified.",
});

const monitorIds = idSet(incidentBounds.affectedMonitors.value).meta({
  description: "The affected monitors.",
});

const impacts = z
  .array(IncidentImpact)
  .max(incidentBounds.affectedMonitors.value)
  .refine(
    (all) => new Set(all.map(({ monitorId }) => monitorId)).size === all.length,
    "must name each monitor once",
  )
  .meta({
    description:
      "States that public pages show for affected monitors while the incident is open, unless a check found a worse one. Monitors without an entry show their own state.",
  });

export const NewIncident = bodySchema(
  [
    "id",
    "partial",
    "status",
    "origin",
    "resolvedAt",
    "createdAt",
    "updatedAt",
    "updates",
    "notes",
    "postmortem",
  ],
  z
    .strictObject({
      title,
      monitorId: Id.nullable().optional().meta({
        description: "The affected monitor. With `monitorIds`, it must be the first of them.",
      }),
      monitorIds: monitorIds.optional(),
      impacts: impacts.optional(),
      severity: Severity.default("minor"),
      message: message.default("Incident opened."),
      translations: IncidentTranslations.optional(),
      public: z.boolean().default(true),
      notify,
    })
    .refine(
      ({ monitorId, monitorIds }) =>
        monitorId === undefined ||
        monitorIds === undefined ||
        monitorId === (monitorIds[0] ?? null),
      { path: ["monitorId"], error: "must be the first of monitorIds if both are given" },
    )
    .meta({
      id: "NewIncident",
      example: { title: "Checkout is slow", severity: "major" },
    }),
);
export type NewIncident = z.infer<typeof NewIncident>;

/** Whether a field of a patch changes the incident. */
const isChange = ([name, value]: [string, unknown]) => name !== "notify" && value !== undefined;

export const IncidentPatch = bodySchema(
  [
    "id",
    "partial",
    "monitorId",
    "origin",
    "resolvedAt",
    "createdAt",
    "updatedAt",
    "updates",
    "notes",
    "postmortem",
  ],
  z
    .strictObject({
      status: IncidentStatus.optional(),
      message: message.optional(),
      translations: IncidentTranslations.optional(),
      title: title.optional(),
      severity: Severity.optional(),
      public: z.boolean().optional(),
      monitorIds: monitorIds.optional(),
      impacts: impacts.optional(),
      notify,
    })
    .refine((patch) => Object.entries(patch).some(isChange), {
      error:
        "must have at least one of status, message, title, severity, public, monitorIds or impacts",
    })
    .refine(({ message, translations }) => message !== undefined || translations === undefined, {
      path: ["translations"],
      error: "must come with a message",
    })
    .meta({
      id: "IncidentPatch",
      minProperties: 1,
      example: { status: "identified", message: "We found the cause and are rolling back." },
    }),
);
export type IncidentPatch = z.infer<typeof IncidentPatch>;

export const PostmortemPatch = bodySchema(
  ["publishedAt", "updatedAt"],
  z
    .strictObject({
      message: paragraphs(10_000).optional().meta({ description: "The whole text." }),
      published: z.boolean().optional().meta({
        description: "Whether status pages show it; only while the incident is resolved.",
      }),
      notify: z
        .boolean()
        .optional()
        .meta({ description: "Whether subscribers are notified as it is published." }),
    })
    .refine(({ message, published }) => message !== undefined || published !== undefined, {
      error: "must have at least one of message and published",
    })
    .meta({
      id: "PostmortemPatch",
      minProperties: 1,
      example: { message: "**Root cause**\n\nWorkers read the signing key once, at start." },
    }),
);
export type PostmortemPatch = z.infer<typeof PostmortemPatch>;

export const IncidentUpdatePatch = bodySchema(
  ["id", "status", "createdAt", "editedAt"],
  z.strictObject({ message, translations: IncidentTranslations.optional() }).meta({
    id: "IncidentUpdatePatch",
    example: { message: "We found the cause and are rolling back." },
  }),
);
export type IncidentUpdatePatch = z.infer<typeof IncidentUpdatePatch>;

export const NewIncidentNote = bodySchema(
  ["id", "createdAt", "author"],
  z.strictObject({ message: paragraphs(5000) }).meta({
    id: "NewIncidentNote",
    example: { message: "The key is cached in the worker: restart it." },
  }),
);
export type NewIncidentNote = z.infer<typeof NewIncidentNote>;

export const IncidentQuery = z.strictObject({
  ...pageFields,
  status: IncidentStatus.optional(),
  severity: Severity.optional(),
  monitorId: Id.optional().meta({ description: "One of the affected monitors." }),
  open: z
    .enum(["true", "false"])
    .optional()
    .meta({ description: "`true`: incidents that are not resolved; `false`: resolved ones." }),
  q: searchText()
    .optional()
    .meta({ description: "Text that the title contains, without regard to case." }),
});
export type IncidentQuery = z.infer<typeof IncidentQuery>;
