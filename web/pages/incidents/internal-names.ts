/** Finds words in a public text that customers don't know: names of monitors, and internal addresses. */
type Monitor = { id: string; name: string; groupId?: string | null };
type Section = {
  groupId: string | null;
  monitors: readonly { id: string; name: string | null }[];
};

export type InternalName = {
  /** The words in the text. */
  name: string;
  /** The name that customers know; null if no page shows the monitor. */
  publicName: string | null;
};

const minLength = 3;
const maxFindings = 5;

const privateAddress =
  /\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01])|127\.\d{1,3})(?:\.\d{1,3}){2}\b/g;
const internalHost = /\b[\w-]+(?:\.[\w-]+)*\.(?:lan|local|internal|intranet|corp)\b/gi;

/** `pages` are those that show the text. Names match with their exact letters, as whole words. */
export function findInternalNames(
  text: string,
  monitors: readonly Monitor[],
  pages: readonly { sections: readonly Section[] }[],
): InternalName[] {
  if (text.trim() === "" || pages.length === 0) return [];
  const findings = monitors.flatMap((monitor): InternalName[] => {
    if (monitor.name.length < minLength || !containsWord(text, monitor.name)) return [];
    const publicNames = listPublicNames(monitor, pages);
    // Text that is also part of the public name is known to customers.
    if (publicNames.some((name) => containsWord(name, monitor.name))) return [];
    return [{ name: monitor.name, publicName: publicNames[0] ?? null }];
  });
  const addresses = [...text.matchAll(privateAddress), ...text.matchAll(internalHost)].map(
    ([name]) => ({ name, publicName: null }),
  );
  const all = new Map([...findings, ...addresses].map((one) => [one.name, one]));
  return [...all.values()].slice(0, maxFindings);
}

/** The names under which pages show a monitor. */
function listPublicNames(
  { id, name, groupId }: Monitor,
  pages: readonly { sections: readonly Section[] }[],
) {
  return pages.flatMap(({ sections }) =>
    sections.flatMap((section) => {
      const own = section.monitors.find((one) => one.id === id);
      if (own !== undefined) return [own.name ?? name];
      return section.groupId !== null && section.groupId === groupId ? [name] : [];
    }),
  );
}

const isLetter = (character: string | undefined) =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

function containsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true;
  return false;
}
