/** Reads and changes the action items of a postmortem, which are tasks in its Markdown: `- [ ] Renew the key`. */

export type ActionItem = { /** Line of the text. */ line: number; text: string; isDone: boolean };

const task = /^(\s*[-*+]\s+)\[([ xX])\]\s+(\S.*)$/;

export const listActionItems = (message: string): ActionItem[] =>
  message.split("\n").flatMap((text, line) => {
    const [, , mark, words = ""] = task.exec(text) ?? [];
    return mark === undefined ? [] : [{ line, text: words.trim(), isDone: mark !== " " }];
  });

/** Marks an action item as done or open. */
export const toggleActionItem = (message: string, { line, isDone }: ActionItem): string =>
  message
    .split("\n")
    .map((text, index) =>
      index === line ? text.replace(task, `$1[${isDone ? " " : "x"}] $3`) : text,
    )
    .join("\n");

/** Adds an action item after the last one, or at the end. Fills an empty task, such as that of the outline. */
export function addActionItem(message: string, words: string): string {
  const item = `- [ ] ${words.trim().replace(/\s+/g, " ")}`;
  const empty = /^[-*+]\s+\[ \]\s*$/m;
  if (empty.test(message)) return message.replace(empty, () => item);
  const lines = message.split("\n");
  const last = listActionItems(message).at(-1)?.line;
  if (last !== undefined) return lines.toSpliced(last + 1, 0, item).join("\n");
  return `${message.trimEnd()}${message.trim() === "" ? "" : "\n\n"}${item}`;
}
