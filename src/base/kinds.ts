import { z } from "zod";
import type { Destination } from "./destinations.ts";
import { bodyOf, HeaderNames, HeadersPatch, Id, patchOf } from "./fields.ts";
import { fieldPath } from "./text.ts";
import { validationError } from "./validation.ts";

type Shape = Record<string, z.ZodType>;

/** One type of a resource that comes in several (an `http` monitor, a `slack` channel) with the fields of its own. */
export type Kind = {
  /** As they are sent. */
  fields: Shape;
  /**
   * Where the fields go that are sealed at rest and never shown, by path: `token`,
   * `basicAuth.password`, and `headers.*` for the values of an object by names that people choose.
   */
  secrets: Readonly<Record<string, Destination>>;
  /** As they are shown. */
  shown: Shape;
};

export function kind<F extends Shape>(
  fields: F,
  secrets: Readonly<Record<string, Destination<keyof F & string>>> = {},
  shown: Shape = {},
): Omit<Kind, "fields"> & { fields: F } {
  const names = Object.keys(secrets);
  return {
    fields,
    secrets: secrets as Kind["secrets"],
    shown: { ...shownBy(fields, names), ...shown },
  };
}

/** The fields without their secrets; one that merely holds a secret needs a shape of its own. */
function shownBy(fields: Shape, secrets: readonly string[]): Shape {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !secrets.includes(name))
      .map(([name, field]) => [name, secrets.includes(`${name}.*`) ? HeaderNames : field]),
  );
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
  const all = Object.values(kinds).flatMap(({ fields, secrets }) =>
    Object.entries(patchOf(fields)).map(([name, field]) => ({
      name,
      field: (`${name}.*` in secrets ? HeadersPatch.optional() : field).nullable(),
    })),
  );
  const own = Object.fromEntries(
    [...Map.groupBy(all, ({ name }) => name)].map(([name, same]) => [
      name,
      anyOf(same.map(({ field }) => field)),
    ]),
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
    .meta(naming);
  return bodyOf(readOnly, schema) as z.ZodType<
    Partial<Common<C>> & { type?: string } & Own,
    unknown
  >;
}

/** One of these fields; where types mean different things by one name, the record's own judges it. */
function anyOf([first, ...others]: readonly z.ZodType[]): z.ZodType {
  if (first === undefined) return z.never();
  if (others.length === 0) return first;
  const schemas = [first, ...others].map((field) => z.toJSONSchema(field, { io: "input" }));
  const different = [...new Map(schemas.map((one) => [JSON.stringify(one), one])).values()];
  if (different.length === 1) return first;
  return z
    .unknown()
    .optional()
    .meta({ anyOf: different.map(({ $schema: _schema, ...schema }) => schema) });
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

/** `basicAuth.password` as its field and the name within, which is null for a field of its own. */
function partsOf(path: string): [field: string, inner: string | null] {
  const dot = path.indexOf(".");
  return dot === -1 ? [path, null] : [path.slice(0, dot), path.slice(dot + 1)];
}

const isObject = (value: unknown): value is Own => typeof value === "object" && value !== null;

/** Secrets that a record has by path, each with what it declares. */
function secretsIn(
  kinds: Kinds,
  type: string,
  record: Own,
): { field: string; inner: string | null; value: string; destination: Destination }[] {
  return Object.entries(kinds[type]?.secrets ?? {}).flatMap(([path, destination]) => {
    const [field, inner] = partsOf(path);
    const holder = inner === null ? record : record[field];
    if (!isObject(holder)) return [];
    const names = inner === "*" ? Object.keys(holder) : [inner ?? field];
    return names.flatMap((name) => {
      const value = holder[name];
      if (typeof value !== "string") return [];
      return [{ field, inner: inner === null ? null : name, value, destination }];
    });
  });
}

/** The type's own fields of a record, apart from its secrets, which come by path; of `headers.*` the names stay. */
export function splitSecrets(
  kinds: Kinds,
  type: string,
  record: Own,
): { settings: Own; secrets: Record<string, string> } {
  const settings: Own = {};
  for (const name of ownNames(kinds, type)) settings[name] = record[name];
  const secrets: Record<string, string> = {};
  for (const { field, inner, value } of secretsIn(kinds, type, record))
    secrets[fieldPath(inner === null ? [field] : [field, inner])] = value;
  for (const path of Object.keys(kinds[type]?.secrets ?? {})) {
    const [field, inner] = partsOf(path);
    const holder = settings[field];
    if (inner === null) delete settings[field];
    else if (!isObject(holder)) continue;
    else if (inner === "*")
      settings[field] = Object.fromEntries(Object.keys(holder).map((name) => [name, null]));
    else {
      const { [inner]: _secret, ...rest } = holder;
      settings[field] = rest;
    }
  }
  return { settings, secrets };
}

/** The settings of a row, which may be older than a field that its type has by now. */
export function settingsIn(kinds: Kinds, type: string, json: string): Own {
  const settings: Own = { ...(JSON.parse(json) as Own) };
  for (const [name, field] of Object.entries(kinds[type]?.fields ?? {}))
    if (!Object.hasOwn(settings, name) && field instanceof z.ZodDefault)
      settings[name] = field.parse(undefined);
  return settings;
}

/** The inverse of `splitSecrets`; a secret that is not set is null. */
export function joinSecrets(
  kinds: Kinds,
  type: string,
  settings: Own,
  secrets: Readonly<Record<string, string>>,
): Own {
  const record = { ...settings };
  for (const path of Object.keys(kinds[type]?.secrets ?? {}))
    if (partsOf(path)[1] === null) record[path] = null;
  for (const [path, value] of Object.entries(secrets)) {
    const [field, inner] = partsOf(path);
    record[field] = inner === null ? value : { ...(record[field] as Own), [inner]: value };
  }
  return record;
}

/** What `secretsSet` says of a row's sealed secrets; of `headers.*` the names are shown already. */
export function secretsSetOf(kinds: Kinds, type: string, sealed: string): string[] {
  const set = JSON.parse(sealed) as Record<string, string>;
  return Object.keys(kinds[type]?.secrets ?? {}).filter(
    (path) => !path.endsWith(".*") && Object.hasOwn(set, path),
  );
}

/**
 * A record after a patch, before it is parsed as a whole: absent keeps, null clears. An object that
 * holds a secret is merged, so that what was shown without it can be sent back; in one of `headers.*`
 * a null keeps the stored value and an absent name removes it.
 */
export function merged(kinds: Kinds, type: string, record: Own, patch: Own): Own {
  const result = { ...record };
  const inners = new Map(Object.keys(kinds[type]?.secrets ?? {}).map((path) => partsOf(path)));
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const inner = inners.get(name) ?? null;
    const known = record[name];
    if (inner === null || !isObject(value)) result[name] = value;
    else if (inner === "*") result[name] = withKept(value, isObject(known) ? known : {});
    else result[name] = { ...(known as Own | null), ...value };
  }
  return result;
}

