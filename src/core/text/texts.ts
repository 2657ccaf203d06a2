import { formatCount } from "./locale.ts";
import { fill, type PrintableValue, type Values } from "./plain-texts.ts";

export { placeholders, t, type Values } from "./plain-texts.ts";

/**
 * Returns the form of a text for a number. `{count}` is the number with digit separators. Both
 * English forms are the key, because other languages can have more forms.
 */
export const tCount = <const One extends string, const Other extends string>(
  count: number,
  one: One,
  other: Other,
  ...[values]: Values<One | Other, PrintableValue, "count">
) => fill(count === 1 ? one : other, { ...values, count: formatCount(count) });
