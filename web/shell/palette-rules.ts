import type { ReactElement } from "react";
import type { IconName } from "../components/icons.tsx";

export type Command = {
  key: string;
  label: string;
  /** At the right: what kind of thing it is, or its shortcut. */
  hint?: string;
  icon: IconName | ReactElement;
  run: () => void;
  /** Shown although nothing was typed yet. */
  common?: boolean;
};

const most = 30;

/** How well a label answers what was typed: 0 not at all, more is better. */
function scoreOf(label: string, text: string): number {
  const found = label.toLowerCase();
  let score = 1;
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = found.indexOf(word);
    if (at === -1) return 0;
    score += at === 0 ? 3 : /[^\p{L}\p{N}]/u.test(found[at - 1] ?? "") ? 2 : 1;
  }
  return score;
}

/** The best first; without a text only what is common. */
export function ranked(commands: readonly Command[], text: string): Command[] {
  if (text.trim() === "") return commands.filter(({ common }) => common).slice(0, most);
  return commands
    .map((command) => ({ command, score: scoreOf(command.label, text) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, most)
    .map(({ command }) => command);
}
