/** Derives form controls from zod schemas. */
import { z } from "zod";
import type { AssertionSource } from "../../../src/monitoring/monitors/assertions-schema.ts";

export type RecordValues = Record<string, unknown>;

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
  /** Reference to a named schema in `$defs`. */
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
  /** Sources that assertions of this monitor type can test. */
  sources?: AssertionSource[];
  /** Fields of an object, or of each record in a list. */
  parts?: Record<string, FieldKind>;
  initial: unknown;
};

/** Derives the form control of a zod schema from its JSON schema. */
export function describeField(field: z.ZodType): FieldKind {
  const root = z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as Json;
  // JSON schemas of transformed fields contain no default.
  if (field instanceof z.ZodDefault) root.default ??= field.parse(undefined);
  return describeJsonField(root, root.$defs ?? {});
}

function describeJsonField(field: Json, parts: Record<string, Json>): FieldKind {
  const resolveReference = ({ $ref, ...own }: Json): Json => ({
    ...parts[$ref?.split("/").pop() ?? ""],
    ...own,
  });
  const root = resolveReference(field);
  const options = (root.anyOf?.filter(({ type }) => type !== "null") ?? [root]).map(
    resolveReference,
  );
  const nullable = root.anyOf?.some(({ type }) => type === "null") ?? false;
  const [first = {}] = options;
  const nested = first.anyOf ?? options;
  const schema = { ...first };
  const base = { nullable, secret: root.writeOnly === true || schema.writeOnly === true, schema };
  const initial = root.default ?? (nullable ? null : undefined);
  const describeParts = (properties: Record<string, Json>) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, describeJsonField(part, parts)]),
    );
  if (nested.length > 1) return { ...base, control: "scalar", initial };
  if (schema.enum) return { ...base, control: "choice", initial };
  if (schema.type === "boolean") return { ...base, control: "switch", initial };
  if (schema.type === "integer" || schema.type === "number")
    return { ...base, control: "number", initial };
  if (schema.type === "array") {
    const properties =
      schema.items === undefined ? undefined : resolveReference(schema.items).properties;
    if (properties === undefined) return { ...base, control: "list", initial };
    const sources = properties["op"] && (properties["source"]?.enum as AssertionSource[]);
    if (sources !== undefined) return { ...base, control: "assertions", sources, initial };
    return { ...base, control: "records", parts: describeParts(properties), initial };
  }
  if (schema.properties)
    return { ...base, control: "object", parts: describeParts(schema.properties), initial };
  if (schema.type === "object" || schema.type === undefined)
    return { ...base, control: "headers", initial: initial ?? {} };
  return { ...base, control: "text", initial: initial ?? "" };
}

/** Label of a field without its own: `retryInterval` becomes `Retry interval`. */
export const labelFromName = (name: string) =>
  name.charAt(0).toUpperCase() +
  name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

export const formatOption = (option: string) =>
  /^[A-Z]+$/.test(option) ? option : option.charAt(0).toUpperCase() + option.slice(1);

/** Value of a field that was never edited. */
export function untouchedValueOf({ control, nullable, initial, schema }: FieldKind): unknown {
  if (control === "text" && nullable && initial === "") return null;
  return initial === undefined ? schema.enum?.[0] : initial;
}

/**
 * Values of a new record. Secrets are omitted: an absent secret leaves the stored one unchanged.
 */
export const createEmptyRecord = (parts: Record<string, FieldKind>): RecordValues =>
  Object.fromEntries(
    Object.entries(parts).flatMap(([name, kind]) =>
      kind.secret ? [] : [[name, untouchedValueOf(kind)]],
    ),
  );
