/** Renders Markdown as HTML and as plain text. */
import type { Node } from "commonmark";
import { normalizeLineBreaks } from "./formatting.ts";

/** A piece of text in one style. */
export type Run = {
  kind: "text";
  text: string;
  bold: boolean;
  italic: boolean;
  code: boolean;
};
type Link = { kind: "link"; url: string; runs: Run[] };
export type Inline = Run | Link | { kind: "break" };
export type Block =
  | { kind: "paragraph"; content: Inline[] }
  | { kind: "code"; text: string }
  /** `start` is the first number; null for a bulleted list. */
  | { kind: "list"; start: number | null; items: Block[][] };

/** Length up to which texts are formatted. Longer texts, and texts that are slow to parse, are shown unformatted. */
const maxLength = 10_000;
const maxLines = 1_000;
const maxDepth = 16;
/** Matches characters after which the parser can scan the rest of the text. */
const openers = /\]\(|</g;
const maxWork = 4_000_000;
/** Maximum depth of nested lists. Deeper ones become paragraphs. */
const maxListDepth = 5;
const maxUrlLength = 2_000;

/** Matches characters that can be markup or start a block. */
const markup = /[\\`*_[\]<>&]|^[ \t]|^[-+=#~]|^\d+[.)]/m;
/** Matches the prefix of a line that opens quotes and lists. */
const containers = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))+/gm;
const container = />|[-+*]|\d+[.)]/g;

// Loads the library on first use, because loading takes 10 ms.
const loadLibrary = () => require("commonmark") as typeof import("commonmark");
let parser: InstanceType<ReturnType<typeof loadLibrary>["Parser"]> | null = null;

/**
 * Parses a subset of CommonMark (https://spec.commonmark.org/0.31.2/): bold, italic, code, lists, links, and line
 * breaks as typed. Headings become bold paragraphs, quotes become paragraphs, images become links, and HTML becomes
 * text. Tasks (`- [ ]`) start with a box.
 */
export function parseMarkdown(typed: string): Block[] {
  const text = normalizeLineBreaks(typed);
  if (!markup.test(text) || isTooMuch(text)) return parsePlainText(text);
  parser ??= new (loadLibrary().Parser)();
  return collectBlocks(parser.parse(text), 0);
}

/** Splits a text without Markdown into paragraphs and lines. */
export function parsePlainText(text: string): Block[] {
  return normalizeLineBreaks(text)
    .split(/\n[ \t]*(?:\n[ \t]*)+/)
    .map((lines) => lines.split("\n").map(trimTrailingSpaces).join("\n").trim())
    .filter((lines) => lines !== "")
    .map((lines) => ({ kind: "paragraph", content: joinAndLinkInlines([createRun(lines)]) }));
}

/** Removes spaces at the end of a line, like CommonMark. A regular expression would backtrack over long runs. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end--;
  return line.slice(0, end);
}

function isTooMuch(text: string): boolean {
  if (text.length > maxLength || text.split("\n").length > maxLines) return true;
  if ((text.match(openers)?.length ?? 0) * text.length > maxWork) return true;
  const deep = text.match(containers) ?? [];
  return deep.some((line) => (line.match(container)?.length ?? 0) > maxDepth);
}

type Style = Pick<Run, "bold" | "italic" | "code">;
const plainStyle: Style = { bold: false, italic: false, code: false };

const createRun = (text: string, style = plainStyle): Run => ({ ...style, kind: "text", text });

function collectBlocks(parent: Node, depth: number): Block[] {
  const blocks: Block[] = [];
  for (let node = parent.firstChild; node !== null; node = node.next) addBlock(blocks, node, depth);
  return blocks;
}

function addBlock(blocks: Block[], node: Node, depth: number) {
  switch (node.type) {
    case "paragraph":
      blocks.push({ kind: "paragraph", content: collectContent(node, plainStyle) });
      break;
    case "heading":
      blocks.push({
        kind: "paragraph",
        content: collectContent(node, { ...plainStyle, bold: true }),
      });
      break;
    case "code_block":
      blocks.push({ kind: "code", text: (node.literal ?? "").replace(/\n$/, "") });
      break;
    case "html_block":
      blocks.push(...parsePlainText(node.literal ?? ""));
      break;
    case "block_quote":
      blocks.push(...collectBlocks(node, depth));
      break;
    case "list": {
      const items: Block[][] = [];
      for (let item = node.firstChild; item !== null; item = item.next)
        items.push(markTask(collectBlocks(item, depth + 1)));
      const start = node.listType === "ordered" ? node.listStart : null;
      if (depth < maxListDepth) blocks.push({ kind: "list", start, items });
      else blocks.push(...items.flat());
    }
  }
}

const taskStart = /^\[([ xX])\](?=\s|$)/;

/** Shows the box of a task, `- [ ]` or `- [x]`, as a character. */
function markTask(item: Block[]): Block[] {
  const [first] = item;
  const start = first?.kind === "paragraph" ? first.content[0] : undefined;
  if (start?.kind === "text" && !start.code)
    start.text = start.text.replace(taskStart, (_, mark) => (mark === " " ? "☐" : "☑"));
  return item;
}

function collectContent(block: Node, style: Style): Inline[] {
  const content: Inline[] = [];
  collectInlines(block, style, false, content);
  return joinAndLinkInlines(content);
}

/** Flattens the inline tree of a block into runs, links and breaks. */
function collectInlines(parent: Node, style: Style, isInLink: boolean, into: Inline[]) {
  for (let node = parent.firstChild; node !== null; node = node.next)
    switch (node.type) {
      case "strong":
        collectInlines(node, { ...style, bold: true }, isInLink, into);
        break;
      case "emph":
        collectInlines(node, { ...style, italic: true }, isInLink, into);
        break;
      case "link":
      case "image":
        if (isInLink) collectInlines(node, style, true, into);
        else addLink(node, style, into);
        break;
      case "softbreak":
      case "linebreak":
        into.push(isInLink ? createRun(" ", style) : { kind: "break" });
        break;
      case "code":
        into.push(createRun(node.literal ?? "", { ...style, code: true }));
        break;
      default:
        into.push(createRun(node.literal ?? "", style));
    }
}

/** Renders links with a disallowed scheme as text with their URL. */
function addLink(node: Node, style: Style, into: Inline[]) {
  const destination = node.destination ?? "";
  const url = sanitizeUrl(destination);
  const content: Inline[] = [];
  collectInlines(node, style, true, content);
  const runs = joinRuns(content).filter((one) => one.kind === "text");
  const words = joinText(runs);
  if (url !== null)
    into.push({ kind: "link", url, runs: words.trim() === "" ? [createRun(url, style)] : runs });
  else {
    into.push(...runs);
    if (destination !== "" && destination !== words)
      into.push(createRun(` (${destination})`, style));
  }
}

/** Normalizes a web or mail URL; null for any other URL. */
function sanitizeUrl(written: string): string | null {
  const url = written.length > maxUrlLength ? null : URL.parse(written);
  if (url === null || url.username !== "" || url.password !== "") return null;
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}

/** Joins adjacent runs of the same style, and converts plain URLs to links. */
function joinAndLinkInlines(content: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  for (const one of joinRuns(content))
    if (one.kind === "text" && !one.code) addLines(result, one);
    else result.push(one);
  return result;
}

function joinRuns(content: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  for (const one of content) {
    const last = result.at(-1);
    if (one.kind !== "text") result.push(one);
    else if (last?.kind === "text" && isSameStyle(one, last)) last.text += one.text;
    else if (one.text !== "") result.push(createRun(one.text, one));
  }
  return result;
}

const isSameStyle = (a: Style, b: Style) =>
  a.bold === b.bold && a.italic === b.italic && a.code === b.code;

const addressPattern = /\bhttps?:\/\/[^\s<>"“”«»]+/gi;

function addLines(into: Inline[], { text, ...style }: Run) {
  for (const [index, line] of text.split("\n").entries()) {
    if (index > 0) into.push({ kind: "break" });
    let end = 0;
    for (const { 0: found, index: start } of line.includes("://")
      ? line.matchAll(addressPattern)
      : []) {
      const linkText = trimPunctuation(found);
      const url = sanitizeUrl(linkText);
      if (url === null) continue;
      if (start > end) into.push(createRun(line.slice(end, start), style));
      into.push({ kind: "link", url, runs: [createRun(linkText, style)] });
      end = start + linkText.length;
    }
    if (end < line.length) into.push(createRun(line.slice(end), style));
  }
}

/** Removes punctuation after a URL, and closing brackets without an opening one. */
function trimPunctuation(found: string): string {
  let open = found.split("(").length - found.split(")").length;
  let end = found.length;
  for (; end > 0; end--) {
    const last = found.charAt(end - 1);
    if (last === ")" && open < 0) open++;
    else if (!/[.,:;!?'’*_~\]]/.test(last)) break;
  }
  return found.slice(0, end);
}

const joinText = (runs: readonly Run[]) => runs.map(({ text }) => text).join("");

/** Renders HTML with a few safe elements and attributes. `dir` lets each block have its own writing direction. */
export function renderHtml(blocks: readonly Block[]): string {
  return blocks.map((block) => renderBlockHtml(block, ' dir="auto"')).join("");
}

function renderBlockHtml(block: Block, direction: string): string {
  switch (block.kind) {
    case "paragraph":
      return `<p${direction}>${block.content.map(renderInlineHtml).join("")}</p>`;
    case "code":
      return `<pre${direction}><code>${Bun.escapeHTML(block.text)}</code></pre>`;
    case "list": {
      const { start, items } = block;
      const tag = start === null ? "ul" : "ol";
      const from = start === null || start === 1 ? "" : ` start="${start}"`;
      const all = items.map((item) => `<li>${renderItemHtml(item)}</li>`).join("");
      return `<${tag}${direction}${from}>${all}</${tag}>`;
    }
  }
}

/** Renders a list item without `dir`, because its direction is that of the list. */
function renderItemHtml([first, ...others]: readonly Block[]): string {
  if (first === undefined) return "";
  const rest = others.map((block) => renderBlockHtml(block, "")).join("");
  return first.kind === "paragraph"
    ? first.content.map(renderInlineHtml).join("") + rest
    : renderBlockHtml(first, "") + rest;
}

function renderInlineHtml(one: Inline): string {
  if (one.kind === "break") return "<br>";
  if (one.kind === "text") return renderRunHtml(one);
  const words = one.runs.map(renderRunHtml).join("");
  return `<a href="${Bun.escapeHTML(one.url)}" rel="${linkRel}">${words}</a>`;
}

/** Links send no referrer, because URLs of the admin page are private. */
export const linkRel = "noopener noreferrer";

function renderRunHtml({ text, bold, italic, code }: Run): string {
  let html = Bun.escapeHTML(text);
  if (code) html = `<code>${html}</code>`;
  if (italic) html = `<em>${html}</em>`;
  return bold ? `<strong>${html}</strong>` : html;
}

/** Renders plain text. URLs follow their link texts, and list items start with a hyphen or number. */
export function renderText(blocks: readonly Block[]): string {
  return blocks.map(renderBlockText).join("\n\n");
}

function renderBlockText(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return block.content.map(renderInlineText).join("");
    case "code":
      return block.text;
    case "list":
      return block.items
        .map((item, index) => {
          const mark = block.start === null ? "- " : `${block.start + index}. `;
          const text = item.map(renderBlockText).join("\n");
          return mark + text.replaceAll("\n", `\n${" ".repeat(mark.length)}`);
        })
        .join("\n");
  }
}

function renderInlineText(one: Inline): string {
  if (one.kind === "break") return "\n";
  if (one.kind === "text") return one.text;
  const words = joinText(one.runs);
  const url = one.url.replace(/^mailto:/, "");
  return sanitizeUrl(words) === one.url || words === url ? words : `${words} (${url})`;
}
