import { getLocale } from "../../../src/core/text/locale.ts";
import { t } from "../../language/text.ts";
import { formatCount } from "./format.ts";

const listFormat = new Intl.ListFormat(getLocale());

/**
 * Joins names to a phrase such as `Shop, Search and Blog`. Each name has its own text direction.
 */
export function Names({ names }: { names: readonly string[] }) {
  return listFormat
    .formatToParts(names)
    .map(({ type, value }, index) => (type === "element" ? <bdi key={index}>{value}</bdi> : value));
}

/** Shortens a list of more than three names, for example to `Shop`, `Search` and `3 more`. */
export function shortenNames(names: readonly string[]): string[] {
  const listedNames = names.length > 3 ? names.slice(0, 2) : names;
  const more = names.length - listedNames.length;
  return [...listedNames, ...(more > 0 ? [t("{count} more", { count: formatCount(more) })] : [])];
}
