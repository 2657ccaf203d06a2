import { slugify } from "../../core/text/formatting.ts";

/** Returns the slug for an organization's name, at most 50 characters. */
export const deriveSlug = (name: string): string => slugify(name, 50) || "organization";

/** Returns the first free slug of `slug`, `slug-2`, `slug-3`, … */
export function pickFreeSlug(slug: string, takenSlugs: ReadonlySet<string>): string {
  if (!takenSlugs.has(slug)) return slug;
  let number = 2;
  while (takenSlugs.has(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}
