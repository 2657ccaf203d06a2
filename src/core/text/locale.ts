import { t } from "./plain-texts.ts";

/** Returns the locale of formats. The build of the admin page replaces it by that of its language. */
export const getLocale = (): string => t("en-GB");

/** Formats a count, such as `1,204`. Without `Intl`, whose first formatter takes at least 3 ms. */
export const formatCount = (count: number): string =>
  count.toFixed(0).replace(/\B(?=(\d{3})+$)/g, getLocale() === "de" ? "." : ",");
