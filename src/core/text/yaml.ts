/** Reads YAML 1.2 with the position of each value. Rejects repeated keys and excessive aliases. */
import type { Alias, Document, LineCounter, Node, Pair, Scalar, YAMLMap } from "yaml";
import { setOwn } from "../collections/objects.ts";
import { parseExactNumber, tooManyDigitsIssue } from "./decimals.ts";
import { formatFieldPath } from "./formatting.ts";

const maxDepth = 30;
const maxPositions = 10;

/** Position in a file. Line and column start at 1. */
export type SourcePosition = { file: string; line: number; column: number };

/** An error in a file, with its position. */
export type FileIssue = { position: SourcePosition; message: string };

/** Error with all issues of invalid files. */
export class InvalidFiles extends Error {
  readonly issues: readonly FileIssue[];

  constructor(issues: readonly FileIssue[]) {
    super(
      issues.map(({ position, message }) => `${formatPosition(position)}: ${message}`).join("\n"),
    );
    this.issues = issues;
  }
}

const formatPosition = ({ file, line, column }: SourcePosition) => `${file}:${line}:${column}`;

/** Converts a scalar to its value. */
type ReadScalar = (scalar: Scalar, path: string, fail: (message: string) => never) => unknown;

/** Reads a scalar with its YAML 1.2 type. `textOf` converts texts. */
export const createScalarReader =
  (textOf: (text: string, path: string, fail: (message: string) => never) => string): ReadScalar =>
  ({ value, source = "" }, path, fail) => {
    if (typeof value === "string") return textOf(value, path, fail);
    if (typeof value === "number" && !Number.isFinite(value)) fail("must be a finite number");
    const isWhole = typeof value === "number" && /^[-+]?\d{16,}$/.test(source);
    if (isWhole && typeof parseExactNumber(source) === "string") fail(tooManyDigitsIssue);
    if (typeof value === "bigint") fail("is too large a number");
    return value;
  };

type YamlOptions = {
  /** Maximum number of values. The values of an alias count for each use. */
  maxValues?: number;
  /** Whether `positions` and the paths of scalars are needed. */
  hasPaths?: boolean;
};

export type ParsedYaml = {
  value: unknown;
  /** Positions by path, such as `monitors.shop.tags[0]`. The position of a field is that of its name. */
  positions: Map<string, SourcePosition>;
  /** Position of each map. */
  positionsOfMaps: WeakMap<object, SourcePosition>;
};

/** Messages for errors that the parser describes in terms of its API, or reports several times. */
const plainReasons: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "has several documents: put each into a separate file",
  TAB_AS_INDENT: "is indented by a tab: YAML allows spaces only",
};

/** Returns at most ten errors, or only the one with a plain message, which also explains the others. */
function dropRepeats<T extends { code: string }>(errors: readonly T[]): T[] {
  const explained = errors.find(({ code }) => Object.hasOwn(plainReasons, code));
  return explained === undefined ? errors.slice(0, maxPositions) : [explained];
}

/** Reads a YAML 1.2 document. Throws InvalidFiles for invalid YAML, repeated keys and excessive aliases. */
export async function parseYaml(
  file: string,
  source: string,
  readScalar: ReadScalar,
  options: YamlOptions = {},
): Promise<ParsedYaml> {
  const yaml = await import("yaml");
  return new YamlReader(yaml, file, source, readScalar, options).read();
}

class YamlReader {
  readonly #yaml: typeof import("yaml");
  readonly #file: string;
  readonly #source: string;
  readonly #readScalar: ReadScalar;
  readonly #hasPaths: boolean;
  readonly #lines: LineCounter;
  readonly #document: Document;
  readonly #positions = new Map<string, SourcePosition>();
  readonly #positionsOfMaps = new WeakMap<object, SourcePosition>();
  readonly #anchors = new Map<string, Node>();
  /** Ancestors of the current node. An alias to one of them would be infinite. */
  readonly #open = new Set<Node>();
  #valuesLeft: number;

