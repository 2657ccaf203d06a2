/** Renders the limits of src/core/limits.ts as the lists of docs/limits.md. */
import { formatBound, type Bound, bounds, organizationBounds } from "../../src/core/limits.ts";

/** The generated sections of docs/limits.md, one list of bounds each. */
export function boundSections(): string {
  return Object.entries(bounds)
    .map(([heading, section]) => {
      const isOption = section === organizationBounds;
      const lines = Object.entries<Bound>(section).map(([name, bound]) => {
        const words = isOption ? "" : toWords(name).replace(/ ?per .*/i, "");
        const label = isOption ? `\`${name}\`: ` : words && `**${words}**: `;
        return `- ${label}${formatBound(bound)} per ${bound.per}. ${bound.effect}`;
      });
      return `## ${heading}\n\n${lines.join("\n")}`;
    })
    .join("\n\n");
}

/** `bodiesInFlight` as “Bodies in flight”. */
function toWords(name: string): string {
  const words = name
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/json|yaml/gi, (acronym) => acronym.toUpperCase());
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}
