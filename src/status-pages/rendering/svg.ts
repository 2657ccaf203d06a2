import {
  parseXml,
  XmlDeclaration,
  XmlDocumentType,
  XmlElement,
  XmlProcessingInstruction,
  XmlText,
} from "@rgrove/parse-xml";
import { excerpt } from "../../core/text/words.ts";
import { invalid } from "../../core/validation.ts";
import {
  addAttribute,
  addStyle,
  type Drawing,
  readStyleSheet,
  simpler,
  without,
} from "./svg-css.ts";

const namespace = "http://www.w3.org/2000/svg";
/** Namespaces whose elements a browser acts upon, wherever they stand. */
const acting = new Set(["http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"]);

const maxElements = 5_000;
const maxDepth = 32;
const maxReferences = 64;
const maxPathData = 64_000;
const maxText = 5_000;
const maxFonts = 30;
const maxStops = 100;
/** Work of drawing it, a plain shape being 1, each as often as a mask or clip path is put somewhere. */
const maxWork = 20_000;
const pathWork = 1 / 100;
const textWork = 1 / 10;

/** What runs, moves, loads, or draws something many times, under whatever prefix. */
const refused =
  /^(?:script|handler|listener|iframe|object|embed|audio|video|canvas|link|meta|base|foreignobject|image|use|tref|pattern|marker|filter|fe.*|animate.*|set|mpath|discard|cursor|color-profile|font-face-uri)$/;

/** Unprefixed attributes that are words, whatever is written in them. */
const plain = /^(?:id|class|lang|role|version|name|d|points|viewBox|data-.*|aria-.*)$/;

/** Lets an SVG pass that may be shown to strangers as it is, and that a browser draws in about a second. Throws VALIDATION_ERROR. */
export function mustBeSvg(text: string) {
  const root = rootOf(text);
  const drawings = new Map<XmlElement, Drawing>();
  const fonts = new Set<string>();
  let css = "";
  let pathData = 0;
  let drawnText = 0;
  for (const element of elementsOf(root)) {
    const name = localName(element).toLowerCase();
    if (refused.test(name)) throw without(`${excerpt(element.name, 30)} elements`);
    if (name.endsWith("gradient") && childrenOf(element).length > maxStops)
      throw simpler(`with at most ${maxStops} stops in ${excerpt(element.name, 30)}`);
    if (name === "style")
      for (const child of element.children) if (child instanceof XmlText) css += child.text;
    pathData += pathDataOf(element);
    drawnText += textOf(element);
    drawings.set(element, drawingOf(element, fonts));
  }
  if (root.name !== "svg" || root.attributes["xmlns"] !== namespace)
    throw invalid("logo", `must be an SVG: its root must be svg of ${namespace}`);
  if (pathData > maxPathData) throw simpler(`with at most ${maxPathData} characters of path data`);
  if (drawnText > maxText) throw simpler(`with at most ${maxText} characters of text`);
  const sheet = readStyleSheet(css, fonts);
  if (fonts.size > maxFonts) throw simpler(`with at most ${maxFonts} fonts`);
  checkWork(root, drawings, sheet);
}

function rootOf(text: string): XmlElement {
  // Before the parser makes an object of each.
  if ((text.match(/<[^!?/]/g)?.length ?? 0) > maxElements)
    throw simpler(`of at most ${maxElements} elements`);
  const { children } = parsed(text);
  for (const node of children) {
    if (node instanceof XmlDocumentType && !isPublic(node))
      throw without("a DOCTYPE other than that of SVG");
    if (node instanceof XmlProcessingInstruction && /^xml-stylesheet$/i.test(node.name))
      throw without("xml-stylesheet");
    // A browser would read other text in the same bytes.
    if (node instanceof XmlDeclaration && !/^utf-8$/i.test(node.encoding ?? "utf-8"))
      throw invalid("logo", "must be an SVG in UTF-8");
  }
  return children.find((node) => node instanceof XmlElement) as XmlElement;
}

