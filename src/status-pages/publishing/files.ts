/** Renders the files of a page for everyone. Restricted pages have none. */
import { listPublicAssets, resolvePublicAsset } from "../../core/assets.ts";
import type { FairQueue } from "../../core/collections/fair-queue.ts";
import { statusPageBounds } from "../../core/limits.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import { addMonths, type Clock } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { formatUtcMonth } from "../formats/history.ts";
import { getLanguage, listOffered } from "../languages/catalog.ts";
import { createTimeFormats } from "../languages/times.ts";
import { type LoadedPage, loaderOf } from "../load.ts";
import { renderPart } from "../rendering/parts.ts";
import { buildAddresses, renderFontStyle, selectEffectiveHosts } from "../rules.ts";
import type { RenderedBody } from "../site/bodies.ts";
import { findFile, findPublicPageById, findStylesheet } from "../store.ts";
import {
  createCopyLinks,
  linkIncidentFiles,
  buildLanguagePath,
  planFiles,
  type PlannedFile,
  type PublishedIncident,
  relatePaths,
} from "./file-plan.ts";
import { asOfFile, type RenderOccasion } from "./occasion-rules.ts";

const { publishedIncidents, publishedMonths } = statusPageBounds;

/** A file of a published page. */
export type PublishedFile = {
  path: string;
  type: string;
  /** Whether the content of this path never changes. */
  isImmutable?: boolean;
  occasion: RenderOccasion;
  /** Renders the content; null if there is none any more. */
  read: () => Promise<Uint8Array | null>;
};

export type RenderingServices = {
  store: Store;
  clock: Clock;
  pageQueue: FairQueue;
  ownHosts: OwnHosts;
  origin: () => string;
};

type Publication = { organizationId: string; pageId: string; url: string | null };

/** Lists the files of a page, the most important first. Yields none for a restricted page. */
export async function listPublishedFiles(
  services: RenderingServices,
  { organizationId, pageId, url }: Publication,
): Promise<PublishedFile[]> {
  const { store, clock, pageQueue, ownHosts, origin } = services;
  const now = clock();
  const page = await findPublicPageById({ store, organizationId }, pageId, "everyone");
  if (page?.visibility !== "public") return [];
  const loaded = await pageQueue.run(nameLane(organizationId), () => loaderOf(store)(page, now));
  const liveUrl = buildAddresses(
    { slug: page.slug, hosts: selectEffectiveHosts(page, ownHosts) },
    origin(),
  ).page;
  const incidents = listIncidents(loaded);
  const planned = planFiles(
    { language: page.language, languages: listOffered(page) },
    incidents,
    await listMonths(loaded, now),
  );
  const assets = listAssetFiles();
  const owner = { organizationId, id: pageId };
  const logoFile = planFile("logo", await findFile(store, owner, "logo"));
  const faviconFile = planFile("favicon", await findFile(store, owner, "favicon"));
  const fontFile = planFile("font", await findFile(store, owner, "font"));
  const fontStyleFile = fontFile && planFontStyle(fontFile.path);
  const stylesheetFile = planFile("style", await findStylesheet(store, owner));
  const uploads = [logoFile, faviconFile, fontFile, fontStyleFile, stylesheetFile].filter(
    (file) => file !== null,
  );
  const rendering: Rendering = {
    loaded,
    now,
    liveUrl,
    url: url?.replace(/\/$/, "") ?? null,
    incidentIds: incidents.map(({ id }) => id),
    paths: new Set(planned.map(({ path }) => path)),
    uploadPaths: {
      logo: logoFile?.path ?? null,
      favicon: faviconFile?.path ?? null,
      fontStyle: fontStyleFile?.path ?? null,
      stylesheet: stylesheetFile?.path ?? null,
    },
  };
  return [
    ...assets,
    ...uploads,
    ...planned.map((file) => ({
      path: file.path,
      type: typeOf(file.path),
      occasion: file.occasion,
      read: () => pageQueue.run(nameLane(organizationId), () => renderFile(file, rendering)),
    })),
    {
      path: asOfFile,
      type: "application/json",
      occasion: "time",
      read: async () => encodeText(JSON.stringify({ asOf: new Date(now).toISOString() })),
    },
  ];
}

const readBaseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);
const nameLane = (organizationId: string) => `more of ${organizationId}`;
const encodeText = (text: string) => new TextEncoder().encode(text);

