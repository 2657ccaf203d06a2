/** Validates the entries of a configuration. */
import { suggestName } from "../core/text/suggestion.ts";
import { z } from "zod";
import type { ErrorDetail } from "../core/errors.ts";
import { forEachYielding } from "../core/time/event-loop.ts";
import { parse, validationError } from "../core/validation.ts";
import { ConfigSource, configKey } from "./schema.ts";
import { fieldsOf, type SectionName, sectionNames, sections } from "./sections-schema.ts";
import { type Fields, isObject } from "../core/collections/objects.ts";

/** The configuration of one record. */
export type Entry = {
  section: SectionName;
  key: string;
  /** Fields by their configuration names, including applicable defaults. */
  fields: Fields;
  /** Fields whose values come from `defaults`. */
  inherited: ReadonlySet<string>;
};

export type Configuration = {
  source: string;
  /** Slug of the target organization; null allows any. */
  organization: string | null;
  entries: Entry[];
};

const maxIssues = 20;
const Head = z.object({
  source: ConfigSource.default("main"),
  organization: z.string().max(63).nullable().default(null),
});

/** Validates a configuration. Throws VALIDATION_ERROR for unknown fields, types, keys and references. */
export async function parseConfiguration(document: unknown): Promise<Configuration> {
  const issues: ErrorDetail[] = [];
  const issue = (path: string, message: string) => void issues.push({ path, message });
  if (!isObject(document))
    throw validationError([{ path: "body", message: "must be an object of sections" }]);
  const head = parse(Head, document);
  const known = new Set<string>([...sectionNames, "source", "organization", "defaults"]);
  for (const name of Object.keys(document))
    if (!known.has(name) && !name.startsWith("x-"))
      issue(name, describeUnknownField("a configuration", name, known));
  const defaults = parseDefaults(document["defaults"], issue);
  const entries: Entry[] = [];
  for (const section of sectionNames) {
    const sectionEntries = document[section] ?? {};
    if (!isObject(sectionEntries)) {
      issue(section, "must be an object with a key for each record");
      continue;
    }
    await forEachYielding(Object.entries(sectionEntries), ([key, value]) => {
      if (issues.length >= maxIssues) throw validationError(issues);
      const entry = parseEntry(section, key, value, defaults[section] ?? {}, issue);
      if (entry !== null) entries.push(entry);
    });
  }
  const ownPages = entries.filter(isOwnPage);
  for (const { key } of ownPages.slice(1))
    issue(`statusPages.${key}.default`, "must be true of one page alone");
  if (issues.length > 0) throw validationError(issues);
  return { ...head, entries };
}

const describeUnknownField = (owner: string, name: string, known: Iterable<string>) =>
  `is not a field of ${owner}${suggestName(name, known)}`;

/** Whether the entry is the default page, which every organization has. */
export const isOwnPage = ({ section, fields }: Entry) =>
  section === "statusPages" && fields["default"] === true;

type Issue = (path: string, message: string) => void;

/** Returns the fields of all types of a section, including `type`. */
const listFields = (section: SectionName) =>
  new Set([
    ...Object.keys(fieldsOf(section, null)),
    ...Object.values(sections[section].kinds ?? {}).flatMap(({ fields }) => Object.keys(fields)),
    ...(sections[section].kinds === null ? [] : ["type"]),
  ]);

function parseDefaults(value: unknown, issue: Issue): Partial<Record<SectionName, Fields>> {
  if (value === undefined) return {};
  if (!isObject(value)) {
    issue("defaults", "must be an object of sections");
    return {};
  }
  for (const [section, sectionDefaults] of Object.entries(value)) {
    if (!Object.hasOwn(sections, section))
      issue(`defaults.${section}`, `is not a section${suggestName(section, sectionNames)}`);
    else if (!isObject(sectionDefaults))
      issue(`defaults.${section}`, "must be an object of fields");
    else {
      const fields = listFields(section as SectionName);
      for (const name of Object.keys(sectionDefaults))
        if (!fields.has(name))
          issue(`defaults.${section}.${name}`, describeUnknownField(section, name, fields));
    }
  }
  return value as Partial<Record<SectionName, Fields>>;
}

