import type { ConfigExport } from "../schema.ts";
import { escaped } from "./variables.ts";
import type { Fields } from "../../core/collections/objects.ts";

/**
 * A configuration as YAML. Secrets stand in comments, so that applying it keeps those that are stored; with
 * `asVariables` they are read from variables, as a place that has none needs it.
 */
export async function yamlOf(
  { document, secrets }: ConfigExport,
  asVariables: boolean,
): Promise<string> {
  const { Document, isMap } = await import("yaml");
  const yaml = new Document(literal(document), { schema: "core", aliasDuplicateObjects: false });
  for (const { path, variable } of secrets) {
    const [name = "", ...holder] = path.toReversed();
    if (asVariables) yaml.setIn(path, `\${${variable}}`);
    else {
      const map = yaml.getIn(holder.toReversed(), true);
      if (!isMap(map)) continue;
      map.comment = [map.comment, ` ${name}: \${${variable}}`]
        .filter((line) => line != null)
        .join("\n");
    }
  }
  // In quotes, where alone they stand as values, these are escapes: a terminal would obey U+0080–9F.
  return yaml
    .toString({ lineWidth: 0 })
    .replace(/[^\P{Cc}\n\t]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** The same values, where nothing is taken for a variable. */
function literal(value: unknown): unknown {
  if (typeof value === "string") return escaped(value);
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Fields).map(([name, its]) => [name, literal(its)]),
  );
}
