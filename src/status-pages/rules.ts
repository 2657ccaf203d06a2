/** Decides who can open a status page and at which addresses, how many days it shows, and which logos are valid. */
import { statusPageBounds } from "../core/limits.ts";
import { invalidFieldError } from "../core/validation.ts";
import type { OwnHosts } from "../core/security/own-hosts.ts";
import type { Audience } from "./access-rules.ts";
import type { StatusPage, StatusPageSection } from "./schema.ts";

/** Accepted media types of a logo. */
export const logoTypes = ["image/png", "image/webp", "image/svg+xml"] as const;

/** Media type of a font. */
export const fontType = "font/woff2";

/** Returns the field that the visibility requires and the page lacks, with the issue; else null. */
export function findMissingAccess(
  { visibility, allowedAddresses }: Pick<StatusPage, "visibility" | "allowedAddresses">,
  passwordIsSet: boolean,
): { field: "password" | "allowedAddresses"; issue: string } | null {
  const requireField = <F>(field: F) => ({
    field,
    issue: `is required while visibility is ${visibility}`,
  });
  if (visibility === "password" && !passwordIsSet) return requireField("password" as const);
  return visibility === "addresses" && allowedAddresses.length === 0
    ? requireField("allowedAddresses" as const)
    : null;
}

/**
 * Whether visitors can subscribe mailboxes to a page. Mails leave the addresses to which a page can be restricted, so
 * only the organization adds subscribers there.
 */
export const takesVisitors = ({ visibility }: Pick<StatusPage, "visibility">) =>
  visibility !== "addresses";

/**
 * Whether visitors can subscribe chats to a page. Not to pages for signed-in people, who subscribe with their own
 * address, because no account belongs to a chat.
 */
export const takesChats = ({
  chatSubscriptions,
  visibility,
}: Pick<StatusPage, "chatSubscriptions" | "visibility">) =>
  chatSubscriptions && (visibility === "public" || visibility === "password");

/** Returns the host names of a page without those that now belong to the appliance itself. */
export function selectEffectiveHosts(
  page: { hosts: readonly string[] },
  ownHosts: OwnHosts,
): string[] {
  return page.hosts.filter((host) => !ownHosts.isReserved(host));
}

/** Returns the public address of a page: its first host name, or else its slug. Without a trailing slash. */
export function buildAddresses(
  { slug, hosts }: { slug: string; hosts: readonly string[] },
  origin: string,
): { page: string; root: string } {
  const [host] = hosts;
  if (host === undefined) return { page: `${origin}/status/${slug}`, root: origin };
  const url = new URL(origin);
  url.hostname = host;
  return { page: url.origin, root: url.origin };
}

/** Maximum monitors on a page. */
export const maxShownMonitors = statusPageBounds.shownMonitors.value;
/** Maximum days of all monitors in one response. */
const maxShownDays = statusPageBounds.shownDays.value;

/** Returns the days per monitor that a page shows: with very many monitors, fewer than configured. */
export function limitShownDays(historyDays: number, monitorCount: number): number {
  return Math.min(historyDays, Math.floor(maxShownDays / Math.max(1, monitorCount)));
}

/** Derives a version from a file, so that clients can cache a versioned URL forever. */
export function hashFile(data: string): string {
  return Bun.hash(data).toString(36);
}

/** Files of a page, by the last part of their path. */
export const filePaths = { logo: "logo", favicon: "favicon", font: "font.woff2" } as const;
export type FileName = keyof typeof filePaths;

/** Returns the path of a page's file, which changes with its content; null without the file. */
export const buildFileUrl = (slug: string, path: string, data: string | null): string | null =>
  data === null ? null : `/status/${slug}/${path}?v=${hashFile(data)}`;

/** Returns the style sheet that declares the font of a page as `Page font`. */
export const renderFontStyle = (url: string): string =>
  `@font-face{font-family:"Page font";src:url("${url}") format("woff2");font-weight:100 900;font-display:swap}\n`;

type SectionRow = {
  position: number;
  name: string | null;
  groupId: string | null;
  nested: boolean;
  folding: StatusPageSection["folding"];
  audience: Audience;
};
type MonitorRow = {
  section: number;
  monitorId: string;
  publicName: string | null;
  showDescription: boolean;
  link: string | null;
};

