import { z } from "zod";
import { api, dashboard } from "./routes.ts";
import type { Route } from "../../src/http/openapi.ts";

/** Every text schema within a schema, with the name of its field. */
function listTextSchemas(
  schema: unknown,
  name: string,
  seen = new Set<unknown>(),
): [string, z.ZodType][] {
  if (!(schema instanceof z.ZodType) || seen.has(schema)) return [];
  seen.add(schema);
  if (schema instanceof z.ZodString || schema instanceof z.ZodEmail) return [[name, schema]];
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, field]) =>
      listTextSchemas(field, key, seen),
    );
  const { def } = schema as unknown as { def: Record<string, unknown> };
  const parts = ["innerType", "element", "in", "out", "left", "right", "keyType", "valueType"];
  const inner = [...parts.map((part) => def[part]), ...((def["options"] ?? []) as unknown[])];
  const lazy = typeof def["getter"] === "function" ? [(def["getter"] as () => unknown)()] : [];
  return [...inner, ...lazy].flatMap((part) => listTextSchemas(part, name, seen));
}

const routes = [...api.routes, ...dashboard.routes] as unknown as Route[];
/** Every text field that a route accepts, by route and field. */
export const texts = routes.flatMap(({ method, path, hooks }) =>
  [hooks.detail?.endpoint?.body, hooks.detail?.endpoint?.query].flatMap((schema) =>
    listTextSchemas(schema, "").map(([name, text]) => [`${method} ${path} ${name}`, text] as const),
  ),
);
