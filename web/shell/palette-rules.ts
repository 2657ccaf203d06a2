/** Ranks the palette's commands by how well they match the typed text. */
import type { ReactElement } from "react";
import type { IconName } from "../components/display/icons.tsx";
import { t } from "../language/text.ts";

export type Command = {
  key: string;
  label: string;
  /** Shown at the right: the kind of record. */
  hint?: string;
  /** Its shortcut, shown at the right. */
  keys?: string;
  icon: IconName | ReactElement;
  run: () => void;
  /** Further search terms, such as an address, tags or a group. */
  keywords?: string;
  /** Shown before any text is typed. */
  common?: boolean;
};

const maxCommands = 30;

/** Removes case and diacritics, which people omit when they type. */
const toPlainText = (text: string) =>
  text.toLowerCase().replace(/ß/g, "ss").normalize("NFKD").replace(/\p{M}/gu, "");

/** Match quality of a command: 0 is no match, higher is better. */
function scoreCommand({ label, keywords = "" }: Command, text: string): number {
  const [found, others] = [toPlainText(label), toPlainText(keywords)];
  let score = 1;
  for (const word of toPlainText(text).split(/\s+/).filter(Boolean)) {
    const part =
      scoreWithin(found, word) || (others.includes(word) ? 0.75 : 0) || scoreScattered(found, word);
    if (part === 0) return 0;
    score += part;
  }
  return score;
}

function scoreWithin(found: string, word: string): number {
  const at = found.indexOf(word);
  if (at === -1) return 0;
  return at === 0 ? 3 : /[^\p{L}\p{N}]/u.test(found[at - 1] ?? "") ? 2 : 1;
}

/**
 * Fuzzy match, worth 0.25: all letters in order and close together, from the start of a word.
 * `chkout` finds `Checkout`.
 */
function scoreScattered(found: string, word: string): number {
  if (word.length < 3) return 0;
  for (const { index } of found.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu)) {
    let at = index - 1;
    const fits = Array.from(word).every((letter) => (at = found.indexOf(letter, at + 1)) !== -1);
    if (found[index] === word[0] && fits && at - index < word.length * 2) return 0.25;
  }
  return 0;
}

/**
 * The records to offer actions on: those whose name contains a word of the text, and a few others for a text such as
 * `pause`. Offering every action on every record would be slow.
 */
export function selectForActions<T extends { name: string }>(
  records: readonly T[],
  text: string,
): T[] {
  const words = toPlainText(text).split(/\s+/).filter(Boolean);
  const isMentioned = ({ name }: T) => {
    const plain = toPlainText(name);
    return words.some((word) => plain.includes(word) || scoreScattered(plain, word) > 0);
  };
  const { mentioned = [], others = [] } = Object.groupBy(records, (record) =>
    isMentioned(record) ? "mentioned" : "others",
  );
  return [...mentioned, ...others.slice(0, maxCommands)];
}

const maxRecent = 5;

/**
 * Sorts matching commands, the best first. Without a text, returns the records with the recent IDs, and the common
 * commands.
 */
export function rankCommands(
  commands: readonly Command[],
  text: string,
  recentIds: readonly string[] = [],
): Command[] {
  if (text.trim() === "") {
    const recent = recentIds.flatMap((id) => commands.find(({ key }) => key === id) ?? []);
    return [
      ...recent.slice(0, maxRecent).map((command) => ({
        ...command,
        hint: t("Recent · {hint}", { hint: command.hint ?? "" }),
      })),
      ...commands.filter(({ common }) => common),
    ].slice(0, maxCommands);
  }
  return commands
    .map((command) => ({ command, score: scoreCommand(command, text) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, maxCommands)
    .map(({ command }) => command);
}
