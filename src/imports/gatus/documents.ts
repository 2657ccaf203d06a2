import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { importBounds } from "../../core/limits.ts";
import { invalid } from "../../core/validation.ts";
import { unreadable } from "../limits.ts";
import { type Fields, isObject } from "../../core/objects.ts";

const maxBytes = importBounds.yaml.value;
/** Values of a document, aliases counted as often as they stand for something. */
const maxValues = 200_000;
const maxDepth = 50;

export type Variables = Readonly<Record<string, string | undefined>>;

/** What a Gatus says of itself in its file, or in all YAML files of its folder. */
export async function gatusConfig(from: string, variables: Variables): Promise<Fields> {
  const found = await stat(from).catch(() => null);
  if (found === null) throw invalid("source", `is not a file or folder here: ${from}`);
  const files = found.isDirectory()
    ? (await readdir(from))
        .filter((name) => /\.ya?ml$/i.test(name))
        .sort()
        .map((name) => join(from, name))
    : [from];
  let config: Fields = {};
  for (const file of files) config = merged(config, await documentOf(file, variables));
  if (!Array.isArray(config["endpoints"]) && !Array.isArray(config["external-endpoints"]))
    throw unreadable(from, "it names no endpoints: it is not a configuration of Gatus.");
  return config;
}

async function documentOf(file: string, variables: Variables): Promise<Fields> {
  const { size } = await stat(file);
  if (size > maxBytes) throw unreadable(file, `it has ${size} bytes.`);
  const source = expanded(await readFile(file, "utf8"), variables);
  if (isTooDeep(source)) throw unreadable(file, "it holds too much, or is nested too deep.");
  let document: unknown;
  try {
    document = Bun.YAML.parse(source);
  } catch (error) {
    throw unreadable(file, `it is not YAML (${(error as Error).message}).`);
  }
  if (!isBounded(document)) throw unreadable(file, "it holds too much, or is nested too deep.");
  if (!isObject(document)) throw unreadable(file, "it is not a configuration of Gatus.");
  return document;
}

/** `$NAME` and `${NAME}` as Gatus has them; `$$` stands for itself. */
function expanded(source: string, variables: Variables): string {
  return source.replace(
    /\$(\$|\{(\w+)\}|([A-Za-z_]\w*))/g,
    (_all, what: string, braced?: string, plain?: string) =>
      what === "$" ? "$" : (variables[braced ?? plain ?? ""] ?? ""),
  );
}

/** Looked for before the parser sees it, which calls itself for each level. */
function isTooDeep(source: string): boolean {
  let [depth, deepest] = [0, 0];
  for (const character of source)
    if (character === "[" || character === "{") deepest = Math.max(deepest, ++depth);
    else if (character === "]" || character === "}") depth = Math.max(0, depth - 1);
  return deepest > 10 * maxDepth || /(?:[-?:][ \t]+){50}/.test(source) || /^ {1000}/m.test(source);
}

/** Aliases may make a small file stand for billions of values, or for itself. */
function isBounded(document: unknown): boolean {
  let left = maxValues;
  const isFine = (value: unknown, depth: number): boolean => {
    if (left-- <= 0 || depth > maxDepth) return false;
    if (typeof value !== "object" || value === null) return true;
    return Object.values(value).every((inner) => isFine(inner, depth + 1));
  };
  return isFine(document, 0);
}

/** Objects are merged, lists appended, as Gatus does with several files. */
function merged(one: Fields, other: Fields): Fields {
  const result = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const known = result[name];
    if (isObject(known) && isObject(value)) result[name] = merged(known, value);
    else if (Array.isArray(known) && Array.isArray(value)) result[name] = [...known, ...value];
    else result[name] = value;
  }
  return result;
}
