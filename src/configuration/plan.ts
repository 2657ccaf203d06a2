/** Compares a configuration with the organization and plans the changes. */
import { suggestName } from "../core/text/suggestion.ts";
import { emailKeyOf } from "../accounts/people/rules.ts";
import { listMembers } from "../accounts/people/store.ts";
import { AppError, type ErrorDetail } from "../core/errors.ts";
import { createId } from "../core/ids.ts";
import { excerptText } from "../core/text/formatting.ts";
import { forEachYielding, mapYielding, yieldToEventLoop } from "../core/time/event-loop.ts";
import { validationError } from "../core/validation.ts";
import type { Scope } from "../events/scope.ts";
import { configurationPrefix, type ExternalRecord } from "../imports/store.ts";
import { overLimitError } from "../database/references.ts";
import { chooseChannels } from "../monitoring/monitors/rules.ts";
import {
  type Configuration,
  type Entry,
  type References,
  isOwnPage,
  toConfigurationName,
  toConfigurationPath,
  resolveReferences,
} from "./entries.ts";
import { type Current, loadCurrentRecords } from "./records.ts";
import { resources } from "./resources.ts";
import type { ConfigChange, ConfigFieldChange } from "./schema.ts";
import { type SectionName, sections } from "./sections-schema.ts";
import { type Fields, isObject } from "../core/collections/objects.ts";

/** Options of an apply, as in `ConfigQuery`. */
export type ApplyOptions = {
  [flag in "dryRun" | "prune" | "yes" | "adopt"]?: boolean | undefined;
};

/** An entry with its existing or new record. */
export type Step = {
  entry: Entry;
  id: string;
  record: Current | null;
  isAdopted: boolean;
  /** The complete record, as a REST request would contain it. */
  input: Fields;
  /** REST fields that differ from the record; all fields of a new record. */
  changed: readonly string[];
  /** Fields that the entry determines. Omitted secrets and preserved fields are not included. */
  decided: Fields;
};

export type ConfigPlan = {
  source: string;
  steps: Step[];
  /** Records that the source created and no longer contains. */
  removed: Current[];
  /** Adopted records that the source no longer contains. */
  released: Current[];
  /** All links of the source. */
  links: readonly ExternalRecord[];
  /** Links to deleted records that the source no longer contains. */
  dangling: ExternalRecord[];
  changes: ConfigChange[];
  /** Fraction of the source's records that would be deleted, 0–1. */
  removedShare: number;
};

/** Limits the work of comparing names. */
const maxSuggestions = 3;
const maxSuggestedLength = 40;
const maxComparedKeys = 1_000;

function createReferences(
  entries: readonly Entry[],
  ids: ReadonlyMap<string, string>,
  people: ReadonlyMap<string, string>,
): References {
  let remainingSuggestions = maxSuggestions;
  return {
    findId: (of, key) =>
      of === "people" ? people.get(emailKeyOf(key)) : ids.get(buildEntryId({ section: of, key })),
    suggestKey(of, key) {
      if (key.length > maxSuggestedLength || remainingSuggestions-- <= 0) return "";
      const similar = entries.filter(
        (entry) => entry.section === of && Math.abs(entry.key.length - key.length) <= 2,
      );
      return suggestName(
        key,
        similar.slice(0, maxComparedKeys).map((entry) => entry.key),
      );
    },
  };
}

const buildEntryId = ({ section, key }: Pick<Entry, "section" | "key">) => `${section} ${key}`;

