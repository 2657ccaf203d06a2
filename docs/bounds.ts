import { type Bound, bounds, organizationBounds, units } from "../src/core/limits.ts";

/** The sections of docs/limits.md: one list of bounds each. */
export function boundSections(): string {
  return Object.entries(bounds)
    .map(([heading, section]) => {
      const isOption = section === organizationBounds;
      const lines = Object.entries<Bound>(section).map(([name, bound]) => {
        const label = isOption ? `\`${name}\`` : `**${inWords(name)}**`;
        return `- ${label}: ${amountIn(bound)} per ${bound.per}. ${bound.beyond}`;
      });
      return `## ${heading}\n\n${lines.join("\n")}`;
    })
    .join("\n\n");
}

/** `bodiesArriving` as “Bodies arriving”. */
function inWords(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

function amountIn({ value, unit }: Bound): string {
  if (unit === "bytes")
    for (const [name, size] of binaryUnits)
      if (value >= size && value % size === 0)
        return `${(value / size).toLocaleString("en")} ${name}`;
  const [one, several] = units[unit];
  return `${value.toLocaleString("en")} ${value === 1 ? one : several}`;
}

const binaryUnits = [
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
] as const;
