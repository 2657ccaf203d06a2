/** Resources with several types: schemas of reading, creating and patching from one declaration per type. */
import { z } from "zod";
import type { Destination } from "./security/destinations.ts";
import {
  bodyOf,
  Id,
  keptByName,
  NamesOnly,
  type Patched,
  patchOf,
  withoutDefault,
} from "./fields.ts";
import { capitalized } from "./text/words.ts";
import type { Fields } from "./collections/objects.ts";

type Shape = Record<string, z.ZodType>;
/** Texts of a form field; everything else comes from its schema. */
export type FieldLabels = {
  label: string;
  hint?: string;
  unit?: string;
  placeholder?: string;
  /** Label of an empty choice. */
  none?: string;
  mono?: boolean;
  long?: boolean;
  /** Whether a summary names the field without its value. */
  named?: boolean;
  /** Whether it is rendered as Markdown. */
  markdown?: boolean;
  /** Name of one entry of a list. */
  item?: string;
  /** Whether values by name are for all to see; else they are secret. */
  open?: boolean;
  /** Labels of choices that are not the capitalized value. */
  options?: Readonly<Record<string, string>>;
};

/** One type of a resource with several types (an `http` monitor, a `slack` channel), with its own fields. */
export type Kind = {
  /** Description in the OpenAPI document. */
  description?: string;
  /** As they are sent. */
  fields: Shape;
  /**
   * Where the fields go that are sealed at rest and never shown, by path: `token`,
   * `basicAuth.password`, and `headers.*` for the values of an object by names that people choose.
   */
  secrets: Readonly<Record<string, Destination>>;
  /** As they are shown. */
  shown: Shape;
  /** After a patch, nulls fields that another field's value makes invalid. */
  cleared: (record: Fields) => Fields;
};

export function kind<F extends Shape>(
  fields: F,
  secrets: Readonly<Record<string, Destination<keyof F & string>>> = {},
  shown: Shape = {},
  cleared: Kind["cleared"] = (record) => record,
): Omit<Kind, "fields"> & { fields: F } {
  const names = Object.keys(secrets);
  return {
    fields,
    secrets: secrets as Kind["secrets"],
    shown: { ...shownBy(fields, names), ...shown },
    cleared,
  };
}

/** The fields without their secrets. An object that contains a secret needs a shape of its own. */
function shownBy(fields: Shape, secrets: readonly string[]): Shape {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !secrets.includes(name))
      .map(([name, field]) => [name, secrets.includes(`${name}.*`) ? NamesOnly : field]),
  );
}

export type Kinds = Readonly<Record<string, Kind>>;
type Common<C extends Shape> = z.output<z.ZodObject<C>>;
type Sent<S extends Shape> = z.input<z.ZodObject<S>>;

/** A new record as clients send it: the common fields and those of one type. */
type NewOf<K extends Kinds, C extends Shape> = {
  [T in keyof K]: { type: T } & Sent<C & K[T]["fields"]>;
}[keyof K];

/** A change as a client sends it: fields of whichever type. */
type PatchOf<K extends Kinds, C extends Shape> = { type?: keyof K } & Sent<Patched<C>> & {
    [N in NamesIn<K[keyof K]["fields"]>]?: InputOf<K[keyof K]["fields"], N> | null | undefined;
  };

type NamesIn<F> = F extends Shape ? keyof F : never;
type InputOf<F, N extends PropertyKey> = F extends Record<N, z.ZodType> ? z.input<F[N]> : never;

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

/** A complete new record: the common fields and exactly those of its type. */
export function newOf<K extends Kinds, C extends Shape>(kinds: K, common: C, naming: Naming) {
  return typed(kinds, (type, { description, fields }) =>
    z.strictObject({ type: z.literal(type), ...common, ...fields }).register(z.globalRegistry, {
      id: `${naming.id}${capitalized(type)}`,
      ...(description !== undefined && { description }),
    }),
  ).register(z.globalRegistry, naming) as unknown as z.ZodType<
    Common<C> & { type: string } & Fields,
    NewOf<K, C>
  >;
}