/** Plans the changes of an apply. Throws VALIDATION_ERROR, and CONFLICT if a record of the same name exists. */
export async function planApply(
  scope: Scope,
  { source, entries }: Configuration,
  { prune = false, adopt = false }: ApplyOptions,
): Promise<ConfigPlan> {
  const { all, links } = await loadCurrentRecords(scope);
  await yieldToEventLoop();
  const ownLinks = links.filter((link) => link.source === `${configurationPrefix}${source}`);
  const ours = new Set(ownLinks);
  const managed = all.filter(({ link }) => link !== null && ours.has(link));
  const records = matchRecords(entries, all, managed, adopt);
  await yieldToEventLoop();
  const now = scope.clock();
  assertFits(
    scope,
    entries.filter((entry) => !records.has(buildEntryId(entry))),
    now,
  );
  const ids = new Map(
    entries.map((entry) => {
      const id = buildEntryId(entry);
      return [id, records.get(id)?.id ?? createId(now)];
    }),
  );
  const people = await findPeople(scope, entries);
  const references = createReferences(entries, ids, people);
  const steps = await planSteps(scope, entries, records, references);
  addDefaultChannels(scope, steps, all);
  addPoliciesOfGroups(steps);
  const keyOfId = new Map([
    ...[...people].map(([email, id]): [string, string] => [id, email]),
    ...[...ids].map(([name, id]): [string, string] => [id, name.split(" ")[1] ?? ""]),
  ]);
  const changes = await mapYielding(steps, (step) => describeChange(step, keyOfId));
  const pruned = prune
    ? findPruned(entries, managed, ownLinks)
    : { removed: [], released: [], dangling: [] };
  const createdCount = managed.filter(isCreatedHere).length;
  return {
    source,
    steps,
    links: ownLinks,
    ...pruned,
    removedShare: createdCount === 0 ? 0 : pruned.removed.length / createdCount,
    changes: [
      ...changes.flat(),
      ...pruned.removed.map((one) => describeRemoval(one, "delete")),
      ...pruned.released.map((one) => describeRemoval(one, "release")),
    ],
  };
}

/** Plans the step of each entry. Throws VALIDATION_ERROR with the first issues. */
async function planSteps(
  scope: Scope,
  entries: readonly Entry[],
  records: ReturnType<typeof matchRecords>,
  references: ReturnType<typeof createReferences>,
): Promise<Step[]> {
  const issues: ErrorDetail[] = [];
  const steps: Step[] = [];
  await forEachYielding(entries, async (entry) => {
    if (issues.length >= 20) return;
    const record = records.get(buildEntryId(entry)) ?? null;
    const id = references.findId(entry.section, entry.key) ?? "";
    const step = await planStep(scope, entry, id, record, references, issues);
    if (step !== null) steps.push(step);
  });
  if (issues.length > 0) throw validationError(issues);
  return steps;
}

/** Returns the IDs of people by the key of their e-mail address, if the entries can refer to people. */
async function findPeople(scope: Scope, entries: readonly Entry[]) {
  const members = entries.some(
    ({ section }) => section === "schedules" || section === "escalationPolicies",
  )
    ? await listMembers(scope)
    : [];
  return new Map(members.map(({ email, id }) => [emailKeyOf(email), id]));
}

/**
 * Whether a configuration created the record. Such records are deleted with their entry; adopted
 * ones are only released.
 */
const isCreatedHere = ({ link, isDefaultPage }: Current) =>
  link?.adopted === false && !isDefaultPage;

/** Returns managed records without an entry, and links of this source without a record or an entry. */
function findPruned(
  entries: readonly Entry[],
  managed: readonly Current[],
  own: ConfigPlan["links"],
): Pick<ConfigPlan, "removed" | "released" | "dangling"> {
  const entryIds = new Set(entries.map(buildEntryId));
  const isRemoved = ({ section, link }: Current) =>
    !entryIds.has(buildEntryId({ section, key: link?.externalId ?? "" }));
  const removedRecords = managed.filter(isRemoved);
  const presentLinks = new Set(managed.map(({ link }) => link));
  return {
    removed: removedRecords.filter(isCreatedHere),
    released: removedRecords.filter((one) => !isCreatedHere(one)),
    dangling: own.filter((link) => !presentLinks.has(link) && !isNamed(link, entryIds)),
  };
}

