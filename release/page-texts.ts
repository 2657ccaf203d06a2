/**
 * Translates the admin page during its build: replaces the calls of `t`, `tNode` and `tCount` with
 * texts in one language.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { placeholders } from "../src/core/text/texts.ts";

/** A text, or its forms for one and for other numbers. */
type Translation = string | { one: string; other: string };
/** Translations by English text. The key of a text with forms is the English `other` form. */
export type Texts = Record<string, Translation>;
/** Finds the translation of an English text that a file contains. */
export type FindText = (text: string, path: string) => Translation | undefined;

/** Folder of the dictionaries: one folder per language, with one file per part of the page. */
export const dictionaryFolder = join(import.meta.dir, "..", "web", "language");

/** The dictionary that a file uses first. The others are in `common.json`. */
export const selectPart = (path: string): string =>
  /web[\\/]pages[\\/]([\w-]+)[\\/]/.exec(path)?.[1] ?? "common";

/** Reads the dictionaries of a language. English texts need none. */
export async function loadDictionary(language: string): Promise<FindText> {
  if (language === "en") return () => undefined;
  const folder = join(dictionaryFolder, language);
  const parts: Record<string, Texts | undefined> = {};
  for (const name of await readdir(folder))
    parts[name.replace(".json", "")] = await Bun.file(join(folder, name)).json();
  return (text, path) => parts[selectPart(path)]?.[text] ?? parts["common"]?.[text];
}

const importsTexts = /\/(texts|plain-texts|language\/text)\.ts"/;
const functions = new Set(["t", "tNode", "tCount"]);

/** A call that the build replaces, with its English text. */
type TextCall = { kind: string; texts: string[]; node: ts.CallExpression };

export function parseFile(path: string, source: string): ts.SourceFile {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, kind);
}

/** Returns the calls of the text functions, in order. Throws for a text that is not a literal. */
export function listTextCalls(file: ts.SourceFile): TextCall[] {
  const calls: TextCall[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const kind = node.expression.text;
      if (functions.has(kind)) calls.push({ kind, node, texts: readTexts(node, file) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return calls;
}

function readTexts(call: ts.CallExpression, file: ts.SourceFile): string[] {
  const isCount = call.expression.getText() === "tCount";
  const args = isCount ? call.arguments.slice(1, 3) : call.arguments.slice(0, 1);
  return args.map((argument) => {
    if (ts.isStringLiteralLike(argument)) return argument.text;
    const { line } = file.getLineAndCharacterOfPosition(argument.pos);
    throw new Error(`${file.fileName}:${line + 1}: The text of a translation must be a literal.`);
  });
}

/** Returns the source of a file with its texts in a language. */
export function translateSource(path: string, source: string, find: FindText): string {
  if (!importsTexts.test(source)) return source;
  const file = parseFile(path, source);
  const findHere = (text: string) => find(text, path);
  const write = (node: ts.Node): string => {
    const own = translateNode(node, findHere, write);
    if (own !== null) return own;
    const edits: { from: number; to: number; text: string }[] = [];
    const visit = (child: ts.Node) => {
      const text = translateNode(child, findHere, write);
      if (text === null) ts.forEachChild(child, visit);
      else edits.push({ from: child.getStart(file), to: child.end, text });
    };
    ts.forEachChild(node, visit);
    let result = "";
    let at = node.getStart(file);
    for (const { from, to, text } of edits) {
      result += source.slice(at, from) + text;
      at = to;
    }
    return result + source.slice(at, node.end);
  };
  return write(file);
}

type Find = (text: string) => Translation | undefined;
type Write = (node: ts.Node) => string;

/** Returns the new source of a node that is a text; null for all other nodes. */
function translateNode(node: ts.Node, find: Find, write: Write): string | null {
  // In JSX, a text is not a fragment of its own, but further children of the element.
  const isChild =
    ts.isJsxExpression(node) && (ts.isJsxElement(node.parent) || ts.isJsxFragment(node.parent));
  const call = isChild ? node.expression : node;
  if (call === undefined || !ts.isCallExpression(call) || !ts.isIdentifier(call.expression))
    return null;
  const kind = call.expression.text;
  if (isChild && kind !== "tNode") return null;
  if (!functions.has(kind)) return null;
  const [first = "", other = first] = readTexts(call, call.getSourceFile());
  const found = find(other) ?? (kind === "tCount" ? { one: first, other } : first);
  if (kind === "tCount") return writeCount(call, found, write);
  if (typeof found !== "string") throw new Error(`“${first}” has no plural forms.`);
  const values = readValues(call.arguments[1], write);
  const parts = found.split(placeholders).map((part, index) => {
    if (index % 2 === 0) return { text: part };
    const value = values.get(part);
    if (value === undefined) throw new Error(`“${found}” has a placeholder without a value.`);
    return { value };
  });
  if (kind === "t") return writeTemplate(parts);
  const children = parts
    .filter(({ text }) => text !== "")
    .map(({ text, value }) => `{${value ?? JSON.stringify(text)}}`)
    .join("");
  return isChild ? children : `<>${children}</>`;
}

/** Returns the source of each value by its placeholder. */
function readValues(node: ts.Expression | undefined, write: Write): Map<string, string> {
  const values = new Map<string, string>();
  if (node === undefined) return values;
  if (!ts.isObjectLiteralExpression(node)) throw new Error("Values must be an object literal.");
  for (const property of node.properties) {
    if (ts.isShorthandPropertyAssignment(property))
      values.set(property.name.text, property.name.text);
    else if (ts.isPropertyAssignment(property) && ts.isIdentifier(property.name))
      values.set(property.name.text, write(property.initializer));
    else throw new Error("A value must be a plain property.");
  }
  return values;
}

/** Returns the source of a count, whose form is selected in the page. */
function writeCount(call: ts.CallExpression, found: Translation, write: Write): string {
  const [count, , , values] = call.arguments;
  if (count === undefined || typeof found === "string")
    throw new Error(`${call.getText()} needs a number, and two forms in each language.`);
  const forms = [found.one, found.other].map((form) => JSON.stringify(form));
  const args = [write(count), ...forms, ...(values === undefined ? [] : [write(values)])];
  return `tCount(${args.join(", ")})`;
}

const writeTemplate = (parts: readonly { text?: string; value?: string }[]) =>
  parts.every(({ value }) => value === undefined)
    ? JSON.stringify(parts.map(({ text }) => text).join(""))
    : `\`${parts
        .map(({ text, value }) =>
          value === undefined ? escapeTemplate(text ?? "") : `\${${value}}`,
        )
        .join("")}\``;

const escapeTemplate = (text: string) => text.replace(/[\\`]|\$\{/g, (found) => `\\${found}`);