function parseEntry(
  section: SectionName,
  key: string,
  value: unknown,
  defaults: Fields,
  issue: Issue,
): Entry | null {
  const path = `${section}.${key}`;
  if (!configKey.test(key)) {
    issue(path, "must be a key of at most 100 letters, digits, - and _, beginning with a letter");
    return null;
  }
  if (!isObject(value)) {
    issue(path, "must be an object of fields");
    return null;
  }
  const { kinds, naming } = sections[section];
  const type = kinds === null ? null : (value["type"] ?? defaults["type"]);
  if (kinds !== null && (typeof type !== "string" || !Object.hasOwn(kinds, type))) {
    const choices = Object.keys(kinds).join(", ");
    issue(`${path}.type`, type === undefined ? "is required" : `must be one of: ${choices}`);
    return null;
  }
  const ownType = type as string | null;
  const shape = fieldsOf(section, ownType);
  const isField = (name: string) =>
    Object.hasOwn(shape, name) || (ownType !== null && name === "type");
  for (const name of Object.keys(value))
    if (!isField(name))
      issue(
        `${path}.${name}`,
        describeUnknownField(
          ownType === null ? section : `the type ${ownType}`,
          name,
          Object.keys(shape),
        ),
      );
  const inherited = Object.entries(defaults).filter(
    ([name]) => isField(name) && !Object.hasOwn(value, name),
  );
  return {
    section,
    key,
    fields: { [naming]: key, ...Object.fromEntries(inherited), ...value },
    inherited: new Set(inherited.map(([name]) => name)),
  };
}

export type References = {
  /** Finds the ID of a record by its key, or of a person by e-mail address. */
  findId: (of: SectionName | "people", key: string) => string | undefined;
  /** Returns “; did you mean …?” for a key that is similar to a record's; otherwise an empty text. */
  suggestKey: (of: SectionName, key: string) => string;
};

const describeMissingRecord = (to: SectionName, key: unknown, { suggestKey }: References) =>
  `must be the key of a record in ${to} of this configuration${typeof key === "string" ? suggestKey(to, key) : ""}`;

/** Converts references to record IDs, as the REST API expects. Unknown keys become validation issues. */
export function resolveReferences(
  { section, fields }: Entry,
  ownReferences: References,
  issue: Issue,
): Fields {
  const result: Fields = {};
  const resolveId = (to: SectionName, key: unknown, path: string) => {
    const found = typeof key === "string" ? ownReferences.findId(to, key) : undefined;
    if (found === undefined) issue(path, describeMissingRecord(to, key, ownReferences));
    return found;
  };
  const resolvePerson = (email: unknown, path: string) => {
    const found = typeof email === "string" ? ownReferences.findId("people", email) : undefined;
    if (found === undefined)
      issue(path, "must be the e-mail address of a person of the organization");
    return found;
  };
  const { references } = sections[section];
  for (const [name, value] of Object.entries(fields)) {
    const reference = references[name];
    if (reference === undefined) result[name] = value;
    else if (!reference.many)
      result[reference.as] = value === null ? null : resolveId(reference.to, value, reference.as);
    else
      result[reference.as] = Array.isArray(value)
        ? value.map((key, index) => resolveId(reference.to, key, `${reference.as}[${index}]`))
        : value;
  }
  if (section === "escalationPolicies" && Array.isArray(fields["steps"]))
    return { ...result, steps: resolveSteps(fields["steps"], resolveId, resolvePerson) };
  if (section === "schedules" && Array.isArray(fields["layers"]))
    return { ...result, layers: resolveLayers(fields["layers"], resolvePerson, issue) };
  if (section === "statusPages" && Array.isArray(fields["sections"]))
    return { ...result, sections: resolveSections(fields["sections"], resolveId, issue) };
  return result;
}