/** Throws early if new records exceed a limit, which the write checks again. Past maintenance windows don't count. */
function assertFits({ limits }: Scope, created: readonly Entry[], now: number) {
  const isOver = ({ rrule, endsAt }: Fields) => rrule == null && Date.parse(String(endsAt)) <= now;
  const counted = Map.groupBy(
    created.filter(({ section, fields }) => section !== "maintenanceWindows" || !isOver(fields)),
    ({ section }) => section,
  );
  for (const [section, { length }] of counted) {
    const { limit } = sections[section];
    if (length > limits[limit]) throw overLimitError(limits, limit);
  }
}

function isNamed({ noun, externalId }: ExternalRecord, named: ReadonlySet<string>): boolean {
  return Object.entries(sections).some(
    ([section, definition]) =>
      definition.noun === noun &&
      named.has(buildEntryId({ section: section as SectionName, key: externalId })),
  );
}

/** Finds the records of the entries by their links, or by their names if they can be adopted. */
function matchRecords(
  entries: readonly Entry[],
  all: readonly Current[],
  managed: readonly Current[],
  adopt: boolean,
): Map<string, Current> {
  const records = new Map<string, Current>();
  for (const one of managed)
    records.set(buildEntryId({ section: one.section, key: one.link?.externalId ?? "" }), one);
  const ownPage = all.find(({ isDefaultPage }) => isDefaultPage);
  const free = Map.groupBy(
    all.filter(({ link, isDefaultPage }) => link === null && !isDefaultPage),
    ({ section, row, name }) =>
      `${section} ${section === "statusPages" ? String(row["slug"]) : name}`,
  );
  const issues: ErrorDetail[] = [];
  for (const entry of entries) {
    const { section, key, fields } = entry;
    if (records.has(buildEntryId(entry))) continue;
    if (isOwnPage(entry) && ownPage !== undefined) {
      if (ownPage.link === null) records.set(buildEntryId(entry), ownPage);
      else issues.push({ path: `${section}.${key}`, message: "is managed under another key" });
      continue;
    }
    const name = section === "statusPages" ? fields["slug"] : fields[sections[section].naming];
    const candidates = free.get(`${section} ${String(name)}`) ?? [];
    const hasSameType = ({ row }: Current) => row["type"] === fields["type"];
    const found = candidates.find(hasSameType) ?? candidates[0];
    if (found === undefined) continue;
    if (adopt)
      records.set(buildEntryId(entry), candidates.splice(candidates.indexOf(found), 1)[0]!);
    else
      issues.push({
        path: `${section}.${key}`,
        message:
          "has the name of an existing record that no configuration manages; --adopt takes that record over",
      });
  }
  const [first] = issues;
  if (first !== undefined)
    throw new AppError("CONFLICT", `${first.path} ${first.message}.`, {
      details: issues.slice(0, 20),
    });
  return records;
}

async function planStep(
  scope: Scope,
  entry: Entry,
  id: string,
  record: Current | null,
  references: References,
  issues: ErrorDetail[],
): Promise<Step | null> {
  const { section } = entry;
  const before = issues.length;
  const issue = (path: string, message: string) =>
    void issues.push({ path: toConfigurationPath(entry, path), message });
  const sent = resolveReferences(entry, references, issue);
  if (issues.length > before) return null;
  let input: Fields;
  try {
    input = await resources[section].read(scope, record?.row ?? null, sent);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "VALIDATION_ERROR") throw error;
    for (const { path, message } of error.details ?? []) issue(path, message);
    return null;
  }
  const fields = record?.fields() ?? {};
  const changed = Object.keys(input).filter((name) => !Bun.deepEquals(input[name], fields[name]));
  const unmanaged = new Set([...sections[section].unmanaged, ...listSecrets(section, input)]);
  const decided = Object.fromEntries(
    Object.entries(input).filter(([name]) => name in sent || !unmanaged.has(name)),
  );
  // As long as a person's pause replaces it, the entry's own value counts as applied.
  if (section === "monitors" && "paused" in sent) decided["paused"] = sent["paused"];
  // Only the hash of a page's password is stored. The last applied password is copied; otherwise it
  // would be lost.
  if (!("password" in sent) && typeof fields["passwordHash"] === "string")
    decided["password"] = fields["password"];
  return {
    entry,
    id,
    record,
    // The default page belongs to every organization, so it is never adopted.
    isAdopted: record !== null && record.link === null && !record.isDefaultPage,
    input,
    changed,
    decided,
  };
}