/** Names of header fields are the same in any case (RFC 9110 §5.1). */
function withKept(values: Own, known: Own): Own {
  const stored = new Map(Object.entries(known).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value ?? stored.get(name.toLowerCase()) ?? null,
    ]),
  );
}

/** The stored secrets that a patch keeps although it changes where they are sent, each as the keys of its path. */
export function strandedSecrets(kinds: Kinds, type: string, record: Own, patch: Own): string[][] {
  const after = merged(kinds, type, record, patch);
  const keysIn = (values: Own) => new Set(secretsIn(kinds, type, values).map(keyOf));
  const [sent, left] = [keysIn(patch), keysIn(after)];
  // A row may be older than a field that its type has by now.
  const valueIn = (values: Own, name: string) =>
    values[name] ?? kinds[type]?.fields[name]?.safeParse(undefined).data;
  return secretsIn(kinds, type, record)
    .filter((secret) => left.has(keyOf(secret)) && !sent.has(keyOf(secret)))
    .filter(({ destination }) =>
      Object.entries(destination).some(
        ([name, isSame]) => isSame?.(valueIn(record, name), valueIn(after, name)) === false,
      ),
    )
    .map(({ field, inner }) => (inner === null ? [field] : [field, inner]));
}

const keyOf = ({ field, inner }: { field: string; inner: string | null }) =>
  `${field} ${inner?.toLowerCase() ?? ""}`;

/**
 * A sealed secret never follows a changed address: throws VALIDATION_ERROR at each secret that a patch
 * keeps and would send elsewhere.
 */
export function mustNotFollow(kinds: Kinds, type: string, record: Own, patch: Own) {
  const stranded = strandedSecrets(kinds, type, record, patch);
  if (stranded.length === 0) return;
  throw validationError(
    stranded.map((keys) => ({
      path: fieldPath(keys),
      message: `stays with the address it was given for: send it again for the new address${orWithout(kinds[type], keys)}`,
    })),
  );
}

function orWithout(kind: Kind | undefined, [field = "", inner]: readonly string[]): string {
  if (kind?.secrets[`${field}.*`] !== undefined) return ", or leave it out";
  const mayBeNone = inner !== undefined || kind?.fields[field]?.safeParse(null).success === true;
  return mayBeNone ? ", or null" : "";
}
