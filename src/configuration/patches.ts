import { validationError } from "../core/validation.ts";
import { timeoutFor } from "../monitoring/monitors/schema.ts";
import { sections, type SectionName } from "./sections-schema.ts";

type Own = Record<string, unknown>;

/**
 * An entry as the PATCH that makes the record what the entry says: what it leaves out gets its default, but
 * for secrets and for what stays as it is. Throws VALIDATION_ERROR where something has none.
 */
export function patchOf(section: SectionName, type: string, entry: Own): Own {
  const { common, kinds, kept } = sections[section];
  const kind = kinds?.[type];
  const patch: Own = { ...entry };
  const missing: string[] = [];
  for (const [name, field] of Object.entries({ ...common, ...kind?.fields })) {
    if (Object.hasOwn(entry, name) || kept.includes(name) || kind?.secrets[name] !== undefined)
      continue;
    const { success, data } = field.safeParse(undefined);
    if (!success) missing.push(name);
    else if (data !== undefined) patch[name] = data;
  }
  if (missing.length > 0)
    throw validationError(missing.map((path) => ({ path, message: "is required" })));
  if (section === "monitors" && patch["timeout"] === undefined)
    patch["timeout"] = timeoutFor(Number(patch["interval"]));
  return patch;
}
