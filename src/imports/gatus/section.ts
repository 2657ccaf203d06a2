/** Wraps a map of a Gatus configuration and tracks which keys were read, so that the report can list all others. */
import { type Fields, isObject } from "../../core/collections/objects.ts";
import { toLine } from "../../core/text/formatting.ts";
import { toText } from "../values.ts";
import { findLeftOutReason } from "./left-out.ts";
import { parseBoolean, parseDuration, parseInteger } from "./values.ts";

type LeftOutKey = { path: string; schema: string };
/** Maximum keys per sentence, for maps with thousands of unknown keys. */
const maxNamed = 30;
const maxKeyLength = 60;

export class Section {
  readonly #fields: Fields;
  readonly #schema: string;
  readonly #read = new Set<string>();
  readonly #children = new Map<string, Section[]>();
  readonly #invalid: string[] = [];

  /** `schema` is the Gatus struct of the map, such as `endpoint` or `client`. */
  constructor(fields: Fields, schema: string) {
    this.#fields = fields;
    this.#schema = schema;
  }

  /** The raw map, for its position and for merging. */
  get fields(): Fields {
    return this.#fields;
  }

  /** Returns the value and marks the key as read; undefined if it is missing or null. */
  value(key: string): unknown {
    this.#read.add(key);
    return Object.hasOwn(this.#fields, key) ? (this.#fields[key] ?? undefined) : undefined;
  }

  has(key: string): boolean {
    return this.value(key) !== undefined;
  }

  text(key: string): string {
    const value = this.value(key);
    if (typeof value === "object") this.#invalid.push(`${key} is not a text`);
    return toText(value);
  }

  flag(key: string): boolean | null {
    return this.#readTyped(key, "yes or no", parseBoolean);
  }

  integer(key: string): number | null {
    return this.#readTyped(key, "a whole number", parseInteger);
  }

  /** Returns seconds. Gatus reads a number without a unit as nanoseconds. */
  duration(key: string): number | null {
    const nanoseconds = parseInteger(this.text(key));
    if (nanoseconds !== null && nanoseconds !== 0) {
      this.#invalid.push(`${key} ${this.text(key)} has no unit, such as s or m`);
      return null;
    }
    return this.#readTyped(key, "a duration such as 30s or 1h30m", parseDuration);
  }

  #readTyped<T>(key: string, expected: string, read: (text: string) => T | null): T | null {
    const valueText = this.text(key);
    if (valueText === "") return null;
    const value = read(valueText);
    if (value === null) this.#invalid.push(`${key} is not ${expected}`);
    return value;
  }

  texts(key: string): string[] {
    const list = this.#list(key);
    if (list.some((one) => typeof one === "object"))
      this.#invalid.push(`${key} is not a list of texts`);
    return list.map(toText);
  }

  /** Returns texts by user-defined keys, such as headers. */
  table(key: string): Record<string, string> {
    const entries = Object.entries(this.#fieldsOf(key));
    for (const [name, one] of entries)
      if (typeof one === "object" && one !== null)
        this.#invalid.push(`${key}.${name} is not a text`);
    return Object.fromEntries(entries.map(([name, one]) => [name, toText(one)]));
  }

  /** Returns the same section for each call; an empty one if the key is missing. */
  map(key: string, schema = key): Section {
    return this.#listSections(key, () => [this.#fieldsOf(key)], schema)[0] as Section;
  }

  sections(key: string, schema: string): Section[] {
    const readMaps = () => {
      const list = this.#list(key);
      if (!list.every(isObject)) this.#invalid.push(`${key} is not a list of maps`);
      return list.filter(isObject);
    };
    return this.#listSections(key, readMaps, schema);
  }

  #fieldsOf(key: string): Fields {
    const value = this.value(key) ?? {};
    if (isObject(value)) return value;
    this.#invalid.push(`${key} is not a map`);
    return {};
  }

  #list(key: string): unknown[] {
    const value = this.value(key) ?? [];
    if (Array.isArray(value)) return value;
    this.#invalid.push(`${key} is not a list`);
    return [];
  }

  #listSections(key: string, readMaps: () => readonly Fields[], schema: string): Section[] {
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const sections = readMaps().map((one) => new Section(one, schema));
    this.#children.set(key, sections);
    return sections;
  }

  /**
   * Returns unread keys with a value. Skips maps whose keys match `isOwn`, because they report
   * their keys themselves.
   */
  listLeftOut(isOwn: (key: string) => boolean = () => false): LeftOutKey[] {
    const unreadNames = Object.entries(this.#fields)
      .filter(([key, value]) => !this.#read.has(key) && (value ?? null) !== null)
      .flatMap(([key, value]) =>
        listKeyPaths(value, key).map((path) => ({ path, schema: `${this.#schema}.${path}` })),
      );
    const children = [...this.#children].filter(([key]) => !isOwn(key));
    const below = children.flatMap(([key, sections]) =>
      sections.flatMap((section) =>
        section.listLeftOut().map(({ path, schema }) => ({ path: `${key}.${path}`, schema })),
      ),
    );
    return [...unreadNames, ...below];
  }

  /** Returns one clause per invalid value. Skips maps whose keys match `isOwn`. */
  listInvalidValues(isOwn: (key: string) => boolean = () => false): string[] {
    const children = [...this.#children].filter(([key]) => !isOwn(key));
    const below = children.flatMap(([key, sections]) =>
      sections.flatMap((section) => section.listInvalidValues().map((one) => `${key}.${one}`)),
    );
    return [...new Set([...this.#invalid, ...below])];
  }

  /** Returns one sentence per reason. */
  buildNotes(): string[] {
    const invalid = this.listInvalidValues().map(
      (one) => `${toLine(one, 200)}: the default is used.`,
    );
    return [...invalid, ...formatNotes(this.listLeftOut())];
  }
}

/** Returns the key paths of an unread value, with the inner keys of a map. */
function listKeyPaths(value: unknown, path: string, depth = 0): string[] {
  if (!isObject(value) || depth > 3 || Object.keys(value).length === 0) return [path];
  return Object.entries(value)
    .slice(0, maxNamed)
    .flatMap(([key, inner]) => listKeyPaths(inner, `${path}.${key}`, depth + 1));
}

export function formatNotes(leftOut: readonly LeftOutKey[]): string[] {
  return [...Map.groupBy(leftOut, ({ schema }) => findLeftOutReason(schema))].map(
    ([reason, keys]) => {
      const names = [...new Set(keys.map(({ path }) => toLine(path, maxKeyLength)))];
      const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
      return `Left out: ${names.slice(0, maxNamed).join(", ")}${more} (${reason}).`;
    },
  );
}
