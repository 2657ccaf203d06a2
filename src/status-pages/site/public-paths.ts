/** Lists the paths of the public site, and names the part of a status page that each path shows. */
import { badgeKinds } from "../rendering/badges.ts";
import { isComponentName, isV2Name } from "../formats/statuspage-v2.ts";

const page = "/status/:slug";

/** The parts of a page. A page's own host serves them at its root. */
const partPaths = {
  page,
  json: `${page}.json`,
  rss: `${page}/feed.rss`,
  atom: `${page}/feed.atom`,
  ics: `${page}/maintenance.ics`,
  subscribe: `${page}/subscribe`,
  embed: `${page}/embed`,
  logo: `${page}/logo`,
  favicon: `${page}/favicon`,
  font: `${page}/font.woff2`,
  fontStyle: `${page}/font.css`,
  stylesheet: `${page}/style.css`,
  history: `${page}/history`,
  incident: `${page}/incidents/:id`,
  v2: `${page}/api/v2/:name.json`,
  robots: `${page}/robots.txt`,
} as const;
export type PartName = keyof typeof partPaths;

/** Parts that are files, with the version in their query. They are the same in all languages. */
export const fileParts = ["logo", "favicon", "font", "fontStyle", "stylesheet"] as const;
export type FilePart = (typeof fileParts)[number];

export const isFilePart = (name: PartName): name is FilePart =>
  (fileParts as readonly PartName[]).includes(name);

/** Path patterns of the public site, as named in documents and metrics. */
export const publicPaths = {
  ...partPaths,
  link: `${page}/:verb/:token`,
  signIn: `${page}/sign-in`,
  badge: "/badge/monitor/:id/:kind.svg",
  uptimeKumaBadge: "/api/badge/:number/:measure",
  uptimeKumaBadgeOver: "/api/badge/:number/:measure/:span",
  uptimeKumaPage: "/api/status-page/:slug",
  uptimeKumaHeartbeats: "/api/status-page/heartbeat/:slug",
  uptimeKumaPageBadge: "/api/status-page/:slug/badge",
  uptimeKumaHistory: "/api/status-page/:slug/incident-history",
  uptimeKumaManifest: "/api/status-page/:slug/manifest.json",
} as const;

const prefixes = /^\/(?:status|badge|api\/badge|api\/status-page)\//;

/** Whether a path belongs to the public site. */
export const isPublicPath = (path: string) => prefixes.test(path);

/** Paths at the root of a page's own host. All other paths are the same at every host. */
const hostedPath =
  /^\/(?:|status\.json|(?:feed|history)\.(?:rss|atom)|maintenance\.ics|robots\.txt|sign-in|subscribe|embed|logo|favicon|font\.woff2|font\.css|style\.css|history|incidents\/[^/]+|api\/v2\/.+)$/;

/** Maps a path at the root of a page's own host to its path below `/status/`; null for all other paths. */
export function resolveHostedPath(slug: string, path: string): string | null {
  if (!hostedPath.test(path)) return null;
  return `/status/${slug}${path === "/" ? "" : path.replace("/status.json", ".json")}`;
}

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

const parameters = {
  slug: /^[a-z0-9-]{1,63}$/,
  id: new RegExp(`^${uuid}$`),
  badge: new RegExp(`^(?:${badgeKinds.join("|")})\\.svg$`),
  number: /^\d{1,9}$/,
  measure: /^(?:status|uptime|ping|avg-response|response|cert-exp)$/,
  span: /^\d{1,4}[mhdy]?$/,
  token: /^[\w.-]{1,400}$/,
  version: /^[0-9a-z]{1,13}$/,
};

/** Whether the value of a path or query parameter is well formed. */
export function isParameter(name: keyof typeof parameters, value: string | null): value is string {
  return value !== null && parameters[name].test(value);
}

/** Actions of the links in e-mails to subscribers. */
const linkVerbs = ["confirm", "unsubscribe", "manage"] as const;
export type LinkVerb = (typeof linkVerbs)[number];

export const isLinkVerb = (text: string | undefined): text is LinkVerb =>
  (linkVerbs as readonly (string | undefined)[]).includes(text);

/** The part of a page that a request names. */
export type Part = {
  name: PartName;
  /** Id of an incident, name in API v2, month of a history, version of a file; empty for none. */
  parameter: string;
  /** Id of an update: the incident's page starts with the updates before it. */
  before?: string;
};

/** Returns the name in API v2 at the end of a path; null for an unknown one. */
export function parseV2Name(path: string): string | null {
  const name = /\/api\/v2\/(.+)\.json$/.exec(path)?.[1] ?? "";
  if (isComponentName(name))
    return isParameter("id", name.slice(name.indexOf("/") + 1)) ? name : null;
  return isV2Name(name) ? name : null;
}

/** Whether a page can have any number of parts of this type. */
export function isEndless({ name, parameter }: Part): boolean {
  return name === "v2" ? isComponentName(parameter) : parameter !== "";
}
