/** Finds words in a public text that customers don't know: names of records and people, and internal addresses. */
type Monitor = {
  id: string;
  name: string;
  type: string;
  groupId: string | null;
  target: string | null;
};
type Page = {
  title: string;
  sections: readonly {
    name: string | null;
    groupId: string | null;
    monitors: readonly { id: string; name: string | null }[];
  }[];
};

/** The organization's records and people. */
type KnownNames = {
  monitors: readonly Monitor[];
  groups: readonly { id: string; name: string }[];
  people: readonly { name: string; email: string }[];
};

type InternalName = {
  /** The words in the text. */
  name: string;
  /** The name that customers know; null if no page shows the record. */
  publicName: string | null;
  /** Titles of pages that don't show this name, if other pages show it. */
  unknownOn: string[];
};

const minLength = 3;
const maxFindings = 5;

const privateAddress =
  /\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01])|127\.\d{1,3})(?:\.\d{1,3}){2}\b/g;
const internalHost = /\b[\w-]+(?:\.[\w-]+)*\.(?:lan|local|internal|intranet|corp)\b/gi;

type Candidate = { name: string; listPublicNames: (page: Page) => string[] };

/** `pages` show the text. Names match with their exact letters, as whole words. */
export function findInternalNames(
  text: string,
  known: KnownNames,
  pages: readonly Page[],
): InternalName[] {
  if (text.trim() === "" || pages.length === 0) return [];
  const all = new Map<string, InternalName>();
  for (const { name, listPublicNames } of listCandidates(text, known)) {
    if (name.length < minLength || !containsWord(text, name)) continue;
    // Text that is also part of a public name is known to customers.
    const unknown = pages.filter((page) => !hasWord(page, name));
    if (unknown.length === 0) continue;
    const [publicName = null] = pages.flatMap(listPublicNames).filter((one) => one !== name);
    const isEverywhere = unknown.length === pages.length;
    const unknownOn = isEverywhere ? [] : unknown.map(({ title }) => title);
    const earlier = all.get(name)?.publicName ?? null;
    all.set(name, { name, publicName: earlier ?? publicName, unknownOn });
  }
  return [...all.values()].slice(0, maxFindings);

  /** Whether the page shows this word, as a part of any name on it. */
  function hasWord(page: Page, word: string): boolean {
    const names = page.sections.flatMap((section) => [
      section.name ?? known.groups.find(({ id }) => id === section.groupId)?.name ?? "",
    ]);
    const publicNames = known.monitors.flatMap((monitor) => listNamesOfMonitor(monitor, page));
    return [page.title, ...names, ...publicNames].some((name) => containsWord(name, word));
  }
}

function listCandidates(text: string, { monitors, groups, people }: KnownNames): Candidate[] {
  const removePublicName = (name: string) => ({ name, listPublicNames: () => [] });
  return [
    ...monitors.map((monitor) => ({
      name: monitor.name,
      listPublicNames: (page: Page) => listNamesOfMonitor(monitor, page),
    })),
    ...groups.map(({ id, name }) => ({
      name,
      listPublicNames: ({ sections }: Page) =>
        sections.flatMap((section) => (section.groupId === id ? (section.name ?? name) : [])),
    })),
    ...people.flatMap(({ name, email }) => [name, email]).map(removePublicName),
    ...monitors.flatMap(findInternalHost).map(removePublicName),
    ...[...text.matchAll(privateAddress), ...text.matchAll(internalHost)].map(([name]) =>
      removePublicName(name),
    ),
  ];
}

/** The names under which a page shows a monitor. */
const listNamesOfMonitor = ({ id, name, groupId }: Monitor, { sections }: Page) =>
  sections.flatMap((section) => {
    const pageMonitor = section.monitors.find((one) => one.id === id);
    if (pageMonitor !== undefined) return [pageMonitor.name ?? name];
    return section.groupId !== null && section.groupId === groupId ? [name] : [];
  });

/** Types whose targets can be names that customers know, such as the address of a shop. */
const typesOfPublicNames = new Set(["http", "browser", "websocket", "dns", "domain", "tls"]);

/** The host of a monitor, unless customers can know it. */
function findInternalHost({ type, target }: Monitor): string[] {
  const [host = ""] = (target ?? "").split(/[/:?#\s]/);
  return host.includes(".") && typesOfPublicNames.has(type) ? [] : [host];
}

const isLetter = (character: string | undefined) =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

function containsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true;
  return false;
}
