import {
  parseXml,
  XmlDocumentType,
  XmlElement,
  XmlProcessingInstruction,
  XmlText,
} from "@rgrove/parse-xml";
import { excerpt } from "../base/text.ts";
import { flawOfCss } from "./rules.ts";

const namespace = "http://www.w3.org/2000/svg";
const maxDepth = 64;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** What draws a still picture from within itself (SVG 2). Without `image`, `a`, animations and `feImage`, which can leave it. */
const elements = words(`
  svg g defs symbol use switch title desc style path rect circle ellipse line polyline polygon
  text tspan textPath linearGradient radialGradient stop pattern clipPath mask marker filter
  feBlend feColorMatrix feComponentTransfer feComposite feDiffuseLighting feDisplacementMap
  feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge
  feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile`);

const attributes = words(`
  id class style lang role aria-label href viewBox preserveAspectRatio version transform
  x y z x1 y1 x2 y2 dx dy cx cy r rx ry fx fy fr width height d points pathLength offset rotate
  textLength lengthAdjust startOffset method spacing side
  alignment-baseline baseline-shift clip-path clip-rule color color-interpolation
  color-interpolation-filters cursor direction display dominant-baseline fill fill-opacity fill-rule
  filter flood-color flood-opacity font-family font-size font-size-adjust font-stretch font-style
  font-variant font-weight image-rendering letter-spacing lighting-color marker-end marker-mid
  marker-start mask mask-type mix-blend-mode opacity overflow paint-order pointer-events
  shape-rendering stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap
  stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor text-decoration
  text-rendering transform-origin unicode-bidi vector-effect visibility white-space word-spacing
  writing-mode xml:space
  gradientUnits gradientTransform spreadMethod patternUnits patternContentUnits patternTransform
  clipPathUnits maskUnits maskContentUnits markerUnits markerWidth markerHeight refX refY orient
  filterUnits primitiveUnits in in2 result mode type values tableValues slope intercept amplitude
  exponent operator k1 k2 k3 k4 scale xChannelSelector yChannelSelector stdDeviation edgeMode
  radius order surfaceScale diffuseConstant specularConstant specularExponent kernelUnitLength
  azimuth elevation pointsAtX pointsAtY pointsAtZ limitingConeAngle`);

/** Refused wherever it stands, under whatever prefix, even where it would be dropped. */
const hostile = words("script foreignobject handler listener iframe object embed audio video");

/** Why an SVG can't be a picture for strangers. */
export class SvgFlaw extends Error {}

/**
 * The SVG with nothing but what draws it, written anew: no script, handler or reference can be left
 * over. Drops what editors keep for themselves (comments, metadata, other namespaces, unknown
 * attributes). Throws SvgFlaw for what would be missed, or was meant to harm.
 */
export function cleanSvg(text: string): string {
  const root = rootOf(text);
  refuseHostile(root);
  if (root.name !== "svg" || root.attributes["xmlns"] !== namespace)
    throw new SvgFlaw(`must be an SVG: its root must be svg of ${namespace}`);
  return written(root, 1);
}

function rootOf(text: string): XmlElement {
  const { children } = parsed(text);
  for (const node of children) {
    if (node instanceof XmlDocumentType) throw new SvgFlaw("must be an SVG without a DOCTYPE");
    if (node instanceof XmlProcessingInstruction && node.name === "xml-stylesheet")
      throw new SvgFlaw("must be an SVG without a style sheet outside of it");
  }
  return children.find((node) => node instanceof XmlElement) as XmlElement;
}

function parsed(text: string) {
  try {
    return parseXml(text, { preserveDocumentType: true });
  } catch {
    // Also a RangeError: the parser recurses, so that deep nesting uses up the stack.
    throw new SvgFlaw("must be an SVG of well-formed XML, without entities of its own");
  }
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

function refuseHostile(root: XmlElement) {
  const waiting = [root];
  for (let element = waiting.pop(); element !== undefined; element = waiting.pop()) {
    if (hostile.has(localName(element.name).toLowerCase())) throw unwelcome(element);
    for (const name of Object.keys(element.attributes))
      if (/^on/i.test(name)) throw new SvgFlaw("must be an SVG without event handlers");
    for (const child of element.children) if (child instanceof XmlElement) waiting.push(child);
  }
}

function unwelcome({ name }: XmlElement) {
  return new SvgFlaw(`must be an SVG without ${excerpt(name, 30)} elements`);
}

function written(element: XmlElement, depth: number): string {
  if (depth > maxDepth) throw new SvgFlaw(`must be an SVG nested at most ${maxDepth} deep`);
  if (!elements.has(element.name)) throw unwelcome(element);
  const start = `<${element.name}${depth === 1 ? ` xmlns="${namespace}"` : ""}${attributesOf(element)}`;
  const content = element.name === "style" ? styleOf(element) : contentOf(element, depth);
  return content === "" ? `${start}/>` : `${start}>${content}</${element.name}>`;
}

function contentOf(element: XmlElement, depth: number): string {
  return element.children
    .map((child) => {
      if (child instanceof XmlText) return escaped(child.text);
      return child instanceof XmlElement && !isEditors(child) ? written(child, depth + 1) : "";
    })
    .join("");
}

const isEditors = ({ name }: XmlElement) => name === "metadata" || name.includes(":");

function styleOf(element: XmlElement): string {
  const css = element.children
    .map((child) => (child instanceof XmlText ? child.text : ""))
    .join("");
  mustStayInside(flawOfCss(css, { mayReferWithin: false }));
  return escaped(css);
}

/** Values that no CSS is read from. */
const names = words("id class role aria-label lang");

function attributesOf({ attributes: all }: XmlElement): string {
  const kept = new Map<string, string>();
  for (const [name, value] of Object.entries(all)) {
    if (name === "xmlns" && value !== namespace)
      throw new SvgFlaw("must be an SVG without elements of other namespaces");
    if (localName(name) === "href") {
      if (!/^#[^\s#]+$/.test(value)) throw new SvgFlaw(outside);
      if (name === "href" || !kept.has("href")) kept.set("href", value);
    } else if (attributes.has(name)) {
      if (!names.has(name)) mustStayInside(flawOfCss(value, { mayReferWithin: name !== "style" }));
      kept.set(name, value);
    }
  }
  return [...kept].map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
}

const outside = "must be an SVG without references to anything outside of it";

function mustStayInside(flaw: string | null) {
  if (flaw !== null) throw new SvgFlaw(`must be an SVG ${flaw}`);
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

const escaped = (text: string) => text.replace(/[&<>"\t\n\r]/g, (mark) => entities[mark] ?? "");
