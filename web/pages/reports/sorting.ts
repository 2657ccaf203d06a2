import { getLocale } from "../../../src/core/text/locale.ts";
/** The column by which a table is sorted; null for the given order. */
export type Sorting = { head: string; isDescending: boolean } | null;

const collator = new Intl.Collator(getLocale(), { numeric: true });

/** Sorts rows by a value. Equal rows keep their order; rows without a value are last in both directions. */
export function sortRows<T>(
  rows: readonly T[],
  value: (row: T) => string | number | null,
  isDescending: boolean,
): T[] {
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return (
      sign *
      (typeof a === "number" && typeof b === "number"
        ? a - b
        : collator.compare(String(a), String(b)))
    );
  });
}
