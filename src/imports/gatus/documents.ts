/** Reads a Gatus configuration from a file or folder. Expands variables and merges files as Gatus does. */
import { readdir, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import type { Scalar } from "yaml";
import { AppError } from "../../core/errors.ts";
import { importBounds } from "../../core/limits.ts";
import { type Fields, isObject, setOwn } from "../../core/collections/objects.ts";
import { formatBytes, excerptText } from "../../core/text/formatting.ts";
import { invalidFieldError } from "../../core/validation.ts";
import {
  InvalidFiles,
  type ParsedYaml,
  parseYaml,
  type SourcePosition,
} from "../../core/text/yaml.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import { createUnreadableError } from "../limits.ts";
import { readTextFile } from "../text-file.ts";

const { yaml, yamlPerFolder, filesPerFolder, folderNesting } = importBounds;
const maxDepth = 50;
const yamlOptions = { maxValues: 200_000, hasPaths: false };

export type Variables = Readonly<Record<string, string | undefined>>;

export type Configuration = {
  config: Fields;
  /** Position of a map in its file, such as `config.yaml:12:5`; null if unknown. */
  placeOf: (map: object) => string | null;
  /** Unset variables that the configuration uses, sorted. */
  unsetVariables: string[];
};

/**
 * Reads and merges the configuration. Throws VALIDATION_ERROR if `from` does not exist, and
 * BAD_REQUEST for files that Gatus would reject.
 */
export async function readConfiguration(
  from: string,
  variables: Variables,
  name: string = basename(from),
): Promise<Configuration> {
  const found = await stat(from).catch(() => null);
  if (found === null) throw invalidFieldError("source", `is not a file or folder here: ${from}`);
  const files = found.isDirectory() ? await listYamlFiles(from) : [from];
  const mapPositions = new WeakMap<object, SourcePosition>();
  const unset = new Set<string>();
  let config: Fields = {};
  let bytes = 0;
  for (const file of files) {
    const shownName = found.isDirectory() ? relative(from, file) : name;
    const { size } = await stat(file);
    bytes += size;
    if (size > yaml.value || bytes > yamlPerFolder.value)
      throw createUnreadableError(
        shownName,
        size > yaml.value
          ? `it has ${formatBytes(size)}, and at most ${formatBytes(yaml.value)} are read.`
          : `with it the folder has more than ${formatBytes(yamlPerFolder.value)}.`,
      );
    const source = await readTextFile(file, shownName);
    const document = await readDocument(shownName, source, variables, unset, mapPositions);
    config = mergeDocuments(config, document, "", shownName);
    await yieldToEventLoop();
  }
  assertGatus(config, name);
  const formatPosition = ({ file, line, column }: SourcePosition) => `${file}:${line}:${column}`;
  return {
    config,
    placeOf: (map) => {
      const position = mapPositions.get(map);
      return position === undefined ? null : formatPosition(position);
    },
    unsetVariables: [...unset].sort(),
  };
}

/**
 * Lists all YAML files of the folder in lexical order. Skips paths with `..`, which Kubernetes mounts contain, and
 * linked folders.
 */
async function listYamlFiles(from: string): Promise<string[]> {
  const files: string[] = [];
  const walk = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      if (entry.name.includes("..")) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth >= folderNesting.value)
          throw createUnreadableError(from, `its folders are nested deeper than ${depth} levels.`);
        await walk(path, depth + 1);
        continue;
      }
      if (!/\.ya?ml$/i.test(entry.name)) continue;
      const target = await stat(path).catch(() => null);
      if (target?.isFile() === true) files.push(path);
      if (files.length > filesPerFolder.value)
        throw createUnreadableError(from, `it has more than ${filesPerFolder.value} files.`);
    }
  };
  await walk(from, 1);
  return files;
}

async function readDocument(
  name: string,
  source: string,
  variables: Variables,
  unset: Set<string>,
  positions: WeakMap<object, SourcePosition>,
): Promise<Fields> {
  if (isTooDeep(source))
    throw createUnreadableError(name, "it holds too much, or is nested too deep.");
  const { value, positionsOfMaps, names } = await parseExpanded(name, source, variables);
  for (const one of names) unset.add(excerptText(one));
  if (value === null) return {};
  if (!isObject(value)) throw createUnreadableError(name, "it is not a configuration of Gatus.");
  const copyPositions = (inner: unknown): void => {
    if (typeof inner !== "object" || inner === null) return;
    const position = positionsOfMaps.get(inner);
    if (position !== undefined) positions.set(inner, position);
    for (const one of Object.values(inner)) copyPositions(one);
  };
  copyPositions(value);
  return value;
}

type ExpandedDocument = ParsedYaml & { names: ReadonlySet<string> };

/**
 * Parses a file with variables expanded; unset ones expand to nothing. Markers replace them during
 * parsing, so that variables in comments are not reported. A file that does not parse with markers
 * is parsed without them. An example is a variable on a separate line.
 */
