import { slugFrom } from "../../core/text/words.ts";

/** The slug of an organization with this name, at most 50 characters. */
export const slugOf = (name: string): string => slugFrom(name, 50) || "organization";

/** The first free one of `slug`, `slug-2`, `slug-3`, … */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  let number = 2;
  while (taken.has(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}
