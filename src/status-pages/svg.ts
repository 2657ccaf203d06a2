import {
  parseXml,
  XmlDeclaration,
  XmlDocumentType,
  XmlElement,
  XmlProcessingInstruction,
  XmlText,
} from "@rgrove/parse-xml";
import { excerpt } from "../core/text.ts";
import { flawOfCss } from "./rules.ts";
import { type Declaration, declarationsOf, rulesOf, UnclearCss } from "./svg-css.ts";
import { densityOf, extentOf, piecesOf, pointsOf, tilesOf } from "./svg-geometry.ts";

const namespace = "http://www.w3.org/2000/svg";
/** Namespaces whose elements a browser acts upon, wherever they stand. */
const acting = new Set(["http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"]);

const maxElements = 5_000;
const maxDepth = 32;
const maxCss = 20_000;
/**
 * Work of drawing it, a plain shape being 1, each as often as a pattern, mask, marker or clip path is put
 * somewhere. Measured in Chromium without a graphics card: 2 to 3 s for the worst on a whole screen.
 */
const maxWork = 20_000;
const layerWork = 40;
/** Dashes, and tiles of a pattern, that are as much work as a plain shape. */
const piecesAtOnce = 50;
const tilesAtOnce = 1_000;
const workOf: Record<string, number> = {
  lineargradient: 10,
  radialgradient: 10,
  pattern: 25,
  mask: 2 * layerWork,
};
/** What makes a browser draw an element apart from the others, in CSS. */
const layering = /(?:^|[^\w-])(?:opacity|mix-blend-mode|isolation|mask|will-change|perspective)\b/i;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** What runs, moves, loads, repeats without end or costs beyond its size, under whatever prefix. */
const refused = words(`
  script handler listener iframe object embed audio video canvas link meta base foreignobject
  image use tref filter set mpath discard cursor color-profile font-face-uri`);

/** Of a local name in lower case. */
const isRefused = (name: string) =>
  refused.has(name) || name.startsWith("fe") || name.startsWith("animate");

/** Unprefixed attributes that are words, whatever is written in them. */
const plain = /^(?:id|class|lang|role|version|name|d|points|viewBox|data-.*|aria-.*)$/;

/** Why an SVG can't be a picture for strangers, served as it is: the end of a sentence. Null when it can. */
export function flawOfSvg(text: string): string | null {
  try {
    judge(text);
    return null;
  } catch (error) {
    if (error instanceof SvgFlaw) return error.message;
    if (error instanceof UnclearCss)
      return "must be an SVG whose url() and dashes in styles stand in few, plain rules, as .a{fill:url(#b)}";
    throw error;
  }
}

class SvgFlaw extends Error {}

function judge(text: string) {
  const root = rootOf(text);
  const all = elementsOf(root);
  let css = "";
  for (const element of all) {
    const name = localName(element.name).toLowerCase();
    if (isRefused(name)) throw without(`${excerpt(element.name, 30)} elements`);
    judgeAttributes(element);
    if (name === "style") css += styleOf(element);
  }
  if (css.length > maxCss)
    throw new SvgFlaw(`must be an SVG with at most ${maxCss} characters of styles`);
  judgeStyle(css);
  if (root.name !== "svg" || root.attributes["xmlns"] !== namespace)
    throw new SvgFlaw(`must be an SVG: its root must be svg of ${namespace}`);
  // Also of what isn't a number.
  if (!(workToDraw(root, all, css) <= maxWork))
    throw without("so many layers, gradients, patterns, masks, markers, clip paths or dashes");
}

function without(what: string) {
  return new SvgFlaw(`must be an SVG without ${what}`);
}

function tooMany() {
  return new SvgFlaw(`must be an SVG of at most ${maxElements} elements`);
}

