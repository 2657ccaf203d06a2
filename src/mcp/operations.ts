/** Finds the operations of the REST API, and describes their fields as JSON Schema. */
import { z } from "zod";
import type { Route } from "../http/openapi.ts";
import { HoldQuery } from "../http/held-changes/schema.ts";

export type Json = { [name: string]: unknown };
type Endpoint = NonNullable<NonNullable<Route["hooks"]["detail"]>["endpoint"]>;

/** A field of a request, in the path, the query or the body. */
export type Field = { in: "path" | "query" | "body"; schema: Json; isRequired: boolean };

export type Operation = {
  name: string;
  method: string;
  path: string;
  endpoint: Endpoint;
  canHold: boolean;
  fields: ReadonlyMap<string, Field>;
};

/** Lists the operations of `/api/v1` by name. Their fields are described on first use. */
export function createOperations(routes: readonly Route[]) {
  const known = new Map<string, Route>();
  for (const route of routes) {
    const { endpoint } = route.hooks.detail ?? {};
    if (endpoint !== undefined && route.path.startsWith("/api/v1/"))
      known.set(endpoint.name, route);
  }
  const described = new Map<string, Operation>();
  return (name: string): Operation => {
    const operation = described.get(name) ?? describeOperation(known.get(name), name);
    described.set(name, operation);
    return operation;
  };
}

export type Operations = ReturnType<typeof createOperations>;

function describeOperation(route: Route | undefined, name: string): Operation {
  const endpoint = route?.hooks.detail?.endpoint;
  if (route === undefined || endpoint === undefined)
    throw new Error(`The REST API has no operation ${name}.`);
  const { method, path } = route;
  const parameters = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, parameter = ""]) => parameter);
  const fields = new Map<string, Field>();
  for (const parameter of parameters)
    fields.set(parameter, {
      in: "path",
      schema: { type: "string", format: "uuid" },
      isRequired: true,
    });
  for (const [field, schema, isRequired] of listFields(endpoint.query))
    fields.set(field, { in: "query", schema, isRequired });
  for (const [field, schema, isRequired] of listFields(endpoint.body))
    fields.set(field, { in: "body", schema, isRequired });
  return { name, method, path, endpoint, canHold: endpoint.query === HoldQuery, fields };
}

function listFields(schema: z.ZodType | undefined): [name: string, schema: Json, boolean][] {
  if (schema === undefined) return [];
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;
  const { properties = {}, required = [] } = resolveReferences(
    json,
    (json["$defs"] ?? {}) as Json,
  ) as Json;
  return Object.entries(properties as Record<string, Json>).map(([name, field]) => [
    name,
    field,
    (required as string[]).includes(name),
  ]);
}

/** Replaces references by their schemas, and applies overrides as the OpenAPI document does. */
function resolveReferences(value: unknown, definitions: Json): unknown {
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, definitions));
  if (typeof value !== "object" || value === null) return value;
  const { $ref, $defs: _, id: _id, override, ...rest } = value as Json;
  const ownSchema = override === undefined ? rest : { ...rest, ...(override as Json) };
  if (typeof $ref === "string") {
    const definition = resolveReferences(
      definitions[$ref.replace("#/$defs/", "")],
      definitions,
    ) as Json;
    return { ...definition, ...ownSchema };
  }
  return Object.fromEntries(
    Object.entries(ownSchema).map(([name, one]) => [
      name,
      name === "example" || name === "examples" ? one : resolveReferences(one, definitions),
    ]),
  );
}