async function parseExpanded(
  name: string,
  source: string,
  variables: Variables,
): Promise<ExpandedDocument> {
  const listedVariables: string[] = [];
  const marked = expandVariables(source, variables, (one) => {
    listedVariables.push(one);
    return `\u{e000}${listedVariables.length - 1}\u{e001}`;
  });
  const isMarkable = listedVariables.length > 0 && !/[\u{e000}\u{e001}]/u.test(source);
  if (isMarkable)
    try {
      const names = new Set<string>();
      const stripMarkers = (text: string) =>
        text.replace(/\u{e000}(\d+)\u{e001}/gu, (_marker, index: string) => {
          names.add(listedVariables[Number(index)] ?? "");
          return "";
        });
      const parsed = await parseYaml(
        name,
        marked,
        (scalar) => originalTextOf(scalar, stripMarkers),
        yamlOptions,
      );
      return { ...parsed, names };
    } catch (error) {
      if (!(error instanceof InvalidFiles)) throw error;
    }
  try {
    const expanded = expandVariables(source, variables, () => "");
    const parsed = await parseYaml(
      name,
      expanded,
      (scalar) => originalTextOf(scalar, (text) => text),
      yamlOptions,
    );
    return { ...parsed, names: new Set(listedVariables) };
  } catch (error) {
    throw error instanceof InvalidFiles ? createRejection(name, source, error) : error;
  }
}

/**
 * Returns a scalar as its original text, because Gatus interprets it by the field's type. For example, `password:
 * 0123` has four digits and `enabled: no` is a boolean.
 */
function originalTextOf({ source, type }: Scalar, strip: (text: string) => string): string | null {
  const text = strip(source ?? "").toWellFormed();
  const isNull = type === "PLAIN" && /^(?:|~|null|Null|NULL)$/.test(text);
  return isNull ? null : text;
}

function createRejection(name: string, source: string, { issues }: InvalidFiles): AppError {
  const [issue] = issues;
  const at =
    issue === undefined
      ? ""
      : `${issue.position.file}:${issue.position.line}:${issue.position.column}: `;
  const message = issue?.message ?? "";
  if (/stand for too much|nested deeper/.test(message))
    return createUnreadableError(
      name,
      `it holds too much, or is nested too deep (${at.slice(0, -2)}).`,
    );
  if (/\{\{-?\s*[.$\w(]/.test(source))
    return createUnreadableError(
      name,
      `it is a template (${at}${message}). Render it first, such as with helm template.`,
    );
  if (/several documents/.test(message))
    return createUnreadableError(
      name,
      "it has several YAML documents (---). Gatus reads only the first.",
    );
  if (message.includes("is there twice")) return createUnreadableError(name, `${at}${message}.`);
  return createUnreadableError(name, `it is not YAML (${at}${message}).`);
}

const variablePattern =
  /\$\$|\$\{([*#$@!?0-9-])\}|\$\{\}|\$\{([^}]+)\}|\$\{|\$([*#$@!?0-9-])|\$([A-Za-z_]\w*)/g;

/**
 * Implements Go's os.ExpandEnv: `$NAME` and `${NAME}`; names in braces can contain any characters. `$$` is a dollar
 * sign.
 */
function expandVariables(
  source: string,
  variables: Variables,
  unset: (name: string) => string,
): string {
  return source.replace(variablePattern, (all, ...groups: (string | undefined)[]) => {
    if (all === "$$") return "$";
    const name = groups.slice(0, 4).find((group) => group !== undefined);
    if (name === undefined) return "";
    return variables[name] ?? unset(name);
  });
}

/** Whether a file can be nested too deeply for the recursive parser. Checked before parsing. */
function isTooDeep(source: string): boolean {
  let [depth, deepest] = [0, 0];
  for (const character of source)
    if (character === "[" || character === "{") deepest = Math.max(deepest, ++depth);
    else if (character === "]" || character === "}") depth = Math.max(0, depth - 1);
  return deepest > 10 * maxDepth || /(?:[-?:][ \t]+){50}/.test(source) || /^ {1000}/m.test(source);
}

/** Merges maps and appends lists. Like Gatus, rejects any other key that two files define. */
function mergeDocuments(one: Fields, other: Fields, path: string, file: string): Fields {
  const result = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const known = Object.hasOwn(result, name) ? result[name] : undefined;
    const at = path === "" ? name : `${path}.${name}`;
    if (isObject(known) && isObject(value))
      setOwn(result, name, mergeDocuments(known, value, at, file));
    else if (Array.isArray(known) && Array.isArray(value))
      setOwn(result, name, [...known, ...value]);
    else if (known === undefined) setOwn(result, name, value);
    else
      throw createUnreadableError(
        file,
        `another file has ${at} too. Gatus merges only maps and lists.`,
      );
  }
  return result;
}

function assertGatus(config: Fields, name: string) {
  const { kind, apiVersion, data } = config;
  if (typeof kind === "string" && typeof apiVersion === "string") {
    const files = isObject(data) ? Object.keys(data).join(", ") : "";
    throw createUnreadableError(
      name,
      kind === "ConfigMap"
        ? `it is a Kubernetes ConfigMap. Save the text under data (${excerptText(files)}) as a file and import that.`
        : `it is a Kubernetes ${excerptText(kind)}, not a configuration of Gatus.`,
    );
  }
  if (isObject(config["sops"]))
    throw createUnreadableError(
      name,
      "it is encrypted with SOPS. Decrypt it first, such as with sops decrypt.",
    );
  const lists = ["endpoints", "external-endpoints", "suites"];
  if (!lists.some((key) => Array.isArray(config[key])))
    throw createUnreadableError(name, "it names no endpoints: it is not a configuration of Gatus.");
}
