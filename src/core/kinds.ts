/** Builds the schemas to read, create and patch a resource with several types, from one declaration per type. */
import { z } from "zod";
import type { Destination } from "./security/destinations.ts";
import {
  bodySchema,
  Id,
  patchSchemas,
  NamesOnly,
  type Patched,
  toPatchShape,
  stripDefault,
} from "./fields.ts";
import { capitalize } from "./text/formatting.ts";
import type { Fields } from "./collections/objects.ts";

type Shape = Record<string, z.ZodType>;
/** Texts of a form field. Its schema defines everything else. */
export type FieldLabels = {
  label: string;
  hint?: string;
  unit?: string;
  placeholder?: string;
  /** Label of the choice without a value. */
  none?: string;
  mono?: boolean;
  long?: boolean;
  /** Whether a summary shows only the field's name, without its value. */
  named?: boolean;
  /** Whether the value is rendered as Markdown. */
  markdown?: boolean;
  /** Label of one list entry. */
  item?: string;
  /** Whether values by name are visible to everyone. Otherwise they are secret. */
  open?: boolean;
  /** Labels of choices. The default is the capitalized value. */
  options?: Readonly<Record<string, string>>;
};

/** One type of a resource, such as an `http` monitor or a `slack` channel, with its fields. */
export type Kind = {
  /** Description in the OpenAPI document. */
  description?: string;
  /** Fields in a request. */
  fields: Shape;
  /**
   * Destination of each secret field, by path: `token`, `basicAuth.password`, or `headers.*` for the values of an
   * object with user-defined names. Secrets are encrypted at rest and never returned.
   */
  secrets: Readonly<Record<string, Destination>>;
  /** Fields in a response. */
  shown: Shape;
  /** After a patch of the record `before`, nulls fields that another field's value makes invalid. */
  clearInvalid: (record: Fields, before: Fields) => Fields;
};

export function defineKind<F extends Shape>(
  fields: F,
  secrets: Readonly<Record<string, Destination<keyof F & string>>> = {},
  shown: Shape = {},
  clearInvalid: Kind["clearInvalid"] = (record) => record,
): Omit<Kind, "fields"> & { fields: F } {
  const names = Object.keys(secrets);
  return {
    fields,
    secrets: secrets as Kind["secrets"],
    shown: { ...omitSecrets(fields, names), ...shown },
    clearInvalid,
  };
}

/** Returns the fields without secrets. An object that contains a secret needs an explicit shape in `shown`. */
function omitSecrets(fields: Shape, secrets: readonly string[]): Shape {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !secrets.includes(name))
      .map(([name, field]) => [name, secrets.includes(`${name}.*`) ? NamesOnly : field]),
  );
}

export type Kinds = Readonly<Record<string, Kind>>;
type CommonFields<C extends Shape> = z.output<z.ZodObject<C>>;
type SentFields<S extends Shape> = z.input<z.ZodObject<S>>;

/** A new record in a request: the common fields, and the fields of one type. */
type NewOf<K extends Kinds, C extends Shape> = {
  [T in keyof K]: { type: T } & SentFields<C & K[T]["fields"]>;
}[keyof K];

/** A PATCH body, with fields of any type. */
type PatchOf<K extends Kinds, C extends Shape> = { type?: keyof K } & SentFields<Patched<C>> & {
    [N in NamesIn<K[keyof K]["fields"]>]?: InputOf<K[keyof K]["fields"], N> | null | undefined;
  };

type NamesIn<F> = F extends Shape ? keyof F : never;
type InputOf<F, N extends PropertyKey> = F extends Record<N, z.ZodType> ? z.input<F[N]> : never;

type SchemaMeta = { id: string; description?: string; example?: object };

/** Creates a schema when it is first used, because the schemas of all types together cost start time and memory. */
function createOnUse<T extends z.ZodType>(create: () => T) {
  let schema: T | undefined;
  return z.lazy(() => (schema ??= create()));
}

function createTypedUnion(kinds: Kinds, member: (type: string, kind: Kind) => z.ZodObject) {
  const [first, ...others] = Object.entries(kinds).map(([type, kind]) => member(type, kind));
  if (first === undefined) throw new Error("There must be at least one kind.");
  return z.discriminatedUnion("type", [first, ...others], {
    error: (issue) =>
      issue.code === "invalid_union"
        ? `must be one of: ${Object.keys(kinds).join(", ")}`
        : undefined,
  });
}

/** Schema of a complete new record: the common fields, and exactly the fields of its type. */
export function createInputSchema<K extends Kinds, C extends Shape>(
  kinds: K,
  common: C,
  naming: SchemaMeta,
) {
  return createOnUse(() =>
    createTypedUnion(kinds, (type, { description, fields }) =>
      z.strictObject({ type: z.literal(type), ...common, ...fields }).register(z.globalRegistry, {
        id: `${naming.id}${capitalize(type)}`,
        ...(description !== undefined && { description }),
      }),
    ).register(z.globalRegistry, naming),
  ) as unknown as z.ZodType<CommonFields<C> & { type: string } & Fields, NewOf<K, C>>;
}

