/** Compares a record before and after a change, field by field, for the audit log. */
import { z } from "zod";
import type { Fields } from "./collections/objects.ts";
import { auditBounds } from "./limits.ts";

/** A changed field with its values before and after, as in the REST API. */
export const FieldChange = z.object({
  field: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  /** Values that are too long to store: texts are cut, and lists and objects are counted. */
  truncated: z.array(z.enum(["before", "after"])),
});
export type FieldChange = z.infer<typeof FieldChange>;

/** A changed field. Only its name if it is a secret, or if its values are not stored. */
export type ChangedField = string | FieldChange;

/** Lists whose order has no meaning. */
const unordered = new Set(["alertChannelIds"]);

const normalizeValue = (field: string, value: unknown): unknown =>
  unordered.has(field) && Array.isArray(value) ? (value as string[]).toSorted() : (value ?? null);

/**
 * Returns the fields that differ, of these names. Both records must be without secrets. `secrets` are the names of
 * changed secret fields, which are returned without values.
 */
export function listChangedFields(
  before: Readonly<Fields>,
  after: Readonly<Fields>,
  names: readonly string[],
  secrets: readonly string[] = [],
): ChangedField[] {
  let stored = 0;
  const changed: ChangedField[] = [];
  for (const field of names) {
    const values = [before[field], after[field]].map((value) => normalizeValue(field, value));
    if (Bun.deepEquals(values[0], values[1])) {
      if (secrets.includes(field)) changed.push(field);
      continue;
    }
    const change = boundChange(field, values[0], values[1]);
    stored += JSON.stringify(change).length;
    changed.push(stored > auditBounds.values.value ? field : change);
  }
  return [...changed, ...secrets.filter((field) => !names.includes(field))];
}

function boundChange(field: string, before: unknown, after: unknown): FieldChange {
  const bounded = { before: boundValue(before), after: boundValue(after) };
  return {
    field,
    ...bounded,
    truncated: (["before", "after"] as const).filter(
      (side) => bounded[side] !== { before, after }[side],
    ),
  };
}

/** Returns the same value, or a summary of a long one. */
function boundValue(value: unknown): unknown {
  const limit = auditBounds.value.value;
  if (JSON.stringify(value).length <= limit) return value;
  if (typeof value === "string") return `${value.slice(0, limit).toWellFormed()}…`;
  const count = Object.keys(value as object).length;
  return `${count} ${count === 1 ? "entry" : "entries"}`;
}
