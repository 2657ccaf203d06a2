import { validationError } from "../core/validation.ts";
import { timeoutFor } from "../monitoring/monitors/schema.ts";
import { sections, type SectionName } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";

type Usual = { defaults: Fields; required: string[] };

const known = new Map<string, Usual>();

/** Returns the defaults and required fields of a type, cached after the first use. */
function usual(section: SectionName, type: string): Usual {
  const id = `${section} ${type}`;
  const found = known.get(id);
  if (found !== undefined) return found;
  const { common, kinds, kept } = sections[section];
  const kind = kinds?.[type];
  const made: Usual = { defaults: {}, required: [] };
  for (const [name, field] of Object.entries({ ...common, ...kind?.fields })) {
    if (kept.includes(name) || kind?.secrets[name] !== undefined) continue;
    const { success, data } = field.safeParse(undefined);
    if (!success) made.required.push(name);
    else if (data !== undefined) made.defaults[name] = data;
  }
  known.set(id, made);
  return made;
}

/**
 * Converts an entry to a PATCH. Omitted fields get their defaults, except for secrets and preserved fields. Throws
 * VALIDATION_ERROR for missing required fields.
 */
export function patchOf(section: SectionName, type: string, entry: Fields): Fields {
  const { defaults, required } = usual(section, type);
  const patch: Fields = { ...defaults, ...entry };
  const missing = required.filter((name) => !Object.hasOwn(entry, name));
  if (missing.length > 0)
    throw validationError(missing.map((path) => ({ path, message: "is required" })));
  if (section === "monitors" && patch["timeout"] === undefined)
    patch["timeout"] = timeoutFor(Number(patch["interval"]));
  return patch;
}