/** Fields of all types. The merged record is parsed later, and shows which of them are valid. */
export function patchOfKinds<K extends Kinds, C extends Shape>(
  kinds: K,
  common: C,
  readOnly: readonly string[],
  naming: Naming,
) {
  const names = new Set(Object.values(kinds).flatMap(({ fields }) => Object.keys(fields)));
  const own = Object.fromEntries(
    [...names].map((name) => [name, anyOf(fieldsCalled(kinds, name))]),
  );
  const schema = z
    .strictObject({
      type: z
        .enum(Object.keys(kinds) as [string])
        .optional()
        .meta({ description: "Fixed after creation; sending the same one back is fine." }),
      ...own,
      ...patchOf(common),
    })
    .register(z.globalRegistry, naming);
  return bodyOf(readOnly, schema) as z.ZodType<
    Partial<Common<C>> & { type?: string } & Fields,
    PatchOf<K, C>
  >;
}

/** The fields of one name, of whichever types have it; types that mean the same by it share its schema. */
function fieldsCalled(kinds: Kinds, name: string): z.ZodType[] {
  const same = Object.values(kinds).flatMap(({ fields: { [name]: field } }) =>
    field === undefined ? [] : [patchedField(field)],
  );
  return [...new Set(same)];
}

function patchedField(field: z.ZodType): z.ZodType {
  const own = withoutDefault(field);
  return keptByName.get(own) ?? own;
}

/** One of these fields; where types mean different things by one name, the record's own judges it. */
function anyOf([first = z.never(), ...others]: readonly z.ZodType[]): z.ZodType {
  if (others.length === 0) return first.optional().nullable();
  return z
    .unknown()
    .optional()
    .meta({
      // Created only for the OpenAPI document: it takes a fifth of a start.
      get anyOf() {
        const texts = [first, ...others, z.null()].flatMap((field) => {
          const {
            $schema: _dialect,
            $defs: _parts,
            ...schema
          } = z.toJSONSchema(field, { io: "input" });
          return optionsIn(schema).map((option) => JSON.stringify(option));
        });
        return [...new Set(texts)].map(
          // A part with a name of its own is one of the document's.
          (text) => JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as object,
        );
      },
    });
}

/** All values that a schema allows. */
const optionsIn = (schema: { anyOf?: object[] }): object[] =>
  schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(optionsIn);

/** A record as clients receive it. */
export function shownOf<R extends Shape>(kinds: Kinds, record: R, naming: Naming) {
  const secretsSet = z.array(z.string()).meta({
    description: "Paths of the secret fields that are set; their values are never shown.",
  });
  return typed(kinds, (type, { shown }) =>
    z
      .object({ id: Id, type: z.literal(type), ...record, ...shown, secretsSet })
      .register(z.globalRegistry, { id: `${naming.id}${capitalized(type)}` }),
  ).register(z.globalRegistry, naming) as unknown as z.ZodType<
    z.output<z.ZodObject<R>> & { id: string; type: string; secretsSet: string[] } & Fields
  >;
}

/** Names of the fields that only this type has. */
export function ownNames(kinds: Kinds, type: string): string[] {
  return Object.keys(kinds[type]?.fields ?? {});
}

/** The settings of a row, which can lack fields that were added to its type later. */
export function settingsIn(kinds: Kinds, type: string, json: string): Fields {
  const settings = JSON.parse(json) as Fields;
  for (const { name, value } of defaultsOf(kinds[type]))
    if (!Object.hasOwn(settings, name)) settings[name] = value();
  return settings;
}

type Default = { name: string; value: () => unknown };
const defaults = new WeakMap<Kind, Default[]>();

/** Defaults of all fields. Created once: a start reads thousands of rows. */
function defaultsOf(kind: Kind | undefined): Default[] {
  if (kind === undefined) return [];
  const known = defaults.get(kind);
  if (known !== undefined) return known;
  const made = Object.entries(kind.fields).flatMap(([name, field]) => {
    if (!(field instanceof z.ZodDefault)) return [];
    const value: unknown = field.parse(undefined);
    // Rows must not share objects that can change.
    return { name, value: value instanceof Object ? () => field.parse(undefined) : () => value };
  });
  defaults.set(kind, made);
  return made;
}
