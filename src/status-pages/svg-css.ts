import type { XmlElement } from "@rgrove/parse-xml";

export type Declaration = readonly [property: string, value: string];

/** What costs more than its size: a reference, and dashes. Only where it applies has to be known. */
const costly = /url\(|dasharray/i;
const reference = /url\(\s*(["']?)#[\w.:-]+\1\s*\)/gi;

/** Characters of a style attribute: reading it takes time with their square. */
const maxStyle = 2_000;

/** Rules with something costly, each of which may be for every element. */
const maxRules = 300;

/** Thrown for CSS of which a browser might read other rules than we do. */
export class UnclearCss extends Error {}

/** Without comments, strings and parentheses, in which the signs that part declarations could hide. */
function plainOf(css: string): string {
  if (/["']/.test(css.replaceAll(/(["'])[\w #,.:-]*\1/g, ""))) throw new UnclearCss();
  if (/url\([^()]*\/\*/i.test(css)) throw new UnclearCss();
  const plain = css.replaceAll(/\/\*[^]*?\*\//g, " ");
  let rest = plain.replaceAll(reference, "");
  if (/url\(/i.test(rest)) throw new UnclearCss();
  for (let depth = 0; depth < 9 && rest.includes("("); depth++)
    rest = rest.replaceAll(/\([^()[\]{};]*\)/g, "");
  if (/[()[\]]|\/\*/.test(rest)) throw new UnclearCss();
  return plain;
}

function costlyOf(declarations: string): Declaration[] {
  return declarations
    .split(";")
    .filter((text) => costly.test(text))
    .map((text) => {
      const [, property = "", value = ""] = /^\s*([\w-]+)\s*:([^]*)$/.exec(text) ?? [];
      if (property === "" || property.startsWith("--")) throw new UnclearCss();
      return [property.toLowerCase(), value.replace(/!\s*important\s*$/i, "")] as const;
    });
}

/** The costly declarations of a `style` attribute. */
export function declarationsOf(style: string): Declaration[] {
  if (!costly.test(style)) return [];
  if (style.length > maxStyle || /[{}]/.test(style)) throw new UnclearCss();
  return costlyOf(plainOf(style));
}

/** The costly declarations of a style sheet for an element, whatever others override. */
export function rulesOf(css: string): (element: XmlElement) => readonly Declaration[] {
  const rules = new Map<string, Declaration[]>();
  if (costly.test(css)) addRules(plainOf(css), rules);
  return ({ name, attributes }) => {
    const { class: classes = "", id = "" } = attributes;
    const selectors = new Set([name, `#${id}`, ...classes.split(/\s+/).map((one) => `.${one}`)]);
    return rules.size === 0 ? [] : [...selectors].flatMap((one) => rules.get(one) ?? []);
  };
}

function addRules(css: string, rules: Map<string, Declaration[]>) {
  const parts = css.split(/([{}])/);
  if (parts.filter((text) => costly.test(text)).length > maxRules) throw new UnclearCss();
  for (const [index, text] of parts.entries()) {
    if (index % 2 === 1 || !costly.test(text)) continue;
    if (parts[index - 1] !== "{" || parts[index + 1] !== "}") throw new UnclearCss();
    for (const selector of (parts[index - 2] ?? "").split(",")) {
      const simple = selector.trim();
      if (!/^[.#]?[\w-]+$/.test(simple)) throw new UnclearCss();
      rules.set(simple, [...(rules.get(simple) ?? []), ...costlyOf(text)]);
    }
  }
}