type ResolveId = (to: SectionName, key: unknown, path: string) => string | undefined;

type ResolvePerson = (email: unknown, path: string) => string | undefined;

/** Converts the groups and monitors of a page's sections to IDs. */
const resolveSections = (all: readonly unknown[], resolveId: ResolveId, issue: Issue) =>
  all.map((section, index) => {
    if (!isObject(section)) return section;
    const { group, monitors, ...rest } = section;
    const path = `sections[${index}]`;
    if ("groupId" in rest) issue(`${path}.groupId`, "must be given instead of groupId");
    return {
      ...rest,
      ...(group !== undefined && {
        groupId: group === null ? null : resolveId("groups", group, `${path}.groupId`),
      }),
      ...(monitors !== undefined && {
        monitors: Array.isArray(monitors)
          ? monitors.map((shown: unknown, index) => {
              if (!isObject(shown)) return shown;
              const { monitor, ...references } = shown;
              const at = `${path}.monitors[${index}].id`;
              return { ...references, id: resolveId("monitors", monitor, at) };
            })
          : monitors,
      }),
    };
  });

/** Converts the people of layers to IDs. */
const resolveLayers = (layers: readonly unknown[], resolvePerson: ResolvePerson, issue: Issue) =>
  layers.map((layer, index) => {
    if (!isObject(layer)) return layer;
    const { people, ...rest } = layer;
    const path = `layers[${index}].personIds`;
    if ("personIds" in rest) issue(path, "must be given instead of personIds");
    const personIds = Array.isArray(people)
      ? people.map((email: unknown, position) => resolvePerson(email, `${path}[${position}]`))
      : people;
    return { ...rest, personIds };
  });

/** Converts the targets of steps to IDs. */
const resolveSteps = (
  steps: readonly unknown[],
  resolveId: ResolveId,
  resolvePerson: ResolvePerson,
) =>
  steps.map((step, index) => {
    if (!isObject(step) || !Array.isArray(step["targets"])) return step;
    return {
      ...step,
      targets: step["targets"].map((target: unknown, targetIndex) => {
        if (!isObject(target)) return target;
        const { person, schedule, channel, ...rest } = target;
        const path = `steps[${index}].targets[${targetIndex}]`;
        if (channel !== undefined)
          return {
            ...rest,
            type: "channel",
            id: resolveId("alertChannels", channel, `${path}.channel`),
          };
        if (schedule !== undefined)
          return {
            ...rest,
            type: "schedule",
            id: resolveId("schedules", schedule, `${path}.schedule`),
          };
        return { ...rest, type: "person", id: resolvePerson(person, `${path}.person`) };
      }),
    };
  });

/** Converts the path of a REST error to a path in the configuration. */
export function toConfigurationPath({ section, key, inherited }: Entry, path: string): string {
  let ownPath = path;
  for (const [name, { as }] of Object.entries(sections[section].references))
    ownPath = ownPath.replace(new RegExp(`^${as}(?=$|\\[)`), name);
  if (section === "escalationPolicies")
    ownPath = ownPath.replace(/^(steps\[\d+\]\.targets\[\d+\]\.)id$/, "$1person");
  if (section === "statusPages")
    ownPath = ownPath
      .replace(/^(sections\[\d+\]\.)groupId$/, "$1group")
      .replace(/^(sections\[\d+\]\.monitors\[\d+\]\.)id$/, "$1monitor");
  if (section === "schedules") ownPath = ownPath.replace(/^(layers\[\d+\]\.)personIds/, "$1people");
  const [first = ""] = ownPath.split(/[.[]/);
  return inherited.has(first) ? `defaults.${section}.${ownPath}` : `${section}.${key}.${ownPath}`;
}

/** Converts a REST field name to its name in configurations. */
export function toConfigurationName(section: SectionName, field: string): string {
  const references = Object.entries(sections[section].references);
  return references.find(([, { as }]) => as === field)?.[0] ?? field;
}