type Rendering = {
  loaded: LoadedPage;
  now: number;
  liveUrl: string;
  url: string | null;
  incidentIds: readonly string[];
  paths: ReadonlySet<string>;
  uploadPaths: Record<"logo" | "favicon" | "fontStyle" | "stylesheet", string | null>;
};

/** Plans a file of the page whose path has its version; null if there is none. */
const planFile = (
  name: string,
  file: { type: string; bytes: Uint8Array | string; version: string } | null,
): PublishedFile | null =>
  file && {
    path: `assets/${name}-${file.version}.${uploadExtensions[file.type] ?? "bin"}`,
    type: file.type,
    isImmutable: true,
    occasion: "content",
    read: async () => (typeof file.bytes === "string" ? encodeText(file.bytes) : file.bytes),
  };

const planFontStyle = (fontPath: string): PublishedFile => ({
  path: fontPath.replace(/\.\w+$/, ".css"),
  type: typeOf("font.css"),
  isImmutable: true,
  occasion: "content",
  read: async () => encodeText(renderFontStyle(readBaseName(fontPath))),
});

async function renderFile(file: PlannedFile, rendering: Rendering): Promise<Uint8Array | null> {
  const { loaded, now, liveUrl, url, incidentIds, paths, uploadPaths } = rendering;
  const { page } = loaded;
  const language = getLanguage(file.language);
  const { path, part } = file;
  const relate = (to: string) => relatePaths(path, to);
  const relateUpload = (to: string | null) => (to === null ? null : relate(to));
  const files = {
    favicon: relateUpload(uploadPaths.favicon),
    fontStyle: relateUpload(uploadPaths.fontStyle),
    stylesheet: relateUpload(uploadPaths.stylesheet),
  };
  const links = { path, language: file.language, defaultLanguage: page.language };
  const rendered = await renderPart(
    part,
    { ...loaded, page: { ...page, logoUrl: relateUpload(uploadPaths.logo), files } },
    {
      base: "",
      url: url ?? liveUrl,
      now,
      language,
      copy: {
        to: createCopyLinks(links, paths, liveUrl),
        document: {
          isOverview: part.name === "page",
          resolveAsset: (name) => relate(`assets/${readBaseName(resolvePublicAsset(name))}`),
          inLanguage: (tag) => relate(buildLanguagePath(part, tag, page.language)),
          asOfPath: relate(asOfFile),
          asOf: createTimeFormats(language, page.timeZone, now).moment(new Date(now).toISOString()),
        },
      },
    },
  );
  if (rendered === null) return null;
  const text = readText(rendered.body);
  const isLinked = url !== null && !path.endsWith(".html");
  return encodeText(isLinked ? linkIncidentFiles(text, url, incidentIds) : text);
}

function readText(body: RenderedBody): string {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : [...body].join("");
}

/** Lists the incidents with a file: open ones, and those within the days of the page, newest first. */
function listIncidents({ incidents, marks }: LoadedPage): PublishedIncident[] {
  const all = new Map([...incidents, ...marks].map((one) => [one.id, one]));
  return [...all.values()]
    .slice(0, publishedIncidents.value)
    .map(({ id, resolvedAt }) => ({ id, isOpen: resolvedAt === null }));
}

/** Lists the months with a file before the current one, the latest first. */
async function listMonths({ hasBefore }: LoadedPage, now: number): Promise<string[]> {
  const months: string[] = [];
  let month = formatUtcMonth(now);
  while (months.length < publishedMonths.value && (await hasBefore(Date.parse(`${month}-01`)))) {
    month = addMonths(month, -1);
    months.push(month);
  }
  return months;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  json: "application/json",
  rss: "application/rss+xml; charset=utf-8",
  atom: "application/atom+xml; charset=utf-8",
  ics: "text/calendar; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  woff2: "font/woff2",
};
const typeOf = (path: string) => types[path.split(".").pop() ?? ""] ?? "application/octet-stream";

const uploadExtensions: Readonly<Record<string, string>> = {
  "font/woff2": "woff2",
  "text/css; charset=utf-8": "css",
  "image/png": "png",
  "image/webp": "webp",
  "image/svg+xml": "svg",
};

const listAssetFiles = (): PublishedFile[] =>
  listPublicAssets().map(({ name, read }) => ({
    path: `assets/${name}`,
    type: typeOf(name),
    isImmutable: true,
    occasion: "content",
    // The style sheet names its fonts by their paths on this appliance.
    read: async () =>
      name.endsWith(".css")
        ? encodeText(new TextDecoder().decode(read()).replaceAll("/assets/public/", ""))
        : read(),
  }));
