/** Request and response schemas of configurations. */
import { z } from "zod";
import { line } from "../core/fields.ts";

/** Pattern of a record's key. It needs no escaping in URLs, field paths and lists. */
export const configKey = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

export const ConfigDocument = z
  .preprocess((document: object, context) => {
    // Zod objects would silently drop this name.
    if (Object.hasOwn(Object(document), "__proto__"))
      context.addIssue({
        code: "custom",
        path: ["__proto__"],
        message: "is not a field of a configuration",
      });
    return document;
  }, z.looseObject({}))
  .meta({
    id: "ConfigDocument",
    description:
      "Sections with an entry for each record under its key, as defined by `/api/v1/config.schema.json`.",
    example: { monitors: { shop: { type: "http", url: "https://shop.example/health" } } },
  });

/** A query flag. Without a value, as in `?dryRun`, it is true. */
const flag = z.enum(["true", "false", ""], "must be true or false").optional();

export const ConfigQuery = z.strictObject({
  dryRun: flag.meta({ description: "`true` returns the changes without making them." }),
  prune: flag.meta({
    description: "`true` deletes records that the same source created and no longer contains.",
  }),
  yes: flag.meta({ description: "`true` lets `prune` delete more than 20 % of that." }),
  adopt: flag.meta({
    description: "`true` adopts records of the same name that no configuration manages.",
  }),
});
export type ConfigQuery = z.infer<typeof ConfigQuery>;

export const ConfigFieldChange = z.object({
  field: z.string(),
  secret: z.boolean(),
  before: z.string().nullable().meta({ description: "As JSON, shortened; null for a secret." }),
  after: z.string().nullable(),
});
export type ConfigFieldChange = z.infer<typeof ConfigFieldChange>;

export const ConfigChange = z
  .object({
    section: z.string(),
    key: z.string(),
    id: z.string().nullable().meta({ description: "Null for a record that would be created." }),
    name: z.string(),
    action: z.enum(["create", "adopt", "update", "delete", "release"]).meta({
      description:
        "`adopt` manages an existing record from now on. `release` stops managing an adopted record, or one that can't be deleted, without deleting it.",
    }),
    fields: z.array(ConfigFieldChange),
  })
  .meta({ id: "ConfigChange" });
export type ConfigChange = z.infer<typeof ConfigChange>;

export const ConfigResult = z
  .object({
    source: z.string(),
    applied: z.boolean().meta({ description: "False for a dry run, and if nothing changes." }),
    changes: z.array(ConfigChange),
    unchanged: z.int(),
  })
  .meta({ id: "ConfigResult" });
export type ConfigResult = z.infer<typeof ConfigResult>;

/** Path of an omitted secret in an export, with a variable name for it. */
export const ConfigSecret = z.object({
  path: z.array(z.string()),
  variable: z.string(),
});
export type ConfigSecret = z.infer<typeof ConfigSecret>;

export const ConfigExport = z
  .object({
    document: z.record(z.string(), z.unknown()),
    secrets: z.array(ConfigSecret),
  })
  .meta({ id: "ConfigExport" });
export type ConfigExport = z.infer<typeof ConfigExport>;

/** Names of the sections, ordered so that records precede references to them. */
export const configSections = [
  "alertChannels",
  "schedules",
  "escalationPolicies",
  "alertSources",
  "groups",
  "monitors",
  "maintenanceWindows",
  "statusPages",
] as const;

export const ManagedQuery = z.strictObject({
  section: z.enum(configSections).optional(),
  differing: z.literal("true").optional(),
});
export type ManagedQuery = z.infer<typeof ManagedQuery>;

/** A record that a configuration manages. */
export const ManagedRecord = z.object({
  id: z.string(),
  section: z.enum(configSections),
  key: z.string(),
  source: z.string(),
  name: z.string().nullable().meta({ description: "Null for a record that was deleted since." }),
  drift: z.array(z.string()).meta({
    description: "Fields that differ from the last applied configuration.",
  }),
});
export type ManagedRecord = z.infer<typeof ManagedRecord>;

/** Name of the configuration. Several configurations can manage records of one organization. */
export const ConfigSource = line(100).regex(configKey, "must be letters, digits, - and _");
