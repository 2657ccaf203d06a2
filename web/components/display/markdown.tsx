/** Renders parsed Markdown as React elements, never as an HTML string. */
import { Fragment, type ReactNode } from "react";
import {
  type Block,
  type Inline,
  linkRel,
  parseMarkdown,
  parsePlainText,
  type Run,
} from "../../../src/core/text/markdown.ts";

/** Renders Markdown. With `isPlain` the text is shown as it is, for generated messages. */
export function Markdown({ text, isPlain = false }: { text: string; isPlain?: boolean }) {
  const blocks = isPlain ? parsePlainText(text) : parseMarkdown(text);
  return <div className="md">{renderKeyed(blocks, (block) => renderBlock(block, "auto"))}</div>;
}

const renderKeyed = <T,>(all: readonly T[], shown: (one: T) => ReactNode) =>
  all.map((one, index) => <Fragment key={index}>{shown(one)}</Fragment>);

/** Renders a block. Blocks in a list inherit the text direction of the list. */
function renderBlock(block: Block, dir?: "auto"): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return <p dir={dir}>{renderKeyed(block.content, renderInline)}</p>;
    case "code":
      return (
        <pre dir={dir}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const items = renderKeyed(block.items, (item) => <li>{renderItem(item)}</li>);
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

function renderItem([first, ...others]: readonly Block[]): ReactNode {
  return (
    <>
      {first?.kind === "paragraph"
        ? renderKeyed(first.content, renderInline)
        : first !== undefined && renderBlock(first)}
      {renderKeyed(others, (block) => renderBlock(block))}
    </>
  );
}

function renderInline(one: Inline): ReactNode {
  if (one.kind === "break") return <br />;
  if (one.kind === "text") return renderRun(one);
  return (
    <a href={one.url} rel={linkRel} target="_blank">
      {renderKeyed(one.runs, renderRun)}
    </a>
  );
}

function renderRun({ text, bold, italic, code }: Run): ReactNode {
  const content = code ? <code>{text}</code> : text;
  const slanted = italic ? <em>{content}</em> : content;
  return bold ? <strong>{slanted}</strong> : slanted;
}
