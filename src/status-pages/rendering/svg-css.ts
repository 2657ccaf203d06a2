import { excerpt } from "../../core/text/words.ts";
import { invalid } from "../../core/validation.ts";

/** What styles add to the work of drawing an element, what it is drawn through, and all fonts of the picture. */
export type Drawing = { work: number; through: string[]; fonts: Set<string> };

const maxCss = 20_000;
const maxCustomProperty = 100;
const layerWork = 40;
const ruleWork = 1 / 100;
const declarationWork = 1 / 2_000;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** They compute a value from what is written in them. */
const functions = words(`
  calc clamp color color-mix hsl hsla hwb lab lch light-dark matrix max min oklab oklch rgb rgba
  rotate scale scalex scaley skewx skewy translate translatex translatey var`);
const refused = words("all filter backdrop-filter text-shadow box-shadow stroke-dasharray");
const layering = words("opacity mix-blend-mode isolation mask mask-image will-change perspective");
const painting = words("fill stroke marker marker-start marker-mid marker-end");
const noEffect = /^(?:none|null|auto|normal|initial|unset|)$/i;
const opaque = /^(?:1|1\.0*|100%)$/;

/** A comment, a string, a reference to what is in the picture, and any other address. */
const token =
  /\/\*[^]*?(?:\*\/|$)|"[^"\n\r\f]*"|'[^'\n\r\f]*'|url\([ \t\n\r\f]*(["']?)#([^\s"'()]+)\1[ \t\n\r\f]*\)|url\(/gi;
const name = String.raw`[\w\u0080-\uffff-]+`;
const compound = String.raw`(?=\S)(?:\*|${name})?(?:[.#]${name})*(?::root|:hover)?`;
const plainSelector = new RegExp(`^(?:${compound}[ \t\n\r\f>]+)?${compound}$`);
const lastName = new RegExp(`[.#]?${name}$`);
const media =
  /(?<=(?:^|\})\s*)@media\b[^@{};()]*(?:\([^@{};()]*\)[^@{};()]*)*\{((?:[^{}]*\{[^{}]*\})*[^{}]*)\}/gi;

export function without(what: string) {
  return invalid(
    "logo",
    `must be an SVG without ${what}: remove it, expand it to plain shapes, or send a PNG`,
  );
}

export function simpler(what: string) {
  return invalid("logo", `must be an SVG ${what}: simplify it, or send a PNG`);
}

/** Cut up as a browser does: without comments and strings, so that each sign is what it looks like. */
function plain(css: string): string {
  if (css.includes("\\")) throw without("escapes in its styles");
  return css.replaceAll(token, (text, _quote, id?: string) => {
    if (id !== undefined) return `url(#${id})`;
    if (text.endsWith("(")) throw without("url() other than url(#id)");
    return text.startsWith("/") ? " " : `x${Bun.hash(text).toString(36)}`;
  });
}

/** What a presentation attribute adds. Throws VALIDATION_ERROR for what is refused. */
export function addAttribute(drawing: Drawing, attribute: string, value: string) {
  addProperty(drawing, attribute, plain(value));
}

function addProperty(drawing: Drawing, written: string, value: string) {
  const property = written.trim().toLowerCase();
  const standard = property.replace(/^-[a-z]+-/, "");
  const set = value.replace(/!\s*important\s*$/i, "").trim();
  const applies = !noEffect.test(set);
  if (refused.has(standard) && applies) throw without(`the property ${excerpt(property, 30)}`);
  if (property.startsWith("--") && (set.length > maxCustomProperty || /var\(/i.test(set)))
    throw without(`long or nested custom properties as ${excerpt(property, 30)}`);
  for (const [text] of set.matchAll(/(?<![\w-])[\w-]+\(/g))
    if (text.toLowerCase() !== "url(" && !functions.has(text.slice(0, -1).toLowerCase()))
      throw without(`${excerpt(text, 30)}) in ${excerpt(property, 30)}`);
  if (/^(?:mask|mask-image|clip-path)$/.test(standard)) {
    const [, id] = /^url\(#([^()]+)\)(?:\s+[\w-]+)*$/.exec(set) ?? [];
    if (id !== undefined) drawing.through.push(id);
    else if (applies) throw without(`${property} other than none and url(#id)`);
  } else if (set.includes("url(") && !painting.has(standard))
    throw without(`url() in ${excerpt(property, 30)}`);
  if (/^font(?:-family)?$/.test(standard))
    for (const font of set.split(",")) drawing.fonts.add(font.trim());
  if (layering.has(standard) && applies && !opaque.test(set)) drawing.work += layerWork;
}

/** What declarations add, as they stand in a style attribute. Throws VALIDATION_ERROR. */
export function addStyle(drawing: Drawing, css: string) {
  addDeclarations(drawing, plain(css));
}

function addDeclarations(drawing: Drawing, block: string) {
  let rest = block;
  for (let depth = 0; depth < 8 && rest.includes("("); depth++)
    rest = rest.replaceAll(/\([^()]*\)/g, "");
  if (/[()[\]{}"'@]/.test(rest)) throw without("styles other than plain name: value pairs");
  for (const declaration of block.split(";")) {
    const colon = declaration.indexOf(":");
    if (colon !== -1)
      addProperty(drawing, declaration.slice(0, colon), declaration.slice(colon + 1));
  }
}

function keyOf(written: string): string {
  const selector = written.trim();
  if (!plainSelector.test(selector))
    throw without(`the selector ${excerpt(selector, 30)} (plain ones are as .a, #a, g, g .a)`);
  return lastName.exec(selector.replace(/:\w+$/, ""))?.[0] ?? "*";
}

/**
 * What rules add to each element that has the name, `#id`, `.class` or `*` by which their selectors end,
 * whether or not the rest of them fits. Throws VALIDATION_ERROR.
 */
export function readStyleSheet(css: string, fonts: Set<string>): ReadonlyMap<string, Drawing[]> {
  if (css.length > maxCss) throw simpler(`with at most ${maxCss} characters of styles`);
  const rules = plain(css).replaceAll(media, (_, inner: string) => inner);
  const [atRule] = /@[\w-]*/.exec(rules) ?? [];
  if (atRule !== undefined) throw without(`${excerpt(atRule, 30)} in its styles`);
  const sheet = new Map<string, Drawing[]>();
  const rest = rules.replaceAll(/([^{}]*)\{([^{}]*)\}/g, (_, selectors: string, block: string) => {
    const drawing = { work: ruleWork + block.length * declarationWork, through: [], fonts };
    addDeclarations(drawing, block);
    for (const key of new Set(selectors.split(",").map(keyOf)))
      sheet.set(key, [...(sheet.get(key) ?? []), drawing]);
    return "";
  });
  if (rest.trim() !== "") throw without("styles other than plain rules, as .a{fill:red}");
  return sheet;
}
