/** Checks the CSS of a status page against lists of what it can contain, and rejects everything else. */
import type { CssNode } from "css-tree";
import { invalidFieldError } from "../core/validation.ts";

/** Nested blocks, parentheses and brackets. More could exhaust the stack of a parser. */
const maxDepth = 12;

/** Properties of colors, fonts, spacing, borders and sizes. */
const properties = new Set(
  [
    "color accent-color caret-color color-scheme fill stroke stroke-width",
    "background background-attachment background-clip background-color background-image",
    "background-origin background-position background-repeat background-size",
    "border border-block border-block-end border-block-start border-bottom border-bottom-color",
    "border-bottom-left-radius border-bottom-right-radius border-bottom-style border-bottom-width",
    "border-collapse border-color border-inline border-inline-end border-inline-start border-left",
    "border-left-color border-left-style border-left-width border-radius border-right",
    "border-right-color border-right-style border-right-width border-spacing border-style",
    "border-top border-top-color border-top-left-radius border-top-right-radius border-top-style",
    "border-top-width border-width box-shadow outline outline-color outline-style outline-width",
    "font font-family font-feature-settings font-kerning font-size font-stretch font-style",
    "font-variant font-variant-caps font-variant-numeric font-weight letter-spacing line-height",
    "hyphens overflow-wrap tab-size text-align text-decoration text-decoration-color",
    "text-decoration-line text-decoration-style text-decoration-thickness text-shadow",
    "text-transform text-underline-offset text-wrap white-space word-break word-spacing",
    "padding padding-block padding-block-end padding-block-start padding-bottom padding-inline",
    "padding-inline-end padding-inline-start padding-left padding-right padding-top",
    "margin margin-block margin-block-end margin-block-start margin-bottom margin-inline",
    "margin-inline-end margin-inline-start margin-left margin-right margin-top",
    "max-width min-height gap row-gap column-gap align-items justify-content",
    "flex-wrap flex-direction grid-template-columns list-style list-style-type",
    "transition transition-duration transition-property transition-timing-function",
  ]
    .join(" ")
    .split(" "),
);

/** CSS functions that values can use. None of them loads an address. */
const functions = new Set(
  "var calc min max clamp rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient repeating-conic-gradient cubic-bezier steps minmax repeat fit-content".split(
    " ",
  ),
);

/** Pseudo-classes and pseudo-elements of selectors. */
const allowedPseudos = new Set(
  "active after before checked disabled empty enabled first-child first-letter first-of-type focus focus-visible focus-within has hover is lang last-child last-of-type link not nth-child nth-last-child nth-of-type only-child root selection target visited where".split(
    " ",
  ),
);

const atRules = new Set(["media"]);

const isAllowed = (allowed: ReadonlySet<string>, name: string) => allowed.has(name.toLowerCase());

/** Returns why this part of parsed CSS is rejected; null if it is allowed. */
function findCssIssue(node: CssNode): string | null {
  switch (node.type) {
    case "Atrule":
      return isAllowed(atRules, node.name) ? null : `must not use @${node.name}`;
    case "Declaration":
      return node.property.startsWith("--") || isAllowed(properties, node.property)
        ? null
        : `must not set ${node.property}`;
    case "Function":
      return isAllowed(functions, node.name) ? null : `must not use ${node.name}()`;
    case "Url":
      return "must not use url()";
    case "PseudoClassSelector":
    case "PseudoElementSelector":
      return isAllowed(allowedPseudos, node.name) ? null : `must not use :${node.name}`;
    case "Raw":
      return `contains “${node.value.slice(0, 40)}”, which can't be read`;
    default:
      return null;
  }
}

/** Returns an issue if blocks or parentheses are nested too deeply for a parser; else null. */
function findDeepNesting(source: string): string | null {
  let depth = 0;
  for (const character of source) {
    if ("{([".includes(character)) depth++;
    else if ("})]".includes(character)) depth--;
    if (depth > maxDepth) return `must not nest blocks or parentheses deeper than ${maxDepth}`;
  }
  return null;
}

/**
 * Returns the CSS of a page for browsers. It is generated from the parsed rules, so that no browser can parse it
 * differently. Null for none. Throws VALIDATION_ERROR, which names the first rejected part and its line.
 */
export async function compileCss(source: string): Promise<string | null> {
  if (source.trim() === "") return null;
  const reject = (issue: string): never => {
    throw invalidFieldError("look.css", issue);
  };
  const deep = findDeepNesting(source);
  if (deep !== null) return reject(deep);
  // Loaded with the first CSS, because few pages have any.
  const [{ default: parse }, { default: walk }, { default: generate }] = [
    await import("css-tree/parser"),
    await import("css-tree/walker"),
    await import("css-tree/generator"),
  ];
  const sheet = parse(source, {
    positions: true,
    parseCustomProperty: true,
    onParseError: ({ message, line }) => reject(`can't be read in line ${line}: ${message}`),
  });
  walk(sheet, (node) => {
    const issue = findCssIssue(node);
    if (issue !== null) reject(`${issue} (line ${node.loc?.start.line ?? 1})`);
  });
  return generate(sheet);
}