/**
 * Schema of a PATCH with the fields of all types. The service parses the merged record later and rejects fields of
 * other types.
 */
export function createPatchSchema<K extends Kinds, C extends Shape>(
  kinds: K,
  common: C,
  readOnly: readonly string[],
  naming: SchemaMeta,
) {
  const names = new Set(Object.values(kinds).flatMap(({ fields }) => Object.keys(fields)));
  const createFields = () =>
    Object.fromEntries(
      [...names].map((name) => [name, createAnySchema(listFieldVariants(kinds, name))]),
    );
  const schema = createOnUse(() =>
    z
      .strictObject({
        type: z
          .enum(Object.keys(kinds) as [string])
          .optional()
          .meta({ description: "Fixed after creation; sending the same one back is fine." }),
        ...createFields(),
        ...toPatchShape(common),
      })
      .register(z.globalRegistry, naming),
  );
  return bodySchema(readOnly, schema) as z.ZodType<
    Partial<CommonFields<C>> & { type?: string } & Fields,
    PatchOf<K, C>
  >;
}

/** Collects the distinct schemas of a field name among all types. */
function listFieldVariants(kinds: Kinds, name: string): z.ZodType[] {
  const sameNamed = Object.values(kinds).flatMap(({ fields: { [name]: field } }) =>
    field === undefined ? [] : [toPatchField(field)],
  );
  return [...new Set(sameNamed)];
}

function toPatchField(field: z.ZodType): z.ZodType {
  const plainField = stripDefault(field);
  return patchSchemas.get(plainField) ?? plainField;
}

/** Accepts any value if several types use the name with different schemas. The type's schema validates it later. */
function createAnySchema([first = z.never(), ...others]: readonly z.ZodType[]): z.ZodType {
  if (others.length === 0) return first.optional().nullable();
  return z
    .unknown()
    .optional()
    .meta({
      // Computed only for the OpenAPI document, because it would take a fifth of the startup time.
      get anyOf() {
        const texts = [first, ...others, z.null()].flatMap((field) => {
          const {
            $schema: _dialect,
            $defs: _parts,
            ...schema
          } = z.toJSONSchema(field, { io: "input" });
          return listOptions(schema).map((option) => JSON.stringify(option));
        });
        return [...new Set(texts)].map(
          // References to named schemas must point into the OpenAPI document.
          (text) => JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as object,
        );
      },
    });
}

/** Flattens nested alternatives of a JSON schema. */
const listOptions = (schema: { anyOf?: object[] }): object[] =>
  schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(listOptions);

/** Schema of a record in a response. */
export function createReadSchema<R extends Shape>(kinds: Kinds, record: R, naming: SchemaMeta) {
  const secretsSet = z.array(z.string()).meta({
    description: "Paths of the secret fields that are set; their values are never shown.",
  });
  return createOnUse(() =>
    createTypedUnion(kinds, (type, { shown }) =>
      z
        .object({ id: Id, type: z.literal(type), ...record, ...shown, secretsSet })
        .register(z.globalRegistry, { id: `${naming.id}${capitalize(type)}` }),
    ).register(z.globalRegistry, naming),
  ) as unknown as z.ZodType<
    z.output<z.ZodObject<R>> & { id: string; type: string; secretsSet: string[] } & Fields
  >;
}

/** Names of the fields of a type, without the common fields. */
export function listFieldNames(kinds: Kinds, type: string): string[] {
  return Object.keys(kinds[type]?.fields ?? {});
}

/** Parses the settings of a row, and adds defaults of fields that are newer than the row. */
export function parseSettings(kinds: Kinds, type: string, json: string): Fields {
  const settings = JSON.parse(json) as Fields;
  for (const { name, value } of listDefaults(kinds[type]))
    if (!Object.hasOwn(settings, name)) settings[name] = value();
  return settings;
}

type Default = { name: string; value: () => unknown };
const defaults = new WeakMap<Kind, Default[]>();

/** Defaults of a type's fields. Cached, because startup reads thousands of rows. */
function listDefaults(kind: Kind | undefined): Default[] {
  if (kind === undefined) return [];
  const known = defaults.get(kind);
  if (known !== undefined) return known;
  const fieldDefaults = Object.entries(kind.fields).flatMap(([name, field]) => {
    if (!(field instanceof z.ZodDefault)) return [];
    const value: unknown = field.parse(undefined);
    // Each call creates new objects, so that rows don't share mutable defaults.
    return { name, value: value instanceof Object ? () => field.parse(undefined) : () => value };
  });
  defaults.set(kind, fieldDefaults);
  return fieldDefaults;
}
