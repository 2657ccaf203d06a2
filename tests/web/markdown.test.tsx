import { expect, test } from "bun:test";
import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { parseMarkdown, parsePlainText, renderHtml } from "../../src/core/text/markdown.ts";
import { Markdown } from "../../web/components/display/markdown.tsx";
import { hostileMarkdown } from "../support/hostile-markdown.ts";

test("the admin page renders the same as all others, with links that open a new tab", () => {
  const pieces = fc.oneof(
    fc.constantFrom(...hostileMarkdown),
    fc.constantFrom("**a**\n", "- *b*\n", "1. c\n", "   - d\n", "\n\n", "[e](https://f.g)", "`h`"),
  );
  const readShown = (text: string, isPlain: boolean) =>
    renderToStaticMarkup(<Markdown text={text} isPlain={isPlain} />)
      .replaceAll(' target="_blank"', "")
      .replaceAll("<br/>", "<br>");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (all) => {
      const text = all.join("");
      for (const isPlain of [true, false]) {
        const blocks = isPlain ? parsePlainText(text) : parseMarkdown(text);
        expect(readShown(text, isPlain)).toBe(`<div class="md">${renderHtml(blocks)}</div>`);
      }
    }),
    { numRuns: 150 },
  );
});
