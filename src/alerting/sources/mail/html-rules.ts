/** Converts HTML of a mail to text, in linear time. */
import { createLookup } from "../../../core/collections/objects.ts";

const blocks = /^\/?(?:p|div|br|tr|li|h[1-6]|table|ul|ol|pre|blockquote|hr)$/;
const hiddenElements: ReadonlySet<string> = new Set(["style", "script", "head", "title"]);

const entities: Readonly<Record<string, string>> = createLookup({
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  ccedil: "ç",
  ntilde: "ñ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  euro: "€",
  deg: "°",
});

/** Returns the visible text, one line per block. Cells of a table are separated by blanks. */
export function convertHtml(html: string): string {
  const [first = "", ...pieces] = html.split("<");
  const parts = [first];
  /** Name of the element whose content is skipped, or `!--` in a comment. */
  let skipped: string | null = null;
  for (const piece of pieces) {
    const name = /^(?:!--|\/?[a-z][a-z0-9]{0,19})/i.exec(piece)?.[0].toLowerCase() ?? "";
    if (skipped === "!--" || (skipped === null && name === "!--")) {
      const end = piece.indexOf("-->");
      skipped = end === -1 ? "!--" : null;
      if (end !== -1) parts.push(piece.slice(end + 3));
      continue;
    }
    if (skipped !== null && name !== `/${skipped}`) continue;
    skipped = hiddenElements.has(name) ? name : null;
    if (skipped !== null) continue;
    const end = piece.indexOf(">");
    if (name === "" || end === -1) parts.push(`<${piece}`);
    else parts.push(blocks.test(name) ? "\n" : /^\/?t[dh]$/.test(name) ? " " : "");
    if (name !== "" && end !== -1) parts.push(piece.slice(end + 1));
  }
  return decodeEntities(parts.join(""))
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line, index, all) => line !== "" || all[index - 1] !== "")
    .join("\n")
    .trim();
}

const decodeEntities = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name as string] ?? whole;
    const code = decimal === undefined ? parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      ? String.fromCodePoint(code)
      : " ";
  });
