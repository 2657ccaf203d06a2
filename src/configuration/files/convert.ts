import { fieldsOf, type SectionName, sectionNames, sections } from "../sections-schema.ts";
import type { Fields } from "../../core/collections/objects.ts";

/** Converts the text of a variable to a number or boolean if the field does not accept text. */
export function convertVariable(document: Fields, path: string) {
  const keys = path.split(".");
  const isDefault = keys[0] === "defaults";
  const [section = "", key = "", field = ""] = isDefault ? [keys[1], "", keys[2]] : keys;
  if (!sectionNames.includes(section as SectionName) || keys.length !== 3) return;
  const holder = isDefault
    ? ((document["defaults"] as Fields)[section] as Fields)
    : ((document[section] as Fields)[key] as Fields);
  const text = holder[field];
  const value = typeof text === "string" ? parsePlainValue(text) : text;
  if (value === text) return;
  const { kinds } = sections[section as SectionName];
  const types = kinds === null ? [null] : Object.keys(kinds);
  const schemas = types
    .filter((type) => isDefault || type === null || type === (holder["type"] ?? type))
    .flatMap((type) => {
      const shape = fieldsOf(section as SectionName, type);
      return Object.hasOwn(shape, field) ? (shape[field] ?? []) : [];
    });
  const isAccepted = (one: unknown) => schemas.some((schema) => schema.safeParse(one).success);
  if (!isAccepted(text) && isAccepted(value)) holder[field] = value;
}

function parsePlainValue(text: string): unknown {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/.test(text)) return Number(text);
  return (
    ({ true: true, false: false, null: null } as Fields)[text] ?? (text === "null" ? null : text)
  );
}
