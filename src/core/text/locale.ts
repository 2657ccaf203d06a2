import { t } from "./plain-texts.ts";

/** Returns the locale of formats. The build of the admin page replaces it by that of its language. */
export const getLocale = (): string => t("en-GB");

let integer: Intl.NumberFormat | undefined;

/** Formats a count, such as `1,204`. */
export function formatCount(count: number): string {
  // Created on first use, because the first formatter takes 3 ms.
  integer ??= new Intl.NumberFormat(getLocale(), { maximumFractionDigits: 0 });
  return integer.format(count);
}
