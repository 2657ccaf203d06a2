/** Renders the texts that people write for a status page from Markdown, and caches the results. */
import { parseMarkdown, plainBlocks, toHtml, toText } from "../../core/text/markdown.ts";
import { eachYielding } from "../../core/time/yielding.ts";
import type { PublicIncident } from "../formats/public-data.ts";

/** A rendered text, as HTML and as plain text. */
type Words = { html: string; text: string };
export type WordsOf = (written: string) => Words;

/** A text to render. Our own texts can contain names, so they are not parsed as Markdown. */
type Written = { text: string; isMarkdown: boolean };

/** Maximum characters in the cache. */
const maxKept = 4_000_000;
/** Rendered texts by source text, least recently used first. */
const kept = new Map<string, Words>();
let keptSize = 0;

/** Renders each distinct text once, and lets other work run in between. Returns a lookup by source text. */
export async function wordsOf(all: Iterable<Written>): Promise<WordsOf> {
  const made = new Map<string, Words>([["", { html: "", text: "" }]]);
  await eachYielding(all, (written) => {
    if (!made.has(written.text)) made.set(written.text, wordsFor(written));
  });
  return (text) => {
    const words = made.get(text);
    if (words === undefined) throw new Error("This text was not rendered.");
    return words;
  };
}

function wordsFor({ text, isMarkdown }: Written): Words {
  const key = `${isMarkdown ? "markdown" : "plain"} ${text}`;
  const known = kept.get(key);
  if (known !== undefined) {
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const blocks = isMarkdown ? parseMarkdown(text) : plainBlocks(text);
  const words = { html: toHtml(blocks), text: toText(blocks) };
  kept.set(key, words);
  keptSize += sizeOf(key, words);
  for (const [oldest, its] of kept) {
    if (keptSize <= maxKept) break;
    kept.delete(oldest);
    keptSize -= sizeOf(oldest, its);
  }
  return words;
}

const sizeOf = (key: string, { html, text }: Words) => key.length + html.length + text.length;

type Texts = {
  page?: { description: string };
  sections?: readonly { monitors: readonly { description: string | null }[] }[];
  windows?: readonly { description: string }[];
  incidents?: readonly PublicIncident[];
};

/** Lists all texts that a page publishes. */
export function* writtenIn({
  page,
  sections = [],
  windows = [],
  incidents = [],
}: Texts): Generator<Written> {
  const typed = (text: string): Written => ({ text, isMarkdown: true });
  if (page !== undefined) yield typed(page.description);
  for (const { monitors } of sections)
    for (const { description } of monitors) if (description !== null) yield typed(description);
  for (const { description } of windows) yield typed(description);
  for (const { updates, postmortem } of incidents) {
    for (const { message, isMarkdown } of updates) yield { text: message, isMarkdown };
    if (postmortem !== null) yield typed(postmortem.message);
  }
}
