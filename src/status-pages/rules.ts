/** Decides who can open a status page and at which addresses, how many days it shows, and which logos are valid. */
import { statusPageBounds } from "../core/limits.ts";
import { invalidFieldError } from "../core/validation.ts";
import type { OwnHosts } from "../core/security/own-hosts.ts";
import type { StatusPage } from "./schema.ts";

/** Returns an issue if the page asks for a password but has none, else null. */
export function validateAccess(visibility: StatusPage["visibility"], passwordIsSet: boolean) {
  return visibility === "password" && !passwordIsSet
    ? "is required while visibility is password"
    : null;
}

/** Returns the host names of a page without those that now belong to the appliance itself. */
export function selectEffectiveHosts(
  page: { hosts: readonly string[] },
  ownHosts: OwnHosts,
): string[] {
  return page.hosts.filter((host) => !ownHosts.reserves(host));
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

/** Derives a version from the image, so that clients can cache a versioned URL forever. */
export function hashLogo(logoData: string): string {
  return Bun.hash(logoData).toString(36);
}

/** Returns the path of a page's logo, which changes with the image; null without a logo. */
export function buildLogoUrl({
  slug,
  logoData,
}: {
  slug: string;
  logoData: string | null;
}): string | null {
  return logoData === null ? null : `/status/${slug}/logo?v=${hashLogo(logoData)}`;
}

type SectionRow = { position: number; name: string | null; groupId: string | null };
type MonitorRow = {
  section: number;
  monitorId: string;
  publicName: string | null;
  showDescription: boolean;
};

/** Builds sections from ordered rows. Monitor rows of a deleted group have no section and are ignored. */
export function assembleSections(sections: readonly SectionRow[], monitors: readonly MonitorRow[]) {
  const bySection = Map.groupBy(monitors, ({ section }) => section);
  return sections.map(({ position, name, groupId }) => ({
    name,
    groupId,
    monitors: (bySection.get(position) ?? []).map((row) => ({
      id: row.monitorId,
      name: row.publicName,
      showDescription: row.showDescription,
    })),
  }));
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
export function assertLogo({ type, bytes }: { type: string; bytes: Uint8Array }) {
  if (type === "image/svg+xml") return assertSvg(Buffer.from(bytes).toString("latin1"));
  if (type !== "image/png" && type !== "image/webp")
    throw new Error(`The route accepted a logo of the type ${type}.`);
  const name = type === "image/png" ? "PNG" : "WebP";
  if (!hasSignature(type, bytes))
    throw invalidFieldError("logo", `must be a ${name} image, because of its Content-Type`);
}

function assertSvg(text: string) {
  if (!/<(?:[\w.-]+:)?svg[\s/>]/.test(text) || !text.includes("http://www.w3.org/2000/svg"))
    throw invalidFieldError(
      "logo",
      "must be an SVG: its root must be svg of http://www.w3.org/2000/svg",
    );
  // An entity can expand to any number of elements.
  if (/<!ENTITY/i.test(text))
    throw invalidFieldError("logo", "must be an SVG without entities of its own");
  if ((text.match(/<[^!?/]/g)?.length ?? 0) > maxSvgElements)
    throw invalidFieldError(
      "logo",
      `must be an SVG of at most ${maxSvgElements} elements: simplify it, or send a PNG`,
    );
}
