/** Reads configuration files, merges those of the same source and locates errors in them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../../core/errors.ts";
import { explainUnreadable } from "../../core/system/system-errors.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { configSections } from "../schema.ts";
import { expandVariables, isOneVariable, type Variables } from "./variables.ts";
import {
  type FileIssue,
  InvalidFiles,
  parseYaml,
  type SourcePosition,
  findPosition,
  createScalarReader,
} from "../../core/text/yaml.ts";
import { type Fields, isObject, setOwn } from "../../core/collections/objects.ts";

const sectionNames: readonly string[] = configSections;
const maxBytes = 8 * 1024 * 1024;

/** The merged files of one source. */
type ConfigFiles = {
  organization: string | null;
  /** Document for the REST API, with all variables expanded. */
  document: Fields;
  /** Adds file positions to validation errors. Returns other errors unchanged. */
  located: (error: unknown) => unknown;
};

/**
 * Reads a configuration file, or all YAML files of a folder. Throws InvalidFiles, and
 * VALIDATION_ERROR if there are no files.
 */
export async function readConfigurations(
  from: string,
  variables: Variables,
): Promise<ConfigFiles[]> {
  const files = listFiles(from);
  const all = new Map<string, MergedFiles>();
  for (const file of files) {
    const fileConfigurations = await readOne(file, variables);
    if (fileConfigurations === null) continue;
    const { source = "main", organization = null } = fileConfigurations.value;
    const id = JSON.stringify([source, organization]);
    const known = all.get(id);
    if (known === undefined) all.set(id, fileConfigurations);
    else mergeFile(known, fileConfigurations);
  }
  if (all.size === 0)
    throw invalidFieldError(
      `The configuration ${from}`,
      "is empty: it has no YAML file with a section",
    );
  return [...all.values()].map(({ value, positions }) => ({
    organization: typeof value["organization"] === "string" ? value["organization"] : null,
    document: value,
    located: (error) =>
      error instanceof AppError && error.details !== undefined
        ? new InvalidFiles(
            error.details.map(({ path, message }) => ({
              position: findPosition(positions, path) ?? getFirstPosition(positions),
              message: `${path} ${message}`,
            })),
          )
        : error,
  }));
}

type MergedFiles = { value: Fields; positions: Map<string, SourcePosition> };

const getFirstPosition = (positions: ReadonlyMap<string, SourcePosition>): SourcePosition =>
  positions.values().next().value ?? { file: "", line: 1, column: 1 };

function listFiles(from: string): string[] {
  const found = statSync(from, { throwIfNoEntry: false });
  if (found === undefined) throw invalidFieldError(`The configuration ${from}`, "does not exist");
  if (!found.isDirectory()) return [from];
  return readdirSync(from)
    .filter((name) => /\.ya?ml$/i.test(name))
    .sort()
    .map((name) => join(from, name))
    .filter((file) => statSync(file).isFile());
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function readText(file: string): string {
  const start: SourcePosition = { file, line: 1, column: 1 };
  const { size } = statSync(file);
  if (size > maxBytes)
    throw new InvalidFiles([
      { position: start, message: `has ${size} bytes: at most ${maxBytes} are read` },
    ]);
  try {
    return utf8.decode(readFileSync(file));
  } catch (error) {
    throw new InvalidFiles([
      { position: start, message: `can't be read: ${explainUnreadable(error, file)}` },
    ]);
  }
}

/** Reads one file and expands its variables; null for an empty file. */
async function readOne(file: string, variables: Variables): Promise<MergedFiles | null> {
  const readFile = (path: string) => utf8.decode(readFileSync(resolve(dirname(file), path)));
  /** Paths of values that consist of a single variable. */
  const single: string[] = [];
  const scalar = createScalarReader((text, path, fail) => {
    if (isOneVariable(text)) single.push(path);
    return expandVariables(text, { variables, readFile }, fail);
  });
  const text = readText(file);
  if (/\.json$/i.test(file)) assertJson(file, text);
  const { value, positions } = await parseYaml(file, text, scalar);
  if (value === null) return null;
  if (!isObject(value))
    throw new InvalidFiles([
      { position: getFirstPosition(positions), message: "must be a map of sections" },
    ]);
  const other = recognizeOtherProgram(value);
  if (other !== null)
    throw new InvalidFiles([{ position: getFirstPosition(positions), message: other }]);
  if (single.length > 0) {
    // Loaded on demand because it contains the schemas of all fields.
    const { convertVariable: convert } = await import("./convert.ts");
    for (const path of single) convert(value, path);
  }
  return { value, positions };
}

/** Rejects a comma before a closing bracket, which YAML allows and JSON does not. */
function assertJson(file: string, text: string) {
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g);
  const comma = tokens.find(([token]) => token === ",");
  if (comma === undefined) return;
  const before = text.slice(0, comma.index).split("\n");
  const position = { file, line: before.length, column: (before.at(-1) ?? "").length + 1 };
  throw new InvalidFiles([
    { position, message: "is a comma before a closing bracket: JSON allows none" },
  ]);
}

/** Identifies files of other programs by their top-level keys. Returns the end of an error sentence, or null. */
function recognizeOtherProgram(value: Fields): string | null {
  if (Object.hasOwn(value, "endpoints") || Object.hasOwn(value, "external-endpoints"))
    return "is a configuration of Gatus: `signalbox import gatus FILE --org SLUG` imports it";
  if (Object.hasOwn(value, "services"))
    return "is a compose file, not a configuration of Signalbox";
  return null;
}

/** Merges another file of the same source. */
function mergeFile(all: MergedFiles, { value, positions }: MergedFiles) {
  const issues: FileIssue[] = [];
  const mergeFields = (to: Fields, from: Fields, path: string) => {
    for (const [name, nextValue] of Object.entries(from)) {
      const at = path === "" ? name : `${path}.${name}`;
      const known = Object.hasOwn(to, name) ? to[name] : undefined;
      const isHolder =
        path === "defaults" ||
        (path === "" && (name === "defaults" || sectionNames.includes(name)));
      if (known === undefined) setOwn(to, name, nextValue);
      else if (isHolder && isObject(known) && isObject(nextValue))
        mergeFields(known, nextValue, at);
      else if (path !== "" || known !== nextValue)
        issues.push({
          position: findPosition(positions, at) ?? getFirstPosition(positions),
          message: `${at} is in another file, too`,
        });
    }
  };
  mergeFields(all.value, value, "");
  if (issues.length > 0) throw new InvalidFiles(issues.slice(0, 20));
  for (const [path, position] of positions)
    if (!all.positions.has(path)) all.positions.set(path, position);
}