  constructor(
    yaml: typeof import("yaml"),
    file: string,
    source: string,
    readScalar: ReadScalar,
    { maxValues = 500_000, hasPaths = true }: YamlOptions,
  ) {
    this.#yaml = yaml;
    this.#file = file;
    this.#source = source;
    this.#readScalar = readScalar;
    this.#hasPaths = hasPaths;
    this.#valuesLeft = maxValues;
    this.#lines = new yaml.LineCounter();
    this.#document = yaml.parseDocument(source, {
      lineCounter: this.#lines,
      prettyErrors: false,
      // Rejects custom tags of other programs.
      customTags: [],
      schema: "core",
      // Disabled, because the library compares each key with all previous keys. This reader checks uniqueness itself.
      uniqueKeys: false,
    });
  }

  read(): ParsedYaml {
    const errors = [...this.#document.errors, ...this.#document.warnings];
    if (errors.length > 0)
      throw new InvalidFiles(
        dropRepeats(errors).map(({ pos, code, message }) => ({
          position: this.#findPosition(pos[0]),
          message: plainReasons[code] ?? getFirstLine(message),
        })),
      );
    const value = this.#valueOf(this.#document.contents, [], this.#findPosition(0));
    return { value, positions: this.#positions, positionsOfMaps: this.#positionsOfMaps };
  }

  #findPosition(offset: number): SourcePosition {
    const { line, col } = this.#lines.linePos(Math.min(offset, this.#source.length));
    return { file: this.#file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  #findNodePosition(node: RangedNode | null): SourcePosition {
    return this.#findPosition(node?.range?.[0] ?? 0);
  }

  #failAt(node: RangedNode, message: string): never {
    throw new InvalidFiles([{ position: this.#findNodePosition(node), message }]);
  }

  #valueOf(node: Node | null, keys: readonly PropertyKey[], at: SourcePosition): unknown {
    if (node === null) return null;
    const path = this.#hasPaths ? formatFieldPath(keys) : "";
    if (this.#hasPaths && !this.#positions.has(path)) this.#positions.set(path, at);
    if (this.#valuesLeft-- <= 0) this.#failAt(node, "aliases expand to too many values");
    if (keys.length > maxDepth) this.#failAt(node, `is nested deeper than ${maxDepth} levels`);
    if (this.#yaml.isAlias(node)) return this.#valueOf(this.#targetOf(node), keys, at);
    if ("anchor" in node && typeof node.anchor === "string") this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    try {
      return this.#contentOf(node, keys, path);
    } finally {
      this.#open.delete(node);
    }
  }

  #contentOf(node: Node, keys: readonly PropertyKey[], path: string): unknown {
    const { isMap, isScalar, isSeq } = this.#yaml;
    if (isMap(node)) return this.#mapOf(node, keys);
    if (isSeq(node))
      return (node.items as (Node | null)[]).map((item, index) =>
        this.#valueOf(item, [...keys, index], this.#findNodePosition(item)),
      );
    if (isScalar(node))
      return this.#readScalar(node, path, (message) => this.#failAt(node, message));
    return this.#failAt(node, "is not a value of a configuration");
  }

  #targetOf(alias: Alias): Node {
    const target = this.#anchors.get(alias.source);
    if (target === undefined) return this.#failAt(alias, `there is no &${alias.source} above`);
    return this.#open.has(target) ? this.#failAt(alias, "contains itself") : target;
  }

  #mapOf(map: YAMLMap, keys: readonly PropertyKey[]): Record<string, unknown> {
    const mapping = Object.create(null) as Record<string, unknown>;
    const merged: Record<string, unknown>[] = [];
    const names = new Set<string>();
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      if (!this.#yaml.isScalar(key) || !["string", "number", "boolean"].includes(typeof key.value))
        return this.#failAt(key ?? map, "must be a name");
      const name = String(key.source ?? key.value);
      if (names.has(name)) return this.#failAt(key, "this key is there twice");
      names.add(name);
      const at = this.#findNodePosition(key);
      if (name === "<<" && key.type === "PLAIN")
        merged.push(...this.#resolveMerged(value, keys, at));
      else mapping[name] = this.#valueOf(value, [...keys, name], at);
    }
    const all: Record<string, unknown> = {};
    for (const one of [...merged.toReversed(), mapping])
      for (const [name, value] of Object.entries(one)) setOwn(all, name, value);
    this.#positionsOfMaps.set(all, this.#findNodePosition(map));
    return all;
  }

  /** Resolves the maps that `<<` merges (https://yaml.org/type/merge.html). The first map with a key wins. */
  #resolveMerged(node: Node | null, keys: readonly PropertyKey[], at: SourcePosition) {
    const maps = this.#yaml.isSeq(node) ? (node.items as Node[]) : [node];
    return maps.map((map) => {
      const value = this.#valueOf(map, keys, at);
      if (typeof value !== "object" || value === null || Array.isArray(value))
        this.#failAt(map ?? this.#document, "must be a map that is merged into this one");
      return value as Record<string, unknown>;
    });
  }
}

type RangedNode = { range?: readonly number[] | null | undefined };

const getFirstLine = (message: string) => message.split("\n")[0] ?? message;

/** Returns the position of the value at a path, or of the nearest value that contains it. */
export function findPosition(
  positions: ReadonlyMap<string, SourcePosition>,
  path: string,
): SourcePosition | null {
  for (let remainingPath = path; ;) {
    const found = positions.get(remainingPath);
    if (found !== undefined) return found;
    if (remainingPath === "") return null;
    remainingPath = remainingPath.slice(
      0,
      Math.max(remainingPath.lastIndexOf("."), remainingPath.lastIndexOf("["), 0),
    );
  }
}
