import { badgeKinds } from "../rendering/badges.ts";
import { monthOf } from "../formats/history.ts";
import { isComponentName, v2Names } from "../formats/statuspage-v2.ts";

const page = "/status/:slug";

/** What of a page stands behind its address, which is this one or the root of one of its hosts. */
const parts = {
  page: "",
  json: ".json",
  rss: "/feed.rss",
  atom: "/feed.atom",
  ics: "/maintenance.ics",
  subscribe: "/subscribe",
  logo: "/logo",
  history: "/history",
  incident: "/incidents/:id",
  v2: "/api/v2/:name.json",
} as const;
export type PartName = keyof typeof parts;

/** What of a page is asked for. */
export type Part = {
  name: PartName;
  /** Id of an incident, name in API v2, month of a history, version of a logo; empty for none. */
  parameter: string;
  /** Update of an incident before which its page begins. */
  before?: string;
};

/** Every path at which the public pages answer. */
export const publicPaths = {
  ...(Object.fromEntries(Object.entries(parts).map(([name, rest]) => [name, `${page}${rest}`])) as {
    [Name in PartName]: `${typeof page}${(typeof parts)[Name]}`;
  }),
  link: `${page}/:verb/:token`,
  badge: "/badge/monitor/:id/:kind.svg",
  uptimeKumaBadge: "/api/badge/:number/:measure",
  uptimeKumaBadgeOver: "/api/badge/:number/:measure/:span",
  uptimeKumaPage: "/api/status-page/:slug",
  uptimeKumaHeartbeats: "/api/status-page/heartbeat/:slug",
} as const;

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** What may stand in the place of a parameter. */
const values: Record<string, string> = {
  slug: "[a-z0-9-]{1,63}",
  id: uuid,
  name: [...v2Names, `components/${uuid}`].join("|"),
  kind: badgeKinds.join("|"),
  verb: "confirm|unsubscribe",
  token: "[\\w.-]{1,400}",
  number: "\\d{1,9}",
  measure: "status|uptime|ping|avg-response|response|cert-exp",
  span: "\\d{1,4}[mhdy]?",
};

/** The path as a regular expression, with a group for each parameter. */
function sourceOf(path: string, groupOf = (name: string) => name): string {
  return path
    .replaceAll(".", "\\.")
    .replace(/:(\w+)/g, (_, name: string) => `(?<${groupOf(name)}>${values[name]})`);
}

const wholeOf = (path: string) => new RegExp(`^${sourceOf(path)}$`);

export const badgePath = wholeOf(publicPaths.badge);
/** The links of e-mails. */
export const linkPath = wholeOf(publicPaths.link);
const withPattern = (route: string) => ({ route, pattern: wholeOf(route) });
/** What badges and widgets of an Uptime Kuma ask for. */
export const uptimeKumaPaths = {
  heartbeats: withPattern(publicPaths.uptimeKumaHeartbeats),
  page: withPattern(publicPaths.uptimeKumaPage),
  badge: withPattern(publicPaths.uptimeKumaBadge),
  badgeOver: withPattern(publicPaths.uptimeKumaBadgeOver),
};
/** Matches the beginning of the path of a page or of one of its parts. */
export const pagePath = new RegExp(`^${sourceOf(page)}(?=\\.json$|/|$)`);

/** In one expression, because every request of a public page asks for it: the group of a part has its parameter. */
const anyPart = new RegExp(
  `^(?:${Object.entries(parts)
    .map(([name, rest]) =>
      rest.includes(":") ? sourceOf(rest, () => name) : `(?<${name}>${sourceOf(rest) || "/?"})`,
    )
    .join("|")})$`,
);

/** Where Statuspage has its feeds. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["/history.rss", parts.rss],
  ["/history.atom", parts.atom],
]);

/** The part at this path behind a page's address; null for none. Of a query only this makes a difference. */
export function partAt(
  path: string,
  { month = "", version = "", before }: { month?: string; version?: string; before?: string } = {},
): Part | null {
  const groups = anyPart.exec(aliases.get(path) ?? path)?.groups ?? {};
  for (const name in groups) {
    const matched = groups[name];
    if (matched === undefined) continue;
    const asked = name === "history" ? month : name === "logo" ? version : "";
    const parameter = ["incident", "v2"].includes(name) ? matched : asked;
    const continued = name === "incident" && before !== undefined && { before };
    return { name: name as PartName, parameter, ...continued };
  }
  return null;
}

const updateId = new RegExp(`^${uuid}$`);

/** What a query says of a part: a month of the history, a version of the logo, an update of an incident. */
export function queryOf(url: string, now: number) {
  if (!/[?&](?:month|v|before)=/.test(url)) return {};
  const query = new URLSearchParams(url.slice(url.indexOf("?")));
  const version = /^[0-9a-z]{1,13}$/.exec(query.get("v") ?? "")?.[0];
  const before = updateId.exec(query.get("before") ?? "")?.[0];
  return {
    month: monthOf(query, now),
    ...(version !== undefined && { version }),
    ...(before !== undefined && { before }),
  };
}

/** Whether a page can have any number of such parts. */
export function isEndless({ name, parameter }: Part): boolean {
  return name === "v2" ? isComponentName(parameter) : parameter !== "";
}
