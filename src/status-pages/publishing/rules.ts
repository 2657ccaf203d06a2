/** Decides where the files of a page are, and which places collide. Pure. */
import { pageLanguages } from "../../core/languages.ts";
import type { Bucket } from "../../core/outgoing/bucket-schema.ts";

/** Folder or bucket (`root`) with the published files of a page, and the start of their names (`prefix`). */
export type Place = { root: string; prefix: string };

/** Root of pages in `--publish-dir`. The prefix is the slug, which contains no slash. */
export const folderRoot = "folder";

/** Settings that decide the place of a page. */
type Plan = { enabled: boolean; to: "folder" | "s3"; s3: Omit<Bucket, "secretAccessKey"> | null };

/** Returns the place of a page; null if it is not published. */
export function locatePlace({ enabled, to, s3 }: Plan, slug: string): Place | null {
  if (!enabled) return null;
  if (to === "folder") return { root: folderRoot, prefix: `${slug}/` };
  if (s3 === null) return null;
  return { root: `s3 ${new URL(s3.endpoint).origin} ${s3.bucket}`, prefix: s3.prefix };
}

export const isSamePlace = (one: Place, other: Place) =>
  one.root === other.root && one.prefix === other.prefix;

/** Describes a place for people. */
export const formatPlace = ({ root, prefix }: Place) =>
  root === folderRoot
    ? `the folder ${prefix}`
    : `${root.replace("s3 ", "").replace(" ", "/")}/${prefix}`;

/** First parts of the paths of a page's files. A page can't be in such a folder of another page. */
export const ownFolders = ["assets", "api", "incidents", "history", ...pageLanguages];

/** Time until files in a bucket are given up that can't be removed, such as after its key was revoked. */
export const removalDays = 7;
