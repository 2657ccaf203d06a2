import { validationError } from "../core/validation.ts";
import { timeoutFor } from "../monitoring/monitors/schema.ts";
import { sections, type SectionName } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";

type Usual = { defaults: Fields; required: string[] };

const known = new Map<string, Usual>();

/** What fields of a type are where nobody says, and which have to be said: asked of their schemas once. */
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
 * An entry as the PATCH that makes the record what the entry says: what it leaves out gets its default, but
 * for secrets and for what stays as it is. Throws VALIDATION_ERROR where something has none.
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
