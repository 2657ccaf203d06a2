import { validationError } from "../core/validation.ts";
import { computeDefaultTimeout } from "../monitoring/monitors/schema.ts";
import { sections, type SectionName } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";

type TypeDefaults = { defaults: Fields; required: string[] };

const cachedDefaults = new Map<string, TypeDefaults>();

/** Returns the defaults and required fields of a type, cached after the first use. */
function getDefaults(section: SectionName, type: string): TypeDefaults {
  const id = `${section} ${type}`;
  const found = cachedDefaults.get(id);
  if (found !== undefined) return found;
  const { common, kinds, unmanaged } = sections[section];
  const kind = kinds?.[type];
  const typeDefaults: TypeDefaults = { defaults: {}, required: [] };
  for (const [name, field] of Object.entries({ ...common, ...kind?.fields })) {
    if (unmanaged.includes(name) || kind?.secrets[name] !== undefined) continue;
    const { success, data } = field.safeParse(undefined);
    if (!success) typeDefaults.required.push(name);
    else if (data !== undefined) typeDefaults.defaults[name] = data;
  }
  cachedDefaults.set(id, typeDefaults);
  return typeDefaults;
}

/**
 * Converts an entry to a PATCH. Omitted fields get their defaults, except for secrets and preserved fields. Throws
 * VALIDATION_ERROR for missing required fields.
 */
export function buildPatch(section: SectionName, type: string, entry: Fields): Fields {
  const { defaults, required } = getDefaults(section, type);
  const patch: Fields = { ...defaults, ...entry };
  const missing = required.filter((name) => !Object.hasOwn(entry, name));
  if (missing.length > 0)
    throw validationError(missing.map((path) => ({ path, message: "is required" })));
  if (section === "monitors" && patch["timeout"] === undefined)
    patch["timeout"] = computeDefaultTimeout(Number(patch["interval"]));
  return patch;
}