/** As editors write it, so that it names no entities and nothing to fetch. */
function isPublic({ name, publicId, systemId, internalSubset }: XmlDocumentType): boolean {
  return (
    name === "svg" &&
    internalSubset === null &&
    (publicId === null || publicId.startsWith("-//W3C//DTD SVG ")) &&
    (systemId === null || systemId.startsWith("http://www.w3.org/"))
  );
}

function parsed(text: string) {
  try {
    return parseXml(text, { preserveDocumentType: true, preserveXmlDeclaration: true });
  } catch {
    // Also a RangeError: the parser recurses, so that deep nesting uses up the stack.
    throw invalid("logo", "must be an SVG of well-formed XML, without entities of its own");
  }
}

const localName = ({ name }: XmlElement) => name.slice(name.indexOf(":") + 1);

const childrenOf = ({ children }: XmlElement) =>
  children.filter((child) => child instanceof XmlElement);

const pathDataOf = ({ attributes: { d = "", points = "" } }: XmlElement) =>
  d.length + points.length;

const textOf = (element: XmlElement) => (localName(element) === "text" ? element.text.length : 0);

function* elementsOf(element: XmlElement, depth = 1): Generator<XmlElement> {
  if (depth > maxDepth) throw simpler(`nested at most ${maxDepth} deep`);
  yield element;
  for (const child of childrenOf(element)) yield* elementsOf(child, depth + 1);
}

function drawingOf({ attributes }: XmlElement, fonts: Set<string>): Drawing {
  const drawing: Drawing = { work: 0, through: [], fonts };
  for (const [name, value] of Object.entries(attributes)) {
    if (/^xmlns(?::|$)/.test(name)) {
      if (acting.has(value.trim())) throw without("elements of HTML or MathML");
    } else if (/^on/i.test(name)) throw without(`${excerpt(name, 30)} attributes`);
    else if (/^(?:.*:)?(?:href|src|base)$/i.test(name)) {
      if (!/^#[^\s#]+$/.test(value)) throw without(`${excerpt(name, 30)} other than to an #id`);
      drawing.through.push(value.slice(1));
    } else if (name === "style") addStyle(drawing, value);
    else if (!name.includes(":") && !plain.test(name)) addAttribute(drawing, name, value);
  }
  return drawing;
}

function checkWork(
  root: XmlElement,
  drawings: ReadonlyMap<XmlElement, Drawing>,
  sheet: ReadonlyMap<string, readonly Drawing[]>,
) {
  const byId = new Map<string, XmlElement>();
  for (const element of drawings.keys()) {
    const { id = "" } = element.attributes;
    if (!byId.has(id)) byId.set(id, element);
  }
  const known = new Map<XmlElement, number>();

  function workOf(element: XmlElement | undefined, depth: number): number {
    if (element === undefined) return 1;
    const before = known.get(element) ?? 0;
    if (before === Infinity || depth > maxReferences)
      throw without(`references that lead in a circle or over ${maxReferences} elements`);
    if (before > 0) return before;
    known.set(element, Infinity);
    let sum = 1 + pathDataOf(element) * pathWork + textOf(element) * textWork;
    const add = (work: number) => {
      sum += work;
      if (sum > maxWork)
        throw simpler("with fewer layers, masks, clip paths, text on paths and style rules");
    };
    const applied = keysOf(element).flatMap((key) => sheet.get(key) ?? []);
    for (const { work, through } of [drawings.get(element) ?? [], applied].flat()) {
      add(work);
      for (const id of through) add(workOf(byId.get(id), depth + 1));
    }
    for (const child of childrenOf(element)) add(workOf(child, depth + 1));
    known.set(element, sum);
    return sum;
  }

  workOf(root, 1);
}

/** By which a style sheet's rules may be for an element. */
function keysOf(element: XmlElement): string[] {
  const { class: classes = "", id = "" } = element.attributes;
  const names = classes.split(/\s+/).map((name) => `.${name}`);
  return [...new Set(["*", localName(element), `#${id}`, ...names])];
}
