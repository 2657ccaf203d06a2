/** Renders the texts that people write for a status page from Markdown, and caches the results. */
import { parseMarkdown, parsePlainText, renderHtml, renderText } from "../../core/text/markdown.ts";
import { forEachYielding } from "../../core/time/event-loop.ts";
import type { Look } from "../look-schema.ts";
import type { PublicIncident } from "../formats/public-data.ts";

/** A rendered text, as HTML and as plain text. */
type RenderedText = { html: string; text: string };
export type RenderText = (written: string) => RenderedText;

/** A text to render. Our own texts can contain names, so they are not parsed as Markdown. */
type SourceText = { text: string; isMarkdown: boolean };

/** Maximum characters in the cache. */
const maxCachedLength = 4_000_000;
/** Rendered texts by source text, least recently used first. */
const cachedWords = new Map<string, RenderedText>();
let cachedLength = 0;

/** Renders each distinct text once, and yields to other work in between. Returns a lookup by source text. */
export async function renderWords(all: Iterable<SourceText>): Promise<RenderText> {
  const renderedTexts = new Map<string, RenderedText>([["", { html: "", text: "" }]]);
  await forEachYielding(all, (written) => {
    if (!renderedTexts.has(written.text)) renderedTexts.set(written.text, renderCached(written));
  });
  return (text) => {
    const words = renderedTexts.get(text);
    if (words === undefined) throw new Error("This text was not rendered.");
    return words;
  };
}

function renderCached({ text, isMarkdown }: SourceText): RenderedText {
  const key = `${isMarkdown ? "markdown" : "plain"} ${text}`;
  const known = cachedWords.get(key);
  if (known !== undefined) {
    cachedWords.delete(key);
    cachedWords.set(key, known);
    return known;
  }
  const blocks = isMarkdown ? parseMarkdown(text) : parsePlainText(text);
  const words = { html: renderHtml(blocks), text: renderText(blocks) };
  cachedWords.set(key, words);
  cachedLength += measureEntry(key, words);
  for (const [oldest, oldestWords] of cachedWords) {
    if (cachedLength <= maxCachedLength) break;
    cachedWords.delete(oldest);
    cachedLength -= measureEntry(oldest, oldestWords);
  }
  return words;
}

const measureEntry = (key: string, { html, text }: RenderedText) =>
  key.length + html.length + text.length;

type Texts = {
  page?: { description: string; look: Pick<Look, "banner"> };
  sections?: readonly { monitors: readonly { description: string | null }[] }[];
  windows?: readonly { description: string }[];
  incidents?: readonly PublicIncident[];
};

/** Lists all texts that a page publishes. */
export function* collectTexts({
  page,
  sections = [],
  windows = [],
  incidents = [],
}: Texts): Generator<SourceText> {
  const markAsMarkdown = (text: string): SourceText => ({ text, isMarkdown: true });
  if (page !== undefined) yield markAsMarkdown(page.description);
  if (page?.look.banner) yield markAsMarkdown(page.look.banner.text);
  for (const { monitors } of sections)
    for (const { description } of monitors)
      if (description !== null) yield markAsMarkdown(description);
  for (const { description } of windows) yield markAsMarkdown(description);
  for (const { updates, postmortem } of incidents) {
    for (const { message, isMarkdown } of updates) yield { text: message, isMarkdown };
    if (postmortem !== null) yield markAsMarkdown(postmortem.message);
  }
}
