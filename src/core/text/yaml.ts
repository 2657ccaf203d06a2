import type { Alias, Document, Node, Pair, Scalar, YAMLMap } from "yaml";
import { exactNumber, hasTooManyDigits } from "./decimals.ts";
import { fieldPath } from "./words.ts";

const maxDepth = 30;
const maxPlaces = 10;

/** Where something stands in a file, from 1 on. */
export type Place = { file: string; line: number; column: number };

/** What is wrong in a file, and where. */
export type FileIssue = { place: Place; message: string };

/** A configuration that can't be taken as it is written. */
export class InvalidFiles extends Error {
  readonly issues: readonly FileIssue[];

  constructor(issues: readonly FileIssue[]) {
    super(issues.map(({ place, message }) => `${inWords(place)}: ${message}`).join("\n"));
    this.issues = issues;
  }
}

const inWords = ({ file, line, column }: Place) => `${file}:${line}:${column}`;

/** Reads a scalar of the file; what it returns becomes the value. */
export type ReadScalar = (
  scalar: Scalar,
  path: string,
  fail: (message: string) => never,
) => unknown;

/** A scalar as YAML 1.2 types it; `textOf` reads its texts. */
export const typedScalar =
  (textOf: (text: string, path: string, fail: (message: string) => never) => string): ReadScalar =>
  ({ value, source = "" }, path, fail) => {
    if (typeof value === "string") return textOf(value, path, fail);
    if (typeof value === "number" && !Number.isFinite(value)) fail("must be a finite number");
    const isWhole = typeof value === "number" && /^[-+]?\d{16,}$/.test(source);
    if (isWhole && typeof exactNumber(source) === "string") fail(hasTooManyDigits);
    if (typeof value === "bigint") fail("is too large a number");
    return value;
  };

export type YamlOptions = {
  /** Values of a document. Those behind an alias count each time. */
  maxValues?: number;
  /** Whether `places` and the paths of scalars are wanted. */
  hasPaths?: boolean;
};

export type Parsed = {
  value: unknown;
  /** Of each value, by its path such as `monitors.shop.tags[0]`; of a field where its name stands. */
  places: Map<string, Place>;
  /** Of each map. */
  placesOfMaps: WeakMap<object, Place>;
};

/** Sentences for errors that the parser reports in terms of its own API, or several times. */
const plainReasons: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "has several documents: put each into a file of its own",
  TAB_AS_INDENT: "is indented by a tab: YAML allows spaces only",
};

/** At most ten errors. One with a plain reason explains the errors after it. */
function withoutRepeats<T extends { code: string }>(errors: readonly T[]): T[] {
  const explained = errors.find(({ code }) => Object.hasOwn(plainReasons, code));
  return explained === undefined ? errors.slice(0, maxPlaces) : [explained];
}

/** A YAML 1.2 document with the places of its values. Throws InvalidFiles: for what is no YAML, a key that is there twice, aliases that stand for too much. */
export async function parseYaml(
  file: string,
  source: string,
  readScalar: ReadScalar,
  { maxValues = 500_000, hasPaths = true }: YamlOptions = {},
): Promise<Parsed> {
  const { parseDocument, LineCounter, isAlias, isMap, isScalar, isSeq } = await import("yaml");
  const lines = new LineCounter();
  const document: Document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    // Tags of other programs are no values of ours.
    customTags: [],
    schema: "core",
    // Its own way compares each key with all before it.
    uniqueKeys: false,
  });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(Math.min(offset, source.length));
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const found = [...document.errors, ...document.warnings];
  if (found.length > 0)
    throw new InvalidFiles(
      withoutRepeats(found).map(({ pos, code, message }) => ({
        place: placeAt(pos[0]),
        message: plainReasons[code] ?? firstLine(message),
      })),
    );
  const places = new Map<string, Place>();
  const placesOfMaps = new WeakMap<object, Place>();
  const anchors = new Map<string, Node>();
  const open = new Set<Node>();
  let left = maxValues;

  const failAt = (
    node: { range?: readonly number[] | null | undefined },
    message: string,
  ): never => {
    throw new InvalidFiles([{ place: placeAt(node.range?.[0] ?? 0), message }]);
  };

  function valueOf(node: Node | null, keys: readonly PropertyKey[], at: Place): unknown {
    if (node === null) return null;
    const path = hasPaths ? fieldPath(keys) : "";
    if (hasPaths && !places.has(path)) places.set(path, at);
    if (left-- <= 0) failAt(node, "aliases make this stand for too much");
    if (keys.length > maxDepth) failAt(node, `is nested deeper than ${maxDepth} levels`);
    if (isAlias(node)) return valueOf(targetOf(node), keys, at);
    if ("anchor" in node && typeof node.anchor === "string") anchors.set(node.anchor, node);
    open.add(node);
    try {
      if (isMap(node)) return mapOf(node, keys);
      if (isSeq(node))
        return node.items.map((item, index) => {
          const its = item as Node | null;
          return valueOf(its, [...keys, index], placeAt(its?.range?.[0] ?? 0));
        });
      if (isScalar(node)) return readScalar(node, path, (message) => failAt(node, message));
    } finally {
      open.delete(node);
    }
    return failAt(node, "is not a value of a configuration");
  }

  function targetOf(alias: Alias): Node {
    const target = anchors.get(alias.source);
    if (target === undefined) return failAt(alias, `there is no &${alias.source} above`);
    return open.has(target) ? failAt(alias, "stands for what it is in itself") : target;
  }

  function mapOf(map: YAMLMap, keys: readonly PropertyKey[]): Record<string, unknown> {
    const own = Object.create(null) as Record<string, unknown>;
    const merged: Record<string, unknown>[] = [];
    const names = new Set<string>();
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      if (!isScalar(key) || !["string", "number", "boolean"].includes(typeof key.value))
        return failAt(key ?? map, "must be a name");
      const name = String(key.source ?? key.value);
      if (names.has(name)) return failAt(key, "this key is there twice");
      names.add(name);
      const at = placeAt(key.range?.[0] ?? 0);
      if (name === "<<" && key.type === "PLAIN") merged.push(...mergedOf(value, keys, at));
      else own[name] = valueOf(value, [...keys, name], at);
    }
    const all: Record<string, unknown> = {};
    for (const one of [...merged.toReversed(), own])
      for (const [name, value] of Object.entries(one)) setOwn(all, name, value);
    placesOfMaps.set(all, placeAt(map.range?.[0] ?? 0));
    return all;
  }

  /** What `<<` brings in (https://yaml.org/type/merge.html): the first that has a key wins. */
  function mergedOf(node: Node | null, keys: readonly PropertyKey[], at: Place) {
    const all = isSeq(node) ? (node.items as Node[]) : [node];
    return all.map((one) => {
      const value = valueOf(one, keys, at);
      if (typeof value !== "object" || value === null || Array.isArray(value))
        failAt(one ?? document, "must be a map that is merged into this one");
      return value as Record<string, unknown>;
    });
  }

  return { value: valueOf(document.contents, [], placeAt(0)), places, placesOfMaps };
}

/** Also where its name is `__proto__`, which an assignment would take for something else. */
export function setOwn(object: object, name: string, value: unknown) {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

const firstLine = (message: string) => message.split("\n")[0] ?? message;

/** The place of the value at this path, or of what it would stand in. */
export function placeOf(places: ReadonlyMap<string, Place>, path: string): Place | null {
  for (let left = path; ;) {
    const found = places.get(left);
    if (found !== undefined) return found;
    if (left === "") return null;
    left = left.slice(0, Math.max(left.lastIndexOf("."), left.lastIndexOf("["), 0));
  }
}
