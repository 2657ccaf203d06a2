/** Renders parsed Markdown as React elements, never as an HTML string. */
import { Fragment, type ReactNode } from "react";
import {
  type Block,
  type Inline,
  linkRel,
  parseMarkdown,
  plainBlocks,
  type Run,
} from "../../../src/core/text/markdown.ts";

/** Renders Markdown. With `isPlain` the text is shown as it is, for generated messages. */
export function Markdown({ text, isPlain = false }: { text: string; isPlain?: boolean }) {
  const blocks = isPlain ? plainBlocks(text) : parseMarkdown(text);
  return <div className="md">{keyed(blocks, (block) => blockOf(block, "auto"))}</div>;
}

const keyed = <T,>(all: readonly T[], shown: (one: T) => ReactNode) =>
  all.map((one, index) => <Fragment key={index}>{shown(one)}</Fragment>);

/** Renders a block. Blocks in a list inherit the text direction of the list. */
function blockOf(block: Block, dir?: "auto"): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return <p dir={dir}>{keyed(block.content, inlineOf)}</p>;
    case "code":
      return (
        <pre dir={dir}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const items = keyed(block.items, (item) => <li>{itemOf(item)}</li>);
      return block.start === null ? (
        <ul dir={dir}>{items}</ul>
      ) : (
        <ol dir={dir} start={block.start === 1 ? undefined : block.start}>
          {items}
        </ol>
      );
    }
  }
}

function itemOf([first, ...others]: readonly Block[]): ReactNode {
  return (
    <>
      {first?.kind === "paragraph"
        ? keyed(first.content, inlineOf)
        : first !== undefined && blockOf(first)}
      {keyed(others, (block) => blockOf(block))}
    </>
  );
}

function inlineOf(one: Inline): ReactNode {
  if (one.kind === "break") return <br />;
  if (one.kind === "text") return runOf(one);
  return (
    <a href={one.url} rel={linkRel} target="_blank">
      {keyed(one.runs, runOf)}
    </a>
  );
}

function runOf({ text, bold, italic, code }: Run): ReactNode {
  const said = code ? <code>{text}</code> : text;
  const slanted = italic ? <em>{said}</em> : said;
  return bold ? <strong>{slanted}</strong> : slanted;
}
