/** Renders the values of changed fields in words, and decides which can be restored. */
import { z } from "zod";
import { describeLayer } from "../../../../src/alerting/schedules/rules.ts";
import { ScheduleLayer } from "../../../../src/alerting/schedules/schema.ts";
import { type Fields, isObject } from "../../../../src/core/collections/objects.ts";
import { type DeletableNoun, deletableNouns } from "../../../../src/core/deletable-nouns.ts";
import type { FieldChange } from "../../../../src/core/field-changes.ts";
import { formatDuration } from "../../../../src/core/text/formatting.ts";
import type { AuditEntry } from "../../../../src/operations/audit-log/schema.ts";
import { t } from "../../../language/text.ts";
import { nameField } from "./field-labels.ts";

type Names = AuditEntry["names"];

/** A layer of a schedule as stored. Earlier versions stored the names of its people instead of their IDs. */
const StoredLayer = z.object({ ...ScheduleLayer.shape, personIds: z.array(z.string()) });

/** Fields with a number of seconds. Fields whose names end with `Ms` are in milliseconds. */
const fieldsInSeconds = ["interval", "timeout", "retryInterval", "reminderInterval", "grace"];

const longestText = 160;
const listedItems = 5;
const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Renders a value, such as `5 min`, `none`, or names for IDs. */
export function describeValue(field: string, value: unknown, names: Names): string {
  if (value === null || value === undefined || value === "") return t("none");
  if (typeof value === "boolean") return value ? t("yes") : t("no");
  if (typeof value === "number") return describeNumber(field, value);
  if (typeof value === "string") {
    if (id.test(value)) return names[value] ?? t("a deleted record");
    return value.length > longestText ? `${value.slice(0, longestText)}…` : value;
  }
  const layer = field === "layers" ? StoredLayer.safeParse(value).data : undefined;
  if (layer !== undefined) return describeLayer(layer, (id) => describeValue("", id, names));
  const parts = Array.isArray(value)
    ? value.map((item) =>
        isObject(item) && value.length > 1
          ? `(${describeValue(field, item, names)})`
          : describeValue(field, item, names),
      )
    : Object.entries(value).map(
        ([name, inner]) => `${describePath(name)}: ${describeInner(inner, names)}`,
      );
  if (parts.length === 0) return t("none");
  const more = parts.length - listedItems;
  const listedParts = parts.slice(0, listedItems).join(", ");
  return more > 0
    ? t("{listed} and {count} more", { listed: listedParts, count: more })
    : listedParts;
}

function describeNumber(field: string, value: number): string {
  if (field.endsWith("Ms")) return `${value} ms`;
  if (field === "certificateExpiryDays") return `${value} ${t("days")}`;
  if (!fieldsInSeconds.includes(field)) return String(value);
  // A duration in words has two units, so it could hide that the value changed.
  const isExact = value > 0 && value % (value < 3_600 ? 1 : value < 86_400 ? 60 : 3_600) === 0;
  return isExact ? formatDuration(value) : `${value} s`;
}

/** Renders the name of an inner field, such as `dark colors text`. */
const describePath = (name: string) => name.split(".").map(nameField).join(" ");

function describeInner(value: unknown, names: Names): string {
  const text = describeValue("", value, names);
  const isNested = isObject(value) || (Array.isArray(value) && value.length > 0);
  return isNested ? `(${text})` : text;
}

/** Removes inner fields without a value. */
function omitEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(omitEmpty);
  if (!isObject(value)) return value;
  const givenEntries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(givenEntries.map(([name, inner]) => [name, omitEmpty(inner)]));
}

/** Returns the inner fields of an object, with dots between names. */
function listInner(value: Fields, prefix = ""): [name: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    const path = prefix + name;
    return isObject(inner) ? listInner(inner, `${path}.`) : [[path, inner]];
  });
}

/** Reduces two objects to the inner fields in which they differ. */
function pickDifferences(before: Fields, after: Fields): [before: Fields, after: Fields] {
  const [from, to] = [before, after].map((value) => new Map(listInner(value)));
  const all = [...new Set([...(from?.keys() ?? []), ...(to?.keys() ?? [])])];
  const differing = all.filter(
    (name) =>
      serialize(from?.get(name)) !== serialize(to?.get(name)) &&
      // A field without a value on one side has inner fields on the other.
      !all.some((other) => other.startsWith(`${name}.`)),
  );
  const pick = (values: Map<string, unknown> | undefined) =>
    Object.fromEntries(differing.map((name) => [name, omitEmpty(values?.get(name) ?? null)]));
  return [pick(from), pick(to)];
}

/**
 * Renders a change in two parts: the new value, and the previous one. For objects, both contain only the fields that
 * differ. The second part is null if there was no value. It is also null for long lists, whose first part names only
 * the differences.
 */
export function describeChange(
  { field, before, after, truncated }: FieldChange,
  names: Names,
): [after: string, before: string | null] {
  const isList = Array.isArray(before) && Array.isArray(after) && truncated.length === 0;
  if (isList && Math.max(before.length, after.length) > listedItems) {
    const added = listMissing(after, before).map(omitEmpty);
    const removed = listMissing(before, after).map(omitEmpty);
    const differences = [
      ...(added.length > 0
        ? [t("added {values}", { values: describeValue(field, added, names) })]
        : []),
      ...(removed.length > 0
        ? [t("removed {values}", { values: describeValue(field, removed, names) })]
        : []),
    ];
    return [differences.length === 0 ? t("another order") : differences.join("; "), null];
  }
  const [from, to] =
    isObject(before) && isObject(after)
      ? pickDifferences(before, after)
      : [omitEmpty(before), omitEmpty(after)];
  return [
    describeValue(field, to, names),
    hasNoValue(from) ? null : describeValue(field, from, names),
  ];
}

function hasNoValue(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).every(hasNoValue);
  return value === null || value === undefined || value === "";
}

function listMissing(of: readonly unknown[], from: readonly unknown[]): unknown[] {
  const known = new Set(from.map(serialize));
  return of.filter((item) => !known.has(serialize(item)));
}

/** Serializes equal values equally, regardless of the order of their fields. A missing value equals null. */
const serialize = (value: unknown): string =>
  JSON.stringify(omitEmpty(value ?? null), (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(
          Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : inner,
  );

/** Kinds of records whose fields can be restored. A restored field of an incident could notify people. */
const restorableNouns = [
  "monitor",
  "group",
  "alert-channel",
  "alert-source",
  "maintenance",
  "status-page",
  "incident-template",
  "settings",
  "organization",
] as const;
export type RestorableNoun = (typeof restorableNouns)[number];

/** Returns the noun of the record that this entry deleted and that can be restored; null if there is none. */
export function findDeleted({
  action,
  restorable,
  repeated,
}: Pick<AuditEntry, "action" | "restorable" | "repeated">): DeletableNoun | null {
  const [noun, verb] = action.split(".");
  const isOne = repeated === null || repeated.subjects === 1;
  if (verb !== "deleted" || !restorable || !isOne) return null;
  return deletableNouns.find((one) => one === noun) ?? null;
}

/** Returns the kind of the record whose field can be restored; null if it can't. */
export function findRestorable(
  { action, subjectExists, repeated }: Pick<AuditEntry, "action" | "subjectExists" | "repeated">,
  { truncated }: FieldChange,
): RestorableNoun | null {
  const [noun, verb] = action.split(".");
  if (verb !== "updated" || !subjectExists || truncated.includes("before")) return null;
  if (repeated !== null && repeated.subjects > 1) return null;
  return restorableNouns.find((one) => one === noun) ?? null;
}