function rootOf(text: string): XmlElement {
  // Before the parser makes an object of each.
  if ((text.match(/<[^!?/]/g)?.length ?? 0) > maxElements) throw tooMany();
  const { children } = parsed(text);
  for (const node of children) {
    if (node instanceof XmlDocumentType && !isPublic(node))
      throw without("a DOCTYPE other than that of SVG");
    if (node instanceof XmlProcessingInstruction && /^xml-stylesheet$/i.test(node.name))
      throw without("a style sheet outside of it");
    // A browser would read other text in the same bytes.
    if (node instanceof XmlDeclaration && !/^utf-8$/i.test(node.encoding ?? "utf-8"))
      throw new SvgFlaw("must be an SVG in UTF-8");
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
    throw new SvgFlaw("must be an SVG of well-formed XML, without entities of its own");
  }
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

const childrenOf = ({ children }: XmlElement) =>
  children.filter((child) => child instanceof XmlElement);

function elementsOf(root: XmlElement): XmlElement[] {
  const all: XmlElement[] = [];
  for (
    let level = [root], depth = 1;
    level.length > 0;
    level = level.flatMap(childrenOf), depth++
  ) {
    if (depth > maxDepth) throw new SvgFlaw(`must be an SVG nested at most ${maxDepth} deep`);
    all.push(...level);
    if (all.length > maxElements) throw tooMany();
  }
  return all;
}

function judgeAttributes({ attributes }: XmlElement) {
  for (const [name, value] of Object.entries(attributes)) {
    if (/^xmlns(?::|$)/.test(name)) {
      if (acting.has(value.trim())) throw without("elements of HTML or MathML");
    } else if (/^on/i.test(name)) throw without("event handlers");
    else if (/^(?:href|src|base)$/i.test(localName(name))) {
      if (!/^#[^\s#]+$/.test(value)) throw without("references to anything outside of it");
    } else if (name === "style") judgeStyle(value);
    else if (!name.includes(":") && !plain.test(name)) judgeValue(name, value);
  }
}

function judgeValue(name: string, value: string) {
  if (name === "filter") throw without("filters");
  if (/^(?:mask|clip-path)$/.test(name) && /inherit/i.test(value)) throw inheriting();
  stayInside(flawOfCss(value));
}

function styleOf({ children }: XmlElement): string {
  return children.map((child) => (child instanceof XmlText ? child.text : "")).join("");
}

function judgeStyle(css: string) {
  if (/filter/i.test(css)) throw without("filters");
  if (/shadow/i.test(css)) throw without("shadows");
  // The word may stand apart from its property, behind a comment.
  if (/inherit/i.test(css) && /mask|clip|\ball\b/i.test(css)) throw inheriting();
  stayInside(flawOfCss(css));
}

function inheriting() {
  return without("masks or clip paths that are inherited");
}

function stayInside(flaw: string | null) {
  if (flaw !== null) throw new SvgFlaw(`must be an SVG ${flaw}`);
}

/** What descendants paint with, too. */
const inherited = /^(?:fill|stroke|marker|marker-start|marker-mid|marker-end)$/;

/** What an element is painted with, and those above it: which of them has an effect isn't asked. */
type Paint = {
  fills: ReadonlySet<string>;
  markers: ReadonlySet<string>;
  /** Of the dashes, per unit of length. */
  density: number;
};
const unpainted: Paint = { fills: new Set(), markers: new Set(), density: 0 };

function paintWith(above: Paint, declarations: readonly Declaration[]): Paint {
  const refer = declarations.filter(([name, value]) => inherited.test(name) && value.includes("("));
  const marks = ([name]: Declaration) => name.startsWith("marker");
  const valuesOf = (some: readonly Declaration[]) => some.map(([, value]) => value);
  const densities = declarations.flatMap(([name, value]) =>
    name === "stroke-dasharray" ? densityOf(value) : [],
  );
  if (refer.length + densities.length === 0) return above;
  return {
    fills: new Set([...above.fills, ...valuesOf(refer.filter((one) => !marks(one)))]),
    markers: new Set([...above.markers, ...valuesOf(refer.filter(marks))]),
    density: Math.max(above.density, ...densities),
  };
}

function byIdOf(all: readonly XmlElement[]): Map<string, XmlElement> {
  const byId = new Map<string, XmlElement>();
  for (const element of all) {
    const { id = "" } = element.attributes;
    if (id === "") continue;
    if (byId.has(id)) throw without(`the id ${excerpt(id, 30)} twice`);
    byId.set(id, element);
  }
  return byId;
}

/** Each reference draws what it leads to once more, a marker at each point. */
function workToDraw(root: XmlElement, all: readonly XmlElement[], css: string): number {
  const inLayers = layering.test(css);
  const byId = byIdOf(all);
  const inRules = rulesOf(css);
  const extent = extentOf(all);
  const known = new Map<XmlElement, number>();
  const declared = new Map<XmlElement, readonly Declaration[]>();
  const paints = new Map<XmlElement, Paint>();
  const sums = new Map<string, number>();

  // Parents stand before their children.
  for (const element of all) {
    const { parent, attributes } = element;
    const { style = "", ...others } = attributes;
    const declarations = [...Object.entries(others), ...declarationsOf(style), ...inRules(element)];
    const above = parent instanceof XmlElement ? paints.get(parent) : undefined;
    declared.set(element, declarations);
    paints.set(element, paintWith(above ?? unpainted, declarations));
  }
  if (all.some((element) => paints.get(element)?.density)) judgeDashed(all, css);
  judgePatterns(all, css);

  function referred(value: string): number {
    const before = sums.get(value);
    if (before !== undefined) return before;
    let sum = 0;
    for (const [, id = ""] of value.matchAll(/url\(\s*["']?#([^"')\s]+)/gi))
      sum += costOf(byId.get(id));
    sums.set(value, sum);
    return sum;
  }

  function templated(pattern: XmlElement): XmlElement["attributes"] {
    let { attributes } = pattern;
    let at: XmlElement | undefined = pattern;
    for (let steps = 0; at !== undefined && steps < maxDepth; steps++) {
      const [, href] =
        Object.entries(at.attributes).find(([name]) => localName(name) === "href") ?? [];
      at = byId.get(href?.slice(1) ?? "");
      attributes = { ...at?.attributes, ...attributes };
    }
    if (at !== undefined) throw without("references that lead so far");
    return attributes;
  }

  function costOfPaint(element: XmlElement): number {
    const { fills, markers, density } = paints.get(element) ?? unpainted;
    let cost = piecesOf(element, density) / piecesAtOnce;
    for (const value of fills) cost += referred(value);
    for (const value of markers) cost += referred(value) * pointsOf(element.attributes);
    return cost;
  }

  function costOf(element: XmlElement | undefined): number {
    if (element === undefined) return 0;
    const before = known.get(element);
    if (before === -1) throw without("references that lead in a circle");
    if (before !== undefined) return before;
    known.set(element, -1);
    const kind = localName(element.name).toLowerCase();
    let cost = workOf[kind] ?? 1;
    if (kind === "pattern") cost += tilesOf(templated(element), extent) / tilesAtOnce;
    if (inLayers || isLayer(element)) cost += layerWork;
    if (!unpaintedKinds.has(kind)) cost += costOfPaint(element);
    for (const [name, value] of declared.get(element) ?? []) {
      if (localName(name) === "href")
        cost += isTemplated(element) ? costOf(byId.get(value.slice(1))) : 0;
      else if (!inherited.test(name) && value.includes("(")) cost += referred(value);
    }
    for (const child of childrenOf(element)) cost += costOf(child);
    known.set(element, cost);
    return cost;
  }

  return costOf(root);
}

/** Kinds of elements that inherit paint without using it. */
const unpaintedKinds = words("lineargradient radialgradient stop");

/** How long lines are, and so into how many dashes they are cut, is judged by attributes. */
function judgeDashed(all: readonly XmlElement[], css: string) {
  const styles = [css, ...all.map(({ attributes: { style = "" } }) => style)];
  if (styles.some((style) => /(?:^|[^\w-])(?:width|height|[cr]?[xy]|r)\s*[:/]/i.test(style)))
    throw without("dashes beside sizes in styles");
  const effects = all.flatMap(({ attributes }) => attributes["vector-effect"] ?? []);
  if ([...styles, ...effects].some((text) => /vector-effect|non-scaling/i.test(text)))
    throw without("dashes beside vector-effect");
}

/** How large their tiles are is judged by attributes, too. */
function judgePatterns(all: readonly XmlElement[], css: string) {
  const patterns = all.filter(({ name }) => /^pattern$/i.test(localName(name)));
  const styles = [css, ...patterns.map(({ attributes: { style = "" } }) => style)];
  if (patterns.length > 0 && styles.some((style) => /transform|scale|zoom/i.test(style)))
    throw without("patterns beside transforms in styles");
}

function isLayer({ attributes: { opacity = "1", style = "" } }: XmlElement): boolean {
  return Number(opacity) !== 1 || layering.test(style);
}

/** Whether an element's reference says what it draws with: that of a link doesn't. */
const isTemplated = ({ name }: XmlElement) =>
  /gradient$|^pattern$|^textpath$/i.test(localName(name));
