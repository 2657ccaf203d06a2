/** Derives form controls from zod schemas. */
import { z } from "zod";
import type { AssertionSource } from "../../../src/monitoring/monitors/assertions-schema.ts";

export type Own = Record<string, unknown>;

type Json = {
  type?: string;
  enum?: string[];
  anyOf?: Json[];
  items?: Json;
  properties?: Record<string, Json>;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  writeOnly?: boolean;
  description?: string;
  /** A schema with a name of its own stands among the definitions. */
  $ref?: string;
  $defs?: Record<string, Json>;
};

export type FieldKind = {
  control:
    | "text"
    | "number"
    | "switch"
    | "choice"
    | "list"
    | "assertions"
    | "headers"
    | "object"
    | "records"
    | "scalar";
  nullable: boolean;
  secret: boolean;
  schema: Json;
  /** What the assertions of a type may be about. */
  sources?: AssertionSource[];
  /** Of an object, or of each in a list of them. */
  parts?: Record<string, FieldKind>;
  initial: unknown;
};

/** What a field of a zod schema asks for, by its JSON schema. */
export function kindOf(field: z.ZodType): FieldKind {
  const root = z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as Json;
  // Of what is transformed, its JSON schema does not say it.
  if (field instanceof z.ZodDefault) root.default ??= field.parse(undefined);
  return kindIn(root, root.$defs ?? {});
}

function kindIn(field: Json, parts: Record<string, Json>): FieldKind {
  const named = ({ $ref, ...own }: Json): Json => ({
    ...parts[$ref?.split("/").pop() ?? ""],
    ...own,
  });
  const root = named(field);
  const options = (root.anyOf?.filter(({ type }) => type !== "null") ?? [root]).map(named);
  const nullable = root.anyOf?.some(({ type }) => type === "null") ?? false;
  const [first = {}] = options;
  const nested = first.anyOf ?? options;
  const schema = { ...first };
  const base = { nullable, secret: root.writeOnly === true || schema.writeOnly === true, schema };
  const initial = root.default ?? (nullable ? null : undefined);
  const kindsOf = (properties: Record<string, Json>) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, kindIn(part, parts)]),
    );
  if (nested.length > 1) return { ...base, control: "scalar", initial };
  if (schema.enum) return { ...base, control: "choice", initial };
  if (schema.type === "boolean") return { ...base, control: "switch", initial };
  if (schema.type === "integer" || schema.type === "number")
    return { ...base, control: "number", initial };
  if (schema.type === "array") {
    const properties = schema.items === undefined ? undefined : named(schema.items).properties;
    if (properties === undefined) return { ...base, control: "list", initial };
    const sources = properties["op"] && (properties["source"]?.enum as AssertionSource[]);
    if (sources !== undefined) return { ...base, control: "assertions", sources, initial };
    return { ...base, control: "records", parts: kindsOf(properties), initial };
  }
  if (schema.properties)
    return { ...base, control: "object", parts: kindsOf(schema.properties), initial };
  if (schema.type === "object" || schema.type === undefined)
    return { ...base, control: "headers", initial: initial ?? {} };
  return { ...base, control: "text", initial: initial ?? "" };
}

/** `retryInterval` as `Retry interval`, for a field without words of its own. */
export const inWords = (name: string) =>
  name.charAt(0).toUpperCase() +
  name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

export const optionWords = (option: string) =>
  /^[A-Z]+$/.test(option) ? option : option.charAt(0).toUpperCase() + option.slice(1);

/** What is sent of a field that nobody typed into. */
export function untouched({ control, nullable, initial, schema }: FieldKind): unknown {
  if (control === "text" && nullable && initial === "") return null;
  return initial === undefined ? schema.enum?.[0] : initial;
}

/** What stands in a record before somebody typed; a secret is absent, which keeps what is stored. */
export const emptyOf = (parts: Record<string, FieldKind>): Own =>
  Object.fromEntries(
    Object.entries(parts).flatMap(([name, kind]) => (kind.secret ? [] : [[name, untouched(kind)]])),
  );
