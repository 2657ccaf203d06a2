/** A text field for Markdown with a toolbar, shortcuts and a live preview. */
import { Textarea, type TextareaProps } from "@mantine/core";
import { useLocalStorage, useMergedRef } from "@mantine/hooks";
import { type KeyboardEvent, lazy, type Ref, Suspense, useRef } from "react";
import { createChunk } from "../../data/chunks.ts";
import { Icon, type IconName } from "../display/icons.tsx";
import { isMac } from "../page.tsx";
import { t } from "../../language/text.ts";

const Preview = lazy(
  createChunk(async () => ({ default: (await import("../display/markdown.tsx")).Markdown })),
);

type Props = TextareaProps & { ref?: Ref<HTMLTextAreaElement> };

/** The preview can be hidden, which the browser remembers for all fields. */
export function MarkdownField({ ref, onKeyDown, ...field }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [isShown, setShown] = useLocalStorage({
    key: "signalbox.preview",
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  const text = typeof field.value === "string" ? field.value : "";
  const use = (tool: Tool) => area.current && applyTool(area.current, tool);
  return (
    <Textarea
      autosize
      minRows={3}
      maxRows={14}
      {...field}
      ref={useMergedRef(area, ref)}
      onKeyDown={(event) => {
        const tool = tools.find(({ key }) => key === event.key.toLowerCase());
        if (tool !== undefined && (event.metaKey || event.ctrlKey) && !event.altKey) {
          event.preventDefault();
          use(tool);
        }
        onKeyDown?.(event);
      }}
      inputContainer={(input) => (
        <div className="md-field">
          <div
            className="md-tools"
            role="toolbar"
            aria-label={t("Formatting")}
            onKeyDown={moveBetweenTools}
          >
            <ToolButtons onUse={use} />
            <button
              type="button"
              className="md-tool md-toggle"
              aria-pressed={isShown}
              tabIndex={-1}
              onClick={() => setShown(!isShown)}
            >
              {t("Preview")}
            </button>
          </div>
          <div className="md-panes flex flex-col gap-8">
            {input}
            {isShown && <PreviewPane text={text} />}
          </div>
        </div>
      )}
    />
  );
}

const ToolButtons = ({ onUse }: { onUse: (tool: Tool) => void }) =>
  tools.map((tool, index) => (
    <button
      key={tool.label}
      type="button"
      className="md-tool"
      aria-label={tool.label}
      title={tool.key === undefined ? tool.label : `${tool.label} (${formatKeyHint(tool.key)})`}
      tabIndex={index === 0 ? 0 : -1}
      // Prevents a click on a tool from removing the selection in the text.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onUse(tool)}
    >
      <Icon name={tool.icon} size={15} />
    </button>
  ));

function PreviewPane({ text }: { text: string }) {
  const isBlank = text.trim() === "";
  return (
    <div className="md-preview" data-blank={isBlank} role="group" aria-label={t("Formatted")}>
      {isBlank ? (
        <span className="quiet">{t("Nothing to preview yet")}</span>
      ) : (
        <Suspense>
          <Preview text={text} />
        </Suspense>
      )}
    </div>
  );
}

const formatKeyHint = (key: string) => `${isMac ? "⌘" : t("Ctrl+")}${key.toUpperCase()}`;

/** Arrow keys move between tools, so that Tab skips the toolbar in one step. */
function moveBetweenTools(event: KeyboardEvent<HTMLElement>) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const all = [...event.currentTarget.querySelectorAll("button")];
  const next = all.indexOf(document.activeElement as HTMLButtonElement) + step;
  all.at(next % all.length)?.focus();
}

type Tool = {
  label: string;
  icon: IconName;
  /** Shortcut key, pressed with Ctrl or ⌘. */
  key?: string;
  /** Replaces the selection. `words` is selected afterwards. */
  change: (selected: string) => { before: string; words: string; after: string };
  /** Applies to whole lines. */
  ofLines?: boolean;
};

const tools: readonly Tool[] = [
  {
    label: t("Bold"),
    icon: "bold",
    key: "b",
    change: (selected) => ({ before: "**", words: selected || t("bold"), after: "**" }),
  },
  {
    label: t("Italic"),
    icon: "italic",
    key: "i",
    change: (selected) => ({ before: "*", words: selected || t("italic"), after: "*" }),
  },
  {
    label: t("Link"),
    icon: "link",
    change: (selected) => ({
      before: `[${selected || t("words")}](`,
      words: "https://",
      after: ")",
    }),
  },
  {
    label: t("List"),
    icon: "list",
    change: (selected) => ({ before: "", words: selected.replace(/^/gm, "- "), after: "" }),
    ofLines: true,
  },
  {
    label: t("Code"),
    icon: "code",
    change: (selected) =>
      selected.includes("\n")
        ? { before: "```\n", words: selected, after: "\n```" }
        : { before: "`", words: selected || "code", after: "`" },
  },
];

function applyTool(area: HTMLTextAreaElement, { change, ofLines = false }: Tool) {
  const { value, selectionStart, selectionEnd } = area;
  const start = ofLines ? value.lastIndexOf("\n", selectionStart - 1) + 1 : selectionStart;
  const { before, words, after } = change(value.slice(start, selectionEnd));
  area.focus();
  area.setSelectionRange(start, selectionEnd);
  // Deprecated, but the only API that leaves the browser's undo history intact.
  document.execCommand("insertText", false, before + words + after);
  const from = start + before.length;
  area.setSelectionRange(ofLines ? from + words.length : from, from + words.length);
}
