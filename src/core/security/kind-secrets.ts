/** Encrypts, patches and displays the secrets of records with several types. */
import type { Destination } from "./destinations.ts";
import { type Kind, type Kinds, listFieldNames } from "../kinds.ts";
import { formatFieldPath } from "../text/formatting.ts";
import { type ChangedField, listChangedFields } from "../field-changes.ts";
import { validationError } from "../validation.ts";
import { type Fields, isObject } from "../collections/objects.ts";

/**
 * Splits a path such as `basicAuth.password` into field and inner name. The inner name is null if the field itself is
 * the secret.
 */
function splitPath(path: string): [field: string, inner: string | null] {
  const dot = path.indexOf(".");
  return dot === -1 ? [path, null] : [path.slice(0, dot), path.slice(dot + 1)];
}

/** Returns the secrets of a record, each with its destination. */
function listSecrets(
  kinds: Kinds,
  type: string,
  record: Fields,
): { field: string; inner: string | null; value: string; destination: Destination }[] {
  return Object.entries(kinds[type]?.secrets ?? {}).flatMap(([path, destination]) => {
    const [field, inner] = splitPath(path);
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

/**
 * Separates the fields of a type from its secrets, which are returned by path. For `headers.*`, the settings retain
 * the names.
 */
export function splitSecrets(
  kinds: Kinds,
  type: string,
  record: Fields,
): { settings: Fields; secrets: Record<string, string> } {
  const settings: Fields = {};
  for (const name of listFieldNames(kinds, type)) settings[name] = record[name];
  const secrets: Record<string, string> = {};
  for (const { field, inner, value } of listSecrets(kinds, type, record))
    secrets[formatFieldPath(inner === null ? [field] : [field, inner])] = value;
  for (const path of Object.keys(kinds[type]?.secrets ?? {})) {
    const [field, inner] = splitPath(path);
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

/** Returns the record without its secrets. */
function omitSecrets(kinds: Kinds, type: string, record: Fields): Fields {
  const { settings } = splitSecrets(kinds, type, record);
  const fieldNames = new Set(listFieldNames(kinds, type));
  return {
    ...Object.fromEntries(Object.entries(record).filter(([name]) => !fieldNames.has(name))),
    ...settings,
  };
}

/** Reverses `splitSecrets`. Missing secrets are null. */
export function joinSecrets(
  kinds: Kinds,
  type: string,
  settings: Fields,
  secrets: Readonly<Record<string, string>>,
): Fields {
  const record = { ...settings };
  for (const path of Object.keys(kinds[type]?.secrets ?? {}))
    if (splitPath(path)[1] === null) record[path] = null;
  for (const [path, value] of Object.entries(secrets)) {
    const [field, inner] = splitPath(path);
    record[field] = inner === null ? value : { ...(record[field] as Fields), [inner]: value };
  }
  return record;
}

/** Returns the value of `secretsSet` for a row. It omits `headers.*`, whose names are visible. */
export function listSecretPaths(kinds: Kinds, type: string, sealed: string): string[] {
  const set = JSON.parse(sealed) as Record<string, string>;
  return Object.keys(kinds[type]?.secrets ?? {}).filter(
    (path) => !path.endsWith(".*") && Object.hasOwn(set, path),
  );
}

/**
 * Merges a patch into a record, which is parsed as a whole later. Absent fields stay unchanged, and null clears a
 * field. Objects with a secret are merged, so that clients can send back a GET response. In `headers.*`, null
 * preserves the stored value, and an absent name removes it.
 */
export function mergePatch(kinds: Kinds, type: string, record: Fields, patch: Fields): Fields {
  const result = { ...record };
  const inners = new Map(Object.keys(kinds[type]?.secrets ?? {}).map((path) => splitPath(path)));
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const inner = inners.get(name) ?? null;
    const known = record[name];
    if (inner === null || !isObject(value)) result[name] = value;
    else if (inner === "*") result[name] = fillStoredValues(value, isObject(known) ? known : {});
    else result[name] = { ...(known as Fields | null), ...value };
  }
  return kinds[type]?.clearInvalid(result, record) ?? result;
}

/** Inserts stored values for null. Header names are case-insensitive (RFC 9110 §5.1). */
function fillStoredValues(values: Fields, known: Fields): Fields {
  const stored = new Map(Object.entries(known).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value ?? stored.get(name.toLowerCase()) ?? null,
    ]),
  );
}

/** Returns the keys of stored secrets that a patch leaves unchanged although it changes their destination. */
export function findStrandedSecrets(
  kinds: Kinds,
  type: string,
  record: Fields,
  patch: Fields,
): string[][] {
  const after = mergePatch(kinds, type, record, patch);
  const records = { before: record, after };
  const collectKeys = (values: Fields) =>
    new Set(listSecrets(kinds, type, values).map(secretKeyOf));
  const [patchedKeys, resultingKeys] = [collectKeys(patch), collectKeys(after)];
  // A row can lack fields that are newer than the row.
  const getValueOrDefault = (values: Fields, name: string) =>
    values[name] ?? kinds[type]?.fields[name]?.safeParse(undefined).data;
  return listSecrets(kinds, type, record)
    .filter(
      (secret) => resultingKeys.has(secretKeyOf(secret)) && !patchedKeys.has(secretKeyOf(secret)),
    )
    .filter(({ destination }) =>
      Object.entries(destination).some(
        ([name, isSame]) =>
          isSame?.(getValueOrDefault(record, name), getValueOrDefault(after, name), records) ===
          false,
      ),
    )
    .map(({ field, inner }) => (inner === null ? [field] : [field, inner]));
}

const secretKeyOf = ({ field, inner }: { field: string; inner: string | null }) =>
  `${field} ${inner?.toLowerCase() ?? ""}`;

/**
 * A stored record with its secrets in plain text. Its fields are private. They can be stored again only through
 * `patched` and `applyPatchFromSource`, which never send a stored secret to another address.
 */
export class OpenedRecord {
  readonly #kinds: Kinds;
  readonly #type: string;
  readonly #fields: Fields;

  constructor(kinds: Kinds, type: string, fields: Fields) {
    this.#kinds = kinds;
    this.#type = type;
    this.#fields = fields;
  }

  /** Derives a value from the fields, such as their address. The result must not be stored. */
  derive<T>(from: (fields: Readonly<Fields>) => T): T {
    return from(this.#fields);
  }

  /**
   * Merges a patch and parses the whole record. Throws VALIDATION_ERROR for each stored secret that the patch leaves
   * unchanged but would send to another address.
   */
  applyPatch<T>(patch: Fields, parse: (whole: Fields) => T): T {
    const parsed = parse(mergePatch(this.#kinds, this.#type, this.#fields, patch));
    this.#assertDestinations(patch);
    return parsed;
  }

  /**
   * Merges a patch from another program, whose whole record is `source`. A stored secret that would be sent to
   * another address is replaced with the value of the source, or removed.
   */
  applyPatchFromSource(patch: Fields, source: Fields): { fields: Fields; notes: string[] } {
    const stranded = findStrandedSecrets(this.#kinds, this.#type, this.#fields, patch);
    const remaining = { ...this.#fields };
    const complete = { ...patch };
    for (const [field = ""] of stranded) {
      delete remaining[field];
      if (source[field] !== undefined) complete[field] = source[field];
    }
    return {
      fields: mergePatch(this.#kinds, this.#type, remaining, complete),
      notes: stranded.map(
        (keys) =>
          `The address changed, so ${formatFieldPath(keys)} as it was stored here is not sent there: it ${
            hasSecret(source, keys) ? "has the value of the source" : "is removed"
          }. Enter it again.`,
      ),
    };
  }

  /** Lists the fields that differ in `after`. Secrets are listed without values. Other keys of `after` are ignored. */
  listChanges(after: Fields): ChangedField[] {
    // Fields of another type can have the same names, and be secrets.
    if ((after["type"] ?? this.#type) !== this.#type) {
      const changed = listChangedFields(this.#fields, after, Object.keys(this.#fields));
      return changed.map((one) => (typeof one === "string" ? one : one.field));
    }
    const records = [this.#fields, after] as const;
    const [before, next] = records.map((record) => omitSecrets(this.#kinds, this.#type, record));
    const [known, sent] = records.map(
      (record) =>
        new Map(
          listSecrets(this.#kinds, this.#type, record).map((secret) => [
            `${secret.field} ${secret.inner ?? ""}`,
            secret,
          ]),
        ),
    );
    const secrets = new Set(
      [...new Map([...(known ?? []), ...(sent ?? [])])]
        .filter(([key]) => known?.get(key)?.value !== sent?.get(key)?.value)
        .map(([, { field }]) => field),
    );
    return listChangedFields(before ?? {}, next ?? {}, Object.keys(this.#fields), [...secrets]);
  }

  #assertDestinations(patch: Fields) {
    const stranded = findStrandedSecrets(this.#kinds, this.#type, this.#fields, patch);
    if (stranded.length === 0) return;
    throw validationError(
      stranded.map((keys) => ({
        path: formatFieldPath(keys),
        message: `stays with the address it was given for: send it again for the new address${suggestRemoval(this.#kinds[this.#type], keys)}`,
      })),
    );
  }
}

function hasSecret(source: Fields, [field = "", inner]: readonly string[]): boolean {
  const value = source[field];
  if (inner === undefined) return typeof value === "string";
  return (
    isObject(value) &&
    Object.keys(value).some(
      (name) => name.toLowerCase() === inner.toLowerCase() && value[name] !== null,
    )
  );
}

function suggestRemoval(kind: Kind | undefined, [field = "", inner]: readonly string[]): string {
  if (kind?.secrets[`${field}.*`] !== undefined) return ", or leave it out";
  const canBeNull = inner !== undefined || kind?.fields[field]?.safeParse(null).success === true;
  return canBeNull ? ", or null" : "";
}
