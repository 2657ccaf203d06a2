import type { ConfigExport } from "../schema.ts";
import { escapeDollars } from "./variables.ts";
import type { Fields } from "../../core/collections/objects.ts";

/**
 * Formats a configuration as YAML. Secrets are comments, so that applying the file preserves the
 * stored ones. With `asVariables`, secrets are variables, for another installation.
 */
export async function formatYaml(
  { document, secrets }: ConfigExport,
  asVariables: boolean,
): Promise<string> {
  const { Document, isMap } = await import("yaml");
  const yaml = new Document(escapeAll(document), { schema: "core", aliasDuplicateObjects: false });
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
  // Escapes U+0080–9F, which terminals interpret as control characters.
  return yaml
    .toString({ lineWidth: 0 })
    .replace(/[^\P{Cc}\n\t]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** Escapes dollar signs in all texts of a value. */
function escapeAll(value: unknown): unknown {
  if (typeof value === "string") return escapeDollars(value);
  if (Array.isArray(value)) return value.map(escapeAll);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Fields).map(([name, inner]) => [name, escapeAll(inner)]),
  );
}
