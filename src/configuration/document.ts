/** Builds the JSON Schema of configuration files. */
import { z } from "zod";
import { ConfigSource, configKey } from "./schema.ts";
import { fieldsOf, type SectionName, sectionNames, sections } from "./sections-schema.ts";

type Json = { [name: string]: unknown };

const sectionDescriptions: Record<SectionName, string> = {
  alertChannels: "Alert channels, by their keys.",
  schedules: "On-call schedules, by their keys.",
  escalationPolicies: "Escalation policies, by their keys.",
  alertSources: "Alert sources, by their keys.",
  groups: "Folders of the Monitors page, by their keys.",
  monitors: "Monitors, by their keys.",
  maintenanceWindows: "Planned work, by their keys.",
  statusPages: "Public pages, by their keys.",
};

/**
 * Returns the schema of one type's fields. All are optional, because `defaults` can supply them.
 * Applying reports missing fields.
 */
const createEntrySchema = (section: SectionName, type: string | null) =>
  z.strictObject({
    ...(type !== null && { type: z.literal(type) }),
    ...Object.fromEntries(
      Object.entries(fieldsOf(section, type)).map(([name, field]) => [name, field.optional()]),
    ),
  });

const typesOf = (section: SectionName) => Object.keys(sections[section].kinds ?? {});

function createSectionSchema(section: SectionName) {
  const [first, ...others] = typesOf(section).map((type) => createEntrySchema(section, type));
  const entry =
    first === undefined ? createEntrySchema(section, null) : z.union([first, ...others]);
  return z
    .record(z.string().regex(configKey), entry)
    .meta({ description: sectionDescriptions[section] });
}

/** Returns the schema of `defaults`, which accepts the fields of every type of the section. */
function createDefaultsSchema(section: SectionName) {
  const types = typesOf(section);
  const fields = (types.length === 0 ? [null] : types).flatMap((type) =>
    Object.entries(fieldsOf(section, type)),
  );
  const byName = Map.groupBy(fields, ([name]) => name);
  return z.strictObject({
    ...(types.length > 0 && { type: z.enum(types as [string]).optional() }),
    ...Object.fromEntries(
      [...byName].map(([name, typedFields]) => {
        const all = [...new Set(typedFields.map(([, field]) => field))] as [
          z.ZodType,
          ...z.ZodType[],
        ];
        return [name, z.union(all).optional()];
      }),
    ),
  });
}

const mapSections = <T>(make: (section: SectionName) => T) =>
  Object.fromEntries(sectionNames.map((section) => [section, make(section)])) as Record<
    SectionName,
    T
  >;

/** Returns a JSON Schema 2020-12 for validation and completion in editors. The build publishes it. */
export function createConfigSchema(): Json {
  const documentSchema = z.strictObject({
    source: ConfigSource.default("main").meta({
      description: "Name of this configuration, unique in the organization.",
    }),
    organization: z.string().optional().meta({ description: "Slug of the target organization." }),
    defaults: z
      .strictObject(mapSections((section) => createDefaultsSchema(section).optional()))
      .optional()
      .meta({ description: "Default fields for all entries that accept them." }),
    ...mapSections((section) => createSectionSchema(section).optional()),
  });
  const json = z.toJSONSchema(documentSchema, { io: "input", unrepresentable: "any" }) as Json;
  const { defaults, ...own } = json["properties"] as Record<string, Json>;
  const defaultFields = defaults?.["properties"] as Record<string, Json> | undefined;
  for (const section of sectionNames)
    for (const entry of [
      own[section]?.["additionalProperties"],
      defaultFields?.[section],
    ] as Json[])
      for (const option of (entry["anyOf"] as Json[] | undefined) ?? [entry]) {
        const fields = option["properties"] as Record<string, Json>;
        allowStoredValues(fields);
        allowVariables(fields);
      }
  return {
    ...json,
    title: "Signalbox configuration",
    patternProperties: { "^x-": {} },
    $defs: { ...(json["$defs"] as Json), Variable: variableSchema },
  };
}

/** Allows null as a value of named secrets, as exports have it: the stored value stays. */
function allowStoredValues(fields: Record<string, Json>) {
  for (const { anyOf, ...field } of Object.values(fields))
    for (const { additionalProperties: value } of (anyOf as Json[] | undefined) ?? [field]) {
      const schema = value as Json | undefined;
      if (schema?.["type"] === "string") schema["type"] = ["string", "null"];
    }
}

const variableSchema = { type: "string", pattern: "^\\$\\{[^}]*\\}$" };

const isText = ({ type, pattern, format, enum: choices }: Json) =>
  type === "string" && pattern === undefined && format === undefined && choices === undefined;

/** Allows a variable in fields that do not accept arbitrary text. */
function allowVariables(fields: Record<string, Json>) {
  for (const [name, { description, default: usual, ...field }] of Object.entries(fields))
    if (field["const"] === undefined && !isText(field))
      fields[name] = {
        ...(description !== undefined && { description }),
        ...(usual !== undefined && { default: usual }),
        anyOf: [field, { $ref: "#/$defs/Variable" }],
      };
}