/** Builds sections from ordered rows. Monitor rows of a deleted group have no section and are ignored. */
export function assembleSections(sections: readonly SectionRow[], monitors: readonly MonitorRow[]) {
  const bySection = Map.groupBy(monitors, ({ section }) => section);
  return sections.map(({ position, name, groupId, nested, folding, audience }) => ({
    name,
    groupId,
    nested,
    folding,
    audience,
    monitors: (bySection.get(position) ?? []).map((row) => ({
      id: row.monitorId,
      name: row.publicName,
      showDescription: row.showDescription,
      link: row.link,
    })),
  }));
}

/** Splits the sections of a page into those that the audience sees, and those that are concealed from it. */
export function selectSections(sections: readonly StatusPageSection[], audience: Audience) {
  const isShown = (section: StatusPageSection) =>
    audience === "signed-in" || section.audience === "everyone";
  return {
    audience,
    sections: selectNested(sections, isShown),
    concealed: sections.filter((section) => !isShown(section)),
  };
}

/** Selects sections. A nested section is not nested without its parent. */
export function selectNested<T extends { nested: boolean }>(
  sections: readonly T[],
  isShown: (section: T, index: number) => boolean,
): T[] {
  let isParentShown = false;
  return sections.flatMap((section, index) => {
    const isThisShown = isShown(section, index);
    if (!section.nested) isParentShown = isThisShown;
    if (!isThisShown) return [];
    return [section.nested && !isParentShown ? { ...section, nested: false } : section];
  });
}

const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const pngHeader = [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
const riff = [0x52, 0x49, 0x46, 0x46];
const webp = [0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38];

const hasBytesAt = (bytes: Uint8Array, offset: number, wanted: readonly number[]) =>
  wanted.every((byte, index) => bytes[offset + index] === byte);

/** Whether the bytes start with the signature of this image type (PNG §5.2, WebP container RFC 9649 §2.4). */
function hasSignature(type: "image/png" | "image/webp", bytes: Uint8Array): boolean {
  return type === "image/png"
    ? hasBytesAt(bytes, 0, pngStart) && hasBytesAt(bytes, 8, pngHeader)
    : hasBytesAt(bytes, 0, riff) && hasBytesAt(bytes, 8, webp);
}

/** Maximum elements of an SVG, which limits the work of drawing it. Its response is sandboxed against scripts. */
const maxSvgElements = 5_000;

/** Throws VALIDATION_ERROR for bytes of another type, and for an SVG with entities or too many elements. */
export function assertImage(
  { type, bytes }: { type: string; bytes: Uint8Array },
  field: "logo" | "favicon" = "logo",
) {
  if (type === "image/svg+xml") return assertSvg(Buffer.from(bytes).toString("latin1"), field);
  if (type !== "image/png" && type !== "image/webp")
    throw new Error(`The route accepted an image of the type ${type}.`);
  const name = type === "image/png" ? "PNG" : "WebP";
  if (!hasSignature(type, bytes))
    throw invalidFieldError(field, `must be a ${name} image, because of its Content-Type`);
}

const woff2 = [0x77, 0x4f, 0x46, 0x32];

/** Throws VALIDATION_ERROR for bytes that are not a WOFF2 file of this length (WOFF2 §4.1). Browsers check the rest. */
export function assertFont(bytes: Uint8Array) {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWhole = bytes.length >= 48 && header.readUInt32BE(8) === bytes.length;
  if (!hasBytesAt(bytes, 0, woff2) || !isWhole)
    throw invalidFieldError("font", "must be a complete WOFF2 file");
}

function assertSvg(text: string, field: string) {
  if (!/<(?:[\w.-]+:)?svg[\s/>]/.test(text) || !text.includes("http://www.w3.org/2000/svg"))
    throw invalidFieldError(
      field,
      "must be an SVG: its root must be svg of http://www.w3.org/2000/svg",
    );
  // An entity can expand to any number of elements.
  if (/<!ENTITY/i.test(text))
    throw invalidFieldError(field, "must be an SVG without entities of its own");
  if ((text.match(/<[^!?/]/g)?.length ?? 0) > maxSvgElements)
    throw invalidFieldError(
      field,
      `must be an SVG of at most ${maxSvgElements} elements: simplify it, or send a PNG`,
    );
}
