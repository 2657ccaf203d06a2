import {
  parseXml,
  XmlDeclaration,
  XmlDocumentType,
  XmlElement,
  XmlProcessingInstruction,
  XmlText,
} from "@rgrove/parse-xml";
import { excerpt } from "../base/text.ts";
import { flawOfCss } from "./rules.ts";

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
  judgeStyle(css);
  if (css.length > maxCss)
    throw new SvgFlaw(`must be an SVG with at most ${maxCss} characters of styles`);
  if (root.name !== "svg" || root.attributes["xmlns"] !== namespace)
    throw new SvgFlaw(`must be an SVG: its root must be svg of ${namespace}`);
  if (workToDraw(root, all, layering.test(css)) > maxWork)
    throw without("so many layers, gradients, patterns, masks, markers or clip paths");
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
    if (node instanceof XmlDocumentType) throw without("a DOCTYPE");
    if (node instanceof XmlProcessingInstruction && /^xml-stylesheet$/i.test(node.name))
      throw without("a style sheet outside of it");
    // A browser would read other text in the same bytes.
    if (node instanceof XmlDeclaration && !/^utf-8$/i.test(node.encoding ?? "utf-8"))
      throw new SvgFlaw("must be an SVG in UTF-8");
  }
  return children.find((node) => node instanceof XmlElement) as XmlElement;
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
    } else if (!name.includes(":") && !plain.test(name)) judgeValue(name, value);
  }
}

function judgeValue(name: string, value: string) {
  if (name === "filter" || (name === "style" && /filter/i.test(value))) throw without("filters");
  stayInside(flawOfCss(value, { mayReferWithin: name !== "style" }));
}

function styleOf({ children }: XmlElement): string {
  return children.map((child) => (child instanceof XmlText ? child.text : "")).join("");
}

function judgeStyle(css: string) {
  if (/filter/i.test(css)) throw without("filters");
  stayInside(flawOfCss(css, { mayReferWithin: false }));
}

function stayInside(flaw: string | null) {
  if (flaw !== null) throw new SvgFlaw(`must be an SVG ${flaw}`);
}

/** What descendants paint with, too, unless they say otherwise. */
const inherited = ["fill", "stroke", "marker", "marker-start", "marker-mid", "marker-end"] as const;
type Paint = Partial<Record<(typeof inherited)[number], string>>;

/** Each reference draws what it leads to once more, a marker at each point. */
function workToDraw(root: XmlElement, all: readonly XmlElement[], inLayers: boolean): number {
  const byId = new Map(all.map((element) => [element.attributes["id"] ?? "", element]));
  const known = new Map<XmlElement, number>();
  const paints = new Map<XmlElement, Paint>();
  const sums = new Map<string, number>();

  function paintOf(element: XmlElement): Paint {
    const { parent, attributes } = element;
    const above = parent instanceof XmlElement ? (paints.get(parent) ?? {}) : {};
    const own = inherited.flatMap((name) => {
      const value = attributes[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return own.length === 0 ? above : { ...above, ...Object.fromEntries(own) };
  }
  // Parents stand before their children.
  for (const element of all) paints.set(element, paintOf(element));

  function referred(value: string): number {
    const before = sums.get(value);
    if (before !== undefined) return before;
    let sum = 0;
    for (const [, id = ""] of value.matchAll(/url\(\s*["']?#([^"')\s]+)/gi))
      sum += costOf(byId.get(id));
    sums.set(value, sum);
    return sum;
  }

  function costOf(element: XmlElement | undefined): number {
    if (element === undefined) return 0;
    const before = known.get(element);
    if (before === -1) throw without("references that lead in a circle");
    if (before !== undefined) return before;
    known.set(element, -1);
    let cost = workOf[localName(element.name).toLowerCase()] ?? 1;
    if (inLayers || isLayer(element)) cost += layerWork;
    for (const [name, value] of Object.entries(paints.get(element) ?? {}))
      cost += referred(value) * (name.startsWith("marker") ? pointsOf(element) : 1);
    for (const [name, value] of Object.entries(element.attributes)) {
      if (localName(name) === "href")
        cost += isTemplated(element) ? costOf(byId.get(value.slice(1))) : 0;
      else if (!(name in (paints.get(element) ?? {})) && value.includes("("))
        cost += referred(value);
    }
    for (const child of childrenOf(element)) cost += costOf(child);
    known.set(element, cost);
    return cost;
  }

  return costOf(root);
}

function isLayer({ attributes: { opacity = "1", style = "" } }: XmlElement): boolean {
  return Number(opacity) !== 1 || layering.test(style);
}

/** Whether an element's reference says what it draws with: that of a link doesn't. */
const isTemplated = ({ name }: XmlElement) =>
  /gradient$|^pattern$|^textpath$/i.test(localName(name));

/** Not fewer than a shape has points. */
function pointsOf({ attributes: { d = "", points = "" } }: XmlElement): number {
  return 2 + ((d + points).match(/\d+/g)?.length ?? 0);
}