/** Returns the names of fields that contain secrets. */
export function listSecrets(section: SectionName, { type }: Fields): string[] {
  if (section === "statusPages") return ["password"];
  const secrets = sections[section].kinds?.[String(type)]?.secrets ?? {};
  return Object.keys(secrets).map((path) => path.split(".")[0] ?? path);
}

/** Adds the default channels and the group's channels to new monitors without `alertChannels`. */
function addDefaultChannels(scope: Scope, steps: readonly Step[], all: readonly Current[]) {
  const stepOfId = new Map(steps.map((step) => [step.id, step]));
  const storedChannels = all.filter(
    ({ id, section }) => section === "alertChannels" && !stepOfId.has(id),
  );
  const defaults = [
    ...storedChannels.filter(({ row }) => row["isDefault"]),
    ...steps.filter(({ entry, input }) => entry.section === "alertChannels" && input["default"]),
  ].map(({ id }) => id);
  for (const step of steps) {
    if (step.entry.section !== "monitors" || step.record !== null) continue;
    if ("alertChannels" in step.entry.fields) continue;
    const group = stepOfId.get(String(step.input["groupId"]))?.input;
    step.input["alertChannelIds"] = chooseChannels(
      [],
      defaults,
      (group?.["alertChannelIds"] as string[] | undefined) ?? [],
      scope.limits["alert-channels-of-a-monitor"],
    );
  }
}

/** Adds the group's policy to monitors without one that join the group, unless their entry names a policy or null. */
function addPoliciesOfGroups(steps: readonly Step[]) {
  const stepOfId = new Map(steps.map((step) => [step.id, step]));
  for (const { entry, input, record, changed } of steps) {
    const joins = record === null || changed.includes("groupId");
    if (entry.section !== "monitors" || !joins || "escalationPolicy" in entry.fields) continue;
    const group = stepOfId.get(String(input["groupId"]))?.input;
    input["escalationPolicyId"] ??= group?.["escalationPolicyId"] ?? null;
  }
}

function describeChange(
  { entry, record, input, changed, isAdopted }: Step,
  keyOfId: ReadonlyMap<string, string>,
): ConfigChange[] {
  if (record !== null && !isAdopted && changed.length === 0) return [];
  const { section, key } = entry;
  const secrets = new Set(listSecrets(section, input));
  const before = record?.fields() ?? {};
  const formatValue = (name: string, value: unknown) => {
    if (secrets.has(name) || name === "sections" || value === undefined) return null;
    const valueWithKeys = isReference(section, name) ? replaceIds(value, keyOfId) : value;
    return excerptText(JSON.stringify(valueWithKeys));
  };
  const fields = record === null ? [] : changed;
  return [
    {
      section,
      key,
      id: record?.id ?? null,
      name: String(input[sections[section].naming]),
      action: record === null ? "create" : isAdopted ? "adopt" : "update",
      fields: fields.map((name): ConfigFieldChange => ({
        field: toConfigurationName(section, name),
        secret: secrets.has(name),
        before: formatValue(name, before[name]),
        after: formatValue(name, input[name]),
      })),
    },
  ];
}

/** Whether the value of a REST field contains IDs of records or people. */
const isReference = (section: SectionName, name: string): boolean =>
  name === "steps" ||
  name === "layers" ||
  Object.values(sections[section].references).some(({ as }) => as === name);

function replaceIds(value: unknown, keyOfId: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => replaceIds(one, keyOfId));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, replaceIds(inner, keyOfId)]),
    );
  return keyOfId.get(String(value)) ?? value;
}

const describeRemoval = (
  { section, id, name, link }: Current,
  action: "delete" | "release",
): ConfigChange => ({ section, key: link?.externalId ?? "", id, name, action, fields: [] });
