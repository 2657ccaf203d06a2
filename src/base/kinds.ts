import { z } from "zod";
import { bodyOf, Id, patchOf } from "./fields.ts";

type Shape = Record<string, z.ZodType>;

/** One type of a resource that comes in several (an `http` monitor, a `slack` channel) with the fields of its own. */
export type Kind = {
  /** As they are sent. */
  fields: Shape;
  /** Paths of the fields that are sealed at rest and never shown: `token`, `basicAuth.password`. */
  secrets: readonly string[];
  /** As they are shown. */
  shown: Shape;
};

export function kind<F extends Shape>(
  fields: F,
  secrets: readonly string[] = [],
  shown: Shape = without(fields, secrets),
): Omit<Kind, "fields"> & { fields: F } {
  return { fields, secrets, shown };
}

function without(fields: Shape, names: readonly string[]): Shape {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

export type Kinds = Readonly<Record<string, Kind>>;
type Common<C extends Shape> = z.output<z.ZodObject<C>>;
type Own = Record<string, unknown>;

type Naming = { id: string; description?: string; example?: object };

function typed(kinds: Kinds, member: (type: string, kind: Kind) => z.ZodObject) {
  const [first, ...others] = Object.entries(kinds).map(([type, kind]) => member(type, kind));
  if (first === undefined) throw new Error("There must be at least one kind.");
  return z.discriminatedUnion("type", [first, ...others], {
    error: (issue) =>
      issue.code === "invalid_union"
        ? `must be one of: ${Object.keys(kinds).join(", ")}`
        : undefined,
  });
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The whole of a new record: the common fields and exactly those of its type. */
export function newOf<C extends Shape>(kinds: Kinds, common: C, naming: Naming) {
  return typed(kinds, (type, { fields }) =>
    z
      .strictObject({ type: z.literal(type), ...common, ...fields })
      .meta({ id: `${naming.id}${capitalized(type)}` }),
  ).meta(naming) as unknown as z.ZodType<Common<C> & { type: string } & Own, unknown>;
}

/** Any field of any type; which of them the record really takes shows when it is merged and parsed as a whole. */
export function patchOfKinds<C extends Shape>(
  kinds: Kinds,
  common: C,
  readOnly: readonly string[],
  naming: Naming,
) {
  const own: Shape = {};
  for (const { fields } of Object.values(kinds))
    for (const [name, field] of Object.entries(patchOf(fields))) own[name] ??= field.nullable();
  const schema = z
    .strictObject({
      type: z
        .enum(Object.keys(kinds) as [string])
        .optional()
        .meta({ description: "Fixed after creation; sending the same one back is fine." }),
      ...own,
      ...patchOf(common),
    })
    .meta(naming);
  return bodyOf(readOnly, schema) as z.ZodType<
    Partial<Common<C>> & { type?: string } & Own,
    unknown
  >;
}

/** What a client sees of a record. */
export function shownOf<R extends Shape>(kinds: Kinds, record: R, naming: Naming) {
  const secretsSet = z.array(z.string()).meta({
    description: "Paths of the secret fields that are set; their values are never shown.",
  });
  return typed(kinds, (type, { shown }) =>
    z
      .object({ id: Id, type: z.literal(type), ...record, ...shown, secretsSet })
      .meta({ id: `${naming.id}${capitalized(type)}` }),
  ).meta(naming) as unknown as z.ZodType<
    z.output<z.ZodObject<R>> & { id: string; type: string; secretsSet: string[] } & Own
  >;
}

/** Names of the fields that only this type has. */
export function ownNames(kinds: Kinds, type: string): string[] {
  return Object.keys(kinds[type]?.fields ?? {});
}

/** The type's own fields of a record, apart from its secrets, which come by path. */
export function splitSecrets(
  kinds: Kinds,
  type: string,
  record: Own,
): { settings: Own; secrets: Record<string, string> } {
  const settings: Own = {};
  for (const name of ownNames(kinds, type)) settings[name] = record[name];
  const secrets: Record<string, string> = {};
  for (const path of kinds[type]?.secrets ?? []) {
    const [name = "", inner] = path.split(".");
    const holder = inner === undefined ? settings : settings[name];
    if (typeof holder !== "object" || holder === null) continue;
    const { [inner ?? name]: value, ...rest } = holder as Own;
    if (typeof value === "string") secrets[path] = value;
    if (inner === undefined) delete settings[name];
    else settings[name] = rest;
  }
  return { settings, secrets };
}

/** The inverse of `splitSecrets`. */
export function joinSecrets(settings: Own, secrets: Readonly<Record<string, string>>): Own {
  const record = { ...settings };
  for (const [path, value] of Object.entries(secrets)) {
    const [name = "", inner] = path.split(".");
    record[name] = inner === undefined ? value : { ...(record[name] as Own), [inner]: value };
  }
  return record;
}

/**
 * A record after a patch, before it is parsed as a whole: absent keeps, null clears. An object that
 * holds a secret is merged, so that what was shown without it can be sent back.
 */
export function merged(kinds: Kinds, type: string, record: Own, patch: Own): Own {
  const result = { ...record };
  const holders = (kinds[type]?.secrets ?? []).map((path) => path.split("."));
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const merges = holders.some(([holder, inner]) => inner !== undefined && holder === name);
    result[name] =
      merges && value !== null ? { ...(record[name] as Own | null), ...(value as Own) } : value;
  }
  return result;
}
