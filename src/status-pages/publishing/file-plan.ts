/** Names the files of a published page, and links them by relative paths. */
import type { PageLanguage } from "../../core/languages.ts";
import { v2Names } from "../formats/statuspage-v2.ts";
import type { LinkTo } from "../links.ts";
import type { Part } from "../site/public-paths.ts";
import type { RenderOccasion } from "./occasion-rules.ts";

/** A part of a page in one language, and its file. */
export type PlannedFile = {
  part: Part;
  language: PageLanguage;
  path: string;
  occasion: RenderOccasion;
};

/** Folder of a language: none for the default language of the page. */
const folderOf = (language: PageLanguage, defaultLanguage: PageLanguage) =>
  language === defaultLanguage ? "" : `${language}/`;

const fixedFiles = {
  page: "index.html",
  json: "status.json",
  rss: "feed.rss",
  atom: "feed.atom",
  ics: "maintenance.ics",
  robots: "robots.txt",
} as const;

/** Returns the file of a part; null for a part that is not published. */
function nameFile({ name, parameter }: Pick<Part, "name" | "parameter">): string | null {
  switch (name) {
    case "history":
      return parameter === "" ? "history.html" : `history/${parameter}.html`;
    case "incident":
      return `incidents/${parameter}.html`;
    case "v2":
      return `api/v2/${parameter}.json`;
    case "logo":
    case "favicon":
    case "font":
    case "fontStyle":
    case "stylesheet":
    case "subscribe":
    case "embed":
      return null;
    default:
      return fixedFiles[name];
  }
}

/** Parts in every language, the most important first. */
const translatedParts = ["page", "json", "rss", "atom", "ics"] as const;

/** The default language of a page, and all offered ones. */
type PageLanguages = { language: PageLanguage; languages: readonly PageLanguage[] };

/** An incident with a file. The file of an open one contains its duration. */
export type PublishedIncident = { id: string; isOpen: boolean };

/** Lists the files of a page, the most important first: files of one language before those of the next. */
export function planFiles(
  { language: defaultLanguage, languages }: PageLanguages,
  incidents: readonly PublishedIncident[],
  months: readonly string[],
): PlannedFile[] {
  const open = new Set(incidents.filter(({ isOpen }) => isOpen).map(({ id }) => id));
  const findOccasion = ({ name, parameter }: Part): RenderOccasion => {
    if (name === "page" || name === "json") return "time";
    if (name === "incident") return open.has(parameter) ? "time" : "content";
    if (name === "history") return parameter === "" && open.size > 0 ? "time" : "content";
    return "state";
  };
  const plan = (part: Part, language: PageLanguage): PlannedFile => ({
    part,
    language,
    path: folderOf(language, defaultLanguage) + (nameFile(part) ?? ""),
    occasion: findOccasion(part),
  });
  const planInAllLanguages = (parts: readonly Part[]) =>
    languages.flatMap((language) => parts.map((part) => plan(part, language)));
  return [
    ...planInAllLanguages(translatedParts.map((name) => ({ name, parameter: "" }))),
    ...v2Names.map((parameter) => plan({ name: "v2", parameter }, defaultLanguage)),
    plan({ name: "robots", parameter: "" }, defaultLanguage),
    ...planInAllLanguages(incidents.map(({ id: parameter }) => ({ name: "incident", parameter }))),
    ...planInAllLanguages(["", ...months].map((parameter) => ({ name: "history", parameter }))),
  ];
}

/** Returns the relative path from one file to another. */
export function relatePaths(from: string, to: string): string {
  const folders = from.split("/").slice(0, -1);
  const steps = to.split("/");
  let shared = 0;
  while (shared < folders.length && shared < steps.length - 1 && folders[shared] === steps[shared])
    shared++;
  return "../".repeat(folders.length - shared) + steps.slice(shared).join("/");
}

/** Finds the part that a path below the page names; null for a part that has no file. */
function parsePath(path: string): Pick<Part, "name" | "parameter"> | null {
  const [, month] = /^\/history\?month=([\d-]+)$/.exec(path) ?? [];
  if (month !== undefined) return { name: "history", parameter: month };
  const [, incidentId] = /^\/incidents\/([^/?]+)$/.exec(path) ?? [];
  if (incidentId !== undefined) return { name: "incident", parameter: incidentId };
  const names = {
    "": "page",
    ".json": "json",
    "/feed.rss": "rss",
    "/feed.atom": "atom",
    "/maintenance.ics": "ics",
    "/history": "history",
  } as const;
  const name = names[path as keyof typeof names] as (typeof names)[keyof typeof names] | undefined;
  return name === undefined ? null : { name, parameter: "" };
}

/** Creates the links of a file. Parts without a file are linked at `liveUrl`, the page on this appliance. */
export function createCopyLinks(
  {
    path: from,
    language,
    defaultLanguage,
  }: Pick<PlannedFile, "path" | "language"> & {
    defaultLanguage: PageLanguage;
  },
  files: ReadonlySet<string>,
  liveUrl: string,
): LinkTo {
  return (path) => {
    const [address = "", fragment] = path.split("#");
    const part = parsePath(address);
    const file = part && nameFile(part);
    const filePath = file === null ? null : folderOf(language, defaultLanguage) + file;
    const target =
      filePath !== null && files.has(filePath)
        ? relatePaths(from, filePath)
        : `${liveUrl}${address}`;
    return fragment === undefined ? target : `${target}#${fragment}`;
  };
}

/** Returns the path of the same part in another language. */
export const buildLanguagePath = (
  part: Part,
  language: PageLanguage,
  defaultLanguage: PageLanguage,
) => folderOf(language, defaultLanguage) + (nameFile(part) ?? fixedFiles.page);

/** Adds the file extension to addresses of incidents below `url`, in feeds and JSON. */
export function linkIncidentFiles(
  text: string,
  url: string,
  incidentIds: readonly string[],
): string {
  return incidentIds.reduce(
    (linked, id) => linked.replaceAll(`${url}/incidents/${id}`, `${url}/incidents/${id}.html`),
    text,
  );
}
